"""CPU time of learning alpha and beta beside that of the sweep it follows, interleaved, medians and shares.

    python benchmarks/hyperparameters.py [K …]

The corpus is `kos` where it is on this machine, else the bundled one. One thread. Learning happens after every sweep
here; by default it does so after every tenth where tokens or priors are sampled ("share at its default").
"""

import sys
import time

import numpy as np

from workbench.corpus import data_sets, load_corpus
from workbench.engines import get_engine
from workbench.engines.engine import Turn, make_options
from workbench.engines.hyperparameters import due
from workbench.models import LDA

BURN_IN, N_ROUNDS = 12, 15
corpus = load_corpus("kos" if data_sets()["kos"].folder() else "docstrings")


def timed(work):
    """What the work returns, and its CPU seconds."""
    began = time.process_time()
    found = work()
    return found, time.process_time() - began


print(repr(corpus))
print(f"{'K':>4} {'engine':<9} {'learns':<24} {'sweep ms':>9} {'learn ms':>9} {'share':>7} {'share at its default':>21}")
for n_topics in [int(k) for k in sys.argv[1:]] or [10, 40]:
    for name in ("svb", "cvb0", "cvb", "cgs", "svb-cgs", "vb"):
        for given in ({"learn_alpha": "maximised"}, {"learn_alpha": "sampled"}, {"learn_alpha": "maximised", "alpha_form": "symmetric"}):
            engine, model = get_engine(name), LDA(n_topics)
            way = given["learn_alpha"]
            options = make_options(engine, given | {"learn_beta": way, "learn_after": BURN_IN, "learn_every": 1})
            usual = make_options(engine, given | {"learn_beta": way})
            often = sum(due(usual, step, engine.samples(corpus, usual)) for step in range(101, 201)) / 100
            state, sweeps, learnings = engine.init(corpus, model, options, Turn(0, 0)), [], []
            for step in range(1, BURN_IN + N_ROUNDS + 2):
                (state, _), seconds = timed(lambda: engine.step(corpus, model, options, state, Turn(0, step)))
                model, more = timed(lambda: engine.learn(corpus, model, options, state, Turn(0, step)))
                if step > BURN_IN + 1:  # the first compiles
                    sweeps.append(seconds)
                    learnings.append(more)
            sweep, learning = 1e3 * np.median(sweeps), 1e3 * np.median(learnings)
            label = f"{way} {given.get('alpha_form', 'asymmetric')}"
            share = learning / sweep
            print(f"{n_topics:>4} {name:<9} {label:<24} {sweep:>9.1f} {learning:>9.2f} {share:>7.1%} {share * often:>21.1%}", flush=True)
