"""Gibbs sampling of prevalence that follows a linear system: sticks of documents around those of their year, and of years.

    psi_d ~ N(J^-1 h, J^-1),  J = Sigma^-1 + diag(omega_d),  h = Sigma^-1 psi_year(d) + kappa(n_d)           spec B.7 (a)

A year's documents are a potential of its state: J_t = n_t Sigma^-1, h_t = Sigma^-1 sum_d psi_d; or, where they share its state,
J_t = diag(omega_t), h_t = kappa(sum_d n_d).
"""

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.polya_gamma import polya_gamma
from workbench.kernels.stick_breaking.correlated_topics import draw_sticks
from workbench.kernels.variates import stream_of


@kernel
def draw_sticks_of_years(
    first, last, n_dk, precision, weighted, year, sticks, omega_key, stick_key
):
    """Draws the sticks (document, stick) of documents first..last given the topics of their tokens and the states of the years.

    precision : Sigma^-1; weighted (year, stick) : Sigma^-1 psi_t; year (document,).
    """
    for d in range(first, last):
        draw_sticks(d, d + 1, n_dk, precision, weighted[year[d]], sticks, omega_key, stick_key)


@kernel
def own_potentials(sticks, year, precision, n_years):
    """(J_t, h_t) of years whose documents have sticks of their own."""
    n_sticks = sticks.shape[1]
    J, h, total = (
        np.zeros((n_years, n_sticks, n_sticks)),
        np.zeros((n_years, n_sticks)),
        np.zeros((n_years, n_sticks)),
    )
    for d in range(len(sticks)):
        total[year[d]] += sticks[d]
        J[year[d]] += precision
    for t in range(n_years):
        for i in range(n_sticks):
            for j in range(n_sticks):
                h[t, i] += precision[i, j] * total[t, j]
    return J, h


@kernel
def shared_potentials(n_tk, states, key):
    """(J_t, h_t) of years whose documents share its state; n_tk (year, topic) int64 : tokens."""
    n_years, n_sticks = states.shape
    J, h = np.zeros((n_years, n_sticks, n_sticks)), np.zeros((n_years, n_sticks))
    for t in range(n_years):
        remaining = n_tk[t, n_sticks]
        for i in range(n_sticks - 1, -1, -1):
            remaining += n_tk[t, i]
            _, J[t, i, i] = polya_gamma(stream_of(key, t * n_sticks + i), remaining, states[t, i])
            h[t, i] = n_tk[t, i] - 0.5 * remaining
    return J, h
