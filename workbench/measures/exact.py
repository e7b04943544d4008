"""The exact posterior of LDA on a toy corpus, by enumeration of all topic assignments."""

import math

import numpy as np
import xarray as xr

from workbench.corpus import AnyCorpus, Corpus
from workbench.kernels.lda.enumeration import MOST_STATES, log_joints, posterior_means
from workbench.measures.selection import MeasureError
from workbench.models.lda import LDA
from workbench.models.model import bag_coords
from workbench.models.variables import Variable

MOST_CELLS = 2**24
"""Maximum of cells of a result array; exceeded only with one topic, or with many empty documents or words."""
RESULT = (
    Variable("log_evidence", (), "nats", "log p(words), of the tokens in their order"),
    Variable(
        "token_topic", ("token", "topic"), "", "posterior probability of each topic of a token"
    ),
    Variable(
        "co_assignment",
        ("token", "other_token"),
        "",
        "posterior probability that two tokens have one topic",
    ),
    Variable(
        "predictive",
        ("document", "word"),
        "",
        "p(w|d) of one further token, mean over the posterior",
    ),
)


def exact(corpus: Corpus, model: LDA) -> xr.Dataset:
    """Return the exact posterior of LDA on a toy corpus by enumerating all topic assignments.

    Parameters
    ----------
    corpus : Corpus
        Of a few tokens: ``n_topics ** n_tokens`` is at most 2**16, as with 16 tokens in 2 topics or 10 in 3.
    model : LDA

    Returns
    -------
    Dataset
        Tokens in canonical order (documents, their words, copies), labelled by ``token_document`` and ``token_word``:

        - ``log_evidence``: log p(words), nats, of the ordered tokens, without multinomial coefficient.
        - ``token_topic`` (token, topic), rows sum to 1. If alpha is one number the topics are exchangeable and every
          probability is 1/K; the following two variables are then informative.
        - ``co_assignment`` (token, other_token): the probability that two tokens have one topic.
        - ``predictive`` (document, word): the posterior mean of sum_k theta_dk phi_kw, rows sum to 1.

        ``attrs["n_states"]``: the number of assignments.

    Raises
    ------
    MeasureError
        Without tokens, for more than 2**16 assignments, or arguments that are no Corpus and LDA.

    Specification of LDA, A.1 and E.4.
    """
    _check(corpus, model)
    tokens = [
        np.repeat(of_pair, corpus.counts).astype(np.int64)
        for of_pair in (corpus.documents, corpus.words)
    ]
    (documents, document_of_token), (words, word_of_token) = (
        np.unique(labels, return_inverse=True) for labels in tokens
    )
    alpha, k = model.alphas, model.n_topics
    counts = np.zeros((len(documents), k)), np.zeros((corpus.n_words, k)), np.zeros(k)
    logs = log_joints(document_of_token, tokens[1], *counts, alpha, model.beta, k)
    largest = logs.max()
    weights = np.exp(logs - largest)
    token_topic, co_assignment, table = posterior_means(
        weights / weights.sum(),
        document_of_token,
        word_of_token,
        len(documents),
        len(words),
        corpus.n_words,
        alpha,
        model.beta,
    )
    rows, columns = (
        _places(present, size)
        for present, size in ((documents, corpus.n_documents), (words, corpus.n_words))
    )
    results = (
        largest + math.log(weights.sum()),
        token_topic,
        co_assignment,
        table[np.ix_(rows, columns)],
    )
    labels = {
        name: (name, np.array(names), {"long_name": meaning})
        for name, (names, meaning, *_) in bag_coords(corpus).items()
        if name in ("document", "word")
    }
    return xr.Dataset(
        {
            variable.name: (variable.dims, values, variable.attrs)
            for variable, values in zip(RESULT, results, strict=True)
        },
        {
            **labels,
            "topic": np.arange(k),
            "token_document": (
                "token",
                labels["document"][1][tokens[0]],
                {"long_name": "document of the token"},
            ),
            "token_word": (
                "token",
                labels["word"][1][tokens[1]],
                {"long_name": "word of the token"},
            ),
        },
        {"corpus": corpus.name, "alpha": alpha, "beta": model.beta, "n_states": len(logs)},
    )


def every_pair(corpus: Corpus) -> Corpus:
    """Return a corpus in which each document has each word once, to predict p(w|d) for all pairs."""
    documents, words = np.indices((corpus.n_documents, corpus.n_words)).reshape(2, -1)
    return Corpus.from_pairs(
        documents,
        words,
        np.ones(len(words), int),
        n_documents=corpus.n_documents,
        n_words=corpus.n_words,
    )


def total_variation(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the total variation distance between p(w|d) and q(w|d) (…, document, word), averaged over documents."""
    return np.abs(p - q).sum(axis=-1).mean(axis=-1) / 2


def _check(corpus, model) -> None:
    """Raise MeasureError for a corpus without tokens or with too many topic assignments."""
    if not isinstance(corpus, AnyCorpus) or not isinstance(model, LDA):
        argument = corpus if not isinstance(corpus, AnyCorpus) else model
        raise MeasureError(
            f"the exact posterior needs a Corpus and an LDA model; got {type(argument).__name__}"
        )
    corpus.require_memory("the exact posterior is of a few tokens in memory")
    n, k = corpus.n_tokens, model.n_topics
    if n == 0:
        raise MeasureError(
            f"corpus '{corpus.name}' has no token; there is nothing to assign topics to, so add one"
        )
    if n * math.log(k) > math.log(MOST_STATES) + 1e-9:
        most = int(math.log(MOST_STATES) / math.log(k) + 1e-9)
        fewer = f"take at most {most} tokens" if most > 0 else "take fewer topics"
        raise MeasureError(
            f"{n:,} tokens in {k:,} topics have {k:,}^{n:,} assignments, and at most {MOST_STATES:,} (2^16) are enumerated; "
            f"{fewer}{', or fewer topics' if most > 0 and k > 2 else ''}"
        )
    if max(n * n, n * k, corpus.n_documents * corpus.n_words) > MOST_CELLS:
        raise MeasureError(
            f"{n:,} tokens, {corpus.n_documents:,} documents and {corpus.n_words:,} words need a table of more than "
            f"{MOST_CELLS:,} cells; leave out what is empty, or take fewer tokens"
        )


def _places(present: np.ndarray, size: int) -> np.ndarray:
    """Return the index in ``present`` of each number from 0 to size - 1; len(present) for a missing number."""
    positions = np.full(size, len(present))
    positions[present] = np.arange(len(present))
    return positions
