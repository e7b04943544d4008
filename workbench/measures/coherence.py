"""Coherence of topics: how often their top words share documents (u_mass, NPMI, c_v)."""

import numpy as np
import xarray as xr
from scipy.sparse import csr_array

from workbench.corpus.any_corpus import AnyCorpus
from workbench.measures.selection import MeasureError, whole_number
from workbench.measures.topics import top_words, used_topics

EPSILON = 1e-12
"""Added to the probability that two words share a document, so that of 0 there is a logarithm (Röder et al. 2015)."""
MEANINGS = {
    "u_mass": "mean of log((D(v, w) + 1) / D(w)) over pairs of top words",
    "npmi": "mean normalised pointwise mutual information over pairs of top words",
    "c_v": "mean cosine between each top word's vector of NPMI and their sum",
}


def coherence(
    run: xr.Dataset, corpus: AnyCorpus, n: int = 10, relevance: float = 1.0
) -> xr.Dataset:
    """Coherence of each topic of the last snapshot: how often its n top words share documents of a corpus.

    A bag of words has no order, so two words are together when a document has both: the window is the document. (c_v and
    NPMI are often reported for windows of 110 and 10 words of running text; those are other numbers.) D counts documents, p
    is D over the documents with a token.

    ::

        u_mass = mean over l < m of log( (D(w_m, w_l) + 1) / D(w_l) )             w_1 the first of the topic
        npmi   = mean over l < m of log( (p(w_m, w_l) + e) / (p(w_m) p(w_l)) ) / -log( p(w_m, w_l) + e )       e = 1e-12
        c_v    = mean over m of cos( v_m, sum_l v_l )                              v_m the NPMI of w_m with every top word

    u_mass is at most about 0, the others run to 1; higher is better in each. Words that share every document go together
    as chance would have it: NPMI 0. A word that no document has is left out of its topic, whose numbers are NaN where fewer
    than two words are left.

    ``corpus`` is that of the run's own training tokens, or any other documents, in memory or in shards, which are read one
    after the other; words are matched by their spelling. There are n words of each topic, at least 2 and 10 as in the papers,
    ranked by ``relevance`` (see `top_words`).

    Dim ``topic``: ``u_mass`` (nats), ``npmi``, ``c_v`` and ``n_words``, those that the corpus has. Attributes ``mean_u_mass``,
    ``mean_npmi`` and ``mean_c_v`` over topics that have a number; ``n_documents`` with a token.

    Mimno et al. (2011), eq. 1, a sum there; Bouma (2009) and Lau, Newman & Baldwin (2014); Röder, Both & Hinneburg
    (2015), whose window is one of text. One process; a matrix of documents by top words, so 20,000 documents take a second.
    """
    if not isinstance(corpus, AnyCorpus):
        raise MeasureError(
            f"wanted a Corpus to look for the words in (workbench.load_corpus); got {type(corpus).__name__}"
        )
    n = whole_number("number of top words", n, 2)
    words = top_words(used_topics(run), n, relevance)["word"]
    every, place = np.unique(words.values.astype(str), return_inverse=True)
    together, n_documents = _together(every.tolist(), corpus)
    known = [own[together[own, own] > 0] for own in place.reshape(words.shape)]
    columns = np.array([_of_topic(together[np.ix_(own, own)], n_documents) for own in known]).T
    data = {
        name: ("topic", column, {"long_name": meaning, "units": "nats" if name == "u_mass" else ""})
        for (name, meaning), column in zip(MEANINGS.items(), columns, strict=True)
    }
    data["n_words"] = (
        "topic",
        [len(own) for own in known],
        {"long_name": "top words that the corpus has", "units": ""},
    )
    means = {f"mean_{name}": _mean(column) for name, column in zip(MEANINGS, columns, strict=True)}
    return xr.Dataset(
        data,
        {"topic": words["topic"].values},
        means | {"n_documents": n_documents, "n_top_words": n},
    )


def _together(words: list[str], corpus: AnyCorpus) -> tuple[np.ndarray, int]:
    """(word, word) documents that have both, on the diagonal those that have one; and how many have a token."""
    wanted = {word: at for at, word in enumerate(words)}
    columns, together = (
        np.array([wanted.get(word, -1) for word in corpus.vocabulary], np.int64),
        0.0,
    )
    for documents in corpus.parts():
        column = columns[documents.words]
        kept = column >= 0
        cells = documents.documents[kept], column[kept]
        # words spelt alike add up
        found = csr_array((np.ones(len(cells[0])), cells), (documents.n_documents, len(words)))
        found.data[:] = 1.0
        together = together + (found.T @ found).toarray()
    return together, int(np.count_nonzero(corpus.document_tokens))


def _of_topic(together: np.ndarray, n_documents: int) -> tuple[float, float, float]:
    """u_mass, npmi and c_v of the words of one topic in order, each of which some document has."""
    if len(together) < 2:
        return np.nan, np.nan, np.nan
    alone, pairs = np.diag(together), np.tril_indices(len(together), -1)
    u_mass = np.log((together[pairs] + 1) / alone[pairs[1]]).mean()
    of_pairs = _npmi(together / n_documents, alone / n_documents)
    total = of_pairs.sum(axis=0)
    lengths = np.linalg.norm(of_pairs, axis=1) * np.linalg.norm(total)
    cosines = np.divide(of_pairs @ total, lengths, out=np.zeros(len(total)), where=lengths > 0)
    return float(u_mass), float(of_pairs[pairs].mean()), float(cosines.mean())


def _npmi(together: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """(word, word) of probabilities; 0 where both words are in every document."""
    log = np.log(together + EPSILON)
    return np.divide(
        log - np.log(np.outer(alone, alone)), -log, out=np.zeros_like(log), where=together < 1
    )


def _mean(values: np.ndarray) -> float:
    """Mean of the finite values; NaN where there is none."""
    return float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else float("nan")
