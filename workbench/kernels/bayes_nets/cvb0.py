"""One pass of CVB0 over the distinct records of a Bayesian network.

own of one record taken out of the expected counts n:  n' = n - own
own ~ product over its families of (alpha + n')[row, k] / (alpha + n')[row],  up and down the junction tree
n becomes n + n_c (own - own before), for all n_c records that are equal
"""

from workbench.kernels.bayes_nets.gibbs import change, weigh
from workbench.kernels.bayes_nets.propagate import distribute
from workbench.kernels.jit import inlined, lean


@inlined
def add_own(
    plan, case, by, tied, marginals, begin_cell, counts, rows, row_of, prior, prior_rows, q, inverse
):
    """Add `by` times one case's clique marginals to the expected counts of table cells, and update q and `inverse`."""
    pattern, offset = plan.patterns[case], plan.first_offset[case]
    first_family = plan.families[pattern]
    for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
        first, n_cells = begin_cell + plan.cell_at[c], plan.free[c] * plan.separators[c]
        for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
            table, map_begin = plan.offsets[offset + f - first_family], plan.down[f]
            for s in range(n_cells):
                cell = table + plan.maps[map_begin + s]
                change(
                    cell,
                    by * marginals[first + s],
                    counts,
                    rows,
                    row_of,
                    prior,
                    prior_rows,
                    q,
                    inverse,
                )
    if tied:
        for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
            cell = plan.offsets[offset + f - first_family]
            change(cell, by, counts, rows, row_of, prior, prior_rows, q, inverse)


@lean
def sweep(
    first,
    last,
    plan,
    tied,
    row_of,
    prior,
    prior_rows,
    counts,
    rows,
    q,
    inverse,
    first_own,
    marginals,
    tables,
    w,
    largest,
    sums,
    factors,
):
    """Update the marginals of cases first..last, and the expected counts; return the largest change of a marginal.

    marginals (cell of a clique,). The last arguments are workspaces, see `gibbs.sweep`.
    """
    largest_change = 0.0
    for case in range(first, last):
        begin_cell, n_cells, weight = (
            first_own[case],
            first_own[case + 1] - first_own[case],
            plan.weights[case],
        )
        if n_cells == 0:
            continue
        add_own(
            plan,
            case,
            -1.0,
            tied,
            marginals,
            begin_cell,
            counts,
            rows,
            row_of,
            prior,
            prior_rows,
            q,
            inverse,
        )
        weigh(plan, case, q, inverse, row_of, tables, w, largest, sums, factors)
        distribute(plan, case, w, largest, sums)
        if weight > 1.0:
            add_own(
                plan,
                case,
                1.0 - weight,
                tied,
                marginals,
                begin_cell,
                counts,
                rows,
                row_of,
                prior,
                prior_rows,
                q,
                inverse,
            )
        for i in range(n_cells):
            largest_change = max(largest_change, abs(w[i] - marginals[begin_cell + i]))
            marginals[begin_cell + i] = w[i]
        add_own(
            plan,
            case,
            weight,
            tied,
            marginals,
            begin_cell,
            counts,
            rows,
            row_of,
            prior,
            prior_rows,
            q,
            inverse,
        )
    return largest_change
