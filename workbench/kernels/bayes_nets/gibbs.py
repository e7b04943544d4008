"""One sweep of collapsed Gibbs sampling over records: each draws its hidden nodes together, given all other records.

    take the record out of n
    w[s] = product over families at home in the clique of (alpha + n)[row, k] / (alpha + n)[row]        s a state of the clique
    up the junction tree, then down: the hidden nodes y of the record ~ q(y), q the product of all families            spec C.5
    put the record back

Where nodes of a record share a table, q is not the conditional P, as the second visit of a row knows of the first. Then y is
accepted with probability min(1, R), else the old x stays:

    R = [P(y) / q(y)] / [P(x) / q(x)],   P a product of (alpha + n)[row, k] / (alpha + n)[row], n with families before it     C4

Products are rescaled before they vanish; what is 1e-150 times smaller than the largest is never drawn anyway. All numbers are
computed from whole counts, never updated, so that they depend on the state alone.

Welling, Teh & Kappen (2008), eq. 29, corrected.
"""

import math

import numpy as np

from workbench.kernels.bayes_nets.propagate import collect, draw_cells
from workbench.kernels.jit import inlined, lean
from workbench.kernels.uniforms import uniform
from workbench.kernels.variates import log_of_gamma, stream_of

SMALL = 1e-150
"""A clique whose largest cell is smaller is rescaled."""


@inlined
def change(cell, by, counts, rows, row_of, prior, prior_rows, q, inverse):
    """Adds to the count of a table cell and of its row, and brings q = prior + count and inverse = 1 / sum of the row to it."""
    row = row_of[cell]
    counts[cell] += by
    rows[row] += by
    q[cell] = prior[cell] + counts[cell]
    inverse[row] = 1.0 / (prior_rows[row] + rows[row])


@inlined
def rescaled(w, first, last, high):
    """Divides w[first:last] by their largest where that is small."""
    if 0.0 < high < SMALL:
        for s in range(first, last):
            w[s] /= high


@inlined
def weigh(plan, case, q, inverse, row_of, w, sums):
    """Collects: leaves in w (cell,) the conditional of each clique given its separator but for its sum, which is in sums."""
    pattern, offset = plan.patterns[case], plan.first_offset[case]
    first_clique, last_clique, first_family = plan.cliques[pattern], plan.cliques[pattern + 1], plan.families[pattern]
    for c in range(first_clique, last_clique):
        at = plan.cell_at[c]
        last = at + plan.free[c] * plan.separators[c]
        for s in range(at, last):
            w[s] = 1.0
        for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
            table, down, high = plan.offsets[offset + f - first_family], plan.down[f] - at, 0.0
            for s in range(at, last):
                cell = table + plan.maps[down + s]
                w[s] *= q[cell] * inverse[row_of[cell]]
                high = max(high, w[s])
            rescaled(w, at, last, high)
    for c in range(last_clique - 1, first_clique - 1, -1):
        n_free, s, parent, first, largest = plan.free[c], plan.cell_at[c], plan.parents[c], plan.separator_at[c], 0.0
        for t in range(first, first + plan.separators[c]):
            sums[t] = 0.0
            for i in range(s, s + n_free):
                sums[t] += w[i]
            s += n_free
            largest = max(largest, sums[t])
        if parent >= 0:
            above, up, high = plan.cell_at[parent], plan.up[c], 0.0
            last = above + plan.free[parent] * plan.separators[parent]
            scale = 1.0 / largest
            for i in range(above, last):
                w[i] *= sums[first + plan.maps[up - above + i]] * scale
                high = max(high, w[i])
            rescaled(w, above, last, high)


@inlined
def place(plan, case, cells, at, by, counts, rows, row_of, prior, prior_rows, q, inverse):
    """Adds a record by times (1 or -1) to the counts, family by family; returns log P of them in that order."""
    pattern, offset, log_p = plan.patterns[case], plan.first_offset[case], 0.0
    first_clique, first_family = plan.cliques[pattern], plan.families[pattern]
    for c in range(first_clique, plan.cliques[pattern + 1]):
        s = cells[at + c - first_clique]
        for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
            cell = plan.offsets[offset + f - first_family] + plan.maps[plan.down[f] + s]
            if by > 0:
                log_p += math.log(q[cell] * inverse[row_of[cell]])
            change(cell, by, counts, rows, row_of, prior, prior_rows, q, inverse)
            if by < 0:
                log_p += math.log(q[cell] * inverse[row_of[cell]])
    for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
        cell = plan.offsets[offset + f - first_family]
        if by > 0:
            log_p += math.log(q[cell] * inverse[row_of[cell]])
        change(cell, by, counts, rows, row_of, prior, prior_rows, q, inverse)
        if by < 0:
            log_p += math.log(q[cell] * inverse[row_of[cell]])
    return log_p


@inlined
def move(plan, case, cells, at, by, counts, rows, row_of, prior, prior_rows, q, inverse):
    """Adds the families with hidden nodes of a record by times to the counts, where no table is shared."""
    pattern, offset = plan.patterns[case], plan.first_offset[case]
    first_clique, first_family = plan.cliques[pattern], plan.families[pattern]
    for c in range(first_clique, plan.cliques[pattern + 1]):
        s = cells[at + c - first_clique]
        for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
            cell = plan.offsets[offset + f - first_family] + plan.maps[plan.down[f] + s]
            change(cell, by, counts, rows, row_of, prior, prior_rows, q, inverse)


@inlined
def log_proposal(plan, case, cells, at, row_of, q, inverse):
    """log q of the cells of a record, of its families with hidden nodes."""
    pattern, offset, found = plan.patterns[case], plan.first_offset[case], 0.0
    first_clique, first_family = plan.cliques[pattern], plan.families[pattern]
    for c in range(first_clique, plan.cliques[pattern + 1]):
        s = cells[at + c - first_clique]
        for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
            cell = plan.offsets[offset + f - first_family] + plan.maps[plan.down[f] + s]
            found += math.log(q[cell] * inverse[row_of[cell]])
    return found


@lean
def sweep(
    first, last, plan, first_cells, tied, row_of, prior, prior_rows, counts, rows, q, inverse, cells, key, accept_key, w, sums,
    drawn,
):
    """Draws the hidden nodes of every record of the cases first..last; returns how many proposals were accepted.

    plan : of the sampled cases; first_cells (case + 1,) : where in ``cells`` those of its records begin, record after record.
    prior, prior_rows : what is added to counts, of cells and of rows; with expected counts of other records in a hybrid.
    counts, rows, q, inverse : of table cells and rows, see `change`; updated. drawn : a workspace of one record's cliques.
    """
    accepted = 0
    for case in range(first, last):
        pattern = plan.patterns[case]
        n_cliques, n_records = plan.cliques[pattern + 1] - plan.cliques[pattern], int(plan.weights[case])
        if n_cliques == 0:
            continue
        for record in range(n_records):
            at = first_cells[case] + record * n_cliques
            if not tied:
                move(plan, case, cells, at, -1.0, counts, rows, row_of, prior, prior_rows, q, inverse)
                weigh(plan, case, q, inverse, row_of, w, sums)
                draw_cells(plan, case, w, sums, key, at, drawn)
                for i in range(n_cliques):
                    cells[at + i] = drawn[i]
                move(plan, case, cells, at, 1.0, counts, rows, row_of, prior, prior_rows, q, inverse)
                accepted += 1
                continue
            before = place(plan, case, cells, at, -1.0, counts, rows, row_of, prior, prior_rows, q, inverse)
            weigh(plan, case, q, inverse, row_of, w, sums)
            draw_cells(plan, case, w, sums, key, at, drawn)
            before -= log_proposal(plan, case, cells, at, row_of, q, inverse)
            after = -log_proposal(plan, case, drawn, 0, row_of, q, inverse)
            after += place(plan, case, drawn, 0, 1.0, counts, rows, row_of, prior, prior_rows, q, inverse)
            if math.log(1.0 - uniform(accept_key, at)) < after - before:
                accepted += 1
                for i in range(n_cliques):
                    cells[at + i] = drawn[i]
            else:
                place(plan, case, drawn, 0, -1.0, counts, rows, row_of, prior, prior_rows, q, inverse)
                place(plan, case, cells, at, 1.0, counts, rows, row_of, prior, prior_rows, q, inverse)
    return accepted


@lean
def draw_given_tables(first, last, plan, first_cells, logs, key, w, largest, sums, counts, cells, drawn):
    """Draws the hidden nodes of every record of the cases first..last given log tables; adds all their families to counts."""
    for case in range(first, last):
        pattern, offset = plan.patterns[case], plan.first_offset[case]
        first_clique, last_clique, first_family = plan.cliques[pattern], plan.cliques[pattern + 1], plan.families[pattern]
        for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
            counts[plan.offsets[offset + f - first_family]] += plan.weights[case]
        if first_clique == last_clique:
            continue
        collect(plan, case, logs, w, largest, sums)
        for record in range(int(plan.weights[case])):
            at = first_cells[case] + record * (last_clique - first_clique)
            draw_cells(plan, case, w, sums, key, at, drawn)
            for c in range(first_clique, last_clique):
                s = drawn[c - first_clique]
                cells[at + c - first_clique] = s
                for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
                    counts[plan.offsets[offset + f - first_family] + plan.maps[plan.down[f] + s]] += 1.0


@lean
def draw_log_tables(row_starts, concentration, key, logs):
    """Fills logs (cell,) with the logarithms of rows drawn from Dirichlet(concentration), finite however small they are."""
    for row in range(len(row_starts)):
        first, stream, largest, total = row_starts[row], stream_of(key, row), -np.inf, 0.0
        last = row_starts[row + 1] if row + 1 < len(row_starts) else len(concentration)
        for k in range(first, last):
            stream, logs[k] = log_of_gamma(stream, concentration[k])
            largest = max(largest, logs[k])
        for k in range(first, last):
            total += math.exp(logs[k] - largest)
        for k in range(first, last):
            logs[k] -= largest + math.log(total)
