"""One pass of a hybrid over all pairs in canonical order: each is sampled or updated, by its own rule.

Welling, Teh & Kappen (2008), sec. 4: the tokens of pairs that count at most r are drawn as in `cgs`, the other pairs are
updated as in `svb` or `cvb`, and every pair sees the counts that the pairs before it left.
"""

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.engines.lda import cvb
from workbench.engines.lda.split import Split
from workbench.engines.parts import Largest
from workbench.kernels.jit import kernel
from workbench.kernels.lda import collapsed_vb, standard_vb
from workbench.kernels.lda.gibbs import ENDS, draw_pair, inverse_sizes
from workbench.kernels.simd.vectors import pad_topics
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import GIBBS


def interleaved_pass(
    corpus: Corpus, split: Split, mean, chain: int, drawn, context: StepContext
) -> tuple[int, dict]:
    """Visit all pairs once in canonical order, each by its own rule; return the number of moved tokens and the diagnostics.

    mean : state of `svb` or `cvb`, for the variational pairs; chain : state of `cgs`, one chain; drawn : its counts as
    (chain, …) arrays.
    """
    collapsed = isinstance(mean, cvb.State)
    moments = mean.moments if collapsed else (*mean[:3], None, None, None)
    alpha, n_topics, key = pad_topics(mean.alpha), len(mean.alpha), context.key(GIBBS)
    workspace = collapsed_vb.make_workspace(alpha, n_topics, len(alpha))

    def work(first: int, last: int):
        return visit_in_order(
            first,
            last,
            corpus.indptr,
            corpus.words,
            corpus.counts,
            corpus.tokens_before,
            split.sampled,
            *chain[:4],
            split.rows,
            mean.gamma,
            *moments,
            *drawn,
            alpha,
            mean.beta,
            n_topics,
            key,
            collapsed,
            workspace,
        )

    results = each_slice(work, slice_bounds(corpus.indptr, len(mean.mean_k)), 1, context.interrupt)
    info = {"updates": len(mean.gamma)} | (
        {"change": Largest(max(change for _, change in results))} if collapsed else {}
    )
    return sum(n_moved for n_moved, _ in results), info


@kernel
def visit_in_order(
    first: int,
    last: int,
    indptr,
    words,
    counts,
    tokens_before,
    sampled,
    topics,
    n_dk,
    n_wk,
    n_k,
    variational_before,
    kept,
    mean_dk,
    mean_wk,
    mean_k,
    var_dk,
    var_wk,
    var_k,
    sampled_dk,
    sampled_wk,
    sampled_k,
    alpha,
    beta,
    n_topics: int,
    key,
    collapsed,
    workspace,
):
    """Visit the pairs of documents first..last in canonical order: draw sampled pairs, update the others.

    Returns how many tokens moved and the largest change of gamma (`collapsed` only).
    """
    words_beta, betas = len(mean_wk) * beta, np.full(len(mean_wk), beta)
    inverse = inverse_sizes(n_k, mean_k, words_beta, 0)
    cumulative, ends, gamma = np.empty(len(mean_k)), np.zeros(ENDS), np.empty(len(mean_k))
    n_moved, largest = 0, 0.0
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            w = words[pair]
            if sampled[pair]:
                n_moved += draw_pair(
                    tokens_before[pair],
                    counts[pair],
                    key,
                    topics,
                    n_dk[d],
                    n_wk[w],
                    n_k,
                    mean_dk[d],
                    mean_wk[w],
                    mean_k,
                    alpha,
                    beta,
                    words_beta,
                    inverse,
                    cumulative,
                    ends,
                )
                continue
            if collapsed:
                changed = collapsed_vb.update_pair(
                    d,
                    w,
                    counts[pair],
                    mean_dk,
                    mean_wk,
                    mean_k,
                    var_dk,
                    var_wk,
                    var_k,
                    sampled_dk,
                    sampled_wk,
                    sampled_k,
                    alpha,
                    betas,
                    words_beta,
                    n_topics,
                    kept,
                    variational_before[pair],
                    workspace,
                )
                largest = max(largest, changed)
            else:
                standard_vb.update_pair(
                    d,
                    w,
                    counts[pair],
                    mean_dk,
                    mean_wk,
                    mean_k,
                    sampled_dk,
                    sampled_wk,
                    sampled_k,
                    alpha,
                    beta,
                    n_topics,
                    kept,
                    variational_before[pair],
                    gamma,
                )
            inverse = inverse_sizes(n_k, mean_k, words_beta, 0)
    return n_moved, largest
