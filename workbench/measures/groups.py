"""Topics by group and over time: what share of a group's tokens each topic has, with intervals over documents.

The documents of a group are a sample of those that it could have: a share is a ratio of two sums over documents, and its error
that of a ratio of means, Cochran (1977), section 6.4. Tokens of one document are not independent, so that intervals over tokens
would be far too narrow.
"""

import numbers
from collections.abc import Iterable, Sequence

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from workbench.corpus import Corpus
from workbench.corpus.any_corpus import AnyCorpus
from workbench.corpus.document_table import DocumentTable
from workbench.errors import shown
from workbench.measures.intervals import LEVEL
from workbench.measures.matching import check_training_corpus, responsibilities
from workbench.measures.periods import numbered_periods
from workbench.measures.selection import MeasureError, one_run, whole_number
from workbench.measures.topics import used_topics

COLUMN = "document_"
"""What the name of a coordinate begins with that is a column of documents."""
MOST_GROUPS = 200
PAIRS_AT_A_TIME = 1 << 16


def topics_by_group(run: xr.Dataset, groups: Sequence | str = "label") -> xr.Dataset:
    """The share of each topic in the tokens of each group of documents, at the last snapshot.

    Parameters
    ----------
    run : Dataset
        With ``n_dk``, the (expected) tokens of each topic in each document.
    groups : sequence, one entry per training document, or a column, default "label"
        A text is the name of a column that the run has of its documents, as the coordinate ``document_label``; see
        `with_columns`. Documents whose entry is None, NaN or empty are left out.

    Returns
    -------
    Dataset
        Dims ``group`` (sorted) and ``topic`` (those in use): ``share``, ``low`` and ``high`` (Student's 95 % interval over
        documents; NaN for a group of one document), ``lift`` (the share, divided by that in all documents that have a group),
        and by group ``n_documents`` and ``n_tokens``. A group without a token has no share (NaN).

    Raises
    ------
    MeasureError
        A run without ``n_dk``; groups of another number than that of the documents; no document with a group.

    Cochran (1977), *Sampling Techniques*, section 6.4.
    """
    n_dk, topics = _tokens(run)
    of_document, names = _numbered(_entries(run, groups, len(n_dk), "groups"))
    return _shares(n_dk, topics, of_document, "group", names)


def topics_over_time(
    run: xr.Dataset, times: Sequence | str = "time", period: str = "year"
) -> xr.Dataset:
    """The share of each topic in the tokens of each period, at the last snapshot; see `topics_by_group`.

    Parameters
    ----------
    times : sequence, one entry per training document, or a column, default "time"
        Dates in any form that `pandas.to_datetime` reads; whole numbers, and texts of four digits, are years. Documents whose
        entry is None, NaN or empty are left out.
    period : "year", "quarter", "month", "week" or "day"

    Returns
    -------
    Dataset
        As that of `topics_by_group`, with the dim ``time`` (the first day of each period, datetime64) in the place of
        ``group``, every period from the first to the last, and ``period``, what it is called: 2024, 2024Q3, 2024-07 and so on.

    Raises
    ------
    MeasureError
        As `topics_by_group`; an entry that is no date; periods that are too many.
    """
    n_dk, topics = _tokens(run)
    of_document, every, called = numbered_periods(_entries(run, times, len(n_dk), "times"), period)
    found = _shares(n_dk, topics, of_document, "time", every.start_time.values)
    return found.assign_coords(period=("time", called))


def words_by_group(
    run: xr.Dataset, corpus: AnyCorpus, groups: Sequence | str = "label", n: int = 5
) -> xr.Dataset:
    """The n words that a topic has most often in the documents of a group: of its expected tokens there.

    ``corpus`` has the training tokens of the run. Dims ``group``, ``topic`` and ``rank`` (from 1): ``word``, "" where a group
    has fewer, and ``n_tokens``, the expected tokens n_dw p(k|d,w) summed over the documents of the group. For ``groups`` see
    `topics_by_group`.
    """
    check_training_corpus(run, corpus)
    used, n = used_topics(one_run(run)), whole_number("number of words", n)
    of_document, names = _numbered(_entries(run, groups, corpus.n_documents, "groups"))
    phi, n_topics, vocabulary = (
        used["phi"].values.T,
        used.sizes["topic"],
        np.array(tuple(corpus.vocabulary), object),
    )
    words, counts = (
        np.full((len(names), n_topics, n), "", object),
        np.zeros((len(names), n_topics, n)),
    )
    for at in range(len(names)):
        expected = np.zeros((n_topics, corpus.n_words))
        for first, shard in corpus.parts_in_order():
            rows = slice(first, first + shard.n_documents)
            pairs = np.flatnonzero(of_document[rows][shard.documents] == at)
            if len(pairs):
                _add_expected(expected, shard, pairs, used["theta"][rows].values, phi)
        best = np.argsort(-expected, axis=1, kind="stable")[:, :n]
        there = np.take_along_axis(expected, best, axis=1)
        width = best.shape[1]
        counts[at, :, :width] = there
        words[at, :, :width] = np.where(there > 0, vocabulary[best], "")
    return xr.Dataset(
        {
            "word": (("group", "topic", "rank"), words, {"long_name": "word", "units": ""}),
            "n_tokens": (
                ("group", "topic", "rank"),
                counts,
                {"long_name": "expected tokens", "units": ""},
            ),
        },
        {"group": names, "topic": used["topic"].values, "rank": np.arange(1, n + 1)},
    )


def _add_expected(
    expected: np.ndarray, corpus: Corpus, pairs: np.ndarray, theta: np.ndarray, phi: np.ndarray
) -> None:
    """Adds to ``expected`` (topic, word) the expected tokens of some pairs of a corpus; theta: of all its documents."""
    for begin in range(0, len(pairs), PAIRS_AT_A_TIME):
        some = pairs[begin : begin + PAIRS_AT_A_TIME]
        tokens = (
            responsibilities(theta, phi, corpus.documents[some], corpus.words[some])
            * corpus.counts[some, None]
        )
        for topic in range(len(expected)):
            expected[topic] += np.bincount(corpus.words[some], tokens[:, topic], corpus.n_words)


def periods_of(
    run: xr.Dataset, times: Sequence | str = "time", period: str = "year"
) -> list[str | None]:
    """(document,) what the period of each document is called, None where it has no time; see `topics_over_time`."""
    of_document, _, called = numbered_periods(
        _entries(run, times, run.sizes["document"], "times"), period
    )
    return [None if at < 0 else str(called[at]) for at in of_document]


def with_columns(run: xr.Dataset, table: DocumentTable | None) -> xr.Dataset:
    """The Dataset with the columns of its documents by which they can be grouped, each a coordinate ``document_NAME``.

    A column is left out that has one value alone, more different ones than half the documents or than `MOST_GROUPS`, or the
    same values as one that is there.
    ``table``: of the run, as ``Run.table`` is; None adds nothing.
    """
    found, there = (
        {},
        {
            tuple(values.values.tolist())
            for values in run.coords.values()
            if values.dims == ("document",)
        },
    )
    for name, values in (table.metadata if table is not None else {}).items():
        entries = ["" if _is_missing(value) else str(value) for value in values]
        if (
            2 <= len(set(entries) - {""}) <= min(MOST_GROUPS, len(entries) // 2)
            and tuple(entries) not in there
        ):
            if f"{COLUMN}{name}" in run.coords:
                name = f"{name} of the table"
            about = {"long_name": f"{name} of the document"}
            found[f"{COLUMN}{name}"] = "document", np.array(entries, object), about
    return run.assign_coords(found) if "document" in run.dims else run


def columns_of(run: xr.Dataset) -> list[str]:
    """The names of the columns of documents by which topics can be grouped."""
    names = [
        str(name).removeprefix(COLUMN)
        for name, values in run.coords.items()
        if values.dims == ("document",) and str(name).startswith(COLUMN)
    ]
    return [
        name
        for name in names
        if name != "time" and len(set(run[COLUMN + name].values.tolist()) - {""}) > 1
    ]


def group_differences(run: xr.Dataset, groups: Sequence | str, one, other) -> xr.Dataset:
    """How much larger the share of each topic is in one group than in another, with Welch's 95 % interval over documents.

    Dim ``topic``, the largest difference first: ``difference`` (share in ``one`` less share in ``other``), ``low``, ``high``,
    and ``one`` and ``other``, the two shares. For ``run`` and ``groups`` see `topics_by_group`.

    Raises
    ------
    MeasureError
        As `topics_by_group`; a group that does not exist, or without a token.

    Welch (1947), with the errors of Cochran (1977), section 6.4.
    """
    n_dk, topics = _tokens(run)
    of_document, names = _numbered(_entries(run, groups, len(n_dk), "groups"))
    pair = []
    for name in (one, other):
        if name not in (known := list(names)):
            raise MeasureError(
                f"there is no group {name!r}; there are {', '.join(map(str, known[:20]))}"
            )
        own = n_dk[of_document == known.index(name)]
        if not own.sum():
            raise MeasureError(f"no document of group {name!r} has a token; choose another")
        pair.append((*_ratio(own), np.count_nonzero(own.sum(axis=1))))
    (share, error, n), (beside, its_error, its_n) = pair
    variance, its_variance = error**2, its_error**2
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = (variance + its_variance) ** 2 / (
            variance**2 / (n - 1) + its_variance**2 / (its_n - 1)
        )
        half = stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(variance + its_variance)
    half = np.where(variance + its_variance == 0, 0.0, half)
    apart = share - beside
    found = xr.Dataset(
        {
            name: ("topic", values, {"long_name": meaning, "units": ""})
            for name, values, meaning in (
                ("difference", apart, f"share in {one} less share in {other}"),
                ("low", apart - half, "95 % interval, low end"),
                ("high", apart + half, "95 % interval, high end"),
                ("one", share, f"share of the tokens of {one}"),
                ("other", beside, f"share of the tokens of {other}"),
            )
        },
        {"topic": topics},
    )
    return found.isel(topic=np.argsort(-apart, kind="stable"))


def _tokens(run: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """(document, topic) tokens at the last snapshot, and the numbers of the topics, those in use."""
    run = one_run(run)
    if "n_dk" not in run:
        raise MeasureError(
            f"run {run.attrs['name']!r} has no topics of documents (n_dk); choose a topic model, and open it "
            "with its counts (workbench.open_run)"
        )
    used = used_topics(run)
    return used["n_dk"].isel(snapshot=-1).values.astype(float), used["topic"].values


def _entries(run: xr.Dataset, entries, n_documents: int, what: str) -> list:
    """(document,) the entry of each document, None where it has none."""
    if isinstance(entries, str) and "document" in run.dims:
        if COLUMN + entries not in run.coords:
            there = ", ".join(map(repr, columns_of(run))) or "none"
            raise MeasureError(
                f"the documents of run {run.attrs.get('name', '')!r} have no {entries!r}; their columns are "
                f"{there}; give {what} with an entry for each document"
            )
        entries = run[COLUMN + entries].values.tolist()
    given = (
        list(entries)
        if isinstance(entries, Iterable) and not isinstance(entries, str | bytes)
        else None
    )
    if given is None or len(given) != n_documents:
        got = shown(repr(entries)) if given is None else len(given)
        raise MeasureError(
            f"{what} must have one entry for each of {n_documents} documents; got {got}"
        )
    return [None if _is_missing(entry) else entry for entry in given]


def _is_missing(entry) -> bool:
    import pandas as pd

    return (
        entry is None
        or (np.ndim(entry) == 0 and bool(pd.isna(entry)))
        or (isinstance(entry, str) and not entry.strip())
    )


def _numbered(groups: list) -> tuple[np.ndarray, np.ndarray]:
    """(document,) the number of its group, -1 for none; and the groups, sorted: numbers by size, before names."""
    try:
        different = {entry for entry in groups if entry is not None}
    except TypeError:
        raise MeasureError("a group must be a name or a number; got a list or the like") from None
    names = sorted(
        different,
        key=lambda entry: (0, entry, "") if isinstance(entry, numbers.Real) else (1, 0, str(entry)),
    )
    if not names:
        raise MeasureError("no document has a group; give one for each document, as corpus.labels")
    place = {name: at for at, name in enumerate(names)}
    coordinate = np.empty(len(names), object)
    coordinate[:] = names
    return np.array(
        [place.get(entry, -1) if entry is not None else -1 for entry in groups]
    ), coordinate


def _shares(
    n_dk: np.ndarray, topics: np.ndarray, of_document: np.ndarray, dim: str, names
) -> xr.Dataset:
    """The table of `topics_by_group` along ``dim``."""
    n_groups, n_topics = len(names), len(topics)
    share, error = np.full((2, n_groups, n_topics), np.nan)
    n_documents, n_tokens, freedom = (
        np.zeros(n_groups, int),
        np.zeros(n_groups),
        np.full((n_groups, 1), np.nan),
    )
    for at in range(n_groups):
        own = n_dk[of_document == at]
        n_documents[at], n_tokens[at] = len(own), own.sum()
        if n_tokens[at]:
            share[at], error[at] = _ratio(own)
            freedom[at] = np.count_nonzero(own.sum(axis=1)) - 1
    grouped = n_dk[of_document >= 0]
    overall = grouped.sum(axis=0) / max(grouped.sum(), 1.0)
    half = np.where(freedom > 0, stdtrit(np.maximum(freedom, 1), (1 + LEVEL) / 2), np.nan) * error
    with np.errstate(invalid="ignore", divide="ignore"):
        lift = share / overall
    columns = (
        ("share", share, "share of the tokens"),
        ("low", np.maximum(share - half, 0.0), "95 % interval over documents, low end"),
        ("high", np.minimum(share + half, 1.0), "95 % interval over documents, high end"),
        ("lift", lift, "share, divided by that in all documents"),
    )
    return xr.Dataset(
        {
            name: ((dim, "topic"), values, {"long_name": meaning, "units": ""})
            for name, values, meaning in columns
        }
        | {
            "n_documents": (dim, n_documents, {"long_name": "documents", "units": ""}),
            "n_tokens": (
                dim,
                np.rint(n_tokens).astype(np.int64),
                {"long_name": "training tokens", "units": ""},
            ),
        },
        {dim: names, "topic": topics},
    )


def _ratio(n_dk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(topic,) share of each topic in the tokens of documents, and its standard error; NaN for one document.

    r = sum y_d / sum n_d; var r = m / (m - 1) sum (y_d - r n_d)^2 / (sum n_d)^2, over the m documents that have a token.
    """
    tokens = n_dk.sum(axis=1)
    n_dk, tokens = n_dk[tokens > 0], tokens[tokens > 0]
    m, share = len(n_dk), n_dk.sum(axis=0) / tokens.sum()
    if m < 2:
        return share, np.full(len(share), np.nan)
    apart = n_dk - share * tokens[:, None]
    return share, np.sqrt(m / (m - 1) * (apart**2).sum(axis=0)) / tokens.sum()
