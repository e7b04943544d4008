"""Documents and topics: the most representative documents of a topic, and the topics of each word of a document."""

import numbers
from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from workbench.corpus.any_corpus import AnyCorpus
from workbench.corpus.document_table import DocumentTable
from workbench.data.blocks import as_slice, blocks, rows_at_once
from workbench.measures.matching import check_training_corpus, responsibilities
from workbench.measures.selection import MeasureError, whole_number
from workbench.measures.topics import topic_sizes, used_topics

Z = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""


def representative_documents(run: xr.Dataset, topic: int, n: int = 5) -> xr.Dataset:
    """The most representative documents of a topic, at the last snapshot.

    They are ranked by the lower end of the 95 % interval (Wilson's) of the topic's share, n_dk of the document's N_d
    tokens. By theta alone, documents of one token would win: with a small alpha theta is then almost 1 for any.
    A share of 1 of 1 token is worth 0.21 here, of 10 tokens 0.72, of 100 tokens 0.96; 80 of 100 tokens are worth 0.71.

    ``topic`` is the run's own number of it; there are fewer than n documents where fewer have an (expected) token of the topic,
    of which half a one is the least that counts. Dim ``rank`` (from 1): ``document`` (its place in the training corpus, from
    0), ``title``, ``theta``, ``n_tokens`` (training tokens), ``n_topic_tokens`` ((expected) tokens of the topic) and ``score``,
    what they are ranked by. Equal documents keep the corpus' order.

    Wilson (1927).
    """
    at, n = _place_of(run, topic), whole_number("number of documents", n)
    order, own, tokens, scores = _ranked(run, at)
    order = order[:n]
    columns = (
        ("document", order, "place in the training corpus"),
        ("title", run["document"].values[order], "document"),
        ("theta", run["theta"][order, at].values, "the topic's proportion of the document"),
        ("n_tokens", tokens[order].astype(np.int64), "training tokens"),
        ("n_topic_tokens", own[order], "(expected) tokens of the topic"),
        ("score", scores[order], "lower end of the 95 % interval of the topic's share"),
    )
    data = {
        name: ("rank", values, {"long_name": meaning, "units": ""})
        for name, values, meaning in columns
    }
    return xr.Dataset(data, {"rank": np.arange(1, len(order) + 1)}, {"topic": int(topic)})


def documents_of_topic(run: xr.Dataset, topic: int) -> np.ndarray:
    """(found,) int64: all documents with an (expected) token of the topic, as `representative_documents` ranks them."""
    return _ranked(run, _place_of(run, topic))[0]


def _ranked(run: xr.Dataset, at: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Documents with a token of the topic in this place, in their order; of every document its tokens of it, all, its score."""
    own, tokens = np.empty((2, run.sizes["document"]))
    for block, n_dk in blocks_of(run["n_dk"].isel(snapshot=-1)):
        own[block], tokens[block] = n_dk[:, at], np.rint(n_dk.sum(axis=1))
    scores = _lower_end(own, np.maximum(tokens, 1.0))
    order = np.argsort(-scores, kind="stable")
    return order[own[order] >= 0.5], own, tokens, scores


def blocks_of(values: xr.DataArray) -> Iterator[tuple[slice, np.ndarray]]:
    """The rows of a (row, column) array a block at a time, so that one that lies on a disk is never whole in memory."""
    for block in blocks(len(values), rows_at_once(values)):
        yield block, values[block].values


def token_topics(
    run: xr.Dataset, corpus: AnyCorpus, document: int, theta: np.ndarray | None = None
) -> xr.Dataset:
    """p(k|d,w), the probability of each topic for each word of a document, given the last snapshot.

    It is proportional to theta_dk phi_kw: all tokens of a word type in a document have the same.

    ``corpus`` has the training tokens of the run, or, with ``theta``, any documents; ``document`` is a place in it, from 0.
    ``theta`` (topic,) is that of a document that the run has not seen, as `workbench.infer` finds it:
    ``inferred["theta"][document]``. Words are then matched by their spelling; those that the run does not know have no topic.

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
    one, used = corpus.rows(int(document), int(document) + 1), used_topics(run)
    own = (
        used["theta"].isel(document=int(document)).values
        if theta is None
        else _given(theta, run, used)
    )[None]
    place = dict(zip(used["word"].values[::-1], range(used.sizes["word"] - 1, -1, -1), strict=True))
    words = np.array([one.vocabulary[word] for word in one.words], dtype=object)
    at = (
        np.array([place.get(word, -1) for word in words], np.int64)
        if theta is not None
        else one.words.astype(np.int64)
    )
    probability = responsibilities(own, used["phi"].values.T, np.zeros(len(at), np.int64), at)
    probability[at < 0] = np.nan
    likely = np.where(at < 0, -1, used["topic"].values[probability.argmax(axis=1)])
    return xr.Dataset(
        {
            "n_tokens": ("word", one.counts, {"long_name": "tokens in the document", "units": ""}),
            "probability": (
                ("word", "topic"),
                probability,
                {"long_name": "p(topic | document, word)", "units": ""},
            ),
            "likely": (
                "word",
                likely,
                {"long_name": "most likely topic; -1: unknown word", "units": ""},
            ),
        },
        {"word": words, "topic": used["topic"].values},
        {"document": int(document), "title": one.titles[0]},
    )


def documents_table(run: xr.Dataset, table: DocumentTable | None = None, documents=None):
    """A pandas DataFrame with a row a document: title, largest topic at the last snapshot, and what else is known of it.

    ``documents``: the places in the training corpus, from 0, of those that are wanted; by default all.

    Columns: document (its place in the training corpus, from 0), title, label and time where there are any, topic (that with
    the most (expected) tokens; none for an empty document), topic_label where people gave labels, share (its proportion,
    theta), n_tokens (training tokens), then the columns of the table, ``Run.table``, but the texts; one whose name is taken
    has " of the table" behind it.
    """
    import pandas as pd

    used = used_topics(run)
    at = np.arange(run.sizes["document"]) if documents is None else np.asarray(documents, np.int64)
    largest, share, tokens = largest_topics(used, at)
    known, own = document_columns(run, table), ("title", "label", "time")
    columns = {"document": at} | {name: known[name][at] for name in own if name in known}
    empty = tokens == 0
    columns["topic"] = pd.array(used["topic"].values[largest], "Int64")
    columns["topic"][empty] = pd.NA
    if "topic_label" in used:
        columns["topic_label"] = np.where(empty, "", used["topic_label"].values[largest])
    columns |= {"share": share, "n_tokens": tokens}
    columns |= {
        name: [values[row] for row in at] for name, values in known.items() if name not in own
    }
    return pd.DataFrame(columns)


def document_columns(run: xr.Dataset, table: DocumentTable | None = None) -> dict[str, Sequence]:
    """(document,) title, label and time where there are any, columns of the table: by the names of `documents_table`."""
    columns = {"title": run["document"].values}
    columns |= {
        name: run[f"document_{name}"].values
        for name in ("label", "time")
        if f"document_{name}" in run.coords
    }
    taken = {
        "document",
        "topic",
        "share",
        "n_tokens",
        *columns,
        *(["topic_label"] if "topic_label" in run else []),
    }
    for name, values in ({} if table is None else table.metadata).items():
        columns[f"{name} of the table" if name in taken else name] = values
    return columns


def largest_topics(
    used: xr.Dataset, documents: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each of some documents the place of its largest topic, its share (theta; NaN without a token), training tokens.

    used : what `used_topics` gives
    """
    n_dk, theta = used["n_dk"].isel(snapshot=-1), used["theta"]
    largest, share, tokens = (
        np.empty(len(documents), np.int64),
        np.empty(len(documents)),
        np.empty(len(documents), np.int64),
    )
    for block in blocks(len(documents), rows_at_once(n_dk)):
        own = as_slice(documents[block])
        counts = n_dk[own].values
        largest[block], tokens[block] = counts.argmax(axis=1), np.rint(counts.sum(axis=1))
        share[block] = np.take_along_axis(theta[own].values, largest[block, None], axis=1)[:, 0]
    return largest, np.where(tokens == 0, np.nan, share), tokens


def _lower_end(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Of Wilson's interval of a proportion; both float64, trials above 0."""
    share, weight = successes / trials, Z**2 / trials
    return (
        share + weight / 2 - Z * np.sqrt(share * (1 - share) / trials + weight / (4 * trials))
    ) / (1 + weight)


def _place_of(run: xr.Dataset, topic: int) -> int:
    """The index of a topic among those of the run."""
    numbers_of = topic_sizes(run)["topic"].values
    at = (
        np.flatnonzero(numbers_of == topic)
        if isinstance(topic, numbers.Integral) and not isinstance(topic, bool)
        else []
    )
    if not len(at):
        raise MeasureError(
            f"there is no topic {topic!r}; the run has {numbers_of.min()} to {numbers_of.max()}"
        )
    return int(at[0])


def _given(theta, run: xr.Dataset, used: xr.Dataset) -> np.ndarray:
    """(topic,) theta of the topics that are used."""
    theta = np.asarray(theta, float)
    if theta.shape != (run.sizes["topic"],):
        raise MeasureError(
            f"theta must have one number for each of {run.sizes['topic']} topics; it has shape {theta.shape}"
        )
    return theta[np.isin(run["topic"].values, used["topic"].values)]
