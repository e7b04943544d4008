"""Predictive probabilities of a network: posterior means of rows, summed over paths (spec D.6).

    p(w | d) = sum_r P_dr phi_rw,   P_dr = mean over owners of the paths that end in row r of prod (alpha_t + n_t) / (A + n)
"""

import numpy as np

from workbench.kernels.jit import inlined, lean
from workbench.kernels.networks.field import gather_ends
from workbench.kernels.simd.lanes import LANES
from workbench.kernels.simd.reductions import total
from workbench.kernels.simd.vectors import choose, doubles, fetch, load, spread, store, take

AHEAD = 8
"""Pairs ahead whose row of the word is loaded into the cache."""


@inlined
def mean_cells(cells, counts, row, inverse, x):
    """(prior + n) / (its sum) of the cells in a row of counts, integer or real; inverse (address,) is scratch."""
    for i in range(len(cells.rows)):
        at = cells.rows[i]
        inverse[at] = 1.0 / (cells.prior[at] + counts[row, at])
    for i in range(len(cells.blocks)):
        k = cells.blocks[i]
        value = (load(cells.prior, k) + doubles(load(counts, row * counts.shape[1] + k))) * take(inverse, load(cells.row_of, k))
        store(x, k, choose(load(cells.real, k) > 0.5, value, spread(0.0)))


@lean
def mean_rest(cells, counts, inverse, x):
    """Posterior means of the cells of the corpus, counts (1, address)."""
    mean_cells(cells, counts, 0, inverse, x)


@lean
def mean_ends(first, last, owners, field, cells, n_own, inverse, x, ends):
    """P (document, row) of documents first..last; a document without owners has none. x (address,) has what is the corpus'."""
    width = ends.shape[1]
    for d in range(first, last):
        mean_cells(cells, n_own, d, inverse, x)
        gather_ends(d, owners, field, x, ends, d * width, width)
        n_owners = owners.indptr[d + 1] - owners.indptr[d]
        for k in range(0, width, LANES):
            store(ends, d * width + k, load(ends, d * width + k) / max(1.0, np.float64(n_owners)))


@lean
def mix(first, last, indptr, words, ends, phi, probability):
    """p(w | d) = sum_r P_dr phi_wr of each pair of documents first..last; both padded with zeros."""
    width, last_pair = ends.shape[1], len(words) - 1
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            soon = np.int64(words[min(pair + AHEAD, last_pair)]) * width
            sums = spread(0.0)
            for k in range(0, width, LANES):
                fetch(phi, soon + k)
                fetch(phi, soon + k + LANES // 2)
                sums += load(ends, d * width + k) * load(phi, np.int64(words[pair]) * width + k)
            probability[pair] = total(sums)
