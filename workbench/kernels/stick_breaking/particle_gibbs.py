"""Particle Gibbs with ancestor sampling for linear dynamical systems of counts, and forecasts of sequences.

    z_1 ~ N(m, S),  z_t = A z_{t-1} + N(0, B),  psi_t = C z_t + d,  x_t ~ Mult(N_t, softmax(psi_t) or pi(psi_t))   spec D, D.4

A sweep draws a path given the one before it, the reference, which is the last of the particles at every t::

    ancestors of all others    ~  w_{t-1},     z_t^i = A z_{t-1}^{a_i} + N(0, B)
    ancestor of the reference  ~  w_{t-1}^i N(z'_t | A z_{t-1}^i, B)
    w_t^i = p(x_t | z_t^i);    in the end one particle ~ w_T, and its ancestors, are the new path

Lindsten, Jordan & Schoen (2014), "Particle Gibbs with ancestor sampling". Weights are logarithms. Ancestors are drawn by
multinomial resampling; they are sorted, which has no effect, as particles have no order. Sixteen particles are computed at a
time, and with stick-breaking psi is computed only up to the last word with a count.
"""

import math

import numpy as np

from workbench.kernels.gaussian import factor
from workbench.kernels.jit import aside, inlined, kernel
from workbench.kernels.simd.functions import fast_exp, fast_log
from workbench.kernels.simd.vectors import LANES, load, spread, store
from workbench.kernels.uniforms import exponential, next_uniform, normal, stream_of

LEAST = float(np.finfo(float).tiny)
"""Smallest forecast probability, so that its logarithm is finite."""


@inlined
def _psi(loadings: np.ndarray, offset, k, particles: np.ndarray, index, lanes):
    """Return psi_k = (C z + d)_k of sixteen particles z from `index` on; particles (state_dim, particle)."""
    sums = spread(offset[k])
    for j in range(loadings.shape[1]):
        sums += load(particles, index + j * lanes) * loadings[k, j]
    return sums


@inlined
def _log_words(
    loadings: np.ndarray,
    offset,
    sticks: np.ndarray,
    n_needed,
    particles: np.ndarray,
    index,
    lanes,
    logs,
):
    """Fill logs (word, 16) with unnormalised log p(word) of sixteen particles from `index` on; return the log normalisers.

    With sticks only the first n_needed words are filled, and the log normalisers are 0.
    """
    n_rows = len(offset)
    if sticks:
        rest = spread(0.0)
        for k in range(min(n_needed, n_rows)):
            psi = _psi(loadings, offset, k, particles, index, lanes)
            size = max(psi, 0.0 - psi)
            # log sigma(-psi)
            remaining = 0.0 - (max(psi, 0.0) + fast_log(1.0 + fast_exp(0.0 - size)))
            store(logs, k * LANES, rest + (psi + remaining))
            rest += remaining
        if n_needed > n_rows:
            store(logs, n_rows * LANES, rest)
        return spread(0.0)
    largest, k = spread(-math.inf), 0
    while k + 4 <= n_rows:  # four words at a time: a state is loaded once for them
        one, two, three, four = (
            spread(offset[k]),
            spread(offset[k + 1]),
            spread(offset[k + 2]),
            spread(offset[k + 3]),
        )
        for j in range(loadings.shape[1]):
            z = load(particles, index + j * lanes)
            one += z * loadings[k, j]
            two += z * loadings[k + 1, j]
            three += z * loadings[k + 2, j]
            four += z * loadings[k + 3, j]
        store(logs, k * LANES, one)
        store(logs, (k + 1) * LANES, two)
        store(logs, (k + 2) * LANES, three)
        store(logs, (k + 3) * LANES, four)
        largest = max(max(max(one, two), max(three, four)), largest)
        k += 4
    while k < n_rows:
        psi = _psi(loadings, offset, k, particles, index, lanes)
        largest = max(largest, psi)
        store(logs, k * LANES, psi)
        k += 1
    total = spread(0.0)
    for k in range(n_rows):
        total += fast_exp(load(logs, k * LANES) - largest)
    return largest + fast_log(total)


@kernel
def weigh(
    loadings: np.ndarray,
    offset,
    sticks: np.ndarray,
    begin,
    end,
    rows,
    counts: np.ndarray,
    particles: np.ndarray,
    logs,
    log_weights: np.ndarray,
) -> None:
    """Add log p(x | z) of the counts x of pairs begin..end to log_weights (particle,).

    rows (pair,) : the row of C of a pair's word; particles (state_dim, particle) : z; logs (word, 16) is scratch
    """
    if begin == end:
        return
    lanes, n_needed = particles.shape[1], 0
    for pair in range(begin, end):
        n_needed = max(n_needed, rows[pair] + 1)
    for index in range(0, lanes, LANES):
        normaliser = _log_words(loadings, offset, sticks, n_needed, particles, index, lanes, logs)
        sums = load(log_weights, index)
        for pair in range(begin, end):
            sums += (load(logs, rows[pair] * LANES) - normaliser) * np.float64(counts[pair])
        store(log_weights, index, sums)


@aside
def _move(system, particles, means) -> None:
    """Fill means (state_dim, particle) with A z for the particles z (state_dim, particle)."""
    n, lanes = particles.shape
    for index in range(0, lanes, LANES):
        for i in range(n):
            sums = spread(0.0)
            for j in range(n):
                sums += load(particles, j * lanes + index) * system[i, j]
            store(means, i * lanes + index, sums)


@aside
def _scatter(stream: np.uint64, root, means, parents: np.ndarray, n, noise, particles: np.ndarray):
    """Draw n particles (state_dim, particle): means of their parents plus Gaussian noise of covariance root' root.

    means (state_dim, particle); noise (state_dim, particle) is scratch. Returns the advanced stream.
    """
    n_dims, lanes = particles.shape
    for p in range(n):
        for i in range(n_dims):
            stream, noise[i, p] = normal(stream)
    for i in range(n_dims):
        row, mean_row = particles[i], means[i]
        for p in range(n):
            row[p] = mean_row[parents[p]]
        for index in range(0, lanes, LANES):
            sums = load(particles, i * lanes + index)
            for k in range(i + 1):
                sums += load(noise, k * lanes + index) * root[k, i]
            store(particles, i * lanes + index, sums)
    return stream


@aside
def _anchor(log_weights: np.ndarray, reference, means, precision_root, anchored) -> None:
    """Fill anchored (particle,) with log weights of each particle as ancestor of the reference path's next state.

    precision_root : V, where V'V = B^-1
    """
    n_dims, lanes = means.shape
    for index in range(0, lanes, LANES):
        squares = spread(0.0)
        for i in range(n_dims):
            off = spread(0.0)
            for j in range(i, n_dims):
                off += (reference[j] - load(means, j * lanes + index)) * precision_root[i, j]
            squares += off * off
        store(anchored, index, load(log_weights, index) - 0.5 * squares)


@aside
def _largest_and_sum(logs, n):
    """Return the largest of the first n elements, and the sum of exp(logs_p - largest) over these."""
    largest, total = -math.inf, 0.0
    for p in range(n):
        largest = max(largest, logs[p])
    for p in range(n):
        total += math.exp(logs[p] - largest)
    return largest, total


@aside
def _choose(stream: np.uint64, logs, n):
    """Return (the advanced stream, an index below n drawn with weights exp(logs))."""
    largest, total = _largest_and_sum(logs, n)
    index = 0
    stream, u = next_uniform(stream)
    u *= total
    for p in range(n):
        weight = math.exp(logs[p] - largest)
        if weight > 0.0:
            index = p
            if u < weight:
                break
        u -= weight
    return stream, index


@aside
def _parents_at(points, log_weights: np.ndarray, n, n_drawn: int, parents: np.ndarray) -> None:
    """Fill parents (n_drawn,): for each point in [0, 1], the particle at which the cumulative weight exceeds the point.

    points : ascending
    """
    largest, total = _largest_and_sum(log_weights, n)
    parent, cumulative = 0, math.exp(log_weights[0] - largest) / total
    for i in range(n_drawn):
        while cumulative <= points[i] and parent < n - 1:
            parent += 1
            cumulative += math.exp(log_weights[parent] - largest) / total
        parents[i] = parent


@aside
def _resample(
    stream: np.uint64, log_weights: np.ndarray, n, n_drawn: int, parents: np.ndarray, points
):
    """Draw parents (n_drawn,), ascending, among n particles by multinomial resampling; return the stream.

    Sorted uniforms are cumulative sums of exponential draws divided by their total; points (n_drawn + 1,) is scratch.
    """
    total, sums = 0.0, 0.0
    for i in range(n_drawn + 1):
        stream, points[i] = exponential(stream)
        total += points[i]
    for i in range(n_drawn):
        sums += points[i] / total
        points[i] = sums
    _parents_at(points, log_weights, n, n_drawn, parents)
    return stream


@aside
def _resample_evenly(stream: np.uint64, log_weights: np.ndarray, n, parents: np.ndarray, points):
    """Draw parents (n,) among n particles by systematic resampling, and return the stream; points (n,) is scratch."""
    stream, u = next_uniform(stream)
    for i in range(n):
        points[i] = (i + u) / n
    _parents_at(points, log_weights, n, n, parents)
    return stream


@kernel
def filter_particles(
    begin,
    end,
    indptr: np.ndarray,
    rows,
    counts: np.ndarray,
    loadings: np.ndarray,
    offset,
    sticks: np.ndarray,
    first_mean,
    first_covariance,
    system,
    noise,
    noise_precision: np.ndarray,
    n,
    path,
    key: np.uint64,
    particles: np.ndarray,
    ancestors: np.ndarray,
    log_weights: np.ndarray,
) -> None:
    """Run a conditional particle filter with ancestor sampling; the last of n particles is the reference path.

    path (time, state_dim) : the reference
    indptr (time + 1,) : the pairs of each time; rows (pair,) : the row of C of a pair's word; counts (pair,)
    system, noise, noise_precision : A, B, B^-1
    particles (time, state_dim, particle padded), ancestors (time, particle) : filled
    log_weights (particle padded,) : filled with those of the last time
    """
    n_dims, lanes = particles.shape[1:]
    means, scratch, anchored = np.zeros((n_dims, lanes)), np.zeros((n_dims, lanes)), np.empty(lanes)
    logs, points = np.empty((len(offset) + 1, LANES)), np.empty(n)
    first_root, root, precision_root = first_covariance.copy(), noise.copy(), noise_precision.copy()
    factor(first_root)
    factor(root)
    factor(precision_root)
    for t in range(begin, end):
        stream, particles_t, reference = stream_of(key, t), particles[t], path[t]
        if t == 0:
            means[:, 0] = first_mean
            stream = _scatter(
                stream, first_root, means, np.zeros(n - 1, np.int64), n - 1, scratch, particles_t
            )
        else:
            _move(system, particles[t - 1], means)
            _anchor(log_weights, reference, means, precision_root, anchored)
            stream, ancestors[t, n - 1] = _choose(stream, anchored, n)
            stream = _resample(stream, log_weights, n, n - 1, ancestors[t], points)
            stream = _scatter(stream, root, means, ancestors[t], n - 1, scratch, particles_t)
        for i in range(n_dims):
            particles_t[i, n - 1] = reference[i]
        log_weights[:] = 0.0
        weigh(
            loadings,
            offset,
            sticks,
            indptr[t],
            indptr[t + 1],
            rows,
            counts,
            particles_t,
            logs,
            log_weights,
        )


@kernel
def draw_path(
    particles: np.ndarray, ancestors: np.ndarray, log_weights: np.ndarray, n, path, key: np.uint64
):
    """Draw one of the n final particles by weight, and write its path of ancestors to path (time, state_dim).

    Returns how many states of the path are new.
    """
    _, p = _choose(stream_of(key, 0), log_weights, n)
    n_new = 0
    for t in range(len(path) - 1, -1, -1):
        n_new += p != n - 1
        path[t] = particles[t, :, p]
        p = ancestors[t, p]
    return n_new


@aside
def _log_pairs(
    loadings: np.ndarray,
    offset,
    sticks: np.ndarray,
    begin,
    end,
    rows,
    particles: np.ndarray,
    logs,
    result,
) -> None:
    """Fill result (pair of begin..end, particle) with log p(word | z); logs (word, 16) is scratch."""
    lanes, n_needed = particles.shape[1], 0
    for pair in range(begin, end):
        n_needed = max(n_needed, rows[pair] + 1)
    for index in range(0, lanes, LANES):
        normaliser = _log_words(loadings, offset, sticks, n_needed, particles, index, lanes, logs)
        for pair in range(begin, end):
            store(
                result, (pair - begin) * lanes + index, load(logs, rows[pair] * LANES) - normaliser
            )


@kernel
def forecast(
    n_known,
    indptr: np.ndarray,
    rows,
    counts: np.ndarray,
    loadings: np.ndarray,
    offset,
    sticks: np.ndarray,
    system,
    noise,
    start,
    path,
    key: np.uint64,
    probability: np.ndarray,
) -> None:
    """Fill probability (pair,) with p(held-out word) in one sequence, by a bootstrap particle filter after the training data.

    n_known : number of times up to the last with training counts
    path (time, state_dim) : the drawn states; indptr, rows, counts : the held-out pairs, as in `filter_particles`
    start (particle, state_dim) : draws of the last known state, or of the first state if none is known

    A word held out at a known time is scored by the state of the path. A word at a later time is predicted given all earlier
    held-out words, also those of its own time; the copies of a word share the geometric mean of their probabilities. So the
    product of p^count over the later times is an unbiased estimate of their joint probability, given the distribution of
    `start` (Doucet & Johansen 2011, sec. 4). Resampling is systematic.
    """
    n, n_dims = start.shape
    lanes, capacity = -(-n // LANES) * LANES, 1
    for t in range(len(path)):
        capacity = max(capacity, indptr[t + 1] - indptr[t])
    logs, path_logs, particle_logs = (
        np.empty((len(offset) + 1, LANES)),
        np.empty((capacity, LANES)),
        np.empty((capacity, lanes)),
    )
    state, particles = np.empty((n_dims, LANES)), np.zeros((n_dims, lanes))
    for t in range(n_known):
        if indptr[t] < indptr[t + 1]:
            for i in range(n_dims):
                state[i] = path[t, i]
            _log_pairs(
                loadings, offset, sticks, indptr[t], indptr[t + 1], rows, state, logs, path_logs
            )
        for pair in range(indptr[t], indptr[t + 1]):
            probability[pair] = max(math.exp(path_logs[pair - indptr[t], 0]), LEAST)
    means, scratch, root = np.zeros((n_dims, lanes)), np.zeros((n_dims, lanes)), noise.copy()
    log_weights, points, parents = np.zeros(lanes), np.empty(n), np.arange(n)
    factor(root)
    particles[:, :n] = start.T
    for t in range(n_known, len(path)):
        stream = stream_of(key, t)
        if t > n_known:
            stream = _resample_evenly(stream, log_weights, n, parents, points)
        if t > 0:
            _move(system, particles, means)
            _scatter(stream, root, means, parents, n, scratch, particles)
        log_weights[:] = 0.0
        if indptr[t] < indptr[t + 1]:
            _log_pairs(
                loadings,
                offset,
                sticks,
                indptr[t],
                indptr[t + 1],
                rows,
                particles,
                logs,
                particle_logs,
            )
        old_total = math.log(n)
        for pair in range(indptr[t], indptr[t + 1]):
            for p in range(n):
                log_weights[p] += counts[pair] * particle_logs[pair - indptr[t], p]
            total = _log_sum(log_weights, n)
            probability[pair] = max(math.exp((total - old_total) / counts[pair]), LEAST)
            old_total = total


@aside
def _log_sum(logs, n):
    """Return log sum_p exp(logs_p) over the first n elements."""
    largest, total = _largest_and_sum(logs, n)
    return largest + math.log(total)
