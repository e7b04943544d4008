"""A pass over the documents of a topic model with Gaussian shares: tokens in one order, what else a document has beside it.

With phi integrated out the topic of a token depends on those of all tokens before it, so that tokens are drawn one after the
other. What a document alone has depends on its own tokens, and is drawn on one thread while another draws the next tokens.
"""

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.kernels.threads import each_wave, slice_bounds
from workbench.kernels.uniforms import GIBBS


def draw_in_order(
    corpus: Corpus, model, state, context: StepContext, draw_topics, draw_own, own_work: int
) -> int:
    """Draw the topic of every token in canonical order; after each slice of documents, draw the documents' own variables.

    Parameters
    ----------
    draw_topics
        Kernel of a slice of tokens, phi integrated out, on the first five arrays of the state; returns how many topics changed.
    draw_own
        ``draw_own(first, last)`` for documents whose tokens have been drawn; in any order, on any thread.
    own_work
        How many pair-topics take as long as a topic's part of one document there.

    Returns
    -------
    int
        How many tokens moved to another topic.
    """
    slices = slice_bounds(
        corpus.indptr + own_work * np.arange(corpus.n_documents + 1), model.n_topics
    )
    tokens, key = (
        (corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before),
        context.key(GIBBS),
    )

    def visit(number, part):
        if part == 0:
            return draw_topics(*slices[number], *tokens, *state[:5], model.beta, key)
        draw_own(*slices[number])
        return 0

    return sum(
        map(
            sum, each_wave(visit, len(slices), 2, context.n_threads, context.interrupt, n_ordered=1)
        )
    )
