"""Priors of the levels of a network that learn, from its expected or sampled counts.

The rows of a group j share a prior alpha_j; what is maximised, given q (spec D.3), is the bound as a function of it::

    f = K_j { lnG(sum_t alpha_t) - sum_t lnG(alpha_t) } + sum_t alpha_t S_t,   S_t = sum_rows { psi(xi_t) - psi(sum_t xi_t) }

of a level that learns a scalar, with one number for all groups and values. From sampled counts it is their Polya likelihood.
Rows without a token are left out: they only echo the prior. Newton steps with safeguards (`engines.lda.likelihoods`), up to
1000.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from workbench.engines.engine import Options, State, StepContext
from workbench.engines.lda.likelihoods import Dirichlet, Polya, climbed, within
from workbench.engines.networks.compiled import alphas_of
from workbench.engines.networks.paths import paths_of
from workbench.engines.parts import Meeting
from workbench.kernels.lda.polya import whole_sites
from workbench.models.networks.network import WORD, Level, Network
from workbench.models.options import option

LARGEST = 1e3
"""Where a learnt prior of a network ends: that of a row that is hardly used confirms itself, and drifts (spec D.7)."""
STEPS = 20
"""The most Newton steps at a time; what they need of the counts is summed once."""


@dataclass(frozen=True)
class Learning:
    """Options for learning the priors; a mixin of the options of the engines of networks."""

    learn_after: int = option(8, "iterations before the first prior update", low=0, whole=True)
    learn_every: int = option(8, "iterations between prior updates", low=1, whole=True)


def learning_levels(network: Network) -> list[Level]:
    """Return the levels whose priors learn."""
    return [
        level for level in network.levels if level.kind == "dirichlet" and level.learn != "none"
    ]


def learns(network: Network, options: Options, step: int) -> bool:
    """Return whether a prior is learnt after this step."""
    due = (
        step >= max(options.learn_after, 1)
        and (step - options.learn_after) % options.learn_every == 0
    )
    return due and bool(learning_levels(network))


def learn(
    network: Network,
    options: Options,
    context: StepContext,
    alphas: np.ndarray,
    state: NamedTuple,
    counts_of: Callable,
    sums: dict,
    sampled: bool = False,
) -> Generator:
    """Combine the sums of the parts at the end of a step and update the learnt priors by Newton steps.

    counts_of : (state) -> counts of chains that share the priors, each with n_own, n_rest, n_wk and n_k; of whole numbers if
        `sampled`. The mean of what each says is maximised.
    sums : what else the parts bring to the meeting

    Returns the state after the meeting, the other sums, and all priors.
    """
    levels, alphas = [], alphas.copy()
    if learns(network, options, context.step):
        levels, by_level = learning_levels(network), alphas_of(network, alphas)
    inputs = {level.name: (level, by_level[level.name], sampled) for level in levels}
    of_part = {
        f"likelihoods of {level.name}": Added(
            likelihoods(network, *inputs[level.name], counts_of(state))
        )
        for level in levels
        if level.of_documents
    }
    state, sums = yield Meeting(state, sums | of_part)
    for level in levels:
        name, prior = f"likelihoods of {level.name}", by_level[level.name]
        if name in sums:
            of_groups = sums[name]
        else:
            of_groups = likelihoods(network, *inputs[level.name], counts_of(state))
        if level.learn == "scalar":
            prior[:] = _climbed(of_groups[0], np.array([prior.mean()]))
        else:
            for j, likelihood in enumerate(of_groups):
                prior[j] = _climbed(likelihood, prior[j])
    diagnostics = {name: value for name, value in sums.items() if name not in of_part}
    return state, diagnostics, alphas


class Added(tuple):
    """A sum of likelihoods of several priors, added one by one."""

    def __add__(self, other: "Added") -> "Added":
        return Added(one + another for one, another in zip(self, other, strict=True))


def likelihoods(
    network: Network, level: Level, prior: np.ndarray, sampled: bool, states: list
) -> list:
    """Return the likelihoods of a level's prior given counts of chains: one for all groups, or one for each."""
    copies = len(states[0].n_wk) if level.draws == WORD else 1
    parts = [
        np.concatenate([rows_of(network, level, state, j) for state in states])
        for j in range(len(prior))
    ]
    if level.learn == "scalar":
        return [_likelihood(parts, prior, copies, sampled, pooled=True)]
    return [
        _likelihood([part], prior[j : j + 1], copies, sampled, pooled=False)
        for j, part in enumerate(parts)
    ]


def rows_of(network: Network, level: Level, state: State, group: int) -> np.ndarray:
    """Return (row, value) counts of the rows of a group that have tokens, of all documents."""
    paths = paths_of(network)
    cells = paths.places[level.name].cells[paths.places[level.name].groups == group]
    if level.draws == WORD:
        rows = state.n_wk[:, cells].T
    elif level.of_documents:
        rows = state.n_own[:, cells].reshape(-1, cells.shape[1])
    else:
        rows = state.n_rest[cells - paths.rest_at]
    return rows[rows.sum(axis=1) > 0]


def _likelihood(parts: list, prior, copies: int, sampled: bool, pooled: bool):
    """Return the likelihood of one number per value, or (pooled, or of words) of one number for all values."""
    n_values = parts[0].shape[1]
    one = pooled or copies > 1
    if sampled:
        rows = np.concatenate(parts)
        totals = whole_sites([rows.sum(axis=1)])
        return Polya(whole_sites([rows] if one else rows.T), totals, n_values if one else 1)
    log_means = np.zeros(n_values)
    for rows, alpha in zip(parts, prior, strict=True):
        xi = rows + alpha
        log_means += psi(xi).sum(axis=0) - psi(xi.sum(axis=1)).sum()
    n_rows = sum(map(len, parts))
    return Dirichlet(
        n_rows, log_means.sum(keepdims=True) if one else log_means, n_values if one else 1
    )


def _climbed(likelihood, x: np.ndarray) -> np.ndarray:
    x = within(x, LARGEST)
    for _ in range(STEPS):
        before, x = x, climbed(likelihood, x, LARGEST)
        if x is before:
            break
    return x
