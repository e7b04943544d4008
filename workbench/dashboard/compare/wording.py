"""Labels of fields, and error sentences about settings reworded with these labels."""

import re

from workbench.dashboard.shared.background import sentence_of
from workbench.errors import ALONE, Got, Named, one_sentence

LABELS = {
    "r": "r",
    "n_topics": "Topics K",
    "alpha": "alpha",
    "beta": "beta",
    "n_iterations": "Iterations",
    "seed": "Seed",
    "seeds": "Number of seeds",
    "jobs": "Parallel runs",
    "holdout": "Held-out tokens",
    "merge": "Documents joined",
    "repeat": "Counts repeated",
    "format": "Read as",
    "text": "Text column",
    "title": "Title column",
    "label": "Label column",
    "stop_words": "Stop words",
    "more_stop_words": "More stop words",
    "segmenter": "Segmenter",
    "encoding": "Encoding",
    "keep_text": "Keep texts",
    "min_documents": "Min. documents",
    "max_share": "Ignore words in more than … of documents",
    "token_pattern": "Word pattern",
    "ngrams": "N-grams",
    "min_letters": "Min. letters",
    "accents": "Accents",
    "lowercase": "Lower case",
    "n_chains": "Chains",
    "average": "Averaging",
    "split": "Sampled pairs",
    "budget_r": "Budget as r",
    "refresh": "Split every",
    "rarer": "Refresh growth factor",
    "scan": "Order of tokens",
    "scored": "Scored with",
    "init": "Initialisation",
    "n_inner": "Inner passes",
    "topics": "Posterior of topics",
    "cg_second_order": "Variance terms",
    "reorder": "Reorder sticks",
    "a_prior": "Prior: shape",
    "b_prior": "Prior: rate",
    "alpha_form": "Form of alpha",
    "alpha_total": "Total alpha",
    "beta_total": "Total beta",
    "top_concentration": "gamma",
    "a_alpha": "alpha: shape",
    "b_alpha": "alpha: rate",
    "a_beta": "beta: shape",
    "b_beta": "beta: rate",
    "prior": "Prior of psi",
    "order": "Order on the stick",
    "order_seed": "Seed of the order",
    "start_sweeps": "Initial sweeps",
    "tau": "Learning-rate delay",
    "kappa": "Learning-rate exponent κ",
    "batch_size": "Documents per batch",
    "tau0": "Learning-rate delay τ0",
    "total_documents": "Total documents",
    "q": "Step variance q",
    "a_q": "q: shape",
    "b_q": "q: scale",
    "word_alpha": "Prior of words",
    "documents": "Sticks of documents",
    "step_variance": "Step variance",
    "length_time": "Length scale in time",
    "length_space": "Length scale in space",
    "scale": "Variance",
    "noise": "Noise variance",
    "predict": "Prediction",
    "average_after": "Average after iteration",
    "state_dim": "State dimension",
    "sigma_c2": "Variance of C",
    "learn_sigma_c2": "Learn variance of C",
    "a_sigma_c2": "Variance of C: shape",
    "b_sigma_c2": "Variance of C: scale",
    "n_particles": "Particles",
    "sweep_particles": "Particles per sweep",
    "n_states": "States",
    "alpha0": "Prior of words",
    "n_draws": "Draws",
    "network": "Bayesian network",
    "missing": "Missing cells",
    "least": "Smallest probability",
    "a_gamma": "gamma: shape",
    "b_gamma": "gamma: rate",
    "a_tau": "tau: prior",
}
"""Labels of the fields whose label is not their name; see `label_of`."""
NOUNS = {
    "n_topics": "topics",
    "alpha": "alpha",
    "beta": "beta",
    "n_iterations": "iterations",
    "seed": "seed",
    "seeds": "number of seeds",
    "jobs": "parallel runs",
    "holdout": "held-out share",
    "top_words": "vocabulary",
    "merge": "documents joined",
    "repeat": "counts repeated",
}
"""Settings that a sentence calls by a noun; the others by their labels, in quotes."""
OPTION = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")
"""A word that is the name of an option."""
EMPTY = {None: "; the field is empty", "": "; there is none beside a comma"}
"""The end of a sentence about an empty value."""


def label_of(name: str) -> str:
    """The label of a field or an option: the one in `LABELS`, else its name in words."""
    words = name.replace("_", " ")
    return LABELS.get(name, words[:1].upper() + words[1:])


def counted(n: int) -> str:
    """A number of runs in words."""
    return "1 run" if n == 1 else f"{n:,} runs"


def labelled(text: str, choices: tuple = ()) -> str:
    """A text about an option with the labels of other options for their names, and its choices as the menu has them."""
    words = [
        f"“{label_of(word)}”" if OPTION.fullmatch(word) and word not in choices else word
        for word in text.split(" ")
    ]
    text = " ".join(words)
    for choice in map(str, choices):
        text = text.replace(choice, choice.replace("_", " "))
    return text


def worded(error: ValueError) -> str:
    """The error as one sentence of the page."""
    return sentence_of(ValueError(one_sentence(getattr(error, "parts", (str(error),)), _worded)))


def _worded(part) -> str:
    if isinstance(part, Got) and part.value in EMPTY:
        return EMPTY[part.value]
    if not isinstance(part, Named):
        return str(part)
    label = f"“{label_of(part.field)}”"
    if part.value is ALONE:
        return NOUNS.get(part.field, label)
    if part.value is ...:
        return f"under {label}"
    return f"{label} {label_of_value(part.value)}"


def label_of_value(value) -> str:
    """Return a value of an option as its menu shows it."""
    return {"True": "yes", "False": "no", "None": "none"}.get(
        str(value), str(value).replace("_", " ")
    )
