"""Linear dynamical systems of counts: potentials, states and rows of C, against plain twins and quadrature."""

import numpy as np
import pytest
from geweke import z_of
from scipy.linalg import lapack
from scipy.special import logsumexp
from toys import read_oracles

from workbench.kernels.gaussian import log_determinant
from workbench.kernels.jit import kernel
from workbench.kernels.state_space import factor_states
from workbench.kernels.stick_breaking import linear_dynamical as lds
from workbench.kernels.stick_breaking.linear_dynamical import (
    draw_last,
    draw_loadings,
    draw_sequence,
    draw_weights,
    keys_of_rows,
    potentials,
    products,
    stick_starts,
    sums_before,
)
from workbench.kernels.stick_breaking.particle_gibbs import draw_path, filter_particles
from workbench.kernels.stick_breaking.sticks import kappa, log_multinomial, remaining
from workbench.kernels.uniforms import absorb, draw_key

ORACLES = read_oracles("stick_breaking")
Z = 4.5  # standard errors, of some dozens of statistics
TWINS = 1e-12  # relative: rounding of some hundred sums


def key_of(step):
    return np.uint64(draw_key(4, 2, 0, step))


def sparse(x):
    """(indptr, places, counts, starts) of counts (row, word)."""
    rows, places = np.nonzero(x)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(x)))])
    return indptr, places, x[rows, places], stick_starts(indptr, places, x.shape[1] - 1)


def packed(omega, starts):
    """omega (row, stick) as the kernels have it."""
    return np.concatenate(
        [
            row[: last - first]
            for row, first, last in zip(omega, starts[:-1], starts[1:], strict=True)
        ]
    )


def given(n_rows=7, n_words=9, n_dims=3, seed=0, most=4):
    """Counts with rows of one word and rows without any, omega where a stick has tokens, C, d and states."""
    random = np.random.default_rng(seed)
    x = random.poisson(0.4, (n_rows, n_words))
    x[1], x[2], x[3, -1] = 0, np.arange(n_words) == 4, most
    omega = random.gamma(2.0, 0.1, (n_rows, n_words - 1)) * (remaining(x) > 0)
    C, d = random.normal(size=(n_words - 1, n_dims)), random.normal(size=n_words - 1)
    return x, omega, C, d, random.normal(size=(n_rows, n_dims))


def potentials_of(x, omega, C, d):
    indptr, places, counts, starts = sparse(x)
    J, h = np.zeros((len(x), C.shape[1], C.shape[1])), np.empty((len(x), C.shape[1]))
    potentials(
        0,
        len(x),
        indptr,
        places,
        counts,
        starts,
        packed(omega, starts),
        C,
        sums_before(C),
        products(C, d),
        J,
        h,
    )
    return J, h


def plain_potentials(x, omega, C, d):
    return np.einsum("tk,ki,kj->tij", omega, C, C), (kappa(x) - omega * d) @ C


@pytest.mark.parametrize("n_dims", [1, 3, 10])
def test_potentials_are_sums_over_the_sticks_of_a_row(n_dims):
    x, omega, C, d, _ = given(n_dims=n_dims)
    J, h = potentials_of(x, omega, C, d)
    wanted, wanted_h = plain_potentials(x, omega, C, d)
    assert np.triu(J) == pytest.approx(np.triu(wanted), rel=TWINS, abs=TWINS)
    assert h == pytest.approx(wanted_h, rel=TWINS, abs=TWINS)
    assert (J[1] == 0).all() and (h[1] == 0).all()


def plain_filter(J, h, S1, m1, A, B):
    """Forward filtering of spec D.2 (a), in information form: (J_t, h_t) of the law of each state given the past, and log Z."""
    kept, log_normaliser = [], 0.0
    precision, weighted = np.linalg.inv(S1), np.linalg.solve(S1, m1)
    for J_t, h_t in zip(J, h, strict=True):
        if kept:
            covariance = A @ np.linalg.inv(kept[-1][0]) @ A.T + B
            precision = np.linalg.inv(covariance)
            weighted = precision @ A @ np.linalg.solve(*kept[-1])
        after = precision + J_t, weighted + h_t
        for (P, v), sign in ((after, 1), ((precision, weighted), -1)):
            log_normaliser += sign * 0.5 * (v @ np.linalg.solve(P, v) - np.linalg.slogdet(P)[1])
        kept.append(after)
    return kept, log_normaliser


def smoothed_means(kept, A, B):
    """The means of all states, from the last one back: spec D.2 (a) without its noise."""
    means = [np.linalg.solve(*kept[-1])]
    for P, v in kept[-2::-1]:
        means.append(
            np.linalg.solve(
                P + A.T @ np.linalg.solve(B, A), v + A.T @ np.linalg.solve(B, means[-1])
            )
        )
    return np.array(means[::-1])


def banded_means(J, h, S1, m1, A, B):
    """The means of all states by the banded Cholesky factor of LAPACK: spec D.2 (b) without its noise."""
    (n_times, n), Q = h.shape, np.linalg.inv(B)
    diagonal, below = J + Q + A.T @ Q @ A, -Q @ A
    diagonal[0] += np.linalg.inv(S1) - Q
    diagonal[-1] -= A.T @ Q @ A
    band = np.zeros((2 * n, n_times, n))
    for j in range(n):
        band[: n - j, :, j] = diagonal[:, j:, j].T
        band[n - j : 2 * n - j, :-1, j] = below[:, j, None]
    v = h.copy()
    v[0] += np.linalg.solve(S1, m1)
    factor, info = lapack.dpbtrf(band.reshape(2 * n, -1), lower=1)
    assert info == 0
    return lapack.dpbtrs(factor, v.ravel(), lower=1)[0].reshape(h.shape)


def dense_means(J, h, S1, m1, A, B):
    """The means of all states by their joint Gaussian."""
    (n_times, n), Q = h.shape, np.linalg.inv(B)
    P, v, step = np.zeros((n_times * n, n_times * n)), h.copy(), np.hstack([-A, np.eye(n)])
    for t in range(n_times):
        P[t * n : (t + 1) * n, t * n : (t + 1) * n] += J[t] + (np.linalg.inv(S1) if t == 0 else 0.0)
        if t:
            P[(t - 1) * n : (t + 1) * n, (t - 1) * n : (t + 1) * n] += step.T @ Q @ step
    v[0] += np.linalg.solve(S1, m1)
    return np.linalg.solve(P, v.ravel()).reshape(h.shape)


def means_of_factor(between, roots, y):
    """The means of all states from what `factor_states` makes: U_t x_t = y_t - W_t' x_{t+1}."""
    means = np.empty_like(y)
    for t in range(len(y) - 1, -1, -1):
        after = between[t].T @ means[t + 1] if t + 1 < len(y) else 0.0
        means[t] = np.linalg.solve(np.triu(roots[t]), y[t] - after)
    return means


def of_oracle():
    o = {name: np.array(value) for name, value in ORACLES["lds_ffbs"].items()}
    return o, potentials_of(o["x"], o["omega"], o["C"], o["d"]), (o["S1"], o["m1"], o["A"], o["B"])


def random_system(n_times, n, seed):
    random = np.random.default_rng(seed)
    x, omega, C, d, _ = given(n_times, 12, n, seed)
    noise = random.normal(size=(n + 3, n))
    A = random.normal(size=(n, n)) / (1.5 * np.sqrt(n))
    return plain_potentials(x, omega, C, d), (
        np.eye(n) + 0.3,
        random.normal(size=n),
        A,
        noise.T @ noise / n,
    )


@pytest.mark.parametrize("n_times, n", [(12, 3), (40, 1), (30, 10)])
def test_the_factor_agrees_with_filtering_with_the_banded_factor_and_with_the_joint_gaussian(
    n_times, n
):
    (J, h), (S1, m1, A, B) = random_system(n_times, n, 3)
    roots, y = J.copy(), h.copy()
    between, log_normaliser = factor_states(
        roots, y, np.linalg.inv(S1), m1, A, np.zeros(n), np.linalg.inv(B)
    )
    kept, wanted = plain_filter(J, h, S1, m1, A, B)
    assert log_normaliser == pytest.approx(wanted, rel=TWINS, abs=TWINS * n_times)
    found = means_of_factor(between, roots, y)
    for twin in (
        smoothed_means(kept, A, B),
        banded_means(J, h, S1, m1, A, B),
        dense_means(J, h, S1, m1, A, B),
    ):
        # condition of the joint precision, some tens
        assert found == pytest.approx(twin, rel=TWINS, abs=20 * TWINS)
    root = np.triu(roots[-1])
    assert root.T @ root == pytest.approx(kept[-1][0], rel=TWINS, abs=20 * TWINS)
    assert root.T @ y[-1] == pytest.approx(kept[-1][1], rel=TWINS, abs=20 * TWINS)


def test_states_and_the_law_of_the_last_one_are_those_of_the_oracle():
    o, (J, h), (S1, m1, A, B) = of_oracle()
    roots, y = J.copy(), h.copy()
    between, log_normaliser = factor_states(
        roots, y, np.linalg.inv(S1), m1, A, np.zeros(3), np.linalg.inv(B)
    )
    assert log_normaliser == pytest.approx(float(o["logZ"]), rel=1e-10)
    assert means_of_factor(between, roots, y) == pytest.approx(o["post_mean"], rel=1e-10)
    root = np.empty((3, 3))
    last = draw_sequence(J, h, np.linalg.inv(S1), m1, A, np.linalg.inv(B), key_of(1), root)
    precision = root.T @ root
    assert (np.tril(root, -1) == 0).all() and np.linalg.solve(root, last) == pytest.approx(
        o["post_mean"][-1], rel=1e-10
    )
    assert np.diag(np.linalg.inv(precision)) == pytest.approx(
        o["post_cov_diag"].ravel()[-3:], rel=1e-10
    )


def test_without_counts_there_is_nothing_to_learn():
    x, omega, C, d, _ = given()
    J, h = potentials_of(0 * x, 0 * omega, C, d)
    assert (J == 0).all() and (h == 0).all()
    A, B = np.array([[0.9, 0.1, 0.0], [0.0, 0.5, 0.2], [0.1, 0.0, 0.3]]), np.eye(3) + 0.2
    between, log_normaliser = factor_states(
        J, h, np.eye(3), np.zeros(3), A, np.zeros(3), np.linalg.inv(B)
    )
    assert log_normaliser == pytest.approx(0.0, abs=1e-12)
    covariance = np.eye(3)
    for _ in range(6):
        covariance = A @ covariance @ A.T + B
    root = np.triu(J[-1])
    # of the last state, without the others
    assert np.linalg.inv(root.T @ root) == pytest.approx(covariance, rel=TWINS)


def test_draws_of_the_last_state_have_its_law():
    _, (J, h), (S1, m1, A, B) = of_oracle()
    root, drawn = np.empty((3, 3)), np.empty((100_000, 3))
    last = draw_sequence(J, h, np.linalg.inv(S1), m1, A, np.linalg.inv(B), key_of(2), root)
    draw_last(root, last, key_of(3), drawn)
    mean, covariance = (
        np.linalg.solve(np.triu(root), last),
        np.linalg.inv(np.triu(root).T @ np.triu(root)),
    )
    assert (np.abs(drawn.mean(axis=0) - mean) / np.sqrt(np.diag(covariance) / len(drawn))).max() < Z
    error = np.sqrt(
        (np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / len(drawn)
    )
    assert (np.abs(np.cov(drawn.T) - covariance) / error).max() < Z


@kernel
def loadings_of(
    cuts, indptr, places, counts, starts, omega, states, of_rows, offset, variance, key, n
):
    drawn = np.empty((n, len(offset), states.shape[1]))
    for i in range(n):
        for c in range(len(cuts) - 1):
            draw_loadings(
                cuts[c],
                cuts[c + 1],
                indptr,
                places,
                counts,
                starts,
                omega,
                states,
                of_rows,
                offset,
                variance,
                absorb(key, i),
                drawn[i],
            )
    return drawn


def test_rows_of_loadings_have_their_posterior_in_whatever_slices():
    x, omega, C, d, z = given()
    indptr, places, counts, starts = sparse(x)
    rest = (
        indptr,
        places,
        counts,
        starts,
        packed(omega, starts),
        z,
        products(z, np.ones(len(z))),
        d,
        0.6,
        key_of(4),
    )
    drawn = loadings_of(np.array([0, 3, 4, 8]), *rest, 40_000)
    # sums in another order
    assert loadings_of(np.array([0, 8]), *rest, 5) == pytest.approx(drawn[:5], rel=1e-12, abs=1e-12)
    for k in range(len(d)):
        J = np.eye(3) / 0.6 + (omega[:, k, None] * z).T @ z
        mean, covariance = (
            np.linalg.solve(J, (kappa(x)[:, k] - omega[:, k] * d[k]) @ z),
            np.linalg.inv(J),
        )
        assert (
            np.abs(drawn[:, k].mean(axis=0) - mean) / np.sqrt(np.diag(covariance) / len(drawn))
        ).max() < Z
        error = np.sqrt(
            (np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / len(drawn)
        )
        assert (np.abs(np.cov(drawn[:, k].T) - covariance) / error).max() < Z


def test_weights_are_drawn_for_the_sticks_with_tokens_of_as_many_and_do_not_depend_on_slices():
    x, _, C, d, z = given()
    indptr, places, counts, starts = sparse(x)
    assert np.diff(starts).tolist() == (remaining(x) > 0).sum(axis=1).tolist()
    keys, total = (
        keys_of_rows(np.array([0, 4, len(x)]), np.array([5, 7], np.uint64), key_of(5)),
        0.0,
    )
    arguments = indptr, places, counts, starts, z, np.ascontiguousarray(C.T), d
    for i in range(4000):
        omega = np.empty(starts[-1])
        draw_weights(0, len(x), *arguments, keys + np.uint64(i), omega)
        total = total + omega
    psi, N = z @ C.T + d, remaining(x)
    mean, variance = (
        N * np.tanh(psi / 2) / (2 * psi),
        N * (np.sinh(psi) - psi) / (4 * psi**3 * np.cosh(psi / 2) ** 2),
    )
    assert (
        np.abs(total / 4000 - packed(mean, starts)) / packed(np.sqrt(variance / 4000), starts)
    ).max() < Z
    parts = np.empty(starts[-1])
    for first, last in ((4, len(x)), (0, 4)):
        draw_weights(first, last, *arguments, keys + np.uint64(3999), parts)
    assert np.array_equal(parts, omega)


GRID = np.linspace(-9.0, 9.0, 181)
"""Abscissas of quadratures over a state: a step of 0.1, for densities with standard deviations from 0.3 to 1.3."""
TOY = {
    "x": np.array([[2, 0, 1], [0, 0, 0], [0, 1, 4]]),
    "C": np.array([[1.5], [-0.8]]),
    "d": np.array([0.3, -0.4]),
    "A": np.array([[0.8]]),
    "B": np.array([[0.7]]),
}


def log_joint_on_grid(x):
    """log p(x_1..3, z_1..3) on the cube of the grid, a system of one dimension; multinomial coefficients included."""
    likelihood = np.stack(
        [log_multinomial(row, GRID[:, None] * TOY["C"][:, 0] + TOY["d"]) for row in x]
    )
    first = -0.5 * GRID**2 - 0.5 * np.log(2 * np.pi)
    step = -0.5 * (GRID[None] - 0.8 * GRID[:, None]) ** 2 / 0.7 - 0.5 * np.log(2 * np.pi * 0.7)
    return (
        (first + likelihood[0])[:, None, None]
        + step[:, :, None]
        + likelihood[1][None, :, None]
        + step[None]
        + likelihood[2][None, None]
    )


def gibbs_sampled(n):
    """(sweep, time) states given the counts of the toy, by the Gibbs sampler."""
    indptr, places, counts, starts = sparse(TOY["x"])
    z, kept, C, d, B = (
        np.zeros((3, 1)),
        np.empty((n, 3)),
        TOY["C"],
        TOY["d"],
        np.linalg.inv(TOY["B"]),
    )
    keys = np.arange(3, dtype=np.uint64) + np.uint64(1)
    before, of_sticks, root, transposed = (
        sums_before(C),
        products(C, d),
        np.empty((1, 1)),
        np.ascontiguousarray(C.T),
    )
    for i in range(n):
        omega, J, h = np.empty(starts[-1]), np.empty((3, 1, 1)), np.empty((3, 1))
        draw_weights(
            0, 3, indptr, places, counts, starts, z, transposed, d, keys + key_of(2 * i), omega
        )
        potentials(0, 3, indptr, places, counts, starts, omega, C, before, of_sticks, J, h)
        draw_sequence(J, h, np.eye(1), np.zeros(1), TOY["A"], B, key_of(2 * i + 1), root)
        z = h
        kept[i] = z[:, 0]
    return kept


def particle_sampled(n):
    """The same by particle Gibbs with ancestor sampling, twenty particles."""
    path, particles, ancestors, log_weights = (
        np.zeros((3, 1)),
        np.zeros((3, 1, 32)),
        np.zeros((3, 20), np.int64),
        np.zeros(32),
    )
    kept, B = np.empty((n, 3)), np.linalg.inv(TOY["B"])
    fixed = (
        *sparse(TOY["x"])[:3],
        TOY["C"],
        TOY["d"],
        True,
        np.zeros(1),
        np.eye(1),
        TOY["A"],
        TOY["B"],
        B,
        20,
    )
    for i in range(n):
        filter_particles(0, 3, *fixed, path, key_of(2 * i), particles, ancestors, log_weights)
        draw_path(particles, ancestors, log_weights, 20, path, key_of(2 * i + 1))
        kept[i] = path[:, 0]
    return kept


@pytest.mark.slow  # 40,000 sweeps
@pytest.mark.parametrize("sampled", [gibbs_sampled, particle_sampled])
def test_states_given_counts_have_the_moments_of_a_quadrature_by_both_samplers(sampled):
    """Polya-gamma augmentation and particles have one posterior."""
    joint = log_joint_on_grid(TOY["x"])
    p = np.exp(joint - logsumexp(joint))
    z = sampled(40_000)
    for powers in [
        (1, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (2, 0, 0),
        (0, 2, 0),
        (0, 0, 2),
        (1, 1, 0),
        (0, 1, 1),
        (1, 0, 1),
    ]:
        wanted = np.einsum("ijk,i,j,k", p, *(GRID**power for power in powers))
        assert z_of(np.prod(z**powers, axis=1), wanted) < Z, powers


def test_the_upper_root_is_a_factor():
    matrix = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
    root = lds.upper_root(matrix)
    assert root.T @ root == pytest.approx(matrix, rel=TWINS) and (np.tril(root, -1) == 0).all()
    assert 2 * np.log(np.diag(root)).sum() == pytest.approx(log_determinant(matrix), rel=TWINS)
