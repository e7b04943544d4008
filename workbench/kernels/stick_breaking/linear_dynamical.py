"""Gibbs sampling of a linear dynamical system of counts by stick-breaking; its forecasts are those of `particle_gibbs`.

    omega_tk ~ PG(N_tk, psi_tk),  psi_t = C z_t + d                                                       spec D.1, D.2
    c_k ~ N(J^-1 h, J^-1),  J = I / sigma_c2 + sum_t omega_tk z_t z_t',  h = sum_t (kappa_tk - omega_tk d_k) z_t
    z given its potentials  J_t = C' diag(omega_t) C,  h_t = C'(kappa_t - omega_t d)                        `state_space`

Rows are documents, those of a sequence one after the other (`engines.stick_breaking.rows`). A row needs omega only for the
sticks up to the last of its words; `starts` (row + 1,) has where they begin in omega. With one token per row and the frequent
words first on the stick they are few. Symmetric matrices are summed as packed upper triangles, row after row, so that a stick
adds one contiguous row. No BLAS: the bits do not depend on threads.
"""

import numpy as np

from workbench.kernels.gaussian import draw_gaussian, factor, solve
from workbench.kernels.jit import fused, kernel
from workbench.kernels.polya_gamma import polya_gamma
from workbench.kernels.simd.vectors import LANES
from workbench.kernels.state_space import draw_factored, factor_states
from workbench.kernels.uniforms import absorb, normal, stream_of


def stick_starts(indptr: np.ndarray, positions, n_sticks) -> np.ndarray:
    """Return where the variables omega of each row begin, one for each stick up to the row's last word (row + 1,)."""
    n_rows, used = len(indptr) - 1, np.zeros(len(indptr), np.int64)
    full = np.flatnonzero(np.diff(indptr))
    used[1:][full] = np.minimum(positions[indptr[1:][full] - 1] + 1, n_sticks)
    return np.cumsum(used)[: n_rows + 1]


@fused
def _sticks_of_state(z, transposed, offset, n, sticks: np.ndarray) -> None:
    """Write the first n elements of psi = C z + d to `sticks`.

    transposed (state_dim, stick) : C transposed; offset (stick,) : d
    """
    for k in range(n):
        sticks[k] = offset[k]
    for i in range(len(z)):
        row, z_i = transposed[i], z[i]
        for k in range(n):
            sticks[k] += z_i * row[k]


@fused
def _add_weighted(weights, n, rows, total) -> None:
    """Add the sum of weights[k] times rows[k], over the first n rows (row, number), to total (number,)."""
    k = 0
    while k + 4 <= n:
        w0, w1, w2, w3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        r0, r1, r2, r3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        for i in range(len(total)):
            total[i] = total[i] + w0 * r0[i] + w1 * r1[i] + w2 * r2[i] + w3 * r3[i]
        k += 4
    while k < n:
        weight, row = weights[k], rows[k]
        for i in range(len(total)):
            total[i] += weight * row[i]
        k += 1


@fused
def _add_to_each(weights, n, row, totals) -> None:
    """Add row (number,), times weights[k], to totals[k] for the first n rows k of totals (row, number)."""
    for k in range(n):
        weight, total = weights[k], totals[k]
        for i in range(len(row)):
            total[i] += weight * row[i]


@kernel
def products(rows, scale):
    """Return for each row x of rows (row, dim) the packed upper triangle of x x', then scale times x (row, number).

    It is padded with zeros to whole vectors.
    """
    n_rows, n = rows.shape
    result = np.zeros((n_rows, -(-(n * (n + 1) // 2 + n) // LANES) * LANES))
    for r in range(n_rows):
        e = 0
        for i in range(n):
            for j in range(i, n):
                result[r, e] = rows[r, i] * rows[r, j]
                e += 1
        for i in range(n):
            result[r, e + i] = rows[r, i] * scale[r]
    return result


@kernel
def keys_of_rows(indptr: np.ndarray, sequence_keys, key: np.uint64):
    """Return a random key for each row (row,) uint64, hashed from its sequence's key and its position."""
    keys = np.empty(indptr[-1], np.uint64)
    for s in range(len(sequence_keys)):
        sums_of_row = absorb(key, sequence_keys[s])
        for r in range(indptr[s], indptr[s + 1]):
            keys[r] = absorb(sums_of_row, r - indptr[s])
    return keys


@kernel
def draw_weights(
    first: int,
    last: int,
    indptr: np.ndarray,
    positions,
    counts: np.ndarray,
    starts: np.ndarray,
    states,
    transposed,
    offset,
    keys,
    omega,
) -> None:
    """Draw the Polya-gamma variables omega (entry,) of rows first..last given the states (row, state_dim).

    transposed (state_dim, stick) : C'; offset (stick,) : d; keys (row,) uint64 : each row has a stream of its own.
    """
    sticks = np.empty(len(offset))
    for r in range(first, last):
        index, n = starts[r], starts[r + 1] - starts[r]
        _sticks_of_state(states[r], transposed, offset, n, sticks)
        stream, pair, n_left = stream_of(keys[r], 0), indptr[r], 0
        for p in range(pair, indptr[r + 1]):
            n_left += counts[p]
        for k in range(n):
            stream, omega[index + k] = polya_gamma(stream, n_left, sticks[k])
            if positions[pair] == k:
                n_left -= counts[pair]
                pair += 1


@kernel
def sums_before(rows):
    """Return cumulative sums of rows (row + 1, dim): entry k is the sum of the rows before row k."""
    result = np.zeros((len(rows) + 1, rows.shape[1]))
    for k in range(len(rows)):
        for i in range(rows.shape[1]):
            result[k + 1, i] = result[k, i] + rows[k, i]
    return result


@kernel
def potentials(
    first: int,
    last: int,
    indptr: np.ndarray,
    positions,
    counts: np.ndarray,
    starts: np.ndarray,
    omega,
    loadings: np.ndarray,
    cumulative,
    stick_products,
    precision: np.ndarray,
    h,
) -> None:
    """Compute the potentials of states of rows first..last: J_t (row, state_dim, state_dim) and h_t (row, state_dim).

    loadings (stick, state_dim) : C
    cumulative : `sums_before` of C; kappa of a word is -1/2 on all sticks before its own, and 1/2 on its own
    stick_products (stick, number) : `products` of C and d
    """
    n_sticks, n_dims = loadings.shape
    total, n_pairs = np.empty(stick_products.shape[1]), n_dims * (n_dims + 1) // 2
    for r in range(first, last):
        total[:] = 0.0
        _add_weighted(omega[starts[r] :], starts[r + 1] - starts[r], stick_products, total)
        _unpack(total, precision[r])
        for i in range(n_dims):
            h[r, i] = -total[n_pairs + i]
        for p in range(indptr[r], indptr[r + 1]):
            position, count = positions[p], counts[p]
            loading_sum = cumulative[min(position + 1, n_sticks)]
            for i in range(n_dims):
                h[r, i] += count * (
                    (loadings[position, i] if position < n_sticks else 0.0) - 0.5 * loading_sum[i]
                )


@fused
def _unpack(packed, matrix: np.ndarray) -> None:
    """Copy a packed upper triangle to the upper triangle of a matrix."""
    e, n = 0, len(matrix)
    for i in range(n):
        for j in range(i, n):
            matrix[i, j] = packed[e]
            e += 1


@kernel
def draw_loadings(
    first: int,
    last: int,
    indptr: np.ndarray,
    positions,
    counts: np.ndarray,
    starts: np.ndarray,
    omega,
    states,
    row_products,
    offset,
    variance,
    key: np.uint64,
    loadings: np.ndarray,
) -> None:
    """Draw rows first..last of C (stick, state_dim) given omega and the states (row, state_dim).

    row_products (row, number) : `products` of the states and 1; offset (stick,) : d; variance : sigma_c2, prior variance of C
    """
    n_dims, width = states.shape[1], last - first
    total, n_pairs = np.zeros((width, row_products.shape[1])), n_dims * (n_dims + 1) // 2
    # sums of z over words on a stick, and of the last stick
    sums_of_row, later_sums = np.zeros((width, n_dims)), np.zeros((width, n_dims))
    for r in range(len(indptr) - 1):
        n = min(starts[r + 1] - starts[r], last) - first
        if n <= 0:
            continue
        _add_to_each(omega[starts[r] + first :], n, row_products[r], total)
        for p in range(indptr[r], indptr[r + 1]):
            position = positions[p] - first
            if position >= 0:
                for i in range(n_dims):
                    later_sums[min(position, width - 1), i] += counts[p] * states[r, i]
                    if position < width:
                        sums_of_row[position, i] += counts[p] * states[r, i]
    precision = np.empty((n_dims, n_dims))
    for k in range(width - 1, -1, -1):
        if k < width - 1:
            for i in range(n_dims):
                later_sums[k, i] += later_sums[k + 1, i]
        _unpack(total[k], precision)
        h = loadings[first + k]
        for i in range(n_dims):
            precision[i, i] += 1.0 / variance
            h[i] = (
                sums_of_row[k, i]
                - 0.5 * later_sums[k, i]
                - offset[first + k] * total[k, n_pairs + i]
            )
        draw_gaussian(stream_of(key, first + k), precision, h)


@kernel
def draw_sequence(
    precision: np.ndarray,
    h,
    first_precision,
    first_mean,
    system,
    noise_precision: np.ndarray,
    key: np.uint64,
    root,
):
    """Replace h (row, state_dim) by a draw of a sequence's states, whose Gaussian potentials are `precision` and h.

    root (state_dim, state_dim) gets U, and y (state_dim,) is returned, both of the last state: its marginal given omega has the
    precision U'U and the mean U^-1 y (`draw_last`).
    """
    off_diagonal, _ = factor_states(
        precision, h, first_precision, first_mean, system, np.zeros(h.shape[1]), noise_precision
    )
    for i in range(len(root)):
        for j in range(len(root)):
            root[i, j] = precision[len(h) - 1, i, j] if j >= i else 0.0
    last = h[len(h) - 1].copy()
    draw_factored(off_diagonal, precision, h, key)
    return last


@kernel
def draw_next(state, system, noise_root, stream: np.uint64, next_state):
    """Draw the state `next_state` ~ N(A z, B) that follows the state z `state`; return the stream.

    system : A; noise_root (state_dim, state_dim) : U, where U'U = B
    """
    n = len(state)
    for i in range(n):
        next_state[i] = 0.0
        for j in range(n):
            next_state[i] += system[i, j] * state[j]
    for i in range(n):
        stream, z = normal(stream)
        for j in range(i, n):
            next_state[j] += noise_root[i, j] * z
    return stream


@kernel
def draw_onward(states, system, noise_root, key: np.uint64) -> None:
    """Draw all states (row, state_dim) after the first, each given the state before."""
    for t in range(1, len(states)):
        draw_next(states[t - 1], system, noise_root, stream_of(key, t), states[t])


@kernel
def draw_last(root, last: int, key: np.uint64, particles: np.ndarray) -> None:
    """Fill particles (particle, state_dim) with draws of the last state, N(U^-1 y, (U'U)^-1): `root` is U, `last` is y."""
    for r in range(len(particles)):
        stream = stream_of(key, r)
        for i in range(len(last)):
            stream, z = normal(stream)
            particles[r, i] = last[i] + z
        solve(root, particles[r])


@kernel
def upper_root(matrix: np.ndarray):
    """Return the upper Cholesky factor U (row, column) of a positive definite matrix U'U, with zeros below the diagonal."""
    root = matrix.copy()
    factor(root)
    for i in range(len(root)):
        for j in range(i):
            root[i, j] = 0.0
    return root
