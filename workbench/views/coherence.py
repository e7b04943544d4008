"""Coherence or another number of each topic."""

from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import MeasureError, coherence, spec_of
from workbench.views.elements import ROW, axis, element, height_of, panel, rows_below
from workbench.views.picture import WHOSE, Picture, SideBySide, View, fitting_panels, rows_of
from workbench.views.style import COLOURS, INK, RC
from workbench.views.topics import names_of_topics

NAMES = {
    "npmi": ("NPMI", ""),
    "u_mass": ("u_mass", "nats"),
    "c_v": ("c_v", ""),
    "diversity": ("diversity", ""),
}
MEASURES = ("npmi", "c_v", "u_mass")
COHERENCES = {
    "u_mass": "u_mass is the mean log conditional share of documents (nats, at most about 0)",
    "npmi": "NPMI the mean normalised pointwise mutual information of the pairs (from -1 to 1)",
    "c_v": "c_v the mean cosine of the words' NPMI with that of all",
}
MOST_TOPICS, FEWEST = 40, 8
"""Rows of a panel, and the least of several on one column of a page."""
ABOVE = 0.45
"""Inches of a panel beside its rows."""


def coherence_view(
    scores: xr.Dataset,
    measure: str = "npmi",
    names: Mapping[int, str] | None = None,
    colour: str = COLOURS[0],
    marker: str = "o",
    title: str = "",
    most: int = MOST_TOPICS,
):
    """A number of each topic, the highest first, with a line at the mean over topics.

    ``scores`` (topic) is what `workbench.measures.coherence` or `workbench.measures.diversity` finds, ``measure`` one of
    "npmi", "u_mass", "c_v", "diversity"; ``names`` are those of topics (see `workbench.views.names_of_topics`), by default
    their numbers. An overlay of `Segments` from the mean to each topic, `Scatter` (coherence, place) and a `VLine` at the mean;
    topics without a number are named at the end. Of more than ``most`` topics the best and the worst, as many of both.
    """
    if measure not in NAMES:
        raise MeasureError(f"no coherence '{measure}'; there are {', '.join(NAMES)}")
    values, names = scores[measure].values, names or {}
    mean = float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else 0.0
    order = np.argsort(-values, kind="stable")  # NaN last
    if len(order) > most:
        order = np.concatenate([order[: most // 2], order[-(most // 2) :]])
    x, y = axis(measure, NAMES[measure][0], NAMES[measure][1] or None), axis("place", " ")
    at = -np.arange(len(order))
    known, topics = np.isfinite(values[order]), scores["topic"].values.tolist()
    bars = [
        (mean, place, values[topic], place)
        for place, topic in zip(at[known], order[known], strict=True)
    ]
    return panel(
        [
            element(
                "Segments", bars, [x, y, "coherence", "same place"], color=colour, linewidth=1.0
            ),
            element(
                "Scatter",
                (values[order][known], at[known]),
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
                names.get(topics[topic], str(topics[topic])) + ("" if one else ", too few words"),
            )
            for place, topic, one in zip(at, order, known, strict=True)
        ],
        ylim=(0.5 - len(order), 0.5),
        padding=0.05,
        title=title,
        fig_inches=(3.4, ABOVE + ROW * len(order)),
        aspect="auto",
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def draw_coherence(view: View, shown: SideBySide) -> Iterator[Picture]:
    """NPMI of the topics of one run of each label whose training tokens are at hand."""
    runs = {
        label: run
        for label, run in shown.first("phi", "n_kw").items()
        if spec_of(run).train in shown.corpora
    }
    drawn, left_out = fitting_panels(runs)
    most, fewer = _most(len(drawn), shown.columns), ""
    rows, panels, letters = [], [], 16 if shown.columns == 2 and len(drawn) > 2 else 28
    for label, run in runs.items():
        found = coherence(run, shown.corpora[spec_of(run).train])
        rows += rows_of(label, run, found.to_dataframe().reset_index()[["topic", *MEASURES]])
        if label in drawn:
            names, look = names_of_topics(run, 3, letters), shown.looks[label]
            panels.append(
                coherence_view(found, "npmi", names, look.colour, look.marker, label, most)
            )
            fewer = _said(most) if found.sizes["topic"] > most else fewer
    if panels:
        yield view.picture(
            "How well the ten most probable words of each topic go together in the training documents: the mean normalised "
            "pointwise mutual information of their pairs, where two words are together when a document has both; from -1 to 1, "
            "higher is better. A row for each topic, named by its first words, the most coherent first; the dotted line is the "
            f"mean over topics. One run of each label; the table has c_v and u_mass (nats) too.{fewer}{left_out}",
            panels,
            [*WHOSE, "topic", *MEASURES],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
        )


def scores_picture(
    run: xr.Dataset, found: xr.Dataset, name: str, title: str, columns: int = 2
) -> Picture:
    """All coherences of the topics of a run, a panel each."""
    most = _most(len(COHERENCES), columns)
    panels, fewer = (
        [coherence_view(found, measure, most=most) for measure in COHERENCES],
        found.sizes["topic"] > most,
    )
    caption = (
        f"How well the ten most probable words of each topic of one run (seed {spec_of(run).seed}) go together in the training "
        f"documents, where two words are together when a document has both: {'; '.join(COHERENCES.values())}; higher is "
        "better. A row for each topic, by its number, the most coherent of a panel first; dotted lines are means over topics."
        f"{_said(most) if fewer else ''}"
    )
    return Picture(name, title, caption, panels, legend=False, height=height_of(panels))


def _most(n_panels: int, columns: int) -> int:
    """Rows of each panel, an even number."""
    return (
        MOST_TOPICS
        if columns == 2 or not n_panels
        else rows_below(n_panels, ABOVE, MOST_TOPICS, FEWEST) // 2 * 2
    )


def _said(most: int) -> str:
    return f" Of more than {most} topics the {most // 2} best and the {most // 2} worst are drawn; the table has all."
