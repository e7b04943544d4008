"""The numbers that a figure shows of each method, beside the paper's where it prints them."""

import math
from collections.abc import Iterator

from workbench.measures.intervals import mean_and_error
from workbench.papers.figure import HITS, Figure
from workbench.papers.generic import TABLE, format_size
from workbench.papers.hdp import BOUND, LOG_P
from workbench.papers.numbers import OVER_ADDED, Measured, Row, table
from workbench.papers.results import Number

PERPLEXITY = {"perplexity": "held-out perplexity"}
BY_SHOWN = {
    TABLE: {
        "perplexity": "perplexity of unseen documents",
        "converged": "iterations until convergence",
    },
    "gains": {OVER_ADDED: "gain over frequencies with 0.1 added, nats an item"},
    "courses": {"test_log_likelihood": "log p of an item, nats"},
}
"""What a figure shows → names of numbers (`workbench.papers.numbers.Measured.number`), and what these are."""
OF_CURVES = {LOG_P: "log p of a test word, nats", BOUND: "bound per token, nats"}
PRINTED = {"perplexity": "perplexity", "converged": "iterations"}
"""Name of a number → field of `workbench.papers.generic.Published`."""


def figure_numbers(figure: Figure, measured: list[Measured]) -> list[Number]:
    """A number a row of the figure's table, model, size and method; means over seeds with their standard errors."""
    rows = table(measured)
    if figure.shows == HITS:
        return [number for row in rows for number in _hits(figure, row)]
    names = BY_SHOWN.get(figure.shows, PERPLEXITY) if isinstance(figure.shows, str) else OF_CURVES
    found, sizes = [], {row.n_topics for row in rows} - {0}
    for name, what in names.items():
        for row in rows:
            printed = figure.published.get((row.model, row.n_topics, row.method))
            beside = getattr(printed, PRINTED[name]) if printed else None
            found.append(
                _number(
                    what, _place(figure, row, len(sizes) > 1), row.mean(name), len(row.runs), beside
                )
            )
    return [number for number in found if number.value is not None]


def _hits(figure: Figure, row: Row) -> Iterator[Number]:
    """Hits of a method in each year, mean over states; the error is that over draws of births."""
    for year in row.runs[0].hits:
        printed = figure.published.get((row.method, int(year)))
        for field in ("top", "bottom"):
            values = [getattr(run.hits[year], field) for run in row.runs]
            beside = getattr(printed, field) if printed else None
            yield _number(
                f"hits of the {field} 10, {year:g}",
                row.method,
                mean_and_error(values),
                len(values),
                beside,
            )


def _place(figure: Figure, row: Row, sized: bool) -> str:
    """Corpus, model and size as far as a figure has several, and the method."""
    parts = [row.corpus] * (len(figure.corpora) > 1) + [row.model] * bool(row.model) + [row.method]
    return ", ".join(
        [*parts, *([f"K={format_size(row.model, row.n_topics)}"] if sized and row.n_topics else [])]
    )


def _number(
    what: str, of: str, mean_error: tuple[float, float], n: int, published: float | None
) -> Number:
    value, error = (float(each) if math.isfinite(each) else None for each in mean_error)
    return Number(what, of, value, error, n, published)
