"""The variational update of a document of correlated topics and its bound in plain numpy, spec B.5 line by line."""

import numpy as np
from scipy.special import log_expit, logsumexp

from workbench.kernels.stick_breaking.variational import NODE_WEIGHTS, NODES


def plain_logs(m, v, bound):
    """E[log theta] (topic,) and the mean of omega per count (stick,), spec B.5 line by line."""
    if bound == "local":
        xi = np.sqrt(m**2 + v)
        plus, minus, weights = (
            log_expit(xi) + (m - xi) / 2,
            log_expit(xi) + (-m - xi) / 2,
            np.tanh(xi / 2) / (2 * xi),
        )
    else:
        psi = m + np.sqrt(v) * NODES[:, None]
        plus, minus, weights = (
            NODE_WEIGHTS @ f
            for f in (log_expit(psi), log_expit(-psi), np.tanh(psi / 2) / (2 * psi))
        )
    before = np.concatenate([[0.0], np.cumsum(minus)])
    return np.append(plus, 0.0) + before, weights


def bound_of(m, V, gamma, counts, word_logs, precision, mu, bound):
    """The bound of one document: tokens, sticks and entropies, E log |Sigma| and constants of the Gaussian cancelled."""
    logs, _ = plain_logs(m, np.diag(V), bound)
    tokens = (counts[:, None] * gamma * (word_logs + logs - np.log(gamma))).sum()
    return (
        tokens
        - 0.5 * np.trace(precision @ (V + np.outer(m - mu, m - mu)))
        + 0.5 * (len(m) + np.linalg.slogdet(V)[1])
    )


def plain_fit(words, counts, word_logs, precision, mu, m, v, n_passes, bound):
    """(m, V, gamma) after so many passes, and the bound, spec B.5 line by line."""
    for _ in range(n_passes):
        logs, weights = plain_logs(m, v, bound)
        gamma = word_logs[words] + logs
        gamma = np.exp(gamma - logsumexp(gamma, axis=1, keepdims=True))
        n = counts @ gamma
        remaining = np.cumsum(n[::-1])[::-1][:-1]
        V = np.linalg.inv(precision + np.diag(remaining * weights))
        m = V @ (precision @ mu + n[:-1] - remaining / 2)
        v = np.diag(V)
    return m, V, gamma, bound_of(m, V, gamma, counts, word_logs[words], precision, mu, bound)
