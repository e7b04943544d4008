"""Gibbs sampling of correlated topics with stick-breaking: topics of tokens, and sticks of documents and of years.

    p(z_i = t | z_-i, w)  ~  theta_dt (n_wt + beta) / (n_t + W beta),  theta_d = pi(psi_d)      `topics_given_theta`
    omega_dt ~ PG(N_dt, psi_dt),  N_dt = sum_{s>=t} n_ds
    psi_d ~ N(J^-1 h, J^-1),  J = Sigma^-1 + diag(omega_d),  h = Sigma^-1 mu + kappa(n_d)                         spec B.1

Every token, every stick and every document has a stream of its own, so that documents may be drawn in any order and on any
number of threads.

Where prevalence follows a linear system, the sticks of documents lie around those of their year::

    psi_d ~ N(J^-1 h, J^-1),  J = Sigma^-1 + diag(omega_d),  h = Sigma^-1 psi_year(d) + kappa(n_d)           spec B.7 (a)

A year's documents are a potential of its state: J_t = n_t Sigma^-1, h_t = Sigma^-1 sum_d psi_d; or, where they share its state,
J_t = diag(omega_t), h_t = kappa(sum_d n_d).
"""

import numpy as np

from workbench.kernels.gaussian import draw_gaussian
from workbench.kernels.jit import kernel
from workbench.kernels.polya_gamma import polya_gamma
from workbench.kernels.stick_breaking.sticks import break_stick
from workbench.kernels.stick_breaking.topics_given_theta import (
    count_drawn_topics,
    draw_topics_given,
)
from workbench.kernels.uniforms import absorb
from workbench.kernels.variates import stream_of


@kernel
def draw_topics(
    first,
    last,
    indptr,
    words,
    counts,
    tokens_before,
    topics,
    n_dk,
    n_wk,
    n_k,
    sticks,
    beta,
    key,
):
    """Draws the topics of all tokens of documents first..last given sticks (document, topic - 1): see `draw_topics_given`."""
    theta = np.zeros((last - first, len(n_k)))
    for d in range(first, last):
        break_stick(sticks[d], theta[d - first])
    return draw_topics_given(
        first, last, indptr, words, counts, tokens_before, topics, n_dk, n_wk, n_k, theta, beta, key
    )


@kernel
def draw_sticks(first, last, n_dk, precision, weighted_mean, sticks, omega_key, stick_key):
    """Draws the sticks (document, topic - 1) of documents first..last given the topics of their tokens.

    precision : Sigma^-1 (stick, stick); weighted_mean : Sigma^-1 mu (stick,).
    """
    n_sticks = len(weighted_mean)
    matrix = np.empty((n_sticks, n_sticks))
    for d in range(first, last):
        h = sticks[d]
        remaining = np.int64(n_dk[d, n_sticks])
        matrix[:] = precision
        for t in range(n_sticks - 1, -1, -1):
            here = np.int64(n_dk[d, t])
            remaining += here
            _, omega = polya_gamma(stream_of(omega_key, d * n_sticks + t), remaining, h[t])
            matrix[t, t] += omega
            h[t] = weighted_mean[t] + (here - 0.5 * remaining)
        draw_gaussian(stream_of(stick_key, d), matrix, h)


@kernel
def sampled_theta(
    first,
    last,
    indptr,
    words,
    counts,
    tokens_before,
    phi,
    precision,
    mean,
    weighted_mean,
    burn_in,
    n_kept,
    key,
    theta,
    first_number=0,
):
    """theta of documents first..last, the mean over `n_kept` Gibbs sweeps after `burn_in`; phi (word, topic) stays as it is.

    The sticks of a document begin at their mean. Its streams belong to its number, first_number + d, and the sweep's.
    """
    n_topics = phi.shape[1]
    n_sticks = n_topics - 1
    n_here, here, cumulative = (
        np.zeros((1, n_topics), np.int32),
        np.empty(n_topics),
        np.empty(n_topics),
    )
    sticks = np.empty((1, n_sticks))
    for d in range(first, last):
        sticks[0] = mean
        theta[d] = 0.0
        for sweep in range(burn_in + n_kept):
            sweep_key = absorb(absorb(key, sweep), first_number + d)
            break_stick(sticks[0], here)
            count_drawn_topics(
                d, indptr, words, counts, tokens_before, here, phi, cumulative, sweep_key, n_here[0]
            )
            draw_sticks(
                0,
                1,
                n_here,
                precision,
                weighted_mean,
                sticks,
                absorb(sweep_key, 1),
                absorb(sweep_key, 2),
            )
            if sweep >= burn_in:
                break_stick(sticks[0], here)
                for k in range(n_topics):
                    theta[d, k] += here[k] / n_kept


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
