"""CPU time of a sweep of `g-hdp` beside tomotopy's HDP, interleaved, with the same concentrations: medians and ratios.

``python benchmarks/hdp.py [K …]``: the numbers of topics that tomotopy begins with; after some sweeps of it ours begins
with as many as it then has. The corpus is `kos` where it is on this machine, else the bundled one. One thread;
nanoseconds per token; medians over rounds of some sweeps of each, of the topics in use too. The last column is the share
of a sweep of ours that goes into tables, gamma, pi and alpha.
"""

import sys
import time
from dataclasses import replace

import numpy as np
import tomotopy

from workbench.corpus import data_sets, load_corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext, alone
from workbench.engines.hdp import g_hdp
from workbench.engines.options import make_options
from workbench.models import HDP

N_ROUNDS, SWEEPS_A_ROUND, WARM_UP = 9, 3, 5
ALPHA = GAMMA = 1.0
WORD_BETA = 0.1
corpus = load_corpus("kos" if data_sets()["kos"].folder() else "docstrings")
engine = get_engine("g-hdp")
hdp = HDP(beta_total=WORD_BETA * corpus.n_words)
options = make_options(engine, {})
print(f"{corpus!r}; tomotopy {tomotopy.__version__}, isa {tomotopy.isa}")
print(f"{'K':>4} {'tomotopy':>10} {'live':>5} {'g-hdp':>10} {'live':>5} {'ratio':>6} {'hyper':>6}")


def timed(work):
    """What comes out, and CPU seconds."""
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def fixed(state):
    """The same with the concentrations that tomotopy has; ours were drawn for the time that it takes."""
    return state._replace(alpha_total=ALPHA, top_concentration=GAMMA)


for n_topics in [int(k) for k in sys.argv[1:]] or [40, 100, 160]:
    peer = tomotopy.HDPModel(initial_k=n_topics, gamma=GAMMA, alpha=ALPHA, eta=WORD_BETA, seed=1)
    for d in range(corpus.n_documents):
        pairs = slice(corpus.indptr[d], corpus.indptr[d + 1])
        peer.add_doc([str(w) for w in np.repeat(corpus.words[pairs], corpus.counts[pairs])])
    peer.train(SWEEPS_A_ROUND * WARM_UP, workers=1)
    state = fixed(
        engine.init(corpus, replace(hdp, n_topics=peer.live_k), options, StepContext(0, 0))
    )
    rows, sweep = [], 0
    for _ in range(WARM_UP + N_ROUNDS):
        _, theirs = timed(lambda peer=peer: peer.train(SWEEPS_A_ROUND, workers=1))
        drawing = learning = 0.0
        for _ in range(SWEEPS_A_ROUND):
            sweep += 1
            context = StepContext(0, sweep)
            (state, _), seconds = timed(
                lambda state=state, context=context: g_hdp.sweep(corpus, hdp, state, context)
            )
            drawing += seconds
            (state, _), seconds = timed(
                lambda state=state, context=context: alone(
                    g_hdp.draw_hyperparameters(corpus, hdp, options, state, context)
                )
            )
            state, learning = fixed(state), learning + seconds
        rows.append(
            [
                theirs,
                drawing + learning,
                peer.live_k,
                np.count_nonzero(state.n_k),
                learning / (drawing + learning),
            ]
        )
    theirs, ours, their_topics, our_topics, share = np.median(rows[WARM_UP:], axis=0)
    theirs, ours = (seconds / SWEEPS_A_ROUND / corpus.n_tokens * 1e9 for seconds in (theirs, ours))
    columns = f"{theirs:>10.1f} {their_topics:>5.0f} {ours:>10.1f} {our_topics:>5.0f}"
    print(f"{n_topics:>4} {columns} {theirs / ours:>6.2f} {share:>6.1%}", flush=True)
