"""What the live figure can show: its axes and measures, and the charts into which measures are grouped."""

from workbench.engines import every_score
from workbench.measures import DERIVED
from workbench.models import VARIABLES
from workbench.numbers import capital

AXES = {
    "iterations": ("iteration", "iteration"),
    "steps": ("steps", "steps: topics of each iteration, summed"),
    "updates": ("updates", "site updates"),
    "seconds": ("elapsed", "seconds of inference"),
}
"""Axis → (column, label)."""
HELD_OUT = "held-out perplexity"
SCORES = {
    name.removeprefix("test_").replace("_", " "): each for name, each in every_score().items()
}
"""Measure → variable of a score that some model families have besides perplexities."""
MEASURES = {
    "headline": (("test_perplexity",), HELD_OUT),
    "state": (("test_perplexity_state",), f"{HELD_OUT} of the state"),
    "average": (("test_perplexity_average",), f"{HELD_OUT} of the running average"),
    "by document": (("test_perplexity_by_document",), f"{HELD_OUT}, averaged by document"),
    "joint": (("test_perplexity_joint",), f"{HELD_OUT}, averaged over all tokens together"),
    "both": (
        ("test_perplexity_state", "test_perplexity_average"),
        f"{HELD_OUT}: state thick, average thin",
    ),
    "training": (("train_perplexity",), "training perplexity"),
    "bound": (("bound_per_token",), "bound, nats per training token"),
    "active": (("n_active_topics",), "topics with at least one token"),
    "large": (("n_large_topics",), "topics with a hundredth of the tokens or more"),
    "effective": (("effective_topics",), "topics, exponential of the entropy of their sizes"),
    "alpha": (("alpha_total",), "alpha, summed over topics"),
    "beta": (("beta",), "beta, prior of each word"),
    "beta total": (("beta_total",), "beta, summed over words"),
    "gamma": (("top_concentration",), "gamma, concentration of the topics' weights"),
    **{measure: ((each.name,), f"{measure}, {each.unit}") for measure, each in SCORES.items()},
}
"""Measure → (columns: thick, thin; label)."""
CHARTS = {
    "Perplexity": ("headline", "state", "average", "both", "by document", "joint", "training"),
    "Bound": ("bound",),
    "Number of topics": ("active", "large", "effective"),
    "Priors as learnt": ("alpha", "beta", "beta total", "gamma"),
    **({"Other held-out scores": tuple(SCORES)} if SCORES else {}),
}
"""Chart → its measures, beginning with the one shown first."""
WORDS = {"headline": "Recommended estimate", "close-up": "Zoom to end"}
"""Axis, measure or range → its label on the page if that differs from its name in links."""


def names_by_label(names) -> dict[str, str]:
    """Return a dict label on the page -> name, for the given names of axes, measures, ranges or groupings."""
    return {WORDS.get(name, capital(name)): name for name in names}


def describe_measure(measure: str) -> str:
    """Return a sentence that explains a measure."""
    variables = VARIABLES | DERIVED | {each.name: each for each in SCORES.values()}
    meanings = "; ".join(variables[name].meaning for name in MEASURES[measure][0])
    return f"{capital(meanings)}."
