"""Junction-tree propagation of the cases of a Bayesian network.

    e[c, s] = product of the table cells of the families at home in clique c, s a state of its nodes                 spec C.3
    upwards      m[t] = sum_{s with separator t} e[s],  which e of the parent is multiplied by;  root: Z
    distribute   b[s] = b[t] e[s] / m[t],  b[t] the sum of the parent's b over its cells with t

Each clique keeps e, the unnormalised conditional of its own nodes given its separator, from which counts and draws are made.
Products are rescaled as they shrink; where one underflows nevertheless, `collect` does the same with logarithms. A plan
(`models.bayes_nets.plan.Plan`) is a tuple of integer arrays, so that the loops, which allocate nothing, are compiled once for
all networks.

Welling, Teh & Kappen (2008), eq. 27-29; Lauritzen & Spiegelhalter (1988).

Products and sums go over the cells of a clique, see `models.bayes_nets.plan.Plan.run`. Loops over a part of an array go over a
view of it, with indices from 0: numba tests whether other indices are negative, which prevents vectorised loops.
"""

import math

import numpy as np

from workbench.kernels.jit import inlined, lean
from workbench.kernels.uniforms import uniform


@inlined
def multiply(w, first: int, last: int, factors, n, run, maps, pick) -> None:
    """Multiply cell s of w[first:last] by factors[s // run % n], or by factors[maps[pick + s]] if run is 0."""
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
        row, indices = w[first:last], maps[pick : pick + last - first]
        for i in range(last - first):
            row[i] *= factors[np.uint32(indices[i])]


@inlined
def add_up(w, first: int, last: int, sums, n, run, maps, pick) -> None:
    """Fill sums (n,): cell s of w[first:last] goes to sums[s // run % n], or to sums[maps[pick + s]] if run is 0."""
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
                row, result = w[s : s + run], 0.0
                for i in range(run):
                    result += row[i]
                sums[j] += result
                s += run
    else:
        row, indices = w[first:last], maps[pick : pick + last - first]
        for i in range(last - first):
            sums[np.uint32(indices[i])] += row[i]


@inlined
def rescale(w, first: int, last: int):
    """Divide w[first:last] by its largest element, and return that element; if it is 0, nothing is changed."""
    high = 0.0
    for s in range(first, last):
        high = max(high, w[s])
    if high > 0.0:
        for s in range(first, last):
            w[s] /= high
    return high


VANISHING = 1e-250
"""Where all cells of a clique are smaller, logarithms are used."""
TINY = 1e-300
"""Replaces a divisor of 0, whose dividend is 0 too."""
MOST_FACTORS = 16
"""Families whose tables are multiplied into a clique before it is rescaled."""


@inlined
def pass_upwards(plan, pattern, w, sums, messages: np.ndarray):
    """Pass messages from leaves to root, given in w the product of potentials of each clique; return log Z.

    w gets e, and sums its sum for each separator state. The result is NaN where a clique underflows.
    """
    log_z, z = 0.0, 1.0
    for c in range(plan.cliques[pattern + 1] - 1, plan.cliques[pattern] - 1, -1):
        s, n_free, parent, largest = plan.cell_at[c], plan.free[c], plan.parents[c], 0.0
        first, n_states = plan.separator_at[c], plan.separators[c]
        for t in range(first, first + n_states):
            row, result = w[s : s + n_free], 0.0
            for i in range(n_free):
                result += row[i]
            sums[t] = result
            largest = max(largest, result)
            s += n_free
        if not largest > VANISHING:
            return np.nan
        z *= largest
        if z < 1e-50:
            log_z += math.log(z)
            z = 1.0
        if parent >= 0:
            scale, parent_cell = 1.0 / largest, plan.cell_at[parent]
            for t in range(first, first + n_states):
                messages[t] = sums[t] * scale
            last = parent_cell + plan.free[parent] * plan.separators[parent]
            multiply(
                w,
                parent_cell,
                last,
                messages[first : first + n_states],
                n_states,
                plan.up_run[c],
                plan.maps,
                plan.up[c],
            )
    return log_z + math.log(z)


@inlined
def products(plan, case, tables, w, messages: np.ndarray, sums, factors):
    """Return log Z of a case given tables (cell,), without the factors of families whose nodes are all observed.

    w gets e, and sums its sum for each separator state. The result is NaN or minus infinity where a clique underflows.
    factors : a workspace of `Plan.n_factors` numbers
    """
    pattern, offset = plan.patterns[case], plan.first_offset[case]
    first_family, log_scale = plan.families[pattern], 0.0
    for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
        begin_cell, begin, end = (
            plan.cell_at[c],
            plan.clique_families[c, 0],
            plan.clique_families[c, 1],
        )
        last = begin_cell + plan.free[c] * plan.separators[c]
        is_whole = begin < end and plan.n_own[begin] == last - begin_cell
        if not is_whole:
            w[begin_cell:last] = 1.0
        for f in range(begin, end):
            table, marginals, n_own = (
                plan.offsets[offset + f - first_family],
                plan.own[f],
                plan.n_own[f],
            )
            row, result = tables[table:], w[begin_cell:last] if is_whole and f == begin else factors
            if marginals < 0:
                for j in range(n_own):
                    result[j] = row[j]
            else:
                cells = plan.maps[marginals : marginals + n_own]
                for j in range(n_own):
                    result[j] = row[np.uint32(cells[j])]
            if not is_whole or f > begin:
                multiply(w, begin_cell, last, factors, n_own, plan.run[f], plan.maps, plan.pick[f])
            if (f - begin) % MOST_FACTORS == MOST_FACTORS - 1:
                log_scale += math.log(rescale(w, begin_cell, last))
    return log_scale + pass_upwards(plan, pattern, w, sums, messages)


@inlined
def collect_products(plan, case, tables, logs, w, largest, sums, factors):
    """Return log Z of a case, given tables (cell,) and their logs; write to w and sums what `distribute` reads."""
    log_z = products(plan, case, tables, w, largest, sums, factors)
    if not log_z > -np.inf:
        return collect(plan, case, logs, w, largest, sums)
    pattern, offset = plan.patterns[case], plan.first_offset[case]
    for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
        log_z += logs[plan.offsets[offset + f - plan.families[pattern]]]
    return log_z


@inlined
def collect(plan, case, logs, w, largest, sums):
    """Return log Z of a case as `collect_products` does, but in the log domain, so that nothing underflows.

    For each separator state, e is divided by its largest element.
    """
    pattern, offset = plan.patterns[case], plan.first_offset[case]
    first_clique, last_clique = plan.cliques[pattern], plan.cliques[pattern + 1]
    first_family, log_z = plan.families[pattern], 0.0
    for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
        log_z += logs[plan.offsets[offset + f - first_family]]
    for c in range(first_clique, last_clique):
        begin_cell, n_cells = plan.cell_at[c], plan.free[c] * plan.separators[c]
        for s in range(begin_cell, begin_cell + n_cells):
            w[s] = 0.0
        for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
            table, map_begin = plan.offsets[offset + f - first_family], plan.down[f]
            for s in range(n_cells):
                w[begin_cell + s] += logs[table + plan.maps[map_begin + s]]
    for c in range(last_clique - 1, first_clique - 1, -1):
        n_free, s, parent = plan.free[c], plan.cell_at[c], plan.parents[c]
        for t in range(plan.separator_at[c], plan.separator_at[c] + plan.separators[c]):
            high = w[s]
            for i in range(s + 1, s + n_free):
                high = max(high, w[i])
            result = 0.0
            for i in range(s, s + n_free):
                w[i] = math.exp(w[i] - high)
                result += w[i]
            largest[t], sums[t] = high, result
            s += n_free
        if parent < 0:
            log_z += largest[plan.separator_at[c]] + math.log(sums[plan.separator_at[c]])
        else:
            first, parent_cell, parent_map = plan.separator_at[c], plan.cell_at[parent], plan.up[c]
            for t in range(first, first + plan.separators[c]):
                largest[t] += math.log(sums[t])
            for s in range(plan.free[parent] * plan.separators[parent]):
                w[parent_cell + s] += largest[first + plan.maps[parent_map + s]]
    return log_z


@inlined
def distribute(plan, case, w, shares, sums) -> None:
    """Pass messages from root to leaves, after the upward pass, so that w gets the marginals of all cliques.

    On entry w is e, and sums its sum for each separator state. ``shares`` is a workspace.
    """
    pattern = plan.patterns[case]
    for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
        s, n_free, parent = plan.cell_at[c], plan.free[c], plan.parents[c]
        first, n_states = plan.separator_at[c], plan.separators[c]
        if parent < 0:
            shares[first] = 1.0
        else:
            parent_cell = plan.cell_at[parent]
            last = parent_cell + plan.free[parent] * plan.separators[parent]
            add_up(
                w,
                parent_cell,
                last,
                shares[first : first + n_states],
                n_states,
                plan.up_run[c],
                plan.maps,
                plan.up[c],
            )
        share, total = shares[first : first + n_states], sums[first : first + n_states]
        for t in range(n_states):
            share[t] /= max(total[t], TINY)
        multiply(w, s, s + n_states * n_free, share, n_states, n_free, plan.maps, 0)


@inlined
def add_families(plan, case, marginals, first: int, factors, counts: np.ndarray) -> None:
    """Add the expected counts of one case, by family, to counts (table cell,), given its clique marginals.

    marginals[first:] : the probabilities of the cells of its cliques.
    """
    weight, pattern, offset = plan.weights[case], plan.patterns[case], plan.first_offset[case]
    first_family = plan.families[pattern]
    for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
        begin_cell = first + plan.cell_at[c]
        end = begin_cell + plan.free[c] * plan.separators[c]
        for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
            table, map_begin, n_own = (
                plan.offsets[offset + f - first_family],
                plan.own[f],
                plan.n_own[f],
            )
            row, shares = counts[table:], marginals[begin_cell:end]
            if n_own < end - begin_cell:
                shares = factors
                add_up(
                    marginals, begin_cell, end, factors, n_own, plan.run[f], plan.maps, plan.pick[f]
                )
            if map_begin < 0:
                for j in range(n_own):
                    row[j] += weight * shares[j]
            else:
                cells = plan.maps[map_begin : map_begin + n_own]
                for j in range(n_own):
                    row[np.uint32(cells[j])] += weight * shares[j]
    for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
        counts[plan.offsets[offset + f - first_family]] += weight


@lean
def expect(
    first: int, last: int, plan, tables, logs, w, largest, sums, factors, counts: np.ndarray
):
    """Add the expected counts of cases first..last to counts (table cell,); return the sum of weight times log Z."""
    result = 0.0
    for case in range(first, last):
        result += plan.weights[case] * collect_products(
            plan, case, tables, logs, w, largest, sums, factors
        )
        distribute(plan, case, w, largest, sums)
        add_families(plan, case, w, 0, factors, counts)
    return result


@lean
def marginals(
    first: int, last: int, plan, tables, logs, w, largest, sums, factors, first_own, position
) -> None:
    """Write the clique marginals of cases first..last to position (clique cell,), from first_own[case] on for each case."""
    for case in range(first, last):
        collect_products(plan, case, tables, logs, w, largest, sums, factors)
        distribute(plan, case, w, largest, sums)
        for i in range(first_own[case + 1] - first_own[case]):
            position[first_own[case] + i] = w[i]


@lean
def add_marginals(
    first: int, last: int, plan, first_own, marginals, factors, counts: np.ndarray
) -> None:
    """Add the expected counts of cases first..last to counts (table cell,), given their clique marginals."""
    for case in range(first, last):
        add_families(plan, case, marginals, first_own[case], factors, counts)


@lean
def log_evidence(
    first: int, last: int, plan, tables, logs, w, largest, sums, factors, result
) -> None:
    """Write log Z of each of the cases first..last, given tables, to result (case,)."""
    for case in range(first, last):
        result[case] = collect_products(plan, case, tables, logs, w, largest, sums, factors)


@inlined
def draw_cells(plan, case, w, sums, key: np.uint64, index, cells):
    """Draw one cell of each clique of a case, from root to leaves, into cells (clique,); return the next uniform's index.

    w, sums : as the upward pass left them. A clique with several states given its separator uses the uniform of one index.
    """
    pattern = plan.patterns[case]
    first_clique = plan.cliques[pattern]
    for c in range(first_clique, plan.cliques[pattern + 1]):
        t, n_free, parent = 0, plan.free[c], plan.parents[c]
        if parent >= 0:
            t = plan.maps[plan.up[c] + cells[parent - first_clique]]
        free_cell, begin_cell = 0, plan.cell_at[c] + t * n_free
        if n_free > 1:
            target, index = uniform(key, index) * sums[plan.separator_at[c] + t], index + 1
            total = w[begin_cell]
            while target >= total and free_cell < n_free - 1:
                free_cell += 1
                total += w[begin_cell + free_cell]
        cells[c - first_clique] = t * n_free + free_cell
    return index
