"""Variational inference of correlated topics: the update of a document against plain numpy, and as a maximum of its bound."""

import numpy as np
import pytest
from kernels.stick_breaking.plain_variational import bound_of, plain_fit
from scipy.special import expit, logsumexp
from toys import called, read_oracles

from workbench.kernels.gaussian import inverse, log_determinant
from workbench.kernels.simd.vectors import aligned_zeros, padded
from workbench.kernels.stick_breaking.variational import (
    NO_NODES,
    NODE_WEIGHTS,
    NODES,
    expect_logs,
    expected_probabilities,
    fit_documents,
)

ORACLE = read_oracles("stick_breaking")["vb_local"]
NODES_OF = {"local": (NO_NODES, NO_NODES), "paper": (NODES, NODE_WEIGHTS)}


def test_expected_logs_are_those_of_the_oracle():
    m, v, expect = np.array([ORACLE["m"]]), np.array([ORACLE["v"]]), called(expect_logs)
    logs, weights = np.empty(2), np.empty(1)
    expect(m, v, *NODES_OF["local"], logs, weights)
    assert logs == pytest.approx(
        [ORACLE["E_log_sigma_bound"], ORACLE["E_log_sigma_neg_bound"]], rel=1e-10
    )
    assert weights[0] == pytest.approx(ORACLE["E_omega_per_count_meanfield"], rel=1e-10)
    expect(m, v, *NODES_OF["paper"], logs, weights)  # 1e-6: of 21 nodes
    assert logs == pytest.approx(
        [ORACLE["E_log_sigma_exact"], ORACLE["E_log_sigma_neg_exact"]], abs=1e-6
    )
    assert weights[0] == pytest.approx(ORACLE["E_omega_per_count_paper"], abs=1e-6)


class Case:
    """Random documents, one of them empty and one of one token, with random topics and a random Gaussian."""

    def __init__(self, n_topics, bound="local", lengths=(4, 0, 1, 9), seed=0, faint=0.0):
        rng, n, self.n_words = np.random.default_rng(seed), n_topics - 1, 12
        self.lengths, self.n_topics, self.bound = lengths, n_topics, bound
        self.indptr = np.concatenate([[0], np.cumsum(lengths)])
        self.words = np.concatenate(
            [np.sort(rng.choice(self.n_words, size, False)) for size in lengths]
        ).astype(np.int32)
        self.counts = rng.integers(1, 5, self.indptr[-1]).astype(np.int32)
        self.word_logs = rng.normal(-2, 1, (self.n_words, n_topics)) - faint
        root = rng.normal(size=(n, n)) + 2 * np.eye(n)
        self.precision, self.mu = root @ root.T / n_topics, rng.normal(size=n)
        self.start = rng.normal(size=(len(lengths), n)), rng.uniform(0.5, 2, (len(lengths), n))

    def fitted(self, n_passes, tolerance=0.0):
        """What the kernel returns, and m, v and counts (document, …)."""
        n, lanes = len(self.lengths), padded(self.n_topics)
        logs, weights = (
            aligned_zeros((self.n_words, lanes), np.float64),
            aligned_zeros((self.n_words, lanes), np.float64),
        )
        logs[:, : self.n_topics] = self.word_logs
        weights[:, : self.n_topics] = np.exp(self.word_logs)
        sticks, variances = (each.copy() for each in self.start)
        mean_dk, *documents = (aligned_zeros((n, lanes), np.float64) for _ in range(3))
        found = fit_documents(
            0,
            n,
            np.arange(n),
            self.indptr,
            self.words,
            self.counts,
            self.precision,
            (self.precision @ self.mu)[None],
            *NODES_OF[self.bound],
            logs,
            weights,
            self.n_topics,
            n_passes,
            tolerance,
            self.mu,
            sticks,
            variances,
            mean_dk,
            *documents,
            np.empty(len(self.words)),
        )
        return found, sticks, variances, mean_dk[:, : self.n_topics]

    def plainly(self, d, n_passes):
        some = slice(self.indptr[d], self.indptr[d + 1])
        return plain_fit(
            self.words[some],
            self.counts[some],
            self.word_logs,
            self.precision,
            self.mu,
            self.start[0][d],
            self.start[1][d],
            n_passes,
            self.bound,
        )


@pytest.mark.parametrize("bound", ["local", "paper"])
@pytest.mark.parametrize("n_topics, faint", [(1, 0.0), (2, 0.0), (5, 0.0), (20, 0.0), (5, 2000.0)])
def test_documents_are_fitted_as_in_plain_numpy(n_topics, faint, bound):
    """faint: logs of words so low that their exponentials are 0."""
    case = Case(n_topics, bound, faint=faint)
    (value, total, scatter, n_visited), m, v, n = case.fitted(3)
    expected = [case.plainly(d, 3) for d in range(len(case.lengths))]
    assert n_visited == (1 if n_topics == 1 else 3) * len(case.words)
    for d, (plain_m, V, gamma, _) in enumerate(expected):
        assert m[d] == pytest.approx(plain_m, abs=1e-9)  # rounding, of solves by another order
        assert v[d] == pytest.approx(np.diag(V), abs=1e-9)
        assert n[d] == pytest.approx(
            case.counts[case.indptr[d] : case.indptr[d + 1]] @ gamma, abs=1e-9
        )
    differences = m - case.mu
    wanted = sum(V + np.outer(x, x) for x, (_, V, _, _) in zip(differences, expected, strict=True))
    assert scatter == pytest.approx(np.triu(wanted), abs=1e-8) and total == pytest.approx(
        differences.sum(axis=0), abs=1e-9
    )
    # the kernel leaves out what the sticks have of their prior
    whole = value - 0.5 * (case.precision * wanted).sum()
    assert whole == pytest.approx(sum(each[-1] for each in expected), rel=1e-9, abs=1e-8)


def slopes_of(m, V, gamma, given, step=1e-5):
    """Finite differences of the bound of a document in m, in V through its root, and in the logs of gamma."""
    n, root, log_gamma = len(m), np.linalg.cholesky(V), np.log(gamma)

    def value(shift):
        L = root + np.tril(shift[n : n + n * n].reshape(n, n))
        logs = log_gamma + shift[n + n * n :].reshape(log_gamma.shape)
        return bound_of(
            m + shift[:n], L @ L.T, np.exp(logs - logsumexp(logs, axis=1, keepdims=True)), *given
        )

    return [
        (value(unit) - value(-unit)) / (2 * step) for unit in step * np.eye(n + n * n + gamma.size)
    ]


def test_where_updates_settle_the_bound_is_stationary():
    case = Case(4)
    _, kernel_m, *_ = case.fitted(400)
    for d in (0, 2, 3):
        m, V, gamma, _ = case.plainly(d, 400)
        assert kernel_m[d] == pytest.approx(m, abs=1e-9)
        words = slice(case.indptr[d], case.indptr[d + 1])
        given = (
            case.counts[words],
            case.word_logs[case.words[words]],
            case.precision,
            case.mu,
            "local",
        )
        # of the differences; the bound itself is some tens of nats
        assert np.abs(slopes_of(m, V, gamma, given)).max() < 1e-6


def test_every_pass_raises_the_local_bound():
    case = Case(6, lengths=(8, 3, 11))
    values = [case.fitted(n) for n in range(1, 30)]
    whole = [
        found[0] - 0.5 * (case.precision * (np.triu(found[2], 1) + np.triu(found[2]).T)).sum()
        for found, *_ in values
    ]
    assert np.diff(whole).min() > -1e-10 and whole[-1] > whole[0] + 0.01


def test_an_empty_document_is_its_prior_and_adds_nothing():
    case = Case(5, lengths=(0, 0))
    (value, _, scatter, _), m, v, n = case.fitted(1)
    covariance, log_size = inverse(case.precision), log_determinant(case.precision)
    assert m == pytest.approx(np.tile(case.mu, (2, 1)), abs=1e-12) and not n.any()
    assert v == pytest.approx(np.tile(np.diag(covariance), (2, 1)), abs=1e-12)
    # E[log p(psi)] - E[log q(psi)] with mu and Sigma pinned: log |Sigma^-1| / 2 for each document beside what was returned
    scatter = np.triu(scatter, 1) + np.triu(scatter).T
    assert value - 0.5 * (case.precision * scatter).sum() + log_size == pytest.approx(
        0.0, abs=1e-10
    )


def test_expected_probabilities_are_those_of_many_draws():
    m, v = (
        np.array([[0.4, -1.2, 2.0], [5.0, 0.0, -3.0]]),
        np.array([[1.3, 0.2, 4.0], [0.1, 9.0, 1.0]]),
    )
    found = expected_probabilities(m, v)
    psi = m + np.sqrt(v) * np.random.default_rng(0).normal(size=(200_000, 2, 3))
    share = expit(psi)
    theta = np.concatenate([share, np.ones((len(psi), 2, 1))], axis=2)
    theta[..., 1:] *= np.cumprod(1 - share, axis=2)
    error = theta.std(axis=0) / np.sqrt(len(psi))
    # 1e-4: of 21 nodes at a variance of 9
    assert np.all(np.abs(found - theta.mean(axis=0)) < 5 * error + 1e-4)
    assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert expected_probabilities(np.empty((2, 0)), np.empty((2, 0))).tolist() == [[1.0], [1.0]]
