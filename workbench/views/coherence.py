"""Coherence or another score of each topic."""

from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import MeasureError, coherence, spec_of
from workbench.views.elements import (
    COLOURS,
    INK,
    RC,
    ROW,
    axis,
    element,
    height_of,
    panel,
    rows_below,
)
from workbench.views.picture import WHOSE, Picture, SideBySide, View, fitting_panels, rows_of
from workbench.views.topics import names_of_topics

NAMES = {
    "npmi": ("NPMI", ""),
    "u_mass": ("u_mass", "nats"),
    "c_v": ("c_v", ""),
    "diversity": ("diversity", ""),
}
MEASURES = ("npmi", "c_v", "u_mass")
MOST_TOPICS, FEWEST = 40, 8
"""Maximum of rows of a panel, and minimum if several panels share a column of a page."""
ABOVE = 0.45
"""Inches of a panel in addition to its rows."""


def coherence_view(
    scores: xr.Dataset,
    measure: str = "npmi",
    names: Mapping[int, str] | None = None,
    colour: str = COLOURS[0],
    marker: str = "o",
    title: str = "",
    most: int = MOST_TOPICS,
):
    """Draw a score of each topic, highest first, and a line at the mean over topics.

    ``scores`` (topic) is the result of `workbench.measures.coherence` or `workbench.measures.diversity`, ``measure`` one of
    "npmi", "u_mass", "c_v", "diversity"; ``names`` are topic names (see `workbench.views.names_of_topics`), by default the
    numbers. Returns an overlay of `Segments` from the mean to each topic, `Scatter` (coherence, place) and a `VLine` at the
    mean; topics without a score are at the end. Of more than ``most`` topics only the best and the worst half are drawn.
    """
    if measure not in NAMES:
        raise MeasureError(f"no coherence '{measure}'; there are {', '.join(NAMES)}")
    values, names = scores[measure].values, names or {}
    mean = float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else 0.0
    order = np.argsort(-values, kind="stable")  # NaN last
    if len(order) > most:
        order = np.concatenate([order[: most // 2], order[-(most // 2) :]])
    x, y = axis(measure, NAMES[measure][0], NAMES[measure][1] or None), axis("place", " ")
    places = -np.arange(len(order))
    has_score, topics = np.isfinite(values[order]), scores["topic"].values.tolist()
    bars = [
        (mean, place, values[topic], place)
        for place, topic in zip(places[has_score], order[has_score], strict=True)
    ]
    return panel(
        [
            element(
                "Segments", bars, [x, y, "coherence", "same place"], color=colour, linewidth=1.0
            ),
            element(
                "Scatter",
                (values[order][has_score], places[has_score]),
                x,
                y,
                color=colour,
                marker=marker,
                s=16,
                linewidth=0,
                show_grid=True,
            ),
            element("VLine", mean, color=INK, linewidth=0.8, linestyle=":"),
        ],
        yticks=[
            (
                int(place),
                names.get(topics[topic], str(topics[topic]))
                + ("" if is_scored else ", too few words"),
            )
            for place, topic, is_scored in zip(places, order, has_score, strict=True)
        ],
        ylim=(0.5 - len(order), 0.5),
        padding=0.05,
        title=title,
        fig_inches=(3.4, ABOVE + ROW * len(order)),
        aspect="auto",
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def draw_coherence(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Draw the NPMI coherence of topics for one run per label, if its training tokens are available."""
    runs = {
        label: run
        for label, run in shown.first("phi", "n_kw").items()
        if spec_of(run).train in shown.corpora
    }
    drawn, left_out = fitting_panels(runs)
    most, fewer = _most(len(drawn), shown.columns), ""
    rows, panels, letters = [], [], 16 if shown.columns == 2 and len(drawn) > 2 else 28
    for label, run in runs.items():
        scores = coherence(run, shown.corpora[spec_of(run).train])
        rows += rows_of(label, run, scores.to_dataframe().reset_index()[["topic", *MEASURES]])
        if label in drawn:
            names, look = names_of_topics(run, 3, letters), shown.looks[label]
            panels.append(
                coherence_view(scores, "npmi", names, look.colour, look.marker, label, most)
            )
            fewer = _cut_note(most) if scores.sizes["topic"] > most else fewer
    if panels:
        yield view.picture(
            "Coherence of the ten most probable words of each topic in the training documents: the mean normalised pointwise "
            "mutual information of their pairs, where two words co-occur when a document has both; from -1 to 1, higher is "
            "better. A row for each topic, named by its first words, the most coherent first; the dotted line is the mean "
            f"over topics. One run of each label; the table also has c_v and u_mass (nats).{fewer}{left_out}",
            panels,
            [*WHOSE, "topic", *MEASURES],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
        )


def _most(n_panels: int, columns: int) -> int:
    """Return the largest number of topics that a panel may list, which is even."""
    return (
        MOST_TOPICS
        if columns == 2 or not n_panels
        else rows_below(n_panels, ABOVE, MOST_TOPICS, FEWEST) // 2 * 2
    )


def _cut_note(most: int) -> str:
    return (
        f" Only the {most // 2} best and the {most // 2} worst topics are drawn; the table has all."
    )
