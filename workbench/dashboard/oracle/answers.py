"""The exact posterior of a toy corpus and the result of every engine on it, computed in memory, as figures and tables."""

from functools import lru_cache, partial

import xarray as xr

from workbench.corpus import Corpus
from workbench.dashboard.oracle.toys import Toy, corpus_of, model_of
from workbench.dashboard.shared.card import CardContent
from workbench.dashboard.shared.shell import message
from workbench.measures import exact
from workbench.measures.exact import (
    ALIKE,
    ALIKE_SAMPLED,
    BOUNDS,
    N_STARTS,
    against_exact,
    lda_engines,
)
from workbench.models import LDA
from workbench.numbers import format_number
from workbench.tables import Column, Table, numbers
from workbench.views.exact import DISTANCES, KINDS, bounds_picture, posterior_picture

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
    """Return the corpus and the LDA model of a toy, that is, a tiny example given as texts.

    Raises
    ------
    InputError
        One sentence, with the wrong field.
    """
    return corpus_of(toy.counts), model_of(toy.n_topics, toy.alpha, toy.beta)


@lru_cache(maxsize=32)
def exact_of(toy: Toy) -> xr.Dataset:
    """Return the exact posterior of a toy, cached for all sessions."""
    return exact(*toy_of(toy))


@lru_cache(maxsize=256)
def answer_of(toy: Toy, engine: str) -> xr.Dataset:
    """Return the result of an engine on a toy, compared with the exact posterior; cached for all sessions."""
    return against_exact(exact_of(toy), *toy_of(toy), engine)


def exact_card(posterior: xr.Dataset) -> CardContent:
    """Return the card of the exact posterior: evidence, p(w|d), and the probabilities that two tokens have the same topic."""
    sentence = (
        f"log p(words) = {format_number(float(posterior['log_evidence']), 6)} nats, exact: the sum over all "
        f"{posterior.attrs['n_states']:,} assignments of topics to {posterior.sizes['token']} tokens."
    )
    columns = [
        Column("p(w|d)", meaning="posterior mean, of one further token"),
        *numbers(*map(str, posterior["word"].values), digits=4),
    ]
    documents = zip(
        posterior["document"].values, posterior["predictive"].values.tolist(), strict=True
    )
    rows = [(str(document), *row) for document, row in documents]
    html = Table(columns, rows, "exact p(w|d)").html()
    return CardContent(message(sentence), posterior_picture(posterior), html)


def answers_card(answers: list[xr.Dataset]) -> CardContent:
    """Return the card of the engines: a row for each that has run and, once all have, bars of bounds and distances."""
    number = partial(Column, kind="number", digits=4)
    columns = [
        Column("Engine"),
        *(number(KINDS[kind], meaning=BOUNDS[kind]) for kind in KINDS),
        *(number(heading, meaning=meaning) for heading, meaning in HEADINGS.values()),
        Column("Attractors", kind="number", meaning=ATTRACTORS),
    ]
    rows = [
        (
            each.attrs["engine"],
            *(float(each["bound"].sel(kind=kind)) for kind in KINDS),
            *(float(each[name]) for name in DISTANCES),
            int(each["n_attractors"]),
        )
        for each in answers
    ]
    html = Table(columns, rows, "engines beside the exact posterior").html() if answers else ""
    n, engines = len(answers), lda_engines()
    if n < len(engines):
        sentence = f"{engines[n]} runs from {N_STARTS} starts, engine {n + 1} of {len(engines)} …"
        return CardContent(message(sentence), table=html)
    sentence = (
        f"Each engine with its default options, from {N_STARTS} starts. Bounds are in nats, of the start with the highest one; "
        "the collapsed one may exceed the evidence. Distances are total variation, from 0 to 1."
    )
    return CardContent(message(sentence), bounds_picture(answers), html)
