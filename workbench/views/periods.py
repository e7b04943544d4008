"""Shares of topics over the times of documents: stacked by period, and one panel with intervals per topic."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import spec_of, topics_over_time, words_by_group
from workbench.measures.groups import COLUMN, periods_of
from workbench.measures.periods import PERIODS, fitting_period
from workbench.views.elements import COLOURS, GREY, RC, axis, band, element, panel
from workbench.views.groups import interval
from workbench.views.over_time import rising, spaced
from workbench.views.picture import WHOSE, Menu, Picture, SideBySide, View, rows_of
from workbench.views.topics import names_of_topics

COLUMNS = ("period", "topic", "share", "low", "high", "n_documents", "n_tokens")
MOST_TOPICS = len(COLOURS)
"""Maximum of panels of topics of one run, besides the stacked one."""
MOST_ON_PAGE = 400
"""Maximum of periods on a page."""
MOST_WITH_WORDS = 60
"""Maximum of periods for which words are computed."""
PANEL = (3.4, 1.9)
STACKED = 0.55
"""Opacity of a layer."""


def stacked_view(
    shares_table: xr.Dataset, topics: list[int], names: dict[int, str], title: str = ""
):
    """Draw stacked shares by period of some topics, and of all others on top, as a `holoviews.Overlay` of `Area`."""
    places, below = _places(shares_table), np.zeros(shares_table.sizes["time"])
    parts, shares = [], shares_table["share"].transpose("topic", "time")
    layers = [
        (names[topic], shares.sel(topic=topic).values, colour)
        for topic, colour in zip(topics, COLOURS, strict=False)
    ]
    rest = [topic for topic in shares_table["topic"].values.tolist() if topic not in topics]
    if rest:
        layers.append(
            ("all others", shares.sel(topic=rest).sum("topic", skipna=False).values, GREY)
        )
    x, y = axis("time", " "), axis("stacked", "shares, stacked")
    for name, share, colour in layers:
        above = below + np.nan_to_num(share)
        parts.append(band((places, below, above), x, y, colour, STACKED, name, linewidth=0.4))
        below = above
    return panel(
        parts,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        ylim=(0.0, 1.0),
        xticks=_ticks(shares_table),
        fig_rcparams=RC,
    )


def topic_over_time_view(
    shares_table: xr.Dataset,
    topic: int,
    title: str = "",
    colour: str = COLOURS[0],
    top: float | None = None,
):
    """Draw one topic's share by period with 95 % intervals, as a `holoviews.Overlay`."""
    places, topic_shares = _places(shares_table), shares_table.sel(topic=topic)
    share, low, high = (topic_shares[name].values for name in ("share", "low", "high"))
    x, y = axis("time", " "), axis("share", "share of tokens")
    parts, has_interval = [], np.isfinite(low)
    if has_interval.any():
        edges = (
            places,
            np.maximum(np.where(has_interval, low, share), 0.0),
            np.where(has_interval, high, share),
        )
        parts.append(band(edges, x, y, colour))
    parts += [element("Curve", (places, share), x, y, color=colour, linewidth=1.2)]
    has_share = np.isfinite(share)
    parts.append(
        element("Points", (places[has_share], share[has_share]), [x, y], color=colour, s=8)
    )
    top = top or 1.08 * float(np.nanmax(np.where(has_interval, high, share)))
    return panel(
        parts,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        ylim=(0.0, top),
        xticks=_ticks(shares_table),
        fig_rcparams=RC,
    )


def period_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """Return the control that chooses the length of periods; () if only years are possible."""
    times = _times(run)
    shortest = fitting_period(times, MOST_ON_PAGE) if any(times) else "year"
    choices = list(PERIODS)[: list(PERIODS).index(shortest) + 1]
    return (
        (Menu("period", "Period", tuple(choices), fitting_period(times)),)
        if len(choices) > 1
        else ()
    )


def draw_topics_over_time(
    view: View, shown: SideBySide, period: str | None = None
) -> Iterator[Picture]:
    """Draw topic shares by period for one run per label whose documents span at least two periods."""
    runs = shown.first("n_dk", "phi", f"{COLUMN}time")
    for number, (label, run) in enumerate(runs.items(), start=1):
        times = _times(run)
        if not any(time is not None for time in times):
            continue
        length = period if period in PERIODS else fitting_period(times)
        shares_table = topics_over_time(run, "time", length)
        if np.isfinite(shares_table["share"].isel(topic=0)).sum() < 2:
            continue
        topics = _moving(shares_table)
        names, long_names = names_of_topics(run, 3, 34), names_of_topics(run, 6, 80)
        words = _words(run, shown.corpora.get(spec_of(run).train), length, shares_table)
        top = 1.08 * float(np.nanmax(shares_table[["share", "high"]].sel(topic=topics).to_array()))
        panels = [stacked_view(shares_table, topics, names, label)]
        panels += [
            topic_over_time_view(shares_table, topic, names[topic], colour, top)
            for topic, colour in zip(topics, COLOURS, strict=False)
        ]
        rows = (
            shares_table.to_dataframe().reset_index().sort_values(["topic", "time"])[list(COLUMNS)]
        )
        more = shares_table.sizes["topic"] - len(topics)
        picture = view.picture(
            f"Share of each topic in the tokens of a {length}, with Student's 95 % intervals over documents: the "
            f"{len(topics)} topics whose share changes most, stacked in the first panel in the same colours"
            f"{f'; {more} more are in the table' if more else ''}. Periods without a token are left out.",
            panels,
            [*WHOSE, *COLUMNS],
            rows_of(label, run, rows),
            legend=False,
            height=PANEL[1],
            runs=[run],
            hover={
                "Points": [
                    _texts(shares_table, topic, long_names[topic], words) for topic in topics
                ]
            },
        )
        several = len(runs) > 1
        yield (
            replace(picture, name=f"{picture.name}-{number}", title=f"{picture.title}: {label}")
            if several
            else picture
        )


def _times(run: xr.Dataset) -> list:
    """Return the time of each document (document,), None if unknown."""
    return [None if time == "" else time for time in run[f"{COLUMN}time"].values.tolist()]


def _moving(shares_table: xr.Dataset) -> list[int]:
    """Return the topics whose shares change most over the periods, sorted by mean period."""
    shares = shares_table["share"].transpose("topic", "time").values
    chosen = np.sort(
        np.argsort(-(np.nanmax(shares, axis=1) - np.nanmin(shares, axis=1)), kind="stable")[
            :MOST_TOPICS
        ]
    )
    return shares_table["topic"].values[chosen[rising(shares[chosen])]].tolist()


def _places(shares_table: xr.Dataset) -> np.ndarray:
    """Return the position of each period on the axis: 0, 1, …"""
    return np.arange(shares_table.sizes["time"], dtype=float)


def _ticks(shares_table: xr.Dataset) -> list[tuple[float, str]]:
    names = shares_table["period"].values.tolist()
    return [(float(place), str(names[place])) for place in spaced(np.arange(len(names)), 5)]


def _words(
    run: xr.Dataset, corpus: Corpus | None, period: str, shares_table: xr.Dataset
) -> xr.Dataset | None:
    """Return the top words of each topic in each period; None without the corpus, or for too many periods."""
    if corpus is None or shares_table.sizes["time"] > MOST_WITH_WORDS:
        return None
    return words_by_group(run, corpus, periods_of(run, "time", period))


def _texts(shares_table: xr.Dataset, topic: int, name: str, words: xr.Dataset | None) -> list[str]:
    """Return the tooltip of each point of a topic's curve: period, share, documents, and the topic's words in that period."""
    texts, topic_shares = [], shares_table.sel(topic=topic)
    shares, lows, highs, n_documents = (
        topic_shares[key].values for key in ("share", "low", "high", "n_documents")
    )
    top = None if words is None else words["word"].sel(topic=topic).transpose("group", "rank")
    words_of_period = (
        {}
        if top is None
        else dict(zip(top["group"].values.tolist(), top.values.tolist(), strict=True))
    )
    for period_name, share, low, high, n in zip(
        topic_shares["period"].values, shares, lows, highs, n_documents, strict=True
    ):
        if np.isfinite(share):
            text = f"{name}\n{period_name}: {share:.2%}{interval(low, high)} of the tokens, {n:,} documents"
            period_words = " ".join(filter(None, words_of_period.get(str(period_name), [])))
            texts.append(f"{text}\n{period_words}" if top is not None else text)
    return texts
