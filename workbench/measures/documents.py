"""Documents and topics: the most representative documents of a topic, and the topics of each word of a document."""

import numbers

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.corpus.document_table import DocumentTable
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
    n_dk = run["n_dk"].isel(snapshot=-1).values
    own, tokens = n_dk[:, at].astype(float), np.rint(n_dk.sum(axis=1))
    scores = _lower_end(own, np.maximum(tokens, 1.0))
    order = np.argsort(-scores, kind="stable")[:n]
    order = order[own[order] >= 0.5]
    columns = (
        ("document", order, "place in the training corpus"), ("title", run["document"].values[order], "document"),
        ("theta", run["theta"].values[order, at], "the topic's proportion of the document"),
        ("n_tokens", tokens[order].astype(np.int64), "training tokens"),
        ("n_topic_tokens", own[order], "(expected) tokens of the topic"),
        ("score", scores[order], "lower end of the 95 % interval of the topic's share"),
    )
    data = {name: ("rank", values, {"long_name": meaning, "units": ""}) for name, values, meaning in columns}
    return xr.Dataset(data, {"rank": np.arange(1, len(order) + 1)}, {"topic": int(topic)})


def token_topics(run: xr.Dataset, corpus: Corpus, document: int, theta: np.ndarray | None = None) -> xr.Dataset:
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
    if isinstance(document, bool) or not isinstance(document, numbers.Integral) or not 0 <= document < corpus.n_documents:
        raise MeasureError(f"the document must be a number from 0 to {corpus.n_documents - 1}; got {document!r}")
    one, used = corpus.of_documents([document]), used_topics(run)
    own = (used["theta"].values[document] if theta is None else _given(theta, run, used))[None]
    place = dict(zip(used["word"].values[::-1], range(used.sizes["word"] - 1, -1, -1), strict=True))
    words = np.array(one.vocabulary, dtype=object)[one.words]
    at = np.array([place.get(word, -1) for word in words], np.int64) if theta is not None else one.words.astype(np.int64)
    probability = responsibilities(own, used["phi"].values.T, np.zeros(len(at), np.int64), at)
    probability[at < 0] = np.nan
    likely = np.where(at < 0, -1, used["topic"].values[probability.argmax(axis=1)])
    return xr.Dataset(
        {
            "n_tokens": ("word", one.counts, {"long_name": "tokens in the document", "units": ""}),
            "probability": (("word", "topic"), probability, {"long_name": "p(topic | document, word)", "units": ""}),
            "likely": ("word", likely, {"long_name": "most likely topic; -1: unknown word", "units": ""}),
        },
        {"word": words, "topic": used["topic"].values},
        {"document": int(document), "title": one.titles[0]},
    )


def documents_table(run: xr.Dataset, table: DocumentTable | None = None):
    """A pandas DataFrame with a row a document: title, largest topic at the last snapshot, and what else is known of it.

    Columns: document (its place in the training corpus, from 0), title, label and time where there are any, topic (that with
    the most (expected) tokens; none for an empty document), topic_label where people gave labels, share (its proportion,
    theta), n_tokens (training tokens), then the columns of the table, ``Run.table``, but the texts; one whose name is taken
    has " of the table" behind it.
    """
    import pandas as pd

    used = used_topics(run)
    n_dk, theta = used["n_dk"].isel(snapshot=-1).values, used["theta"].values
    largest, tokens = n_dk.argmax(axis=1), np.rint(n_dk.sum(axis=1)).astype(np.int64)
    columns = {"document": np.arange(len(tokens)), "title": run["document"].values}
    columns |= {name: run[f"document_{name}"].values for name in ("label", "time") if f"document_{name}" in run.coords}
    empty = tokens == 0
    columns["topic"] = pd.array(used["topic"].values[largest], "Int64")
    columns["topic"][empty] = pd.NA
    if "topic_label" in used:
        columns["topic_label"] = np.where(empty, "", used["topic_label"].values[largest])
    columns["share"] = np.where(empty, np.nan, theta[np.arange(len(tokens)), largest])
    columns["n_tokens"] = tokens
    for name, values in ({} if table is None else table.metadata).items():
        columns[f"{name} of the table" if name in columns else name] = list(values)
    return pd.DataFrame(columns)


def _lower_end(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Of Wilson's interval of a proportion; both float64, trials above 0."""
    share, weight = successes / trials, Z**2 / trials
    return (share + weight / 2 - Z * np.sqrt(share * (1 - share) / trials + weight / (4 * trials))) / (1 + weight)


def _place_of(run: xr.Dataset, topic: int) -> int:
    """The index of a topic among those of the run."""
    numbers_of = topic_sizes(run)["topic"].values
    at = np.flatnonzero(numbers_of == topic) if isinstance(topic, numbers.Integral) and not isinstance(topic, bool) else []
    if not len(at):
        raise MeasureError(f"there is no topic {topic!r}; the run has {numbers_of.min()} to {numbers_of.max()}")
    return int(at[0])


def _given(theta, run: xr.Dataset, used: xr.Dataset) -> np.ndarray:
    """(topic,) theta of the topics that are used."""
    theta = np.asarray(theta, float)
    if theta.shape != (run.sizes["topic"],):
        raise MeasureError(f"theta must have one number for each of {run.sizes['topic']} topics; it has shape {theta.shape}")
    return theta[np.isin(run["topic"].values, used["topic"].values)]
