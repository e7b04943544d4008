"""The numbers of each method in a figure, with the paper's where it prints them."""

import math
from collections.abc import Iterator

from workbench.measures.curves import mean_and_error
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
"""Drawing of a figure → name of a number (`workbench.papers.numbers.Measured.number`) → its meaning."""
OF_CURVES = {LOG_P: "log p of a test word, nats", BOUND: "bound per token, nats"}
PRINTED = {"perplexity": "perplexity", "converged": "iterations"}
"""Name of a number → field of `workbench.papers.generic.Published`."""


def figure_numbers(figure: Figure, measured: list[Measured]) -> list[Number]:
    """Return a number for each row of the figure's table; means over seeds with standard errors."""
    rows = table(measured)
    if figure.shows == HITS:
        return [number for row in rows for number in _hits(figure, row)]
    names = BY_SHOWN.get(figure.shows, PERPLEXITY) if isinstance(figure.shows, str) else OF_CURVES
    numbers, sizes = [], {row.n_topics for row in rows} - {0}
    for name, meaning in names.items():
        for row in rows:
            published = figure.published.get((row.model, row.n_topics, row.method))
            paper_value = getattr(published, PRINTED[name]) if published else None
            numbers.append(
                _number(
                    meaning,
                    _place(figure, row, len(sizes) > 1),
                    row.mean(name),
                    len(row.runs),
                    paper_value,
                )
            )
    return [number for number in numbers if number.value is not None]


def _hits(figure: Figure, row: Row) -> Iterator[Number]:
    """Yield the hits of a method in each year, mean over states; the error is over draws of births."""
    for year in row.runs[0].hits:
        published = figure.published.get((row.method, int(year)))
        for field in ("top", "bottom"):
            values = [getattr(run.hits[year], field) for run in row.runs]
            paper_value = getattr(published, field) if published else None
            yield _number(
                f"hits of the {field} 10, {year:g}",
                row.method,
                mean_and_error(values),
                len(values),
                paper_value,
            )


def _place(figure: Figure, row: Row, sized: bool) -> str:
    """Return corpus, model and size, if the figure has several, and the method."""
    parts = [row.corpus] * (len(figure.corpora) > 1) + [row.model] * bool(row.model) + [row.method]
    return ", ".join(
        [*parts, *([f"K={format_size(row.model, row.n_topics)}"] if sized and row.n_topics else [])]
    )


def _number(
    what: str, place: str, mean_error: tuple[float, float], n: int, published: float | None
) -> Number:
    """Return a `Number` with None for unknown values."""
    value, error = (float(number) if math.isfinite(number) else None for number in mean_error)
    return Number(what, place, value, error, n, published)
