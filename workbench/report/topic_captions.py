"""What captions say of figures of topics, on paper and on the Topics page alike."""

from __future__ import annotations

import xarray as xr

from workbench.measures import spec_of

COHERENCES = {
    "u_mass": "u_mass is the mean log conditional share of documents (nats, at most about 0)",
    "npmi": "NPMI the mean normalised pointwise mutual information of the pairs (from -1 to 1)",
    "c_v": "c_v the mean cosine of the words' NPMI with that of all",
}


def map_told(run: xr.Dataset, points: xr.Dataset) -> str:
    """Of the map of a run's topics; ``points`` are what `workbench.measures.topic_map` found."""
    return (
        f"Topics of one run (seed {spec_of(run).seed}) at its last snapshot: near each other where their words are alike; the "
        "area of a circle is the topic's share of the training tokens. Classical scaling of the square root of the "
        f"Jensen-Shannon divergence of phi (base 2), of which the plane shows {100 * points.attrs['shown']:.0f} %: circles "
        "that lie on each other need not be alike. A number is that of the smallest circle around it, or of the circle that "
        "its line leads to; numbers are the run's own."
    )


def words_told(run: xr.Dataset, relevance: float = 1.0, topic: int | None = None) -> str:
    """Of the words of all topics of a run, or of one, ranked by relevance."""
    ranked = "most probable words" if relevance == 1 else f"words of the highest relevance (lambda = {relevance:g})"
    whose, order = ("each topic", ", largest topic first,") if topic is None else (f"topic {topic}", "")
    return (
        f"The {ranked} of {whose} of one run (seed {spec_of(run).seed}) at its last snapshot{order} with the topic's share of "
        "the training tokens; bars and numbers are p(word | topic), on one scale."
    )


def sizes_told(which: str) -> str:
    """Of the sizes of topics over the iterations; ``which`` says of which runs."""
    return (
        "(Expected) training tokens of each topic over the iterations, a line for each topic, the finally largest strongest; "
        f"{which}."
    )


def flow_told(left: str, right: str) -> str:
    """Of the tokens that topics of two runs share; left and right are what the runs are called."""
    return (
        f"Which topics of {left} (left) and {right} (right) are the same: ribbons are as thick as the training tokens that "
        "both topics are expected to share, coloured between topics that are matched (each once, by the smallest sum of "
        "distances), grey between others; thinner than 0.6 % of the tokens is not drawn. The distance of a match is the "
        "square root of the Jensen-Shannon divergence of the words (base 2): 0 the same, 1 no word in common."
    )


def scores_told(run: xr.Dataset) -> str:
    """Of a panel for each coherence of the topics of a run."""
    return (
        f"How well the ten most probable words of each topic of one run (seed {spec_of(run).seed}) go together in the training "
        f"documents, where two words are together when a document has both: {'; '.join(COHERENCES.values())}; higher is "
        "better. A row for each topic, by its number, the most coherent of a panel first; dotted lines are means over topics."
    )
