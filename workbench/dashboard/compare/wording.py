"""What fields are called, and sentences about settings worded for the page, which has fields where others have names."""

from __future__ import annotations

import re

from workbench.dashboard.shared.background import sentence_of

LABELS = {
    "n_topics": "Topics K", "alpha": "alpha", "beta": "beta", "n_iterations": "Iterations", "seed": "Seed",
    "seeds": "Number of seeds", "jobs": "Runs at a time", "holdout": "Test share",
    "format": "Read as", "text": "Text column", "title": "Title column", "label": "Label column", "stop_words": "Stop words",
    "min_documents": "Min. documents", "max_share": "Max. share", "token_pattern": "Pattern of words",
    "n_chains": "Chains", "phases": "Phases", "schedule": "Schedule",
    "partition": "Partition", "precision": "Precision", "scan": "Order of tokens",
    "init": "First responsibilities", "n_inner": "Inner passes", "inner_tolerance": "Inner tolerance",
    "restart_documents": "Restart documents", "topics": "Posterior of topics", "cg_second_order": "Variance terms",
    "update": "Update", "reorder": "Reorder sticks", "moves_every": "Moves every", "moves_after": "Moves after",
    "learn_alpha": "Learn alpha", "learn_beta": "Learn beta", "learn_gamma": "Learn gamma", "learn_tau": "Learn tau",
    "alpha_form": "Form of alpha", "learn_after": "Learn after", "learn_every": "Learn every",
    "alpha_total": "alpha in all", "beta_total": "beta in all", "top_concentration": "gamma",
    "a_alpha": "alpha: shape", "b_alpha": "alpha: rate", "a_beta": "beta: shape", "b_beta": "beta: rate",
    "a_gamma": "gamma: shape", "b_gamma": "gamma: rate", "a_tau": "tau: prior",
}
ANY = "|".join(LABELS)
TELLING = "|".join(name for name in LABELS if "_" in name)
"""Names that are nothing else in a sentence, unless in a path."""
CHANGES = (
    (r"\boption '(\w+)'", "“{}”"),
    (rf"\bwith ({ANY})=…", "under “{}”"),
    (rf"(?<![\w./-])({ANY})=(?=[\w'])", "“{}” "),
    (rf"(?<![\w./-])({TELLING})(?![\w./-])", "“{}”"),
)
"""What is written with the name of a setting, and how with the label of its field."""
INSTEAD = (
    ("two_phase", "two phase"), ("second_order", "second order"), ("” True", "” yes"), ("” False", "” no"),
    ("” None", "” none"), ("; got None", "; the field is empty"), ("; got ''", "; there is none beside a comma"),
)


def plain(text: str) -> str:
    """A text about settings with the labels of fields in the place of names."""
    for pattern, change in CHANGES:
        text = re.sub(pattern, lambda found, change=change: change.format(LABELS.get(found[1], found[1])), text)
    for old, new in INSTEAD:
        text = text.replace(old, new)
    return text


def worded(error: Exception) -> str:
    """The error as one sentence of the page."""
    return sentence_of(ValueError(plain(str(error))))
