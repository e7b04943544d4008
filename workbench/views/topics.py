"""What is in the topics of one run: their words with probabilities, and their sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import xarray as xr

from workbench.measures import MeasureError, one_run, spec_of, top_words, topic_sizes, topics_by_size, used_topics
from workbench.models import HDP
from workbench.views.curves import dimension
from workbench.views.style import COLOURS, INK, RC

ACROSS = 5
"""Topics side by side on two columns of a page: words of 14 letters fit."""
MOST_LETTERS = 15
ROW = 0.135
"""Height of a line of words, inches."""
BASE, LENGTH = 0.5, 0.3
"""Where bars begin, and how long the longest is, as shares of the width of a topic."""


def topic_words_view(
    run, n_words: int = 10, topics=None, relevance: float = 1.0, across: int = ACROSS, colour: str = COLOURS[0],
    title: str = "",
):
    """The top words of each topic with a bar of their probability: bars of all topics have one scale.

    Parameters
    ----------
    run : Dataset
        Of a run, with its counts.
    n_words : int
    topics : list of int, optional
        The run's own numbers, drawn in this order; by default all (of an HDP those with a token), largest first.
    relevance : float from 0 to 1
        What words are ranked by; see `workbench.measures.top_words`. The bars are phi in any case.
    across : int
        Topics side by side.

    Returns
    -------
    holoviews.Overlay
        `Rectangles` (bars) and three `Labels`: headings (number and share of the tokens), words, probabilities.
        Its height in inches, for a width of ``across`` topics, is what `words_height` says.

    Raises
    ------
    MeasureError
        No run with counts, or a topic that it does not have.
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    run = one_run(run)
    found, sizes = top_words(run, n_words, relevance), topic_sizes(run)
    chosen = _chosen(sizes, topics_by_size(run) if topics is None else topics)
    n_words, across = found.sizes["rank"], min(across, len(chosen))
    longest = float(found["phi"].sel(topic=chosen).max())
    bars, headings, words, numbers = [], [], [], []
    for at, topic in enumerate(chosen):
        left, top = at % across, -(at // across) * (n_words + 1.8)
        headings.append((left + BASE, top, f"topic {topic} · {100 * float(sizes['share'].sel(topic=topic)):.1f} %"))
        own = found.sel(topic=topic)
        for rank, (word, phi) in enumerate(zip(own["word"].values, own["phi"].values.tolist(), strict=True), start=1):
            middle, end = top - rank, left + BASE + LENGTH * phi / longest
            bars.append((left + BASE, middle - 0.36, end, middle + 0.36, phi))
            words.append((left + BASE - 0.015, middle, fitting(str(word))))
            numbers.append((end + 0.015, middle, f"{phi:.3f}".lstrip("0") if phi < 1 else "1"))
    down = math.ceil(len(chosen) / across)
    drawn = [
        hv.Rectangles(bars, vdims=[dimension("phi")]).opts(color=colour, linewidth=0, alpha=0.75, backend="matplotlib"),
        *(
            hv.Labels(texts, ["x", "y"], name, label=name).opts(
                size=size, color=INK, horizontalalignment=align, backend="matplotlib", **more
            )
            for name, texts, size, align, more in (
                ("heading", headings, 6.5, "center", {"weight": "bold"}), ("word", words, 6, "right", {}),
                ("probability", numbers, 6, "left", {}),
            )
        ),
    ]
    return hv.Overlay(drawn).opts(
        xlim=(0, across), ylim=(-down * (n_words + 1.8) + 0.6, 0.9), xaxis=None, yaxis=None, show_frame=False, show_grid=False,
        show_legend=False, title=title, fig_inches=(1.4 * across, words_height(len(chosen), n_words, across)), aspect="auto",
        fig_rcparams=RC, backend="matplotlib",
    )


def words_height(n_topics: int, n_words: int, across: int = ACROSS) -> float:
    """Inches that `topic_words_view` needs for letters to be legible."""
    return ROW * math.ceil(n_topics / across) * (n_words + 1.8)


def names_of_topics(run, n_words: int = 3, letters: int = 30, labels: Mapping[int, str] | None = None) -> dict[int, str]:
    """By topic its number with the label that people gave it, or with its top words: ``3 · network layers units``.

    As many words as fit into the letters, a label or a first word cut where it is longer; of an HDP only topics with a token.
    ``labels``: number → text; by default those that the Dataset holds.

    Raises
    ------
    MeasureError
        No run with counts.
    """
    run = used_topics(one_run(run))
    words = top_words(run, n_words)["word"]
    if labels is None and "topic_label" in run:
        labels = dict(zip(run["topic"].values.tolist(), map(str, run["topic_label"].values), strict=True))
    found = {}
    for topic in run["topic"].values.tolist():
        told = (labels or {}).get(topic, "")
        for word in words.sel(topic=topic).values if not told else ():
            if told and len(f"{topic} · {told} {word}") > letters:
                break
            told = f"{told} {word}".strip()
        found[topic] = fitting(f"{topic} · {told}", letters)
    return found


def topic_sizes_view(run, colour: str = COLOURS[0], title: str = ""):
    """(Expected) tokens of each topic at the last record, largest first, with a line where all would be equal.

    Of an HDP only topics with a token.

    Returns
    -------
    holoviews.Overlay
        `Bars` with the run's own numbers of the topics along the axis, and an `HLine`. For sizes over the
        iterations see `topic_size_curves`.

    Raises
    ------
    MeasureError
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    run = one_run(run)
    sizes = run["n_k"].isel(iteration=-1).values
    order = np.argsort(-sizes, kind="stable")
    if isinstance(spec_of(run).parts()[1], HDP):
        order = order[: max(int((sizes >= 1 - 1e-9).sum()), 1)]
    bars = [(str(topic), size) for topic, size in zip(run["topic"].values[order], sizes[order], strict=True)]
    few = len(bars) <= 20
    return hv.Overlay([
        hv.Bars(bars, hv.Dimension("topic", label="topic, largest first"), dimension("n_k")).opts(
            color=colour, edgecolor="none", show_grid=True, xrotation=0 if few else 90, backend="matplotlib"
        ),
        hv.HLine(float(sizes[order].mean())).opts(color=INK, linewidth=0.8, linestyle=":", backend="matplotlib"),
    ]).opts(
        aspect=2.4, fig_inches=3.4, title=title, show_legend=False, fig_rcparams=RC if few else RC | {"xtick.labelsize": 6},
        backend="matplotlib",
    )


def _chosen(sizes: xr.Dataset, topics) -> list[int]:
    """The topics that are meant, or a sentence."""
    there, chosen = sizes["topic"].values.tolist(), list(topics)
    unknown = [topic for topic in chosen if topic not in there]
    if unknown or not chosen:
        raise MeasureError(f"topics go from {there[0]} to {there[-1]}; got {unknown[0] if unknown else 'none'}")
    return [int(topic) for topic in chosen]


def fitting(text: str, letters: int = MOST_LETTERS) -> str:
    """The text, cut with a mark where it has more letters."""
    return text if len(text) <= letters else text[: letters - 1] + "…"
