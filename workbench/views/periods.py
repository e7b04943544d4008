"""Topics over the times of their documents: shares of each period, stacked, and a panel with intervals for each topic."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import spec_of, topics_over_time, words_by_group
from workbench.measures.groups import COLUMN, periods_of
from workbench.measures.periods import PERIODS, fitting_period
from workbench.views.elements import axis, band, element, panel
from workbench.views.groups import interval
from workbench.views.over_time import rising, spaced
from workbench.views.picture import WHOSE, Menu, Picture, SideBySide, View, rows_of
from workbench.views.style import COLOURS, GREY, RC
from workbench.views.topics import names_of_topics

COLUMNS = ("period", "topic", "share", "low", "high", "n_documents", "n_tokens")
MOST_TOPICS = len(COLOURS)
"""Panels of topics of one run, beside the one that stacks them."""
MOST_ON_PAGE = 400
"""Periods that a page offers to draw."""
MOST_TOLD = 60
"""Periods of which the words are shown."""
PANEL = (3.4, 1.9)
STACKED = 0.55
"""Opacity of a layer."""


def stacked_view(found: xr.Dataset, topics: list[int], names: dict[int, str], title: str = ""):
    """Shares of some topics by period, one above the other, and of all others on top: `holoviews.Overlay` of `Area`."""
    here, below = _places(found), np.zeros(found.sizes["time"])
    parts, shares = [], found["share"].transpose("topic", "time")
    layers = [
        (names[topic], shares.sel(topic=topic).values, colour)
        for topic, colour in zip(topics, COLOURS, strict=False)
    ]
    rest = [topic for topic in found["topic"].values.tolist() if topic not in topics]
    if rest:
        layers.append(
            ("all others", shares.sel(topic=rest).sum("topic", skipna=False).values, GREY)
        )
    x, y = axis("time", " "), axis("stacked", "shares, stacked")
    for name, share, colour in layers:
        above = below + np.nan_to_num(share)
        parts.append(band((here, below, above), x, y, colour, STACKED, name, linewidth=0.4))
        below = above
    return panel(
        parts,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        ylim=(0.0, 1.0),
        xticks=_ticks(found),
        fig_rcparams=RC,
    )


def topic_over_time_view(
    found: xr.Dataset,
    topic: int,
    title: str = "",
    colour: str = COLOURS[0],
    top: float | None = None,
):
    """The share of one topic by period with its 95 % interval, as `holoviews.Overlay` of `Curve`, `Area` and `Points`."""
    here, own = _places(found), found.sel(topic=topic)
    share, low, high = (own[name].values for name in ("share", "low", "high"))
    x, y = axis("time", " "), axis("share", "share of tokens")
    parts, there = [], np.isfinite(low)
    if there.any():
        edges = here, np.maximum(np.where(there, low, share), 0.0), np.where(there, high, share)
        parts.append(band(edges, x, y, colour))
    parts += [element("Curve", (here, share), x, y, color=colour, linewidth=1.2)]
    known = np.isfinite(share)
    parts.append(element("Points", (here[known], share[known]), [x, y], color=colour, s=8))
    top = top or 1.08 * float(np.nanmax(np.where(there, high, share)))
    return panel(
        parts,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        ylim=(0.0, top),
        xticks=_ticks(found),
        fig_rcparams=RC,
    )


def period_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """The lengths of a period of which there are not too many; none where times are years."""
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
    """A picture for one run of each label whose documents have times, two periods of them at least."""
    runs = shown.first("n_dk", "phi", f"{COLUMN}time")
    for number, (label, run) in enumerate(runs.items(), start=1):
        times = _times(run)
        if not any(time is not None for time in times):
            continue
        length = period if period in PERIODS else fitting_period(times)
        found = topics_over_time(run, "time", length)
        if np.isfinite(found["share"].isel(topic=0)).sum() < 2:
            continue
        topics = _moving(found)
        names, long_names = names_of_topics(run, 3, 34), names_of_topics(run, 6, 80)
        words = _words(run, shown.corpora.get(spec_of(run).train), length, found)
        top = 1.08 * float(np.nanmax(found[["share", "high"]].sel(topic=topics).to_array()))
        panels = [stacked_view(found, topics, names, label)]
        panels += [
            topic_over_time_view(found, topic, names[topic], colour, top)
            for topic, colour in zip(topics, COLOURS, strict=False)
        ]
        rows = found.to_dataframe().reset_index().sort_values(["topic", "time"])[list(COLUMNS)]
        more = found.sizes["topic"] - len(topics)
        picture = view.picture(
            f"Share that each topic has of the tokens of a {length}, with Student's 95 % intervals over documents: the "
            f"{len(topics)} topics whose share changes most, stacked in the first panel in the same colours"
            f"{f'; {more} more are in the table' if more else ''}. Periods without a token are left out.",
            panels,
            [*WHOSE, *COLUMNS],
            rows_of(label, run, rows),
            legend=False,
            height=PANEL[1],
            runs=[run],
            hover={"Points": [_texts(found, topic, long_names[topic], words) for topic in topics]},
        )
        several = len(runs) > 1
        yield (
            replace(picture, name=f"{picture.name}-{number}", title=f"{picture.title}: {label}")
            if several
            else picture
        )


def _times(run: xr.Dataset) -> list:
    return [None if time == "" else time for time in run[f"{COLUMN}time"].values.tolist()]


def _moving(found: xr.Dataset) -> list[int]:
    """The topics whose share ranges widest over the periods, those that go first, those that come last."""
    shares = found["share"].transpose("topic", "time").values
    some = np.sort(
        np.argsort(-(np.nanmax(shares, axis=1) - np.nanmin(shares, axis=1)), kind="stable")[
            :MOST_TOPICS
        ]
    )
    return found["topic"].values[some[rising(shares[some])]].tolist()


def _places(found: xr.Dataset) -> np.ndarray:
    """Where each period stands on the axis."""
    return np.arange(found.sizes["time"], dtype=float)


def _ticks(found: xr.Dataset) -> list[tuple[float, str]]:
    called = found["period"].values.tolist()
    return [(float(at), str(called[at])) for at in spaced(np.arange(len(called)), 5)]


def _words(
    run: xr.Dataset, corpus: Corpus | None, period: str, found: xr.Dataset
) -> xr.Dataset | None:
    """The words of the topics in each period; None without the corpus, or where there are many periods."""
    if corpus is None or found.sizes["time"] > MOST_TOLD:
        return None
    return words_by_group(run, corpus, periods_of(run, "time", period))


def _texts(found: xr.Dataset, topic: int, name: str, words: xr.Dataset | None) -> list[str]:
    """What each point of a topic says: period, share, documents, and its words there."""
    texts, own = [], found.sel(topic=topic)
    shares, lows, highs, n_documents = (
        own[key].values for key in ("share", "low", "high", "n_documents")
    )
    top = None if words is None else words["word"].sel(topic=topic).transpose("group", "rank")
    of_period = (
        {}
        if top is None
        else dict(zip(top["group"].values.tolist(), top.values.tolist(), strict=True))
    )
    for called, share, low, high, n in zip(
        own["period"].values, shares, lows, highs, n_documents, strict=True
    ):
        if np.isfinite(share):
            told = (
                f"{name}\n{called}: {share:.2%}{interval(low, high)} of the tokens, {n:,} documents"
            )
            found_words = " ".join(filter(None, of_period.get(str(called), [])))
            texts.append(f"{told}\n{found_words}" if top is not None else told)
    return texts
