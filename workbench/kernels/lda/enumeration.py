"""Exact inference by enumeration: the log joint of every assignment of topics to a few tokens, and posterior means.

An assignment has one of K topics for each token; assignments are in the order in which the topic of the last token changes
fastest. Tokens are added one after another, each with its predictive probability given the tokens before it and counts m:

    p(z_i = k, w_i | z_<i, w_<i)  =  (alpha_k + n_dk) / (A + n_d) * (beta + n_wk) / (W beta + n_k)          spec A2
"""

import numpy as np

MOST_STATES = 2**16
"""Assignments that are enumerated at most."""


def assignments(n_tokens: int, n_topics: int) -> np.ndarray:
    """Return all assignments of topics to tokens, (state, token)."""
    return (
        np.arange(n_topics**n_tokens)[:, None] // n_topics ** np.arange(n_tokens)[::-1] % n_topics
    )


def log_joints(
    documents: np.ndarray,
    words: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    alpha: np.ndarray,
    beta: float,
    n_topics: int,
) -> np.ndarray:
    """Return L(m + c(z)) - L(m) in nats (assignment,), for every assignment z with counts c(z); L is the log joint.

    documents, words (token,) : of each token; mean_dk, mean_wk, mean_k : the counts m, padded
    """
    topics, logs = assignments(len(documents), n_topics), np.zeros(n_topics ** len(documents))
    sizes = (alpha + mean_dk)[:, :n_topics].sum(axis=1)
    for i, (d, w) in enumerate(zip(documents, words, strict=True)):
        k, is_same = topics[:, i], topics[:, :i] == topics[:, [i]]
        n_dk = mean_dk[d, k] + is_same[:, documents[:i] == d].sum(axis=1)
        n_wk = mean_wk[w, k] + is_same[:, words[:i] == w].sum(axis=1)
        n_k = mean_k[k] + is_same.sum(axis=1)
        document_factor = (alpha[k] + n_dk) / (sizes[d] + np.sum(documents[:i] == d))
        logs += np.log(document_factor * ((beta + n_wk) / (len(mean_wk) * beta + n_k)))
    return logs


def posterior_means(
    probability: np.ndarray,
    documents: np.ndarray,
    words: np.ndarray,
    n_documents: int,
    n_rows: int,
    n_words: int,
    alpha: np.ndarray,
    beta: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return posterior means of p(topic of a token), p(two tokens have the same topic), and p(w|d), by enumeration.

    probability (assignment,); documents, words (token,) are numbered 0 … n_documents - 1 and 0 … n_rows - 1; the vocabulary has
    n_words. The results are (token, topic), (token, token) and (document + 1, row + 1), whose last row and column are those of
    a document and of a word without tokens. A topic without tokens has phi = 1/W, so only those with tokens are visited.
    """
    n_tokens, total = len(documents), alpha.sum()
    topics, same_topic = assignments(n_tokens, len(alpha)), np.empty((n_tokens, n_tokens))
    document_indicators, row_indicators = (
        np.eye(n_documents + 1)[documents],
        np.eye(n_rows + 1)[words],
    )
    sizes, predictive = (
        total + document_indicators.sum(axis=0),
        np.zeros((n_documents + 1, n_rows + 1)),
    )
    empty_mass = total * probability.sum()
    for i in range(n_tokens):
        is_same = topics == topics[:, [i]]
        same_topic[i] = probability @ is_same
        first = ~is_same[:, :i].any(
            axis=1
        )  # each topic of an assignment is visited at its first token
        is_same, p, prior = is_same[first], probability[first], alpha[topics[first, i]]
        theta = (prior[:, None] + is_same @ document_indicators) / sizes
        phi = (beta + is_same @ row_indicators) / (n_words * beta + is_same.sum(axis=1))[:, None]
        predictive += (p[:, None] * theta).T @ phi
        empty_mass -= p @ prior
    token_topic = [np.bincount(column, probability, len(alpha)) for column in topics.T]
    return np.array(token_topic), same_topic, predictive + (empty_mass / sizes / n_words)[:, None]


def predictive_means(
    probability: np.ndarray,
    documents: np.ndarray,
    words: np.ndarray,
    n_documents: int,
    alpha: np.ndarray,
    prior: np.ndarray,
) -> np.ndarray:
    """Return the posterior mean of p(w|d), (document + 1, word), as `posterior_means` does, for a prior (word, topic)."""
    topics, document_indicators = (
        assignments(len(documents), len(alpha)),
        np.eye(n_documents + 1)[documents],
    )
    present, positions = np.unique(words, return_inverse=True)
    word_indicators = np.eye(len(present))[positions]
    lengths, predictive = document_indicators.sum(axis=0), np.zeros((n_documents + 1, len(prior)))
    for k in range(len(alpha)):
        is_k = topics == k
        theta = (alpha[k] + is_k @ document_indicators) / (alpha.sum() + lengths)
        shares = theta * (probability / (prior[:, k].sum() + is_k.sum(axis=1)))[:, None]
        predictive += shares.sum(axis=0)[:, None] * prior[:, k]
        predictive[:, present] += shares.T @ (is_k @ word_indicators)
    return predictive
