"""Coherence of topics: how often their top words share documents (u_mass, NPMI, c_v). Diversity: how many of these differ."""

import numpy as np
import xarray as xr
from scipy.sparse import csr_array

from workbench.corpus.any_corpus import AnyCorpus
from workbench.measures.selection import MeasureError, attributes, whole_number
from workbench.measures.topics import top_words, used_topics

EPSILON = 1e-12
"""Added to the probability that two words share a document, so that log 0 never occurs (Röder et al. 2015)."""
MEANINGS = {
    "u_mass": "mean of log((D(v, w) + 1) / D(w)) over pairs of top words",
    "npmi": "mean normalised pointwise mutual information over pairs of top words",
    "c_v": "mean cosine between each top word's vector of NPMI and their sum",
}


def coherence(
    run: xr.Dataset, corpus: AnyCorpus, n: int = 10, relevance: float = 1.0
) -> xr.Dataset:
    """Return the coherence of each topic of the last snapshot: how often its n top words share documents of a corpus.

    A bag of words has no order, so two words co-occur when a document has both: the window is the document. (c_v and NPMI are
    often reported for windows of 110 and 10 words of running text; those are other numbers.) D counts documents, and p is D
    over the documents with a token.

    ::

        u_mass = mean over l < m of log( (D(w_m, w_l) + 1) / D(w_l) )             w_1 the first of the topic
        npmi   = mean over l < m of log( (p(w_m, w_l) + e) / (p(w_m) p(w_l)) ) / -log( p(w_m, w_l) + e )       e = 1e-12
        c_v    = mean over m of cos( v_m, sum_l v_l )                              v_m the NPMI of w_m with every top word

    u_mass is at most about 0, the others at most 1; higher is better in each. Two words that are both in every document have
    NPMI 0. A word that is in no document is left out; a topic with fewer than two words left has NaN.

    ``corpus`` has the training tokens of the run or any other documents, in memory or in shards, which are read in turn; words
    are matched by spelling. ``n`` is the number of top words of each topic, at least 2 (the papers use 10), ranked by
    ``relevance`` (see `top_words`).

    Dim ``topic``: ``u_mass`` (nats), ``npmi``, ``c_v`` and ``n_words``, the top words that the corpus has. Attributes
    ``mean_u_mass``, ``mean_npmi`` and ``mean_c_v`` over topics without NaN; ``n_documents`` with a token.

    Mimno et al. (2011), eq. 1, a sum there; Bouma (2009) and Lau, Newman & Baldwin (2014); Röder, Both & Hinneburg
    (2015), whose window is one of text. One process; a matrix of documents by top words, so 20,000 documents take a second.
    """
    if not isinstance(corpus, AnyCorpus):
        raise MeasureError(
            f"wanted a Corpus to look for the words in (workbench.load_corpus); got {type(corpus).__name__}"
        )
    n = whole_number("number of top words", n, 2)
    words = top_words(used_topics(run), n, relevance)["word"]
    distinct, place = np.unique(words.values.astype(str), return_inverse=True)
    co_documents, n_documents = _co_documents(distinct.tolist(), corpus)
    known = [rows[co_documents[rows, rows] > 0] for rows in place.reshape(words.shape)]
    columns = np.array(
        [_of_topic(co_documents[np.ix_(rows, rows)], n_documents) for rows in known]
    ).T
    data = {
        name: ("topic", column, {"long_name": meaning, "units": "nats" if name == "u_mass" else ""})
        for (name, meaning), column in zip(MEANINGS.items(), columns, strict=True)
    }
    data["n_words"] = (
        "topic",
        [len(rows) for rows in known],
        {"long_name": "top words that the corpus has", "units": ""},
    )
    means = {f"mean_{name}": _mean(column) for name, column in zip(MEANINGS, columns, strict=True)}
    return xr.Dataset(
        data,
        {"topic": words["topic"].values},
        means | {"n_documents": n_documents, "n_top_words": n},
    )


def _co_documents(words: list[str], corpus: AnyCorpus) -> tuple[np.ndarray, int]:
    """Return (word, word) numbers of documents with both words, and the number of documents with a token."""
    places = {word: place for place, word in enumerate(words)}
    columns, totals = (
        np.array([places.get(word, -1) for word in corpus.vocabulary], np.int64),
        0.0,
    )
    for documents in corpus.parts():
        column = columns[documents.words]
        is_top = column >= 0
        cells = documents.documents[is_top], column[is_top]
        # words spelt alike add up
        incidence = csr_array((np.ones(len(cells[0])), cells), (documents.n_documents, len(words)))
        incidence.data[:] = 1.0
        totals = totals + (incidence.T @ incidence).toarray()
    return totals, int(np.count_nonzero(corpus.document_tokens))


def _of_topic(co_documents: np.ndarray, n_documents: int) -> tuple[float, float, float]:
    """Return u_mass, npmi and c_v of the words of one topic in rank order; every word is in some document."""
    if len(co_documents) < 2:
        return np.nan, np.nan, np.nan
    documents, pairs = np.diag(co_documents), np.tril_indices(len(co_documents), -1)
    u_mass = np.log((co_documents[pairs] + 1) / documents[pairs[1]]).mean()
    npmi = _npmi(co_documents / n_documents, documents / n_documents)
    total = npmi.sum(axis=0)
    lengths = np.linalg.norm(npmi, axis=1) * np.linalg.norm(total)
    cosines = np.divide(npmi @ total, lengths, out=np.zeros(len(total)), where=lengths > 0)
    return float(u_mass), float(npmi[pairs].mean()), float(cosines.mean())


def _npmi(pair_probability: np.ndarray, word_probability: np.ndarray) -> np.ndarray:
    """Return (word, word) NPMI from the probabilities of pairs and of words; 0 for words that are both in every document."""
    log = np.log(pair_probability + EPSILON)
    return np.divide(
        log - np.log(np.outer(word_probability, word_probability)),
        -log,
        out=np.zeros_like(log),
        where=pair_probability < 1,
    )


def _mean(values: np.ndarray) -> float:
    """Return the mean of the finite values; NaN if there is none."""
    return float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else float("nan")


def diversity(run: xr.Dataset, n: int = 25) -> xr.Dataset:
    """Return the share of distinct words among the top words of all topics, at the last snapshot.

    The n top words of each topic by probability (25 as in the paper), or all words if there are fewer. Dim ``topic``:
    ``diversity``, where a word among the top words of m topics counts 1/m; its mean over topics, ``attrs["mean_diversity"]``,
    is the number of the paper: distinct words divided by all top words, from 1/K to 1.

    Dieng, Ruiz & Blei (2020), section 6.
    """
    words = top_words(used_topics(run), n)["word"]
    distinct, indices, n_topics = np.unique(
        words.values.astype(str), return_inverse=True, return_counts=True
    )
    shares = (1 / n_topics[indices]).reshape(words.shape).mean(axis=1)
    meaning = attributes(f"share of the top {words.sizes['rank']} words that no other topic shares")
    return xr.Dataset(
        {"diversity": ("topic", shares, meaning)},
        {"topic": words["topic"].values},
        {"mean_diversity": len(distinct) / words.size, "n_top_words": words.sizes["rank"]},
    )
