"""Likelihoods of Dirichlet priors given (expected) counts, and the two ways to learn from them: maximise or sample.

A prior is x, (group,) positive numbers, each shared by ``copies`` categories; A = copies sum_g x_g. alpha is one
group per topic (copies 1) or a single one (copies K); beta is a single one (copies W). By its logarithms u = log x
either likelihood has the gradient x g and the Hessian diag(x^2 q + x g) + z (x x'), so that a Newton step costs one
division per group (Minka 2000, "Estimating a Dirichlet distribution"; specification of LDA, A.10).
"""

import math
from typing import NamedTuple

import numpy as np
import scipy

from workbench.kernels.lda import polya

SMALLEST, LARGEST = 1e-6, 1e4
"""Limits of a learnt prior: on tiny corpora the maximum may be infinite, and a topic without tokens pulls it to 0."""
LONGEST_STEP = 2.0
"""Largest change of log x in a step."""
SHORTEST_STEP = 1e-6
"""Steps of log x below this are taken as rounding errors and not made."""
HALVINGS = 8
MOST_BINOMIALS = 2**22
"""Limit of (number of groups times largest count) up to which `draw_by_tables` is used."""


class Slopes(NamedTuple):
    """Derivatives of a log likelihood at x, and the result of Minka's fixed-point step."""

    gradient: np.ndarray  # (group,) g
    diagonal: np.ndarray  # (group,) q, below 0
    rank_one: float  # z, above 0: the Hessian is diag(q) + z 1 1'
    fixed_point: np.ndarray  # (group,) x after the fixed-point step


class Polya(NamedTuple):
    """Likelihood of counts whose probabilities are integrated out: f(x) of `workbench.kernels.lda.polya`, in nats."""

    cells: polya.Sites  # of each group
    totals: polya.Sites  # counts of whole rows (documents, or topics)
    copies: int
    whole: bool = False  # whether counts are whole numbers of one chain

    def value(self, x: np.ndarray) -> float:
        """Return the log likelihood f(x), nats."""
        return float(polya.rises(*self.cells, x).sum() - polya.rises(*self.totals, self._sum(x))[0])

    def slopes(self, x: np.ndarray) -> Slopes:
        """Return gradient and Hessian of f at x, and the result of a fixed-point step.

        g_k = sum_d [psi(x_k + n_dk) - psi(x_k)] - copies sum_d [psi(A + N_d) - psi(A)]
        """
        rise, q = polya.slopes(*self.cells, x)
        rise = np.maximum(rise, 0.0)
        total_rise, fall = (
            self.copies * part[0] for part in polya.slopes(*self.totals, self._sum(x))
        )
        return Slopes(rise - total_rise, q, -self.copies * fall, x * rise / total_rise)

    def along(self, x: np.ndarray, g: int):
        """Return f, up to a constant, as a function of x_g with the other x fixed."""
        other_sum = self.copies * (x.sum() - x[g])

        def value(x_g):
            rise = polya.rise(*self.cells, g, x_g)
            return rise - polya.rise(*self.totals, 0, other_sum + self.copies * x_g)

        return value

    def __add__(self, other: "Polya") -> "Polya":
        """Return the sum of the log likelihoods of two parts of a corpus."""
        cells = polya.merge_sites([self.cells, other.cells])
        return self._replace(cells=cells, totals=polya.merge_sites([self.totals, other.totals]))

    @property
    def flat(self) -> bool:
        """Return whether the likelihood is constant: no counts or a single category."""
        return len(self.totals.n) == 0 or self.copies * (len(self.cells.indptr) - 1) == 1

    def _sum(self, x: np.ndarray) -> np.ndarray:
        return np.array([self.copies * x.sum()])


class Dirichlet(NamedTuple):
    """Log likelihood (nats) of Dirichlet parameters, one per group of equal components, given expected log probabilities.

    f(x) = D lnG(A) - copies D sum lnG(x_g) + sum x_g S_g.

    With a ``shift`` the Dirichlet parameter is x + shift; for point estimates (modes) it is 1.
    """

    n_rows: int
    # (group,) S: sum of E[log probability] over the rows, and over the categories of the group
    log_means: np.ndarray
    copies: int
    shift: float = 0.0

    def value(self, x: np.ndarray) -> float:
        """Return the log likelihood f(x), nats."""
        x = x + self.shift
        logs = (
            scipy.special.gammaln(self.copies * x.sum())
            - self.copies * scipy.special.gammaln(x).sum()
        )
        return float(self.n_rows * logs + np.sum(x * self.log_means))

    def slopes(self, x: np.ndarray) -> Slopes:
        """Return gradient and Hessian of f at x, and the result of a fixed-point step.

        g_k = copies D [psi(A) - psi(x_k)] + S_k

        The fixed point has psi(x_k) = psi(A) + S_k / (copies D).
        """
        x, scale = x + self.shift, self.copies * self.n_rows
        sum_digamma = scipy.special.psi(self.copies * x.sum())
        return Slopes(
            scale * (sum_digamma - scipy.special.psi(x)) + self.log_means,
            -scale * scipy.special.polygamma(1, x),
            self.copies * scale * float(scipy.special.polygamma(1, self.copies * x.sum())),
            np.maximum(inverse_digamma(sum_digamma + self.log_means / scale) - self.shift, 0.0),
        )

    def along(self, x: np.ndarray, g: int):
        """Return f, up to a constant, as a function of x_g with the other x fixed."""
        other_sum, copies = self.copies * (x.sum() - x[g] + self.shift * (len(x) - 1)), self.copies

        def value(x_g):
            x_g = x_g + self.shift
            return (
                self.n_rows * (math.lgamma(other_sum + copies * x_g) - copies * math.lgamma(x_g))
                + x_g * self.log_means[g]
            )

        return value

    def __add__(self, other: "Dirichlet") -> "Dirichlet":
        """Return the sum of the log likelihoods of two parts of a corpus."""
        n_rows, log_means = self.n_rows + other.n_rows, self.log_means + other.log_means
        return self._replace(n_rows=n_rows, log_means=log_means)

    @property
    def flat(self) -> bool:
        """Return whether the likelihood is constant: no rows or a single category."""
        return self.n_rows == 0 or self.copies * len(self.log_means) == 1


def inverse_digamma(y: np.ndarray) -> np.ndarray:
    """Return x with psi(x) = y, by Newton steps from Minka's start (2000, appendix C)."""
    x = np.where(y > -2.22, np.exp(y) + 0.5, -1.0 / (np.minimum(y, -2.22) - scipy.special.psi(1.0)))
    for _ in range(5):
        x = x - (scipy.special.psi(x) - y) / scipy.special.polygamma(1, x)
    return x


def clip(x: np.ndarray, largest: float = LARGEST) -> np.ndarray:
    """Clip x to the range of values that a learnt prior may have: at least `SMALLEST`, at most ``largest``."""
    return np.clip(x, SMALLEST, largest)


def climb_once(likelihood, x: np.ndarray, largest: float = LARGEST) -> np.ndarray:
    """Return x after one step that does not lower the likelihood; x unchanged if no such step is found.

    Newton's step; where it would lead down (far above its maximum the likelihood is convex in log x), all x by one
    factor, the slope over the size of the curvature; else the fixed point. A step is halved until nothing drops.
    """
    if likelihood.flat:
        return x
    old_value, slopes = likelihood.value(x), likelihood.slopes(x)
    gradient = x * slopes.gradient
    with np.errstate(divide="ignore"):
        fixed_point_step = np.log(slopes.fixed_point / x)
    for step in (newton_step(x, slopes), scale_step(x, slopes), fixed_point_step):
        step = np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if not np.sum(gradient * step) > 0.0:  # not a number either
            continue
        for _ in range(HALVINGS):
            if np.abs(step).max() < SHORTEST_STEP:
                break
            candidate = clip(x * np.exp(step), largest)
            if likelihood.value(candidate) >= old_value:
                return candidate
            step = step / 2
    return x


def newton_step(x: np.ndarray, slopes: Slopes) -> np.ndarray:
    """Return the Newton step (group,) of log x, which may lower the likelihood where that is not concave."""
    gradient = x * slopes.gradient
    diagonal = x * x * slopes.diagonal + gradient
    with np.errstate(all="ignore"):
        b = np.sum(x * gradient / diagonal) / (1.0 / slopes.rank_one + np.sum(x * x / diagonal))
        return -(gradient - b * x) / diagonal


def scale_step(x: np.ndarray, slopes: Slopes) -> np.ndarray:
    """Return one common step of all log x, slope / |curvature|, which leads uphill even where f is convex."""
    slope = np.sum(x * slopes.gradient)
    curvature = np.sum(x * x * slopes.diagonal) + slope + slopes.rank_one * x.sum() ** 2
    with np.errstate(all="ignore"):
        return np.full(len(x), slope / abs(curvature))


def draw_prior(
    likelihood, x: np.ndarray, shape: float, rate: float, random: np.random.Generator
) -> np.ndarray:
    """Return x after an MCMC step that has the posterior under independent Gamma(shape, rate) priors as stationary law.

    By auxiliary variables if the counts are whole and not too large, else by slice sampling of each log x_g.
    """
    is_whole = isinstance(likelihood, Polya) and likelihood.whole
    is_small = is_whole and len(x) * likelihood.cells.n.max(initial=0) <= MOST_BINOMIALS
    return clip(
        (draw_by_tables if is_small else draw_by_slices)(likelihood, x, shape, rate, random)
    )


def draw_by_tables(
    likelihood: Polya, x: np.ndarray, shape, rate: float, random: np.random.Generator
) -> np.ndarray:
    """Draw x by auxiliary tables: given eta_d ~ Beta(A, N_d) and t_g, x_g is Gamma(shape + t_g, rate - copies sum_d log eta_d).

    t_g adds, over the cells of the group, the successes of n draws with probability x / (x + l), l = 0 .. n - 1;
    so it takes a binomial for each l, with as many trials as there are cells that count more than l.
    """
    indptr, n, weight, _ = likelihood.cells
    frequency = np.zeros((len(indptr) - 1, 1 + int(n.max(initial=0))), np.int64)
    frequency[np.repeat(np.arange(len(frequency)), np.diff(indptr)), n.astype(int)] = weight
    more_than = np.cumsum(frequency[:, :0:-1], axis=1)[:, ::-1]  # (group, l): cells with n > l
    tables = random.binomial(
        more_than, x[:, None] / (x[:, None] + np.arange(more_than.shape[1]))
    ).sum(axis=1)
    rows = np.repeat(likelihood.totals.n, likelihood.totals.weight.astype(np.int64))
    total = likelihood.copies * x.sum()
    # logs of Gamma(total, 1) variates, which themselves may underflow
    log_ratio = np.log(random.standard_gamma(total + 1.0, len(rows)))
    log_ratio += np.log1p(-random.random(len(rows))) / total
    log_eta = log_ratio - np.logaddexp(log_ratio, np.log(random.standard_gamma(rows)))
    return random.standard_gamma(shape + tables) / (rate - likelihood.copies * log_eta.sum())


def draw_by_slices(
    likelihood, x: np.ndarray, shape, rate: float, random: np.random.Generator
) -> np.ndarray:
    """Draw each log x_g in turn by slice sampling: step out by 1, then shrink (Neal 2003, fig. 3, 5)."""
    x = x.copy()
    for g in range(len(x)):
        value = likelihood.along(x, g)

        def density(u, value=value):  # of log x: the Jacobian turns x^(shape - 1) into x^shape
            return (
                value(math.exp(u)) + shape * u - rate * math.exp(u)
                if _LOWEST <= u <= _HIGHEST
                else -math.inf
            )

        x[g] = math.exp(slice_sample(density, math.log(x[g]), random))
    return x


_LOWEST, _HIGHEST = math.log(SMALLEST) - 1e-9, math.log(LARGEST) + 1e-9


def slice_sample(density, u: float, random: np.random.Generator) -> float:
    """Return a slice-sampling draw of u that leaves exp(density) invariant."""
    level = density(u) + math.log1p(-random.random())
    low = u - random.random()
    high = low + 1.0
    while density(low) > level:
        low -= 1.0
    while density(high) > level:
        high += 1.0
    while True:
        candidate = low + random.random() * (high - low)
        if density(candidate) > level or high - low < 1e-12:
            return candidate
        low, high = (candidate, high) if candidate < u else (low, candidate)
