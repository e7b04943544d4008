"""CPU time of one sweep of our engines beside tomotopy's, interleaved, medians and ratios: ``make bench``.

The corpus is `kos` where it is on this machine, else the bundled one. One thread; nanoseconds per token.
"""

import itertools
import sys
import time

import numpy as np
import tomotopy

from workbench.corpus import data_sets, load_corpus
from workbench.engines import get_engine
from workbench.engines.engine import Turn, make_options
from workbench.models import LDA

N_ROUNDS, SWEEPS_A_ROUND = 7, 5
corpus = load_corpus("kos" if data_sets()["kos"].folder() else "docstrings")


def sweeping(engine, model, options):
    """A function that goes on with a state of its own for one round of sweeps."""
    state, steps = engine.init(corpus, model, options, Turn(0, 0)), itertools.count(1)

    def sweep():
        nonlocal state
        for _ in range(SWEEPS_A_ROUND):
            state, _ = engine.step(corpus, model, options, state, Turn(0, next(steps)))

    return sweep


contenders = [
    ("cgs", {}), ("svb", {}), ("svb", {"schedule": "sequential"}), ("vb", {}), ("cvb", {}), ("cvb0", {}),
    ("svb-cgs", {}), ("cvb-cgs", {}), ("cvb0-cgs", {}),
]
print(f"{corpus!r}; tomotopy {tomotopy.__version__}, isa {tomotopy.isa}")
print(f"{'K':>4} {'engine':<28} {'ns/token':>9} {'tomotopy CGS / it':>18}")
for n_topics in [int(k) for k in sys.argv[1:]] or [10, 40, 100]:
    peer = tomotopy.LDAModel(k=n_topics, alpha=0.1, eta=0.1, seed=1)
    peer.optim_interval = 0
    for d in range(corpus.n_documents):
        pairs = slice(corpus.indptr[d], corpus.indptr[d + 1])
        peer.add_doc([str(w) for w in np.repeat(corpus.words[pairs], corpus.counts[pairs])])
    sweeps = {"tomotopy": lambda peer=peer: peer.train(SWEEPS_A_ROUND, workers=1)}
    for name, given in contenders:
        engine, model = get_engine(name), LDA(n_topics)
        options = make_options(engine, given)
        sweeps[f"{name} {given.get('schedule', '')}".strip()] = sweeping(engine, model, options)
    seconds = {name: [] for name in sweeps}
    for round_ in range(N_ROUNDS + 1):
        for name, sweep in sweeps.items():
            began = time.process_time()
            sweep()
            if round_:  # the first compiles and leaves the random start
                seconds[name].append((time.process_time() - began) / SWEEPS_A_ROUND)
    medians = {name: float(np.median(values)) for name, values in seconds.items()}
    for name, median in medians.items():
        print(f"{n_topics:>4} {name:<28} {median / corpus.n_tokens * 1e9:>9.1f} {medians['tomotopy'] / median:>18.2f}")
