"""Time of a sweep of `sbm-lds` against the length of a sequence, the number of words and the numbers in a state.

``python benchmarks/linear_dynamical.py`` prints a table of milliseconds: the fastest of twenty sweeps of one thread. A document
is one word, drawn by Zipf's law. The cost is O(T D^3 + T D^2 K'), K' the mean place of a word on the stick.
"""

import time

import numpy as np

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking import sbm_lds

SIZES = (
    (3900, 820, 10),
    (975, 820, 10),
    (1950, 820, 10),
    (7800, 820, 10),
    (3900, 205, 10),
    (3900, 3280, 10),
    (3900, 820, 5),
    (3900, 820, 20),
)
"""(documents, words, numbers in a state)"""


def zipf(n_documents: int, n_words: int) -> Corpus:
    """A sequence of one word per document."""
    shares = 1.0 / np.arange(1, n_words + 1)
    words = np.random.default_rng(0).choice(n_words, n_documents, p=shares / shares.sum())
    sequence = [("zipf", t) for t in range(n_documents)]
    return Corpus.from_pairs(
        range(n_documents), words, np.ones(n_documents, int), n_words=n_words, sequence=sequence
    )


def times(corpus: Corpus, state_dim: int, n_sweeps: int = 20) -> tuple[float, float, float, float]:
    """Milliseconds of a sweep, and of omega, C and the states alone."""
    engine = get_engine("sbm-lds")
    model, options = engine.model(state_dim).for_data(corpus), engine.options()
    state = engine.init(corpus, model, options, StepContext(0, 0))
    rows, found = sbm_lds.rows_of(corpus, model), []
    for i in range(1, n_sweeps + 1):
        context, at = StepContext(0, i), [time.perf_counter()]
        state, _ = engine.step(corpus, model, options, state, context)
        at.append(time.perf_counter())
        omega = sbm_lds.draw_omega(corpus, model, state, context)
        at.append(time.perf_counter())
        sbm_lds.draw_rows_of_loadings(rows, state, omega, context)
        at.append(time.perf_counter())
        sbm_lds.draw_states(corpus, model, state, omega, context)
        found.append(np.diff([*at, time.perf_counter()]))
    return tuple(1000 * np.min(found, axis=0))


if __name__ == "__main__":
    print("      T      K   D   entries   sweep   omega       C  states")
    for n_documents, n_words, state_dim in SIZES:
        corpus = zipf(n_documents, n_words)
        entries = int(sbm_lds.rows_of(corpus, get_engine("sbm-lds").model(state_dim)).starts[-1])
        columns = "".join(f"{each:8.1f}" for each in times(corpus, state_dim))
        print(f"{n_documents:7} {n_words:6} {state_dim:3} {entries:9}{columns}")
