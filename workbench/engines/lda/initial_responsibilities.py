"""Where variational engines begin: random responsibilities, or those behind the counts of another run (spec A.12)."""

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext, WarmStart
from workbench.kernels.lda.initial_topics import TOGETHER, WAYS, start_responsibilities
from workbench.kernels.uniforms import RESPONSIBILITIES
from workbench.models.lda import LDA
from workbench.models.options import option

AT_RANDOM = (None, None, None, None)


def init_option(default: str = "dirichlet"):
    """Return the option `init` of the variational engines; a warm start overrides it."""
    return option(
        default,
        "initial responsibilities: a flat Dirichlet draw, uniform with noise (1 + u), or hard (one topic)",
        choices=WAYS,
        late=True,
    )


def initialise(
    corpus: Corpus,
    model: LDA,
    options,
    sampled,
    context: StepContext,
    warm_start: WarmStart | None,
    gamma,
    mean_dk,
    mean_wk,
    mean_k,
) -> None:
    """Fill zeroed expected counts, and gamma if it has rows, with initial responsibilities of the pairs not ``sampled``.

    ``model`` is what has alphas, beta and n_topics: an LDA, or the priors of another model.
    """
    start_responsibilities(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        sampled,
        WAYS.index(options.init),
        context.key(RESPONSIBILITIES),
        *(AT_RANDOM if warm_start is None else (*warm_start.rows, warm_start.topics)),
        model.alphas,
        model.beta,
        model.n_topics,
        gamma,
        mean_dk,
        mean_wk,
        mean_k,
        np.zeros(TOGETHER * len(mean_k)),
        np.zeros(TOGETHER, np.int64),
    )
