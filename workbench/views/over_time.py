"""Topics by year: their shares, and the change of their words."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.views.elements import COLOURS, RC, ROW, axis, element, height_of, panel, text_labels
from workbench.views.picture import (
    RUN_COLUMNS,
    Picture,
    RunsOfLabels,
    RunsToDraw,
    View,
    fitting_panels,
    rows_of,
)
from workbench.views.topics import names_of_topics

SHARES, WORDS = ("time", "topic", "prevalence"), ("topic", "word", "time", "phi_by_time")
MOST_TOPICS, MOST_WORDS = 6, 6
"""Maximum of panels of one run, and words in each."""
PANEL = (3.4, 2.1)
"""Width and height of a panel of words, inches."""


def prevalence_view(run: xr.Dataset, title: str = ""):
    """Draw the shares of topics by year, topics sorted by mean year, as a `holoviews.Overlay` of a `QuadMesh`.

    Years without tokens are blank; the title gives the share at the end of the colour scale.
    """
    shares, years = run["prevalence"].transpose("topic", "time").values, run["time"].values
    order, names = order_by_mean_year(shares), names_of_topics(run, 3, 30)
    sorted_shares, most = shares[order], float(np.nanmax(shares))
    numbers = run["topic"].values[order].tolist()
    mesh = element(
        "QuadMesh",
        (years, -np.arange(len(order)), sorted_shares),
        [axis("time", "year"), axis("topic", " ")],
        vdims=axis("prevalence", "share of the year's tokens"),
        cmap="Blues",
        clim=(0.0, most),
    )
    return panel(
        [mesh],
        title=f"{title}, full colour: {most:.0%}".removeprefix(", "),
        aspect="auto",
        show_grid=False,
        fig_inches=(3.4, 0.9 + max(ROW * len(order), 1.2)),
        xticks=[(year, str(year)) for year in spaced_ticks(years)],
        yticks=[
            (-position, names.get(number, str(number))) for position, number in enumerate(numbers)
        ],
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def words_view(run: xr.Dataset, topic: int, title: str = "", top: float | None = None):
    """Draw p(word | topic) by year for the words of a topic that change most, as one `Curve` per word.

    ``top`` is the end of the axis, by default 1.1 times the largest probability.
    """
    phi = run["phi_by_time"].isel(snapshot=-1).sel(topic=topic).transpose("time", "word").values
    years, x, y = run["time"].values, axis("time", "year"), axis("p", "p(word | topic)")
    words = changing_words(phi)
    top = top or 1.1 * float(phi[:, words].max())
    ends = spread_out_heights(phi[-1, words], 0.085 * top)
    elements, margin = [], max(0.35 * float(np.ptp(years)), 1.0)
    for word, end, colour in zip(words, ends, COLOURS, strict=False):
        name = str(run["word"].values[word])
        curve = (years, phi[:, word])
        elements.append(element("Curve", curve, x, y, color=colour, linewidth=1.2))
        if len(years) == 1:
            elements.append(element("Scatter", curve, x, y, color=colour, s=12))
        elements.append(
            text_labels(
                [(years[-1] + 0.03 * margin, end, name)], "word", align="left", color=colour
            )
        )
    return panel(
        elements,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        xlim=(years[0] - 0.05 * margin, years[-1] + margin),
        ylim=(0.0, top),
        xticks=[(year, str(year)) for year in spaced_ticks(years)],
    )


def order_by_mean_year(shares: np.ndarray) -> np.ndarray:
    """Return the indices of topics, sorted by mean year with weights ``shares`` (topic, year)."""
    filled_shares = np.nan_to_num(shares)
    return np.argsort(
        filled_shares @ np.arange(shares.shape[1]) / np.maximum(filled_shares.sum(axis=1), 1e-300),
        kind="stable",
    )


def changing_words(phi: np.ndarray, n: int = MOST_WORDS) -> np.ndarray:
    """Return the indices of the n words of phi (year, word) that change most, sorted by probability in the last year."""
    words = np.argsort(-np.ptp(phi, axis=0), kind="stable")[:n]
    return words[np.argsort(-phi[-1, words], kind="stable")]


def spread_out_heights(heights: np.ndarray, gap: float) -> np.ndarray:
    """Return the heights of texts, highest first, moved up where they are less than ``gap`` apart."""
    spread_heights = heights.astype(float)
    for index in range(len(spread_heights) - 2, -1, -1):
        spread_heights[index] = max(spread_heights[index], spread_heights[index + 1] + gap)
    return spread_heights


def moving_topics(run: xr.Dataset, n: int = MOST_TOPICS) -> list[int]:
    """Return the numbers of the n topics whose words change most between first and last year, weighted by tokens."""
    phi = run["phi_by_time"].isel(snapshot=-1).transpose("time", "topic", "word").values
    movements = (
        np.abs(phi[-1] - phi[0]).sum(axis=1) * run["n_kw"].isel(snapshot=-1).sum("word").values
    )
    return run["topic"].values[np.argsort(-movements, kind="stable")[:n]].tolist()


def spaced_ticks(years: np.ndarray, most: int = 5) -> list[int]:
    """Return at most ``most`` evenly spaced years for axis ticks, the first included."""
    return years[:: max(-(-len(years) // most), 1)].tolist()


def draw_prevalence(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw topic shares by year for one run per label whose topics change over time."""
    collection = RunsOfLabels(selection.first("prevalence", "phi"))
    for label, run in collection.runs.items():
        rows = run["prevalence"].to_dataframe().reset_index()[list(SHARES)]
        collection.add(label, rows, [prevalence_view(run, label)])
    yield from collection.pictures(
        view,
        "Share of each topic in the tokens of a year, for the last draw of the topics. Topics are sorted by their mean year: "
        "falling ones on top, rising ones below. Years without a token are blank. One run of each label.",
        SHARES,
    )


def draw_words_by_year(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the topics whose words change most, a panel per topic, for one run per label."""
    runs = selection.first("phi_by_time")
    runs_of_topics = {
        (label, topic): run for label, run in runs.items() for topic in moving_topics(run)
    }
    first_topics, left_out = fitting_panels(runs_of_topics, "topics")
    top = 1.1 * max(
        float(run["phi_by_time"].isel(snapshot=-1).sel(topic=topic).max())
        for (_, topic), run in first_topics.items()
    )
    rows, panels = [], []
    for (label, topic), run in runs_of_topics.items():
        phi = run["phi_by_time"].isel(snapshot=-1).sel(topic=topic)
        words = changing_words(phi.transpose("time", "word").values)
        table = phi.isel(word=words).transpose("word", "time").to_dataframe().reset_index()
        rows += rows_of(label, run, table[list(WORDS)])
        if (label, topic) in first_topics:
            title = names_of_topics(run, 3, 28)[topic]
            panels.append(
                words_view(run, topic, title if len(runs) == 1 else f"{label}: {title}", top)
            )
    yield view.picture(
        f"Probability by year of the {MOST_WORDS} words of a topic that change most (last draw), for the {MOST_TOPICS} topics "
        "whose words change most from the first to the last year, weighted by their tokens. One run of each label."
        f"{left_out}",
        panels,
        [*RUN_COLUMNS, *WORDS],
        rows,
        legend=False,
        height=height_of(panels),
        runs=list(runs.values()),
    )
