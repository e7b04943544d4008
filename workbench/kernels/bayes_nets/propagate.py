"""Junction-tree propagation of the cases of a Bayesian network, in the log domain.

    w[c, s] = sum of the log table cells of the families at home in clique c, s a state of its nodes                 spec C.3
    collect      m[t] = log sum_{s with separator t} exp w[s],  added to w of the parent;  root: log Z
    distribute   b[s] = b[t] exp(w[s] - m[t]),  b[t] the sum of the parent's b over its cells with t

Each clique keeps e = exp(w - max), the conditional of its own nodes given its separator but for its sum, from which counts and
draws are made. So no number underflows that matters, however small the tables are. A plan (`models.bayes_nets.plan.Plan`) is a
tuple of integer arrays: the loops are compiled once for all networks, and allocate nothing.

Welling, Teh & Kappen (2008), eq. 27-29; Lauritzen & Spiegelhalter (1988).
"""

import math

from workbench.kernels.jit import inlined, lean
from workbench.kernels.uniforms import uniform


@inlined
def collect(plan, case, logs, w, largest, sums):
    """log Z of a case; leaves e in w (cell,), and of each separator state the largest w and the sum of e."""
    pattern, offset = plan.patterns[case], plan.first_offset[case]
    first_clique, last_clique = plan.cliques[pattern], plan.cliques[pattern + 1]
    first_family, log_z = plan.families[pattern], 0.0
    for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
        log_z += logs[plan.offsets[offset + f - first_family]]
    for c in range(first_clique, last_clique):
        at, n_cells = plan.cell_at[c], plan.free[c] * plan.separators[c]
        for s in range(at, at + n_cells):
            w[s] = 0.0
        for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
            table, down = plan.offsets[offset + f - first_family], plan.down[f]
            for s in range(n_cells):
                w[at + s] += logs[table + plan.maps[down + s]]
    for c in range(last_clique - 1, first_clique - 1, -1):
        n_free, s, parent = plan.free[c], plan.cell_at[c], plan.parents[c]
        for t in range(plan.separator_at[c], plan.separator_at[c] + plan.separators[c]):
            high = w[s]
            for i in range(s + 1, s + n_free):
                high = max(high, w[i])
            found = 0.0
            for i in range(s, s + n_free):
                w[i] = math.exp(w[i] - high)
                found += w[i]
            largest[t], sums[t] = high, found
            s += n_free
        if parent < 0:
            log_z += largest[plan.separator_at[c]] + math.log(sums[plan.separator_at[c]])
        else:
            first, above, up = plan.separator_at[c], plan.cell_at[parent], plan.up[c]
            for t in range(first, first + plan.separators[c]):
                largest[t] += math.log(sums[t])
            for s in range(plan.free[parent] * plan.separators[parent]):
                w[above + s] += largest[first + plan.maps[up + s]]
    return log_z


@inlined
def distribute(plan, case, w, largest, sums):
    """Turns e into the probabilities of the cells of each clique, in place; ``largest`` is overwritten."""
    pattern = plan.patterns[case]
    for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
        first, parent, s, n_free = plan.separator_at[c], plan.parents[c], plan.cell_at[c], plan.free[c]
        if parent < 0:
            largest[first] = 1.0
        else:
            above, up = plan.cell_at[parent], plan.up[c]
            for t in range(first, first + plan.separators[c]):
                largest[t] = 0.0
            for i in range(plan.free[parent] * plan.separators[parent]):
                largest[first + plan.maps[up + i]] += w[above + i]
        for t in range(first, first + plan.separators[c]):
            factor = largest[t] / sums[t]
            for i in range(s, s + n_free):
                w[i] *= factor
            s += n_free


@lean
def expect(first, last, plan, logs, w, largest, sums, counts):
    """Adds the expected counts of the cases first..last to counts (table cell,); returns sum of weight times log Z."""
    found = 0.0
    for case in range(first, last):
        weight = plan.weights[case]
        found += weight * collect(plan, case, logs, w, largest, sums)
        distribute(plan, case, w, largest, sums)
        pattern, offset = plan.patterns[case], plan.first_offset[case]
        first_family = plan.families[pattern]
        for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
            at, n_cells = plan.cell_at[c], plan.free[c] * plan.separators[c]
            for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
                table, down = plan.offsets[offset + f - first_family], plan.down[f]
                for s in range(n_cells):
                    counts[table + plan.maps[down + s]] += weight * w[at + s]
        for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
            counts[plan.offsets[offset + f - first_family]] += weight
    return found


@lean
def log_evidence(first, last, plan, logs, w, largest, sums, found):
    """log Z of each case first..last, into found (case,)."""
    for case in range(first, last):
        found[case] = collect(plan, case, logs, w, largest, sums)


@inlined
def draw_cells(plan, case, w, sums, key, index, cells):
    """Draws the cell of each clique of a collected case, after its parent's, into cells (clique of the pattern,).

    A clique with more than one state given its separator takes the uniform of the next index; returns the index after the last.
    """
    pattern = plan.patterns[case]
    first_clique = plan.cliques[pattern]
    for c in range(first_clique, plan.cliques[pattern + 1]):
        t, n_free, parent = 0, plan.free[c], plan.parents[c]
        if parent >= 0:
            t = plan.maps[plan.up[c] + cells[parent - first_clique]]
        chosen, at = 0, plan.cell_at[c] + t * n_free
        if n_free > 1:
            left, index = uniform(key, index) * sums[plan.separator_at[c] + t], index + 1
            total = w[at]
            while left >= total and chosen < n_free - 1:
                chosen += 1
                total += w[at + chosen]
        cells[c - first_clique] = t * n_free + chosen
    return index
