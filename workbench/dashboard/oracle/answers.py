"""The exact posterior of a toy, and what every engine makes of it: computed in memory, shown as figures and tables."""

from functools import lru_cache
from html import escape

import xarray as xr

from workbench.corpus import Corpus
from workbench.dashboard.oracle.toys import Toy, corpus_of, model_of
from workbench.dashboard.shared.files import File, FileError
from workbench.measures import exact
from workbench.measures.against_exact import (
    ALIKE,
    ALIKE_SAMPLED,
    BOUNDS,
    N_STARTS,
    against_exact,
    lda_engines,
)
from workbench.models import LDA
from workbench.numbers import format_number
from workbench.report.drawing import draw, inline
from workbench.report.figures import table_of
from workbench.views import Picture
from workbench.views.exact import DISTANCES, KINDS, bounds_picture

ATTRACTORS = (
    f"different ends of {N_STARTS} starts, by their predictive probabilities: they differ by more than {ALIKE:g}, averages "
    f"over draws by more than {ALIKE_SAMPLED:g}"
)
HEADINGS = {
    "predictive_distance": (
        "p(w|d)",
        "total variation distance from the exact predictive probabilities, mean over documents",
    ),
    "co_assignment_distance": (
        "Same topic",
        "total variation distance from the exact probabilities that two tokens have one "
        "topic, mean over pairs of tokens",
    ),
}
"""Distance → heading of its column and meaning."""


def toy_of(toy: Toy) -> tuple[Corpus, LDA]:
    """Corpus and model of the texts of a toy.

    Raises
    ------
    InputError
        One sentence, with the field.
    """
    return corpus_of(toy.counts), model_of(toy.n_topics, toy.alpha, toy.beta)


@lru_cache(maxsize=32)
def exact_of(toy: Toy) -> xr.Dataset:
    """The exact posterior, for every session that has this toy now."""
    return exact(*toy_of(toy))


@lru_cache(maxsize=256)
def answer_of(toy: Toy, engine: str) -> xr.Dataset:
    """An engine beside it, for the same sessions."""
    return against_exact(exact_of(toy), *toy_of(toy), engine)


def exact_shown(found: xr.Dataset) -> str:
    """The evidence and the predictive probabilities as HTML."""
    said = (
        f"log p(words) = {format_number(float(found['log_evidence']), 6)} nats, exact: the sum over all "
        f"{found.attrs['n_states']:,} assignments of topics to {found.sizes['token']} tokens."
    )
    heads = "".join(
        f'<th scope="col" class="n">{escape(str(word))}</th>' for word in found["word"].values
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(str(document))}</th>'
        f"{''.join(f'<td class=n>{format_number(p, 4)}</td>' for p in row)}</tr>"
        for document, row in zip(
            found["document"].values, found["predictive"].values.tolist(), strict=True
        )
    )
    head = f'<thead><tr><th scope="col" title="posterior mean, of one further token">p(w|d)</th>{heads}</tr></thead>'
    return f'<p role="status"><strong>{said}</strong></p><table aria-label="exact p(w|d)">{head}<tbody>{rows}</tbody></table>'


def table_shown(answers: list[xr.Dataset]) -> str:
    """A row for each engine that has answered."""
    titles = [
        *((KINDS[kind], BOUNDS[kind]) for kind in KINDS),
        *HEADINGS.values(),
        ("Attractors", ATTRACTORS),
    ]
    heads = "".join(
        f'<th scope="col" class="n" title="{escape(why)}">{escape(name)}</th>'
        for name, why in titles
    )
    rows = ""
    for each in answers:
        numbers = [
            *(float(each["bound"].sel(kind=kind)) for kind in KINDS),
            *(float(each[name]) for name in DISTANCES),
        ]
        cells = [*(format_number(one, 4) for one in numbers), str(int(each["n_attractors"]))]
        rows += f'<tr><th scope="row">{each.attrs["engine"]}</th>{"".join(f"<td class=n>{cell}</td>" for cell in cells)}</tr>'
    head = f'<thead><tr><th scope="col">Engine</th>{heads}</tr></thead>'
    return (
        f'<table aria-label="engines beside the exact posterior">{head}<tbody>{rows}</tbody></table>'
        if answers
        else ""
    )


def said_of(answers: list[xr.Dataset]) -> str:
    """Which engine is at work, or what the table shows."""
    engines = lda_engines()
    if len(answers) < len(engines):
        return f"{engines[len(answers)]} runs from {N_STARTS} starts, engine {len(answers) + 1} of {len(engines)} …"
    return (
        f"Each engine with its default options, from {N_STARTS} starts. Bounds are in nats, of the start with the highest one; "
        "the collapsed one may exceed the evidence. Distances are total variation, from 0 to 1."
    )


def figure_shown(picture: Picture, named: str, columns: int = 2) -> str:
    """A picture as HTML, drawn as for one column of a page or two."""
    svg = draw(picture.panels, columns, ("svg",), picture.legend, picture.height)["svg"].decode()
    drawn = inline(svg, picture.name, picture.title, picture.hover)
    return f'<figure style="margin: 0; max-width: {500 * columns}px; fill: currentColor" aria-label="{named}">{drawn}</figure>'


def bars_shown(answers: list[xr.Dataset]) -> str:
    """Bars of the bounds and the distances."""
    return figure_shown(
        bounds_picture(answers), "bounds and distances of the engines; the table below has them"
    )


def answers_file(answers: list[xr.Dataset], form: str, columns: int = 1) -> File:
    """The bars as a figure, or the table as CSV."""
    if not answers:
        raise FileError("there is nothing to download yet; wait for the first engine")
    return file_of(bounds_picture(answers), form, columns)


def file_of(picture: Picture, form: str, columns: int) -> File:
    """A picture as a file, or the table behind it."""
    if form == "csv":
        return File(f"{picture.name}.csv", table_of(picture))
    parts = picture.legend, picture.height, picture.title, picture.caption
    return File(f"{picture.name}.{form}", draw(picture.panels, columns, (form,), *parts)[form])
