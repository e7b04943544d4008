"""Representative documents of topics, topic probabilities of the words of a document, and search for documents."""

import numbers
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from workbench.corpus import Corpus
from workbench.corpus.corpus import AnyCorpus
from workbench.corpus.document_table import DocumentTable
from workbench.corpus.texts.words import (
    JOINT,
    SEEN,
    WORD_PATTERN,
    compiled_pattern,
    known_phrases,
    segmenter_of,
    spelling,
    units,
)
from workbench.data.blocks import as_slice, blocks, rows_at_once
from workbench.errors import nearest_or_all, shown
from workbench.measures.groups import known_columns, periods_of
from workbench.measures.matching import check_training_corpus, responsibilities, with_sign
from workbench.measures.selection import MeasureError, attributes
from workbench.measures.topics import place_of, used_topics
from workbench.runs.execution.bounded_matching import find_spans

Z = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""


def representative_documents(run: xr.Dataset, topic: int, n: int = 5) -> xr.Dataset:
    """Return the most representative documents of a topic, at the last snapshot.

    They are ranked by the lower limit of Wilson's 95 % confidence interval of the topic's share, n_dk of N_d tokens. Ranked by
    theta, documents of one token would come first, since with a small alpha their theta is almost 1.
    The score of a share of 1 is 0.21 for 1 token, 0.72 for 10 and 0.96 for 100; 80 of 100 tokens have 0.71.

    ``topic`` is its number in the run. Only documents with at least half an (expected) token of the topic are listed, which may
    be fewer than n. Dim ``rank`` (from 1): ``document`` (its index in the training corpus, from 0), ``title``, ``theta``,
    ``n_tokens`` (training tokens), ``n_topic_tokens`` ((expected) tokens of the topic) and ``score``. Documents of equal score
    keep the order of the corpus.

    Wilson (1927).
    """
    index, n = place_of(run, topic), MeasureError.whole("the number of documents", n, 1)
    order, topic_tokens, tokens, scores = ranked_documents(run, topic)
    order = order[:n]
    columns = (
        ("document", order, "index in the training corpus"),
        ("title", run["document"].values[order], "document"),
        ("theta", run["theta"][order, index].values, "the topic's proportion of the document"),
        ("n_tokens", tokens[order].astype(np.int64), "training tokens"),
        ("n_topic_tokens", topic_tokens[order], "(expected) tokens of the topic"),
        (
            "score",
            scores[order],
            "lower bound of the 95 % confidence interval of the topic's share",
        ),
    )
    data = {name: ("rank", values, attributes(meaning)) for name, values, meaning in columns}
    return xr.Dataset(data, {"rank": np.arange(1, len(order) + 1)}, {"topic": int(topic)})


def ranked_documents(
    run: xr.Dataset, topic: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the indices of documents with the topic, most representative first, and tokens and scores of all documents.

    The arrays (document,) have the topic's tokens, all tokens and the score of every document; see `representative_documents`.
    """
    index = place_of(run, topic)
    topic_tokens, tokens = np.empty((2, run.sizes["document"]))
    for block, n_dk in blocks_of(run["n_dk"].isel(snapshot=-1)):
        topic_tokens[block], tokens[block] = n_dk[:, index], np.rint(n_dk.sum(axis=1))
    trials = np.maximum(tokens, 1.0)
    share, weight = topic_tokens / trials, Z**2 / trials
    # the lower bound of Wilson's interval of a proportion
    error = Z * np.sqrt(share * (1 - share) / trials + weight / (4 * trials))
    scores = (share + weight / 2 - error) / (1 + weight)
    order = np.argsort(-scores, kind="stable")
    return order[topic_tokens[order] >= 0.5], topic_tokens, tokens, scores


def blocks_of(values: xr.DataArray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (slice, rows) of an array (row, column) block by block, so that a stored array never has to fit into memory."""
    for block in blocks(len(values), rows_at_once(values)):
        yield block, values[block].values


def document_map(run: xr.Dataset) -> xr.Dataset:
    """Return a two-dimensional map of the training documents in which distances approximate those between rows of theta.

    The distance of two documents is the Hellinger distance of their theta, from 0 (the same) to 1 (no topic in common). The
    plane is that of the two largest principal components of the square roots of theta, which is classical scaling of these
    distances. On each axis the topic with the largest weight is on the positive side. Documents without a token have NaN.

    Dim ``document``: ``x`` and ``y``. ``attrs["shown"]``: the share of the variance that the plane shows, 1 if there is none.

    Hotelling (1933); Rao (1995) for the distance. It takes D K^2 multiplications: .5 s for 100,000 documents and 50 topics.
    """
    used = used_topics(run)
    theta, has_tokens = used["theta"], np.empty(run.sizes["document"], bool)
    for block, n_dk in blocks_of(used["n_dk"].isel(snapshot=-1)):
        has_tokens[block] = n_dk.sum(axis=1) > 0
    total, products = np.zeros(used.sizes["topic"]), 0.0
    for block, shares in blocks_of(theta):
        roots = np.sqrt(shares[has_tokens[block]] / 2)
        total, products = total + roots.sum(axis=0), products + roots.T @ roots
    mean = total / max(has_tokens.sum(), 1)
    values, axes = np.linalg.eigh(products - np.outer(total, mean))
    plane = np.zeros((len(mean), 2))
    for column in range(min(2, len(values))):
        plane[:, column] = with_sign(axes[:, -1 - column])
    points = np.full((len(has_tokens), 2), np.nan)
    for block, shares in blocks_of(theta):
        points[block] = np.where(
            has_tokens[block, None], (np.sqrt(shares / 2) - mean) @ plane, np.nan
        )
    variance = values[values > 0].sum()
    names = zip("xy", points.T, ("first", "second"), strict=True)
    return xr.Dataset(
        {
            name: ("document", at, attributes(f"{which} axis of the map"))
            for name, at, which in names
        },
        {"document": run["document"].values},
        {"shown": float(values[-2:].sum() / variance) if variance > 0 else 1.0},
    )


def token_topics(
    run: xr.Dataset, corpus: AnyCorpus, document: int, theta: np.ndarray | None = None
) -> xr.Dataset:
    """Return p(topic | document, word) for each word of a document, under the last snapshot.

    They are proportional to theta_dk phi_kw, and equal for all tokens of a word in the document.

    ``corpus`` has the training tokens of the run, or, with ``theta``, any documents; ``document`` is an index in it, from 0.
    ``theta`` (topic,) is that of a document outside the training corpus, as computed by `workbench.infer`:
    ``inferred["theta"][document]``. Words are then matched by spelling; words outside the vocabulary have no topic.

    Dim ``word``, as in the corpus: ``n_tokens``, ``probability`` (word, topic), NaN for an unknown word, and ``likely``, the
    number of the most likely topic, -1 for an unknown word. An empty document has no word.
    """
    if theta is None:
        check_training_corpus(run, corpus)
    if (
        isinstance(document, bool)
        or not isinstance(document, numbers.Integral)
        or not 0 <= document < corpus.n_documents
    ):
        raise MeasureError(
            f"the document must be a number from 0 to {corpus.n_documents - 1}; got {document!r}"
        )
    single, used = corpus.rows(int(document), int(document) + 1), used_topics(run)
    words = np.array([single.vocabulary[word] for word in single.words], dtype=object)
    if theta is None:
        theta_row, word_ids = used["theta"].isel(document=int(document)).values, single.words
    else:
        theta = np.asarray(theta, float)
        if theta.shape != (run.sizes["topic"],):
            raise MeasureError(
                f"theta must have one number for each of {run.sizes['topic']} topics; it has shape {theta.shape}"
            )
        theta_row = theta[np.isin(run["topic"].values, used["topic"].values)]
        first_position = {
            word: position for position, word in reversed([*enumerate(used["word"].values)])
        }
        word_ids = np.array([first_position.get(word, -1) for word in words], np.int64)
    probability = responsibilities(
        theta_row[None], used["phi"].values.T, np.zeros(len(word_ids), np.int64), word_ids
    )
    probability[word_ids < 0] = np.nan
    likely = np.where(word_ids < 0, -1, used["topic"].values[probability.argmax(axis=1)])
    return xr.Dataset(
        {
            "n_tokens": ("word", single.counts, attributes("tokens in the document")),
            "probability": (
                ("word", "topic"),
                probability,
                attributes("p(topic | document, word)"),
            ),
            "likely": (
                "word",
                likely,
                attributes("most likely topic; -1: unknown word"),
            ),
        },
        {"word": words, "topic": used["topic"].values},
        {"document": int(document), "title": single.titles[0]},
    )


def counted_words(
    text: str, counted: Mapping[str, object] = MappingProxyType({})
) -> tuple[str, list[tuple[int, int, str]] | None]:
    """Return a text as its words are found in it, and (start, end, spelling) of each word or phrase.

    A text without blanks between words gets some of zero width. ``counted``: how the words of the text were found, see
    `workbench.corpus.document_table.DocumentTable`. None instead of the words if a pattern that the user chose takes too long.
    """
    segment = segmenter_of(counted.get("segmenter"), SEEN)
    text = segment(text)
    pattern = counted.get("token_pattern", WORD_PATTERN)
    if pattern == WORD_PATTERN:
        spans = [match.span() for match in compiled_pattern(pattern).finditer(text)]
    elif (spans := find_spans(pattern, text)) is None:
        return text, None
    spelt = spelling(counted.get("lowercase", True), counted.get("accents", "keep"))
    words = [spelt(text[start:end]) for start, end in spans]
    known = known_phrases(
        () if counted.get("tokenizer") else counted.get("phrases"),
        lambda phrase: compiled_pattern(pattern).findall(spelt(segment(phrase))),
    )
    return text, [
        (spans[first][0], spans[end - 1][1], JOINT.join(words[first:end]))
        for first, end in units(words, known)
    ]


def documents_table(
    run: xr.Dataset, table: DocumentTable | None = None, documents: ArrayLike | None = None
) -> pd.DataFrame:
    """Return a DataFrame with a row per document: title, largest topic at the last snapshot, further columns.

    ``documents``: indices in the training corpus, from 0; by default all.

    Columns: document (index in the training corpus, from 0), title, label and time if there are any, topic (the one with the
    most (expected) tokens; missing for an empty document), topic_label if topics were labelled, share (its proportion, theta),
    n_tokens (training tokens), then the columns of the table, ``Run.table``, except the texts; " of the table" is appended to a
    name that is taken.
    """
    used = used_topics(run)
    indices = (
        np.arange(run.sizes["document"]) if documents is None else np.asarray(documents, np.int64)
    )
    largest, share, tokens = largest_topics(used, indices)
    columns_of_documents, first_columns = document_columns(run, table), ("title", "label", "time")
    columns = {"document": indices} | {
        name: columns_of_documents[name][indices]
        for name in first_columns
        if name in columns_of_documents
    }
    empty = tokens == 0
    columns["topic"] = pd.array(used["topic"].values[largest], "Int64")
    columns["topic"][empty] = pd.NA
    if "topic_label" in used:
        columns["topic_label"] = np.where(empty, "", used["topic_label"].values[largest])
    columns |= {"share": share, "n_tokens": tokens}
    columns |= {
        name: [values[row] for row in indices]
        for name, values in columns_of_documents.items()
        if name not in first_columns
    }
    return pd.DataFrame(columns)


def document_columns(run: xr.Dataset, table: DocumentTable | None = None) -> dict[str, Sequence]:
    """Return name → column (document,) of a document's metadata, with the names that `documents_table` uses."""
    columns = {"title": run["document"].values}
    columns |= {
        name: run[f"document_{name}"].values
        for name in ("label", "time")
        if f"document_{name}" in run.coords
    }
    taken_names = {
        "document",
        "topic",
        "share",
        "n_tokens",
        *columns,
        *(["topic_label"] if "topic_label" in run else []),
    }
    for name, values in ({} if table is None else table.metadata).items():
        columns[f"{name} of the table" if name in taken_names else name] = values
    return columns


def distinct_columns(run: xr.Dataset, table: DocumentTable | None = None) -> dict[str, Sequence]:
    """Return the columns of `document_columns` without those that repeat another one, as texts."""
    columns = document_columns(run, table)
    further = [name for name in columns if name != "title"]
    texts = {
        name: [text_of(value) for value in columns[name]]
        for name in (("title", *further) if further else ())
    }
    doubles = [name for name in further if texts[name] == texts["title"]]
    if table is not None:
        doubles += [
            name
            for name in ("label", "time")
            if name in further
            and any(texts[name] == texts[other] for other in further if other != name)
        ]
    return {name: values for name, values in columns.items() if name not in doubles}


def text_of(value: object) -> str:
    """Return a value of a column as text: "" if it is missing, and "3" for 3.0."""
    if value is None or value is pd.NA or value != value:
        return ""
    return (
        str(int(value))
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15
        else str(value)
    )


def largest_topics(
    used: xr.Dataset, documents: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each document the index of the largest topic, the proportion of that topic, and the number of tokens.

    used : result of `used_topics`
    """
    n_dk, theta = used["n_dk"].isel(snapshot=-1), used["theta"]
    largest, share, tokens = (
        np.empty(len(documents), np.int64),
        np.empty(len(documents)),
        np.empty(len(documents), np.int64),
    )
    for block in blocks(len(documents), rows_at_once(n_dk)):
        rows = as_slice(documents[block])
        counts = n_dk[rows].values
        largest[block], tokens[block] = counts.argmax(axis=1), np.rint(counts.sum(axis=1))
        share[block] = np.take_along_axis(theta[rows].values, largest[block, None], axis=1)[:, 0]
    return largest, np.where(tokens == 0, np.nan, share), tokens


TERM = re.compile(
    r'(?:(?P<column>[^\s":=]+|"(?:[^"]|"")*")(?P<sign>[:=]))?(?:(?P<phrase>"(?:[^"]|"")*")|(?P<word>\S+))'
)
FORMS = {
    "year": r"\d{4}",
    "quarter": r"\d{4}q\d",
    "month": r"\d{4}-\d\d",
    "week": r"\d{4}-w\d\d",
    "day": r"\d{4}-\d\d-\d\d",
}
"""Period → how its names are written, in lower case."""
BETWEEN = "\x1f"
"""Separator of a document's joined columns, so that no phrase matches across columns."""


def find_documents(
    run: xr.Dataset, query: str, table: DocumentTable | None = None, corpus: Corpus | None = None
) -> np.ndarray:
    """Return the indices (document,) int64 of the training documents that match all terms of a query, ascending.

    Parameters
    ----------
    run : Dataset
        With the coordinate ``document``, and ``document_label`` and ``document_time`` if there are any.
    query : str
        Terms separated by blanks; case is ignored. A term is a word or "a phrase" that the title, the text or a column
        contains, or ``column:value``, ``"a column":"a value"``, where that column contains the value; two quotes in it are one.
        With ``=`` instead of the colon the column equals the value, with its case if a document has it so. A time also equals
        the year, quarter, month, week or day that it is in.
    table : DocumentTable, optional
        ``Run.table``.
    corpus : Corpus, optional
        Training corpus of the run. If no texts were kept, a term also matches documents that have it as a word type.

    Raises
    ------
    MeasureError
        An unknown column; an empty query.
    """
    terms = list(TERM.finditer(query))
    if not terms:
        raise MeasureError("type a word, a phrase in quotes, or column:value to find documents")
    titles = run["document"].values
    own_columns = known_columns(run)
    columns = own_columns | {
        f"{name} of the table" if name in own_columns else name: values
        for name, values in (() if table is None else table.columns.items())
    }
    matches = np.ones(len(titles), bool)
    for term in terms:
        column = _unquoted(term["column"] or "")
        written = _unquoted(term["phrase"] or "") if term["word"] is None else term["word"]
        value = written.lower()
        if term["sign"] == "=" and column not in columns:
            column, value = "", term[0].lower()
        if column and column not in columns:
            hint = f"; {nearest_or_all(column, [*columns])}" if columns else "; there are none"
            raise MeasureError(
                f"documents have no column {shown(column)!r}{hint}; put a text with a colon in quotes"
            )
        candidates = np.flatnonzero(matches)
        if column:
            entries = columns[column]
            if term["sign"] == "=":
                names = _periods_as(run, value) if column == "time" else {}
                if written in map(str, entries):
                    equal = [str(entries[row]) == written for row in candidates]
                else:
                    equal = [str(entries[row]).lower() == value for row in candidates]
                hits = equal | np.array([names.get(row) == value for row in candidates], bool)
            else:
                hits = [value in str(entries[row]).lower() for row in candidates]
        else:
            texts = _all_columns(table) if table is not None else [""] * len(titles)
            hits = [value in texts[row] or value in str(titles[row]).lower() for row in candidates]
            if corpus is not None and (table is None or table.texts is None):
                hits = np.array(hits, bool) | _has_word(corpus, value)[candidates]
        matches[candidates] = np.asarray(hits, bool)
    return np.flatnonzero(matches)


def search_for(column: str, value: str) -> str:
    """Return the query that finds the documents whose column equals a value."""
    return "=".join(map(phrase_for, (column, value)))


def phrase_for(text: str) -> str:
    """Return the term of a query that finds the documents with a text in their title, text or columns."""
    return '"{}"'.format(text.replace('"', '""'))


def _unquoted(text: str) -> str:
    """Return a column or a phrase of a query without the quotes around it; two quotes in it are one."""
    return re.sub('^"|"$', "", text).replace('""', '"') if text.startswith('"') else text


def _periods_as(run: xr.Dataset, value: str) -> dict[int, str]:
    """Return document → name of the period of its time, in lower case, for periods whose names are written as ``value`` is."""
    period = next((period for period, form in FORMS.items() if re.fullmatch(form, value)), None)
    with suppress(MeasureError):  # times that are no dates
        names = periods_of(run, "time", period) if period else []
        return {row: name.lower() for row, name in enumerate(names) if name}
    return {}


@lru_cache(maxsize=2)
def _all_columns(table: DocumentTable) -> list[str]:
    """Return the metadata of each document as one lower-case text, all columns joined."""
    return [
        BETWEEN.join(str(value) for value in row if value is not None).lower()
        for row in zip(*table.columns.values(), strict=True)
    ]


def _has_word(corpus: AnyCorpus, word: str) -> np.ndarray:
    """Return whether each document contains the word, ignoring case, (document,) bool."""
    ids = [index for index, entry in enumerate(corpus.vocabulary) if entry.lower() == word]
    has_word = np.zeros(corpus.n_documents, bool)
    for first, shard in corpus.parts_in_order():
        has_word[first + shard.documents[np.isin(shard.words, ids)]] = True
    return has_word
