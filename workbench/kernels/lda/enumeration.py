"""Exact inference by enumeration: the log joint of every assignment of topics to a few tokens, and posterior means.

An assignment has one of K topics for each token; assignments are in the order in which the topic of the last token changes
fastest. Tokens are added one after another, each with its predictive probability given the tokens before it and counts m:

    p(z_i = k, w_i | z_<i, w_<i)  =  (alpha_k + n_dk) / (A + n_d) * (beta + n_wk) / (W beta + n_k)          spec A2

so that the time per assignment is that of one token.
"""

import math

import numpy as np

from workbench.kernels.jit import kernel

MOST_STATES = 2**16
"""Limit of the number of assignments, which takes a few hundredths of a second."""


@kernel
def log_joints(
    documents: np.ndarray,
    words: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    alpha,
    beta,
    n_topics: int,
):
    """Return L(m + c(z)) - L(m) in nats (assignment,), for every assignment z with counts c(z); L is the log joint.

    documents, words (token,) : of each token; mean_dk, mean_wk, mean_k : the counts m, padded
    """
    n_tokens = len(documents)
    words_beta = len(mean_wk) * beta
    n_dk, n_wk, n_k = mean_dk.copy(), mean_wk.copy(), mean_k.copy()
    n_d = np.empty(len(mean_dk))
    for d in range(len(mean_dk)):
        n_d[d] = alpha[:n_topics].sum() + mean_dk[d, :n_topics].sum()
    topics, logs = np.full(n_tokens, -1), np.zeros(n_tokens + 1)
    result, state = np.empty(n_topics**n_tokens), 0
    i = 0
    while i >= 0:
        if i == n_tokens:
            result[state] = logs[i]
            state += 1
            i -= 1
            continue
        d, w, k = documents[i], words[i], topics[i]
        if k >= 0:
            n_dk[d, k], n_wk[w, k], n_k[k], n_d[d] = (
                n_dk[d, k] - 1,
                n_wk[w, k] - 1,
                n_k[k] - 1,
                n_d[d] - 1,
            )
        k += 1
        topics[i] = k if k < n_topics else -1
        if k == n_topics:
            i -= 1
            continue
        p = (alpha[k] + n_dk[d, k]) / n_d[d] * ((beta + n_wk[w, k]) / (words_beta + n_k[k]))
        logs[i + 1] = logs[i] + math.log(p)
        n_dk[d, k], n_wk[w, k], n_k[k], n_d[d] = (
            n_dk[d, k] + 1,
            n_wk[w, k] + 1,
            n_k[k] + 1,
            n_d[d] + 1,
        )
        i += 1
    return result


@kernel
def posterior_means(
    probability: np.ndarray,
    documents: np.ndarray,
    words: np.ndarray,
    n_documents: int,
    n_rows: int,
    n_words: int,
    alpha,
    beta,
):
    """Return posterior means over all assignments: p(topic of a token), p(two tokens have the same topic), and p(w|d).

    probability (assignment,); documents, words (token,) are numbered 0 … n_documents - 1 and 0 … n_rows - 1; the vocabulary has
    n_words. The results are (token, topic), (token, token) and (document + 1, row + 1), whose last row and column are those of
    a document and of a word without tokens. A topic without tokens has phi = 1/W, so only those with tokens are visited.
    """
    n_tokens, n_topics = len(documents), len(alpha)
    token_topic, same = np.zeros((n_tokens, n_topics)), np.zeros((n_tokens, n_tokens))
    predictive = np.zeros((n_documents + 1, n_rows + 1))
    n_dk, n_wk, n_k = (
        np.zeros((n_documents + 1, n_topics)),
        np.zeros((n_rows + 1, n_topics)),
        np.zeros(n_topics),
    )
    total, topics = alpha.sum(), np.zeros(n_tokens, np.int64)
    n_d, phi = np.zeros(n_documents + 1), np.empty(n_rows + 1)
    for i in range(n_tokens):
        n_d[documents[i]] += 1
        n_dk[documents[i], 0] += 1
        n_wk[words[i], 0] += 1
        n_k[0] += 1
    for state in range(len(probability)):
        p, empty, used = probability[state], total, 0
        for i in range(n_tokens):
            k, first = topics[i], True
            token_topic[i, k] += p
            for j in range(i):
                if topics[j] == k:
                    same[i, j] += p
                    first = False
            if not first:
                continue
            used += 1
            empty -= alpha[k]
            for w in range(n_rows + 1):
                phi[w] = p * (beta + n_wk[w, k]) / (n_words * beta + n_k[k])
            for d in range(n_documents + 1):
                theta = (alpha[k] + n_dk[d, k]) / (total + n_d[d])
                for w in range(n_rows + 1):
                    predictive[d, w] += theta * phi[w]
        if used < n_topics:
            for d in range(n_documents + 1):
                for w in range(n_rows + 1):
                    predictive[d, w] += p * empty / (total + n_d[d]) / n_words
        i = n_tokens - 1
        while i >= 0:
            d, w, k = documents[i], words[i], topics[i]
            new = k + 1 if k + 1 < n_topics else 0
            n_dk[d, k], n_wk[w, k], n_k[k] = n_dk[d, k] - 1, n_wk[w, k] - 1, n_k[k] - 1
            n_dk[d, new], n_wk[w, new], n_k[new] = n_dk[d, new] + 1, n_wk[w, new] + 1, n_k[new] + 1
            topics[i] = new
            if new > 0:
                break
            i -= 1
    for i in range(n_tokens):
        same[i, i] = 1.0
        for j in range(i):
            same[j, i] = same[i, j]
    return token_topic, same, predictive
