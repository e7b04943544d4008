"""Topics by group and over time: the share of each topic in the tokens of a group, with intervals over documents.

The documents of a group are treated as a sample. A share is a ratio of two sums over documents, Cochran (1977), section 6.4.
Tokens of one document are not independent, so intervals over tokens would be far too narrow: Wilson's interval of a share
takes the number of independent tokens whose share would vary as much, Kish (1965). Periods are the year, quarter, month, week
or day of each time, and all from the first to the last.
"""

import numbers
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import stdtrit

from workbench.corpus import AnyCorpus, Corpus
from workbench.corpus.document_table import DocumentTable
from workbench.corpus.times import dates_of, year_in
from workbench.errors import shown
from workbench.measures.curves import LEVEL, variance_over_documents
from workbench.measures.matching import check_training_corpus
from workbench.measures.selection import MeasureError, attributes, one_run
from workbench.measures.topics import used_topics

PERIODS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D"}
"""Period → its pandas frequency."""
DAYS = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}
MOST_PERIODS = 10_000
"""Maximum of periods from the first to the last; more indicate a wrong date or too short a period."""


def fitting_period(times: list, most: int = 40) -> str:
    """Return the shortest period length for which at most ``most`` periods span the times; "year" for years."""
    if all(time is None or year_in(time) is not None for time in times):
        return "year"
    dates = dates_of(times, MeasureError)
    span = (dates.max() - dates.min()).days + 1
    return next((name for name, days in reversed(DAYS.items()) if span <= most * days), "year")


def numbered_periods(times: list, period: str) -> tuple[np.ndarray, pd.PeriodIndex, np.ndarray]:
    """Return each document's period index (document,), -1 for none; the pandas periods; and the period names."""
    periods = dates_of(times, MeasureError).to_period(
        PERIODS[MeasureError.one_of("the period", period, PERIODS)]
    )
    if not periods.notna().any():
        raise MeasureError("no document has a time; give one for each document, as corpus.times")
    first, last = periods.min(), periods.max()
    if (n := last.ordinal - first.ordinal + 1) > MOST_PERIODS:
        raise MeasureError(
            f"the times span {n:,} periods of a {period}, from {first} to {last}; choose a longer period, or "
            "correct the times"
        )
    all_periods = pd.period_range(first, last)
    names = (
        all_periods.start_time.strftime("%G-W%V") if period == "week" else all_periods.astype(str)
    )
    return (
        np.where(periods.isna(), -1, periods.asi8 - first.ordinal),
        all_periods,
        names.to_numpy(object),
    )


COLUMN = "document_"
"""Prefix of coordinates that are columns of the documents."""
MOST_GROUPS = 200
PRIOR = 2
"""Weight, in effective documents, of the variance of all topics in that of one, which few documents tell badly."""
PAIRS_AT_A_TIME = 1 << 16


def topics_by_group(run: xr.Dataset, groups: Sequence | str = "label") -> xr.Dataset:
    """Return each topic's share of the tokens of each group of documents, at the last snapshot.

    Parameters
    ----------
    run : Dataset
        With ``n_dk``, the (expected) tokens of each topic in each document.
    groups : sequence, one entry per training document, or a column, default "label"
        A text NAME is a column of the documents, the coordinate ``document_NAME``; see `with_columns`. Documents whose entry
        is None, NaN or empty are left out.

    Returns
    -------
    Dataset
        Dims ``group`` (sorted) and ``topic`` (those in use): ``share``, ``low`` and ``high`` (Wilson's 95 % interval over
        documents; NaN for a group of one document), ``lift`` (the share divided by the share in all documents with a group),
        and by group ``n_documents`` and ``n_tokens``. The share in a group without a token is NaN.

    Raises
    ------
    MeasureError
        For a run without ``n_dk``, a wrong number of entries, or no document with a group.

    Wilson (1927); Kish (1965), *Survey Sampling*; Smyth (2004), for the variance of few documents.
    """
    n_dk, topics = _tokens(run)
    group_of_document, names = _numbered_groups(_entries(run, groups, len(n_dk), "groups"))
    return _shares(n_dk, topics, group_of_document, "group", names)


def topics_over_time(
    run: xr.Dataset, times: Sequence | str = "time", period: str = "year"
) -> xr.Dataset:
    """Return each topic's share of the tokens of each period, at the last snapshot; see `topics_by_group`.

    Parameters
    ----------
    times : sequence, one entry per training document, or a column, default "time"
        Dates in any form that `pandas.to_datetime` reads; whole numbers, and texts of four digits, are years. Documents whose
        entry is None, NaN or empty are left out.
    period : "year", "quarter", "month", "week" or "day"

    Returns
    -------
    Dataset
        As that of `topics_by_group`, with the dim ``time`` (the first day of each period, datetime64) instead of ``group``,
        all periods from the first to the last, and ``period``, their names: 2024, 2024Q3, 2024-07 and so on.

    Raises
    ------
    MeasureError
        As `topics_by_group`, and for an entry that is no date, or too many periods.
    """
    n_dk, topics = _tokens(run)
    period_of_document, periods, names = numbered_periods(
        _entries(run, times, len(n_dk), "times"), period
    )
    shares = _shares(n_dk, topics, period_of_document, "time", periods.start_time.values)
    return shares.assign_coords(period=("time", names))


def words_by_group(
    run: xr.Dataset, corpus: AnyCorpus, groups: Sequence | str = "label", n: int = 5
) -> xr.Dataset:
    """Return for each topic and group of documents the n words with the most expected tokens.

    ``corpus`` has the training tokens of the run. Dims ``group``, ``topic`` and ``rank`` (from 1): ``word``, "" if a group
    has fewer, and ``n_tokens``, the expected tokens n_dw p(k|d,w) summed over the documents of the group. For ``groups`` see
    `topics_by_group`.
    """
    check_training_corpus(run, corpus)
    used_run, n = used_topics(one_run(run)), MeasureError.whole("the number of words", n, 1)
    group_of_document, names = _numbered_groups(_entries(run, groups, corpus.n_documents, "groups"))
    phi, n_topics, vocabulary = (
        used_run["phi"].values.T,
        used_run.sizes["topic"],
        np.array(tuple(corpus.vocabulary), object),
    )
    words, counts = (
        np.full((len(names), n_topics, n), "", object),
        np.zeros((len(names), n_topics, n)),
    )
    for group in range(len(names)):
        expected_tokens = np.zeros((n_topics, corpus.n_words))
        for first, shard in corpus.parts_in_order():
            numbers = group_of_document[first : first + shard.n_documents]
            rows = np.flatnonzero(numbers == group)
            if len(rows):
                _add_expected(
                    expected_tokens, shard, rows, used_run["theta"][first + rows].values, phi
                )
        best = np.argsort(-expected_tokens, axis=1, kind="stable")[:, :n]
        best_counts = np.take_along_axis(expected_tokens, best, axis=1)
        width = best.shape[1]
        counts[group, :, :width] = best_counts
        words[group, :, :width] = np.where(best_counts > 0, vocabulary[best], "")
    return xr.Dataset(
        {
            "word": (("group", "topic", "rank"), words, attributes("word")),
            "n_tokens": (
                ("group", "topic", "rank"),
                counts,
                attributes("expected tokens"),
            ),
        },
        {"group": names, "topic": used_run["topic"].values, "rank": np.arange(1, n + 1)},
    )


def _add_expected(
    expected_tokens: np.ndarray,
    corpus: Corpus,
    rows: np.ndarray,
    theta: np.ndarray,
    phi: np.ndarray,
) -> None:
    """Add the tokens expected in documents ``rows``, with rows of theta, to ``expected_tokens`` (topic, word), in place."""
    indptr, pairs = corpus.pairs_of(rows)
    documents, words = np.repeat(np.arange(len(rows)), np.diff(indptr)), corpus.words[pairs]
    shares = corpus.counts[pairs].astype(float)
    for first in range(0, len(pairs), PAIRS_AT_A_TIME):
        block = slice(first, first + PAIRS_AT_A_TIME)
        shares[block] /= np.einsum("pk,pk->p", theta[documents[block]], phi[words[block]])
    tokens = csr_array((shares, words, indptr), (len(rows), corpus.n_words))
    expected_tokens += ((tokens.T @ theta) * phi).T


def periods_of(
    run: xr.Dataset, times: Sequence | str = "time", period: str = "year"
) -> list[str | None]:
    """Return the period, by name, of each document; None for a document without a time."""
    period_of_document, _, names = numbered_periods(
        _entries(run, times, run.sizes["document"], "times"), period
    )
    return [
        None if period_number < 0 else str(names[period_number])
        for period_number in period_of_document
    ]


def with_columns(run: xr.Dataset, table: DocumentTable | None) -> xr.Dataset:
    """Return the run with a coordinate ``document_NAME`` for each metadata column that can group documents.

    Left out are duplicate and constant columns, and those with more than `MOST_GROUPS` distinct values or more than half the
    number of documents. ``table`` is ``Run.table``; None adds nothing.
    """
    columns, existing_columns = (
        {},
        {
            tuple("" if value is None else str(value) for value in values.values.tolist())
            for values in run.coords.values()
            if values.dims == ("document",)
        },
    )
    for name, values in (table.metadata if table is not None else {}).items():
        entries = ["" if entry is None else str(entry) for entry in _known_or_none(values)]
        if (
            2 <= len(set(entries) - {""}) <= min(MOST_GROUPS, len(entries) // 2)
            and tuple(entries) not in existing_columns
        ):
            if f"{COLUMN}{name}" in run.coords:
                name = f"{name} of the table"
            long_name = {"long_name": f"{name} of the document"}
            columns[f"{COLUMN}{name}"] = "document", np.array(entries, object), long_name
    return run.assign_coords(columns) if "document" in run.dims else run


def known_columns(run: xr.Dataset) -> dict[str, np.ndarray]:
    """Return name → values (document,) of the metadata columns of the run's documents."""
    return {
        str(name).removeprefix(COLUMN): values.values
        for name, values in run.coords.items()
        if values.dims == ("document",) and str(name).startswith(COLUMN)
    }


def columns_of(run: xr.Dataset) -> list[str]:
    """Return the names of the metadata columns by which documents can be grouped."""
    return [
        name
        for name, values in known_columns(run).items()
        if name != "time" and len(set(values.tolist()) - {""}) > 1
    ]


def group_differences(
    run: xr.Dataset, groups: Sequence | str, one: object, other: object
) -> xr.Dataset:
    """Return each topic's share in one group minus its share in another, with its 95 % interval over documents.

    Dim ``topic``, the largest difference first: ``difference`` (share in ``one`` minus share in ``other``), ``low``, ``high``,
    and ``one`` and ``other``, the two shares. For ``run`` and ``groups`` see `topics_by_group`.

    Raises
    ------
    MeasureError
        As `topics_by_group`, and for a group that does not exist or has no tokens.

    Zou & Donner (2008), from the intervals of the two shares.
    """
    n_dk, topics = _tokens(run)
    group_of_document, names = _numbered_groups(_entries(run, groups, len(n_dk), "groups"))
    pair = []
    for name in (one, other):
        if name not in (known_groups := list(names)):
            raise MeasureError(
                f"there is no group {name!r}; there are {', '.join(map(str, known_groups[:20]))}"
            )
        group_n_dk = n_dk[group_of_document == known_groups.index(name)]
        if not group_n_dk.sum():
            raise MeasureError(f"no document of group {name!r} has a token; choose another")
        pair.append(_interval(group_n_dk))
    (share, low, high), (other_share, other_low, other_high) = pair
    differences = share - other_share
    table = xr.Dataset(
        {
            name: ("topic", values, attributes(meaning))
            for name, values, meaning in (
                ("difference", differences, f"share in {one} minus share in {other}"),
                (
                    "low",
                    differences - np.hypot(share - low, other_high - other_share),
                    "95 % interval, low end",
                ),
                (
                    "high",
                    differences + np.hypot(high - share, other_share - other_low),
                    "95 % interval, high end",
                ),
                ("one", share, f"share of the tokens of {one}"),
                ("other", other_share, f"share of the tokens of {other}"),
            )
        },
        {"topic": topics},
    )
    return table.isel(topic=np.argsort(-differences, kind="stable"))


def _tokens(run: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens (document, topic) at the last snapshot, and the numbers of the topics in use."""
    used_run = used_topics(run_with_counts(run))
    return used_run["n_dk"].isel(snapshot=-1).values.astype(float), used_run["topic"].values


def run_with_counts(run: xr.Dataset) -> xr.Dataset:
    """Return the Dataset of the only run; raise MeasureError if it has no counts of topics in documents."""
    run = one_run(run)
    if "n_dk" not in run:
        raise MeasureError(
            f"run {run.attrs['name']!r} has no topic counts of documents (n_dk); choose a topic model, and open it "
            "with its counts (workbench.open_run)"
        )
    return run


def _entries(run: xr.Dataset, entries: Sequence | str, n_documents: int, argument: str) -> list:
    """Return the group, time or other entry of each document, given as a sequence or a column's name; None if missing."""
    if isinstance(entries, str) and "document" in run.dims:
        if COLUMN + entries not in run.coords:
            columns = ", ".join(map(repr, columns_of(run))) or "none"
            raise MeasureError(
                f"the documents of run {run.attrs.get('name', '')!r} have no {entries!r}; their columns are "
                f"{columns}; give {argument} with an entry for each document"
            )
        entries = run[COLUMN + entries].values.tolist()
    values = (
        list(entries)
        if isinstance(entries, Iterable) and not isinstance(entries, str | bytes)
        else None
    )
    if values is None or len(values) != n_documents:
        got = shown(repr(entries)) if values is None else len(values)
        raise MeasureError(
            f"{argument} must have one entry for each of {n_documents} documents; got {got}"
        )
    return _known_or_none(values)


def _known_or_none(entries: Sequence) -> list:
    """Return the entries with None for each that is None, NaN or blank."""
    is_missing = pd.Series(list(entries), dtype=object).isna()
    return [
        None if missing or (isinstance(entry, str) and not entry.strip()) else entry
        for entry, missing in zip(entries, is_missing, strict=True)
    ]


def _numbered_groups(groups: list) -> tuple[np.ndarray, np.ndarray]:
    """Return each document's group as an index (document,), -1 for none, and the sorted names of the groups."""
    try:
        distinct = {entry for entry in groups if entry is not None}
    except TypeError:
        raise MeasureError(
            "a group must be a name or a number; got a list or another container"
        ) from None
    names = sorted(
        distinct,
        key=lambda entry: (0, entry, "") if isinstance(entry, numbers.Real) else (1, 0, str(entry)),
    )
    if not names:
        raise MeasureError("no document has a group; give one for each document, as corpus.labels")
    number_of = {name: number for number, name in enumerate(names)}
    coordinate = np.empty(len(names), object)
    coordinate[:] = names
    return np.array(
        [number_of.get(entry, -1) if entry is not None else -1 for entry in groups]
    ), coordinate


def _shares(
    n_dk: np.ndarray, topics: np.ndarray, group_of_document: np.ndarray, dim: str, names: ArrayLike
) -> xr.Dataset:
    """Return each topic's share of each group's tokens, as `topics_by_group`, with ``group`` renamed to ``dim``."""
    n_groups, n_topics = len(names), len(topics)
    share, low, high = np.full((3, n_groups, n_topics), np.nan)
    n_documents, n_tokens = np.zeros(n_groups, int), np.zeros(n_groups)
    for group in range(n_groups):
        group_n_dk = n_dk[group_of_document == group]
        n_documents[group], n_tokens[group] = len(group_n_dk), group_n_dk.sum()
        if n_tokens[group]:
            share[group], low[group], high[group] = _interval(group_n_dk)
    grouped_counts = n_dk[group_of_document >= 0]
    overall = grouped_counts.sum(axis=0) / max(grouped_counts.sum(), 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        lift = share / overall
    columns = (
        ("share", share, "share of the tokens"),
        ("low", low, "95 % interval over documents, low end"),
        ("high", high, "95 % interval over documents, high end"),
        ("lift", lift, "share, divided by that in all documents"),
    )
    return xr.Dataset(
        {name: ((dim, "topic"), values, attributes(meaning)) for name, values, meaning in columns}
        | {
            "n_documents": (dim, n_documents, attributes("documents")),
            "n_tokens": (
                dim,
                np.rint(n_tokens).astype(np.int64),
                attributes("training tokens"),
            ),
        },
        {dim: names, "topic": topics},
    )


def _interval(n_dk: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each topic's share (topic,) of the tokens, and the low and high end of its 95 % interval; NaN for one document.

    The variance over documents of a share r, divided by r (1 - r), is one over the effective number of tokens. That of a topic
    is averaged with that of all topics, which has the weight `PRIOR` and adds as many degrees of freedom.
    """
    tokens = n_dk.sum(axis=1)
    share = n_dk.sum(axis=0) / tokens.sum()
    of_token = share * (1 - share)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance, freedom = variance_over_documents(
            (n_dk - share * tokens[:, None]) / tokens.sum(), tokens
        )
        overall_variance = variance.sum() / of_token.sum()
        own_variance = np.where(of_token > 0, variance / of_token, overall_variance)
        variance = (freedom * own_variance + PRIOR * overall_variance) / (freedom + PRIOR)
        z = stdtrit(freedom + PRIOR, (1 + LEVEL) / 2) ** 2 * variance
        centre, half = (share + z / 2) / (1 + z), np.sqrt(z * of_token + z**2 / 4) / (1 + z)
    return share, np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
