"""One sweep of collapsed Gibbs sampling over records: the hidden nodes of a record are drawn jointly, given all other records.

    take the record out of n
    w[s] = product over families at home in the clique of (alpha + n)[row, k] / (alpha + n)[row]        s a state of the clique
    up the junction tree, then down: the hidden nodes y of the record ~ q(y), q the product of all families            spec C.5
    put the record back

Where nodes of a record share a table, q is not the conditional P, since in P the second visit of a row depends on the first.
Then y is accepted with probability min(1, R), else the old x is kept:

    R = [P(y) / q(y)] / [P(x) / q(x)],   P a product of (alpha + n)[row, k] / (alpha + n)[row], n with families before it     C4

Families without hidden nodes stay in n. All numbers are recomputed from integer counts, so that they depend only on the state.

Welling, Teh & Kappen (2008), eq. 29, corrected.
"""

import math

import numpy as np

from workbench.kernels.bayes_nets.propagate import collect, collect_products, draw_cells, products
from workbench.kernels.jit import inlined, lean
from workbench.kernels.uniforms import draw_log_dirichlet, stream_of, uniform

SMALL = 1e-100
"""A product below this is replaced by its logarithm."""


@inlined
def change(
    cell, by, counts: np.ndarray, rows, row_of: np.ndarray, prior, prior_rows, q, inverse
) -> None:
    """Add `by` to the count of a table cell and of its row; update q = prior + count and inverse = 1 / row sum of q."""
    row = row_of[cell]
    counts[cell] += by
    rows[row] += by
    q[cell] = prior[cell] + counts[cell]
    inverse[row] = 1.0 / (prior_rows[row] + rows[row])


@inlined
def place(
    plan,
    case,
    cells,
    begin_cell,
    by,
    counts: np.ndarray,
    rows,
    row_of: np.ndarray,
    prior,
    prior_rows,
    q,
    inverse,
):
    """Add a record to the counts (by = 1) or remove it (by = -1); return its log probability given all other records.

    With by = 0 no count changes, and the result is the log probability of its cells under q.
    """
    pattern, offset, log_p, p = plan.patterns[case], plan.first_offset[case], 0.0, 1.0
    first_clique, first_family = plan.cliques[pattern], plan.families[pattern]
    for c in range(first_clique, plan.cliques[pattern + 1]):
        s = cells[begin_cell + c - first_clique]
        for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
            cell = plan.offsets[offset + f - first_family] + plan.maps[plan.down[f] + s]
            if by >= 0:
                p *= q[cell] * inverse[row_of[cell]]
            change(cell, by, counts, rows, row_of, prior, prior_rows, q, inverse)
            if by < 0:
                p *= q[cell] * inverse[row_of[cell]]
            if p < SMALL:
                log_p += math.log(p)
                p = 1.0
    return log_p + math.log(p)


@inlined
def weigh(plan, case, q, inverse, row_of: np.ndarray, tables, w, largest, sums, factors) -> None:
    """Pass messages upwards for a record, given table cells q / row sum; fill w and sums for the draw of its nodes."""
    pattern, offset = plan.patterns[case], plan.first_offset[case]
    first_family, last_family = plan.families[pattern], plan.scalars[pattern]
    for f in range(first_family, last_family):
        table, marginals, n_own = (
            plan.offsets[offset + f - first_family],
            plan.own[f],
            plan.n_own[f],
        )
        result, cell_weights, cell_rows = tables[table:], q[table:], row_of[table:]
        if marginals < 0:
            for j in range(n_own):
                result[j] = cell_weights[j] * inverse[np.uint64(cell_rows[j])]
        else:
            cells = plan.maps[marginals : marginals + n_own]
            for j in range(n_own):
                cell = np.uint32(cells[j])
                result[cell] = cell_weights[cell] * inverse[np.uint64(cell_rows[cell])]
    if not products(plan, case, tables, w, largest, sums, factors) > -np.inf:
        for f in range(first_family, last_family):
            table, marginals = plan.offsets[offset + f - first_family], plan.own[f]
            for j in range(plan.n_own[f]):
                cell = table + (j if marginals < 0 else plan.maps[marginals + j])
                tables[cell] = math.log(q[cell]) + math.log(inverse[row_of[cell]])
        collect(plan, case, tables, w, largest, sums)


@lean
def sweep(
    first: int,
    last: int,
    plan,
    first_cells,
    tied,
    row_of: np.ndarray,
    prior,
    prior_rows,
    counts: np.ndarray,
    rows,
    q,
    inverse,
    cells,
    key: np.uint64,
    accept_key: np.uint64,
    tables,
    w,
    largest,
    sums,
    factors,
    proposal,
):
    """Draw the hidden nodes of all records of cases first..last; return the numbers of accepted draws and of changed records.

    plan : the plan of the sampled cases
    first_cells (case + 1,) : where the drawn cells of a case begin in ``cells``, record after record
    prior, prior_rows : priors of cells and of rows; in a hybrid they include the expected counts of other records
    counts, rows, q, inverse : updated in place, see `change`

    The last arguments are workspaces; ``tables`` must hold finite numbers.
    """
    accepted, n_moved = 0, 0
    for case in range(first, last):
        pattern = plan.patterns[case]
        n_cliques, n_records = (
            plan.cliques[pattern + 1] - plan.cliques[pattern],
            int(plan.weights[case]),
        )
        if n_cliques == 0:
            continue
        for record in range(n_records):
            begin_cell = first_cells[case] + record * n_cliques
            log_old = place(
                plan,
                case,
                cells,
                begin_cell,
                -1.0,
                counts,
                rows,
                row_of,
                prior,
                prior_rows,
                q,
                inverse,
            )
            weigh(plan, case, q, inverse, row_of, tables, w, largest, sums, factors)
            draw_cells(plan, case, w, sums, key, begin_cell, proposal)
            new = False
            for i in range(n_cliques):
                new |= cells[begin_cell + i] != proposal[i]
            ratio = 0.0
            if new and tied:
                table = counts, rows, row_of, prior, prior_rows, q, inverse
                ratio = place(plan, case, cells, begin_cell, 0.0, *table) - log_old
                ratio -= place(plan, case, proposal, 0, 0.0, *table)
            log_new = place(
                plan, case, proposal, 0, 1.0, counts, rows, row_of, prior, prior_rows, q, inverse
            )
            if new and tied and math.log(1.0 - uniform(accept_key, begin_cell)) >= ratio + log_new:
                place(
                    plan,
                    case,
                    proposal,
                    0,
                    -1.0,
                    counts,
                    rows,
                    row_of,
                    prior,
                    prior_rows,
                    q,
                    inverse,
                )
                place(
                    plan,
                    case,
                    cells,
                    begin_cell,
                    1.0,
                    counts,
                    rows,
                    row_of,
                    prior,
                    prior_rows,
                    q,
                    inverse,
                )
                continue
            accepted += 1
            n_moved += new
            for i in range(n_cliques):
                cells[begin_cell + i] = proposal[i]
    return accepted, n_moved


@lean
def draw_given_tables(
    first: int,
    last: int,
    plan,
    first_cells,
    tables,
    logs,
    key: np.uint64,
    w,
    largest,
    sums,
    factors,
    counts: np.ndarray,
    cells,
    draws,
):
    """Draw the hidden nodes of all records of cases first..last given the tables; return how many records changed.

    logs : the logarithms of the tables. All families of the records are added to counts.
    """
    n_moved = 0
    for case in range(first, last):
        pattern, offset = plan.patterns[case], plan.first_offset[case]
        first_clique, last_clique, first_family = (
            plan.cliques[pattern],
            plan.cliques[pattern + 1],
            plan.families[pattern],
        )
        for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
            counts[plan.offsets[offset + f - first_family]] += plan.weights[case]
        if first_clique == last_clique:
            continue
        collect_products(plan, case, tables, logs, w, largest, sums, factors)
        for record in range(int(plan.weights[case])):
            begin_cell = first_cells[case] + record * (last_clique - first_clique)
            draw_cells(plan, case, w, sums, key, begin_cell, draws)
            new = False
            for c in range(first_clique, last_clique):
                s = draws[c - first_clique]
                new |= cells[begin_cell + c - first_clique] != s
                cells[begin_cell + c - first_clique] = s
                for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
                    counts[
                        plan.offsets[offset + f - first_family] + plan.maps[plan.down[f] + s]
                    ] += 1.0
            n_moved += new
    return n_moved


@lean
def draw_log_tables(row_starts, concentration, key: np.uint64, logs) -> None:
    """Draw all rows of the probability tables from Dirichlet(concentration); write finite logarithms to logs (cell,)."""
    for row in range(len(row_starts)):
        first = row_starts[row]
        last = row_starts[row + 1] if row + 1 < len(row_starts) else len(concentration)
        draw_log_dirichlet(stream_of(key, row), concentration[first:last], logs[first:last])
