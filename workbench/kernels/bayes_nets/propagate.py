"""Junction-tree propagation of the cases of a Bayesian network.

    w[c, s] = sum of the log table cells of the families at home in clique c, s a state of its nodes                 spec C.3
    collect      m[t] = log sum_{s with separator t} exp w[s],  added to w of the parent;  root: log Z
    distribute   b[s] = b[t] exp(w[s] - m[t]),  b[t] the sum of the parent's b over its cells with t

Each clique keeps e = exp(w - max), the conditional of its own nodes given its separator but for its sum, from which counts
and draws are made. Where all families of a case together cannot come near the smallest double, e is a product of
probabilities; else it is computed from logarithms, so that no number underflows that matters, however small the tables are. A
plan (`models.bayes_nets.plan.Plan`) is a tuple of integer arrays: the loops are compiled once for all networks, and allocate
nothing.

Welling, Teh & Kappen (2008), eq. 27-29; Lauritzen & Spiegelhalter (1988).
"""

import math

from workbench.kernels.jit import inlined, lean
from workbench.kernels.uniforms import uniform

DEEPEST = 600.0
"""exp of minus this is far from the smallest double: products of probabilities down to it need no logarithms."""


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
def multiply(plan, f, table, c, p, w, fresh, spare):
    """Multiplies the cells of a clique by those of a family's table; ``fresh``: sets them."""
    at, n_free, n_separator = plan.cell_at[c], plan.free[c], plan.separators[c]
    slow, fast = plan.down_strides[f, 0], plan.down_strides[f, 1]
    if fast == 1 and slow == n_free:  # the table as it lies there
        if fresh:
            for i in range(n_separator * n_free):
                w[at + i] = p[table + i]
        else:
            for i in range(n_separator * n_free):
                w[at + i] *= p[table + i]
        return
    if fresh:
        for i in range(at, at + n_separator * n_free):
            w[i] = 1.0
    if slow < 0:
        down = plan.down[f]
        for i in range(n_separator * n_free):
            w[at + i] *= p[table + plan.maps[down + i]]
    elif slow == 0 and n_separator > 1:
        for i in range(n_free):
            spare[i] = p[table + i * fast]
        for t in range(n_separator):
            first = at + t * n_free
            for i in range(n_free):
                w[first + i] *= spare[i]
    else:
        for t in range(n_separator):
            first, row = at + t * n_free, table + t * slow
            for i in range(n_free):
                w[first + i] *= p[row + i * fast]


@inlined
def collect_products(plan, case, p, w, spare, sums):
    """As `collect`, of probabilities in the place of logarithms, where no product can vanish; returns Z."""
    pattern, offset = plan.patterns[case], plan.first_offset[case]
    first_clique, last_clique = plan.cliques[pattern], plan.cliques[pattern + 1]
    first_family, z = plan.families[pattern], 1.0
    for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
        z *= p[plan.offsets[offset + f - first_family]]
    for c in range(first_clique, last_clique):
        begin = plan.clique_families[c, 0]
        if begin == plan.clique_families[c, 1]:
            for s in range(plan.cell_at[c], plan.cell_at[c] + plan.free[c] * plan.separators[c]):
                w[s] = 1.0
        for f in range(begin, plan.clique_families[c, 1]):
            multiply(plan, f, plan.offsets[offset + f - first_family], c, p, w, f == begin, spare)
    for c in range(last_clique - 1, first_clique - 1, -1):
        n_free, s, parent, first = plan.free[c], plan.cell_at[c], plan.parents[c], plan.separator_at[c]
        for t in range(first, first + plan.separators[c]):
            found = 0.0
            for i in range(s, s + n_free):
                found += w[i]
            sums[t] = found
            s += n_free
        if parent < 0:
            z *= sums[first]
        else:
            up, n_above, slow, fast = plan.up[c], plan.free[parent], plan.up_strides[c, 0], plan.up_strides[c, 1]
            for t in range(plan.separators[parent]):
                above = plan.cell_at[parent] + t * n_above
                if slow < 0:
                    for i in range(n_above):
                        w[above + i] *= sums[first + plan.maps[up + t * n_above + i]]
                elif fast == 1:
                    for i in range(n_above):
                        w[above + i] *= sums[first + t * slow + i]
                else:
                    for i in range(n_above):
                        w[above + i] *= sums[first + t * slow + i * fast]
    return z


@inlined
def distribute(plan, case, w, largest, sums):
    """Turns e into the probabilities of the cells of each clique, in place; ``largest`` is overwritten."""
    pattern = plan.patterns[case]
    for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
        first, parent, s, n_free = plan.separator_at[c], plan.parents[c], plan.cell_at[c], plan.free[c]
        if parent < 0:
            largest[first] = 1.0
        else:
            up, n_above, slow, fast = plan.up[c], plan.free[parent], plan.up_strides[c, 0], plan.up_strides[c, 1]
            for t in range(first, first + plan.separators[c]):
                largest[t] = 0.0
            for t in range(plan.separators[parent]):
                above = plan.cell_at[parent] + t * n_above
                if slow < 0:
                    for i in range(n_above):
                        largest[first + plan.maps[up + t * n_above + i]] += w[above + i]
                elif fast == 0:
                    for i in range(n_above):
                        largest[first + t * slow] += w[above + i]
                else:
                    for i in range(n_above):
                        largest[first + t * slow + i * fast] += w[above + i]
        for t in range(first, first + plan.separators[c]):
            factor = largest[t] / sums[t]
            for i in range(s, s + n_free):
                w[i] *= factor
            s += n_free


@inlined
def count(plan, f, table, c, weight, w, counts, spare):
    """Adds weight times the probabilities of the cells of a clique to those of a family's table."""
    at, n_free, n_separator = plan.cell_at[c], plan.free[c], plan.separators[c]
    slow, fast = plan.down_strides[f, 0], plan.down_strides[f, 1]
    if fast == 1 and slow == n_free:
        for i in range(n_separator * n_free):
            counts[table + i] += weight * w[at + i]
    elif slow < 0:
        down = plan.down[f]
        for i in range(n_separator * n_free):
            counts[table + plan.maps[down + i]] += weight * w[at + i]
    elif slow == 0 and n_separator > 1:  # summed over the separator first
        for i in range(n_free):
            spare[i] = 0.0
        for t in range(n_separator):
            first = at + t * n_free
            for i in range(n_free):
                spare[i] += w[first + i]
        for i in range(n_free):
            counts[table + i * fast] += weight * spare[i]
    else:
        for t in range(n_separator):
            first, row = at + t * n_free, table + t * slow
            for i in range(n_free):
                counts[row + i * fast] += weight * w[first + i]


@lean
def expect(first, last, plan, logs, p, deep, w, largest, sums, counts):
    """Adds the expected counts of the cases first..last to counts (table cell,); returns sum of weight times log Z.

    p : exp(logs); deep : minus the smallest of logs. Cases whose products could vanish are computed with logarithms.
    """
    found = 0.0
    for case in range(first, last):
        weight, pattern, offset = plan.weights[case], plan.patterns[case], plan.first_offset[case]
        first_family = plan.families[pattern]
        if deep * (plan.families[pattern + 1] - first_family) < DEEPEST:
            found += weight * math.log(collect_products(plan, case, p, w, largest, sums))
        else:
            found += weight * collect(plan, case, logs, w, largest, sums)
        distribute(plan, case, w, largest, sums)
        for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
            for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
                count(plan, f, plan.offsets[offset + f - first_family], c, weight, w, counts, largest)
        for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
            counts[plan.offsets[offset + f - first_family]] += weight
    return found


@lean
def marginals(first, last, plan, logs, p, deep, w, largest, sums, first_own, own):
    """The probabilities of the cells of all cliques of the cases first..last, into own, those of a case from first_own on."""
    for case in range(first, last):
        pattern = plan.patterns[case]
        if deep * (plan.families[pattern + 1] - plan.families[pattern]) < DEEPEST:
            collect_products(plan, case, p, w, largest, sums)
        else:
            collect(plan, case, logs, w, largest, sums)
        distribute(plan, case, w, largest, sums)
        for i in range(first_own[case + 1] - first_own[case]):
            own[first_own[case] + i] = w[i]


@lean
def add_marginals(first, last, plan, first_own, own, counts):
    """Adds the expected counts of all families of the cases first..last to counts, from what `marginals` gives."""
    for case in range(first, last):
        weight, pattern, offset = plan.weights[case], plan.patterns[case], plan.first_offset[case]
        first_family = plan.families[pattern]
        for c in range(plan.cliques[pattern], plan.cliques[pattern + 1]):
            at = first_own[case] + plan.cell_at[c]
            for f in range(plan.clique_families[c, 0], plan.clique_families[c, 1]):
                table, down = plan.offsets[offset + f - first_family], plan.down[f]
                for s in range(plan.free[c] * plan.separators[c]):
                    counts[table + plan.maps[down + s]] += weight * own[at + s]
        for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
            counts[plan.offsets[offset + f - first_family]] += weight


@lean
def log_evidence(first, last, plan, logs, p, deep, w, largest, sums, found):
    """log Z of each case first..last, into found (case,); p and deep as in `expect`."""
    for case in range(first, last):
        pattern = plan.patterns[case]
        if deep * (plan.families[pattern + 1] - plan.families[pattern]) < DEEPEST:
            found[case] = math.log(collect_products(plan, case, p, w, largest, sums))
        else:
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
