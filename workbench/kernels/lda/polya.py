"""The Polya likelihood of a prior x: sums over counts n of lnG(x + n) - lnG(x), and their derivatives by x.

    f(x) = sum_rows { lnG(A) - lnG(A + N) + sum_k [ lnG(x_k + n_k) - lnG(x_k) ] },   A = sum_k x_k        spec A.10

The counts are gathered once, in a pass over all cells, into few weighted *sites*; from then on an evaluation has as many terms
as there are sites, however large the corpus. A site of integer counts is a number and how often it occurs. Real counts in an
octave [2^j, 2^(j + 1)) are reduced to their first ten power sums and represented by ten sites at the Chebyshev nodes of the
octave, weighted so that every polynomial up to degree nine has the right sum. Since an octave is at least thrice as far from
the pole at -x as it is wide to either side, the relative error of a sum is below 1e-8 (3^-10 / 2^9 or less in each cell). Cells
of 0 add nothing.

lnG(x + n) - lnG(x), a *rise*, is computed as a difference, so that a count of 1e-12 with a prior of 1e4 is not lost by
cancellation.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import kernel

FIRST_OCTAVE, N_OCTAVES, ORDER = -32, 72, 10
FEW = 8
"""Pairs with at most this many tokens are counted token by token in `add_occupied`."""
LARGEST_LISTED = 2**20
"""Integer counts up to this are counted in an array with a place for every number, larger ones by sorting."""
N_BINS = 1 + N_OCTAVES
"""Number of bins of real counts: the first holds all below 2^-32, each other an octave, up to 2^40."""
BEFORE_FIRST = 1023 + FIRST_OCTAVE
"""The biased exponent of 2^-32 in a float64."""
_OCTAVES = 2.0 ** np.arange(FIRST_OCTAVE, FIRST_OCTAVE + N_OCTAVES)
HALF_WIDTHS = np.append(_OCTAVES[0], _OCTAVES) / 2
CENTRES = np.append(_OCTAVES[0], 3 * _OCTAVES) / 2
NODES = np.cos(np.pi * (2 * np.arange(ORDER) + 1) / (2 * ORDER))
WEIGHTS_OF_POWERS = np.linalg.inv(np.vander(NODES, increasing=True))
"""Matrix (power, node) by which power sums are multiplied to get the weights of the nodes."""


class Sites(NamedTuple):
    """Histogram of the counts of each group (one topic, or all topics): each distinct count and how often it occurs.

    Sums over all cells become sums over these *sites*. Real counts are represented by nodes of a quadrature and their weights.
    """

    indptr: np.ndarray  # (group + 1,) int64: the sites of each group
    n: np.ndarray  # (site,) float64: the count of each site, greater than 0
    weight: np.ndarray  # (site,) float64: number of cells with this count
    # (site,) float64: sum of half the variances of the cells; empty if counts have no variance
    spread: np.ndarray


def whole_sites(groups: Iterable[np.ndarray], n_chains: int = 1) -> Sites:
    """Return each group's distinct integer counts and how often they occur, averaged over chains.

    groups : an array of counts, of any shape, for each group
    """
    n, frequencies = zip(*map(occurrences, groups), strict=True)
    ends = np.append(0, np.cumsum([*map(len, n)]))
    return Sites(
        ends, np.concatenate(n).astype(float), np.concatenate(frequencies) / n_chains, np.zeros(0)
    )


def occurrences(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct positive counts, ascending, and how often each occurs.

    They are found by sorting where the largest exceeds `LARGEST_LISTED`.
    """
    if counts.max(initial=0) > LARGEST_LISTED:
        return np.unique(counts[counts > 0], return_counts=True)
    frequencies = np.bincount(counts.ravel())
    n = 1 + np.flatnonzero(frequencies[1:])
    return n, frequencies[n]


def real_sites(mean, variance, occupied, sampled, n_topics: int, pooled: bool) -> Sites:
    """Return `Sites`, nodes and weights of a quadrature over the real counts of each topic, or of all together if `pooled`.

    mean (row, topic padded) : the expected counts
    variance, occupied : their variances, and the probabilities that they are not 0; None if the counts are known exactly
    sampled (chain, row, topic) : sampled counts, added to the mean, or None; the result is a mean over chains
    """
    powers = np.zeros((1 if pooled else n_topics, N_BINS, ORDER if variance is None else 2 * ORDER))
    add_powers(mean, variance, occupied, sampled, n_topics, pooled, powers)
    powers /= 1 if sampled is None else len(sampled)
    groups, bins = np.nonzero(powers[:, :, 0])
    result = powers[groups, bins]
    n = (CENTRES[bins, None] + HALF_WIDTHS[bins, None] * NODES).ravel()
    weight = np.einsum("bp,pn->bn", result[:, :ORDER], WEIGHTS_OF_POWERS).ravel()
    spread = (
        np.zeros(0)
        if variance is None
        else np.einsum("bp,pn->bn", result[:, ORDER:], WEIGHTS_OF_POWERS).ravel()
    )
    ends = np.append(0, np.cumsum(np.bincount(groups, minlength=len(powers))))
    return Sites(ends * ORDER, n, weight, spread)


def merge_sites(parts: list[Sites]) -> Sites:
    """Return the `Sites` of several data sets together: distinct counts of each group, with weights added."""
    groups = [
        _merge_group(
            [
                Sites(
                    None,
                    *(column[ranges] for column in sites[1:3]),
                    sites.spread[ranges] if len(sites.spread) else None,
                )
                for sites, ranges in zip(parts, ats, strict=True)
            ]
        )
        for ats in zip(
            *(map(slice, sites.indptr, sites.indptr[1:]) for sites in parts), strict=True
        )
    ]
    n, weight, spread = (np.concatenate(column) for column in zip(*groups, strict=True))
    return Sites(np.append(0, np.cumsum([len(group[0]) for group in groups])), n, weight, spread)


def _merge_group(parts: list[Sites]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distinct counts, weights and spreads (site,) of one group, merged from several `Sites`."""
    n, ranges = np.unique(np.concatenate([sites.n for sites in parts]), return_inverse=True)
    weight = np.bincount(ranges, np.concatenate([sites.weight for sites in parts]), len(n))
    if parts[0].spread is None:
        return n, weight, np.zeros(0)
    return (
        n,
        weight,
        np.bincount(ranges, np.concatenate([sites.spread for sites in parts]), len(n)),
    )


def single_sites(n: np.ndarray, weight: float = 1.0) -> Sites:
    """Return the `Sites` of a single group, with one site for every positive count, all of the same weight."""
    n = n[n > 0]
    return Sites(np.array([0, len(n)]), n, np.full(len(n), weight), np.zeros(0))


@kernel
def conditional_moments(mean, variance, occupied):
    """Return the mean E+ = E / Q and variance V+ = (V + E^2) / Q - E+^2 of a count given that it is not 0 (spec A.10).

    Q = p(n > 0) is `occupied`. E is limited to -log(1 - Q), and V to E, since moments that were updated in place may exceed
    these by a rounding error.
    """
    if occupied < 0.5:
        mean = min(mean, -math.log1p(-occupied))
    variance = min(variance, mean)
    positive_mean = max(mean / occupied, 1.0)
    return positive_mean, max(
        (variance + mean * mean) / occupied - positive_mean * positive_mean, 0.0
    )


@kernel
def add_powers(mean, variance, occupied, sampled, n_topics: int, pooled, powers) -> None:
    """Add powers of each count's position in its bin, and these times half its variance, to powers (group, bin, power)."""
    for s in range(1 if sampled is None else sampled.shape[0]):
        for row in range(mean.shape[0]):
            for k in range(n_topics):
                n, weight, half = mean[row, k], 1.0, 0.0
                n_sampled = 0 if sampled is None else sampled[s, row, k]
                if variance is not None:
                    half = 0.5 * variance[row, k]
                    if n_sampled == 0 and n > 0.0:
                        weight = occupied[row, k]
                        if weight <= 0.0:
                            continue
                        n, half = conditional_moments(n, variance[row, k], weight)
                        half *= 0.5 * weight
                n += n_sampled
                if n <= 0.0:
                    continue
                position = min(
                    max((np.float64(n).view(np.int64) >> 52) - BEFORE_FIRST + 1, 0), N_BINS - 1
                )
                t = (n - CENTRES[position]) / HALF_WIDTHS[position]
                sums_of_bin = powers[0 if pooled else k, position]
                square, odd_power = t * t, weight * t
                for j in range(0, ORDER, 2):
                    sums_of_bin[j] += weight
                    sums_of_bin[j + 1] += odd_power
                    weight *= square
                    odd_power *= square
                if variance is not None:
                    for j in range(ORDER, 2 * ORDER):
                        sums_of_bin[j] += half
                        half *= t


@kernel
def add_occupied(rows, counts: np.ndarray, sampled, gamma, n_topics: int, occupied) -> None:
    """Compute P(n > 0) = 1 - prod (1 - gamma)^n (row, topic) of every count, without cancellation.

    occupied (row, topic) : zeros on entry, then the result
    rows (pair,) : the document or the word of each pair; gamma has a row for each pair that is not sampled
    """
    i = 0
    for pair in range(len(rows)):
        if sampled[pair]:
            continue
        row, sums_of_bin = occupied[rows[pair]], gamma[i]
        i += 1
        if counts[pair] <= FEW:
            for _ in range(counts[pair]):
                for k in range(n_topics):
                    row[k] += (1.0 - row[k]) * sums_of_bin[k]
        else:
            for k in range(n_topics):
                row[k] += (1.0 - row[k]) * at_least_once(sums_of_bin[k], counts[pair])


@kernel
def at_least_once(p, n):
    """Return 1 - (1 - p)^n by repeated squaring."""
    result, power = 0.0, p
    while n > 0:
        if n & 1:
            result += (1.0 - result) * power
        power *= 2.0 - power
        n >>= 1
    return result


@kernel
def log_gamma_rise(x, n):
    """Return lnG(x + n) - lnG(x) for x > 0, n > 0, by a shift of seven and Stirling's series (Abramowitz & Stegun 6.1.40)."""
    product = 0.0  # of the 1 + n / (x + j), less 1
    for j in range(7):
        r = n / (x + j)
        product += r + product * r
    y, end = x + 7.0, x + 7.0 + n
    series = log_gamma_tail(1.0 / end) - log_gamma_tail(1.0 / y) - n / (12.0 * y * end)
    return (y - 0.5) * math.log1p(n / y) + n * (math.log(end) - 1.0) + series - math.log1p(product)


@kernel
def log_gamma_tail(z):
    """Return the sum of Stirling's series for log Gamma(y) from its second term on, with z = 1 / y."""
    s = z * z
    return (
        -z
        * s
        * (
            1 / 360
            - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * (691 / 360360 - s * (1 / 156)))))
        )
    )


@kernel
def digamma_trigamma_rise(x, n):
    """Return psi(x + n) - psi(x) and psi'(x + n) - psi'(x) for x > 0, n > 0 (Abramowitz & Stegun 6.3.18, 6.4.12)."""
    first, second = 0.0, 0.0
    for j in range(7):
        a, b = 1.0 / (x + j), 1.0 / (x + j + n)
        fall = n * a * b
        first += fall
        second -= fall * (a + b)
    a, b = 1.0 / (x + 7.0), 1.0 / (x + 7.0 + n)
    fall = n * a * b
    first += math.log1p(n * a) + fall * (0.5 + (a + b) / 12) + (digamma_tail(a) - digamma_tail(b))
    second -= fall * (1.0 + 0.5 * (a + b)) + (trigamma_tail(a) - trigamma_tail(b))
    return first, second


@kernel
def digamma_tail(z):
    """Return log y - z / 2 - z^2 / 12 - psi(y), z = 1 / y."""
    s = z * z
    return (
        -s
        * s
        * (
            1 / 120
            - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * (691 / 32760 - s * (1 / 12)))))
        )
    )


@kernel
def trigamma_tail(z):
    """Return psi'(y) - z - z^2 / 2, z = 1 / y."""
    s = z * z
    return (
        z
        * s
        * (
            1 / 6
            - s
            * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * (5 / 66 - s * (691 / 2730 - s * (7 / 6))))))
        )
    )


@kernel
def higher_derivatives(x):
    """Return psi'(x), psi''(x), psi'''(x) for x > 0 (Abramowitz & Stegun 6.4.6, 6.4.12-6.4.14)."""
    second, third, fourth = 0.0, 0.0, 0.0
    for j in range(7):
        r = 1.0 / (x + j)
        second += r * r
        third -= 2.0 * r * r * r
        fourth += 6.0 * r * r * r * r
    z = 1.0 / (x + 7.0)
    s = z * z
    second += z + 0.5 * s + trigamma_tail(z)
    tail = s * (3 / 10 - s * (5 / 6 - s * (691 / 210 - s * (35 / 2))))
    third -= s * (1.0 + z + s * (1 / 2 - s * (1 / 6 - s * (1 / 6 - tail))))
    fourth += s * z * (2.0 + 3.0 * z + s * (2.0 - s * (1.0 - s * (4 / 3 - s * (3.0 - s * 10.0)))))
    return second, third, fourth


@kernel
def rise(indptr: np.ndarray, sites, weight, spread, group, x):
    """Return sum lnG(x + n) - lnG(x) over a group's counts, plus psi'(x + n) / 2 times each count's variance."""
    total = 0.0
    for i in range(indptr[group], indptr[group + 1]):
        total += weight[i] * log_gamma_rise(x, sites[i])
        if len(spread):
            total += spread[i] * higher_derivatives(x + sites[i])[0]
    return total


@kernel
def rises(indptr: np.ndarray, sites, weight, spread, priors):
    """Return the sum that `rise` computes for every group of counts (group,), each at the group's prior."""
    return np.array(
        [rise(indptr, sites, weight, spread, group, priors[group]) for group in range(len(priors))]
    )


@kernel
def slopes(indptr: np.ndarray, sites, weight, spread, priors):
    """Return the first and second derivatives of every group's `rise` by the group's prior, two arrays (group,)."""
    first, second = np.zeros(len(priors)), np.zeros(len(priors))
    for group in range(len(priors)):
        x = priors[group]
        for i in range(indptr[group], indptr[group + 1]):
            a, b = digamma_trigamma_rise(x, sites[i])
            first[group] += weight[i] * a
            second[group] += weight[i] * b
            if len(spread):
                _, a, b = higher_derivatives(x + sites[i])
                first[group] += spread[i] * a
                second[group] += spread[i] * b
    return first, second
