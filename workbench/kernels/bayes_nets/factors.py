"""Junction-tree propagation where each family of a case has a factor: an array with one number for each cell of its clique.

There are few different factors (of a latent class: one for each state of each field), so they are filled once for all cases.
They are multiplied, and their expected counts added, eight cells at a time without an index array. The messages between
cliques are those of `propagate`, and the results are equal. `engines.bayes_nets.cases` makes the plan: the ``offsets`` of a
family are where its factors begin, and cliques begin at multiples of eight cells.
"""

import numpy as np

from workbench.kernels.bayes_nets.propagate import collect, distribute, pass_upwards, rescale
from workbench.kernels.jit import inlined, lean
from workbench.kernels.simd.vectors import load_eight, store

BLOCK = 8
MOST_FACTORS = 32
"""Families whose factors are multiplied into a clique before it is rescaled; if all cells underflow, logarithms are used."""


@inlined
def products_of_factors(plan, case, factors, w, messages: np.ndarray, sums):
    """Return log Z of a case by the upward pass from `factors`, without families whose nodes are all observed."""
    pattern, log_scale = plan.patterns[case], 0.0
    offset_shift = plan.first_offset[case] - plan.families[pattern]
    for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
        begin_cell, begin, end = (
            plan.cell_at[c],
            plan.clique_families[c, 0],
            plan.clique_families[c, 1],
        )
        n_cells = plan.free[c] * plan.separators[c]
        if begin == end:
            w[begin_cell : begin_cell + n_cells] = 1.0
        for first in range(begin, end, MOST_FACTORS):
            last = min(first + MOST_FACTORS, end)
            for s in range(0, n_cells, BLOCK):
                result = load_eight(factors, plan.offsets[offset_shift + first] + s)
                if first > begin:
                    result = result * load_eight(w, begin_cell + s)
                for f in range(first + 1, last):
                    result = result * load_eight(factors, plan.offsets[offset_shift + f] + s)
                store(w, begin_cell + s, result)
            if last < end:
                log_scale += np.log(rescale(w, begin_cell, begin_cell + n_cells))
    return log_scale + pass_upwards(plan, pattern, w, sums, messages)


@inlined
def collect_factors(plan, case, factors, logs, w, largest, sums):
    """Return log Z of a case, given `factors` and their logarithms; write to w and sums what `distribute` reads."""
    log_z = products_of_factors(plan, case, factors, w, largest, sums)
    if not log_z > -np.inf:
        return collect(plan, case, logs, w, largest, sums)
    pattern = plan.patterns[case]
    for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
        log_z += logs[plan.offsets[plan.first_offset[case] - plan.families[pattern] + f]]
    return log_z


@lean
def expect_factors(
    first: int, last: int, plan, factors, logs, w, largest, sums, counts: np.ndarray
):
    """Add the expected counts of cases first..last to counts (factor cell,); return the sum of weight times log Z."""
    result = 0.0
    for case in range(first, last):
        weight, pattern = plan.weights[case], plan.patterns[case]
        result += weight * collect_factors(plan, case, factors, logs, w, largest, sums)
        distribute(plan, case, w, largest, sums)
        offset_shift = plan.first_offset[case] - plan.families[pattern]
        for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
            begin_cell, begin, end = (
                plan.cell_at[c],
                plan.clique_families[c, 0],
                plan.clique_families[c, 1],
            )
            for s in range(0, plan.free[c] * plan.separators[c], BLOCK):
                part = weight * load_eight(w, begin_cell + s)
                for f in range(begin, end):
                    i = plan.offsets[offset_shift + f] + s
                    store(counts, i, load_eight(counts, i) + part)
        for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
            counts[plan.offsets[offset_shift + f]] += weight
    return result


@lean
def log_evidence_of_factors(
    first: int, last: int, plan, factors, logs, w, largest, sums, result
) -> None:
    """Write log Z of each of the cases first..last, given factors, to result (case,)."""
    for case in range(first, last):
        result[case] = collect_factors(plan, case, factors, logs, w, largest, sums)
