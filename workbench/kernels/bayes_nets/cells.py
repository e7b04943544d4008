"""Products and sums over the cells of a clique, of what some of its nodes have: see `models.bayes_nets.plan.Plan.run`.

Loops over a part of an array go over a view of it, with indices from 0: numba asks of others whether they are negative, which
keeps loops from being done in vectors.
"""

import numpy as np

from workbench.kernels.jit import inlined


@inlined
def multiply(w, first, last, factors, n, run, maps, pick):
    """Multiplies w[first:last] by factors, one of which belongs to each cell; see `Plan.run`."""
    s = first
    if run == 1:
        while s < last:
            row = w[s : s + n]
            for j in range(n):
                row[j] *= factors[j]
            s += n
    elif run > 1:
        while s < last:
            for j in range(n):
                row, factor = w[s : s + run], factors[j]
                for i in range(run):
                    row[i] *= factor
                s += run
    else:
        row, chosen = w[first:last], maps[pick : pick + last - first]
        for i in range(last - first):
            row[i] *= factors[np.uint32(chosen[i])]


@inlined
def add_up(w, first, last, sums, n, run, maps, pick):
    """Sums w[first:last] into sums, one of which belongs to each cell; see `Plan.run`."""
    for j in range(n):
        sums[j] = 0.0
    s = first
    if run == 1:
        while s < last:
            row = w[s : s + n]
            for j in range(n):
                sums[j] += row[j]
            s += n
    elif run > 1:
        while s < last:
            for j in range(n):
                row, found = w[s : s + run], 0.0
                for i in range(run):
                    found += row[i]
                sums[j] += found
                s += run
    else:
        row, chosen = w[first:last], maps[pick : pick + last - first]
        for i in range(last - first):
            sums[np.uint32(chosen[i])] += row[i]


@inlined
def rescaled(w, first, last):
    """The largest of w[first:last], by which they are divided where it is not 0."""
    high = 0.0
    for s in range(first, last):
        high = max(high, w[s])
    if high > 0.0:
        for s in range(first, last):
            w[s] /= high
    return high
