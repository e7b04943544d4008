"""CPU time of learning alpha and beta beside that of the sweep it follows, interleaved, medians and shares.

    python benchmarks/hyperparameters.py [K …]

The corpus is `kos` where it is on this machine, else the bundled one. One thread. Here something is learnt after every
sweep ("share"); by default it is after every tenth where tokens or priors are sampled ("usual share").
"""

import sys
import time
from importlib import import_module

import numpy as np

from workbench.corpus import data_sets, load_corpus
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda.hyperparameters import due, learn
from workbench.engines.options import make_options
from workbench.models import LDA

BURN_IN, N_ROUNDS = 12, 15
WAYS = [("maximised", "asymmetric"), ("maximised", "symmetric"), ("sampled", "asymmetric")]
corpus = load_corpus("kos" if data_sets()["kos"].folder() else "docstrings")


def measured(name, n_topics, way, form):
    """Median CPU milliseconds of a sweep and of what is learnt from it, and how often that is by default."""
    engine, model = get_engine(name), LDA(n_topics)
    given = {"learn_alpha": way, "learn_beta": way, "alpha_form": form}
    options, never = (
        make_options(engine, given | {"learn_after": n, "learn_every": 1}) for n in (BURN_IN, 10**9)
    )
    likelihood = import_module(ENGINES[name], "workbench.engines").likelihood
    state, seconds = engine.init(corpus, model, options, StepContext(0, 0)), []
    for step in range(1, BURN_IN + N_ROUNDS + 2):
        began = time.process_time()
        state, _ = engine.step(corpus, model, never, state, StepContext(0, step))
        stepped = time.process_time()
        state = learn(
            corpus,
            options,
            state,
            StepContext(0, step),
            engine.samples(corpus, options),
            likelihood,
        )
        if step > BURN_IN + 1:  # the first time compiles
            seconds.append((stepped - began, time.process_time() - stepped))
    usual = make_options(engine, given)
    often = np.mean([due(usual, step, engine.samples(corpus, usual)) for step in range(101, 201)])
    return *(1e3 * np.median(seconds, axis=0)), often


print(repr(corpus))
print(
    f"{'K':>4} {'engine':<8} {'learns':<21} {'sweep ms':>9} {'learn ms':>9} {'share':>7} {'usual share':>12}"
)
for n_topics in [int(k) for k in sys.argv[1:]] or [10, 40]:
    for name in ("vb", "svb", "cvb", "cvb0", "cgs", "svb-cgs"):
        for way, form in WAYS:
            sweep, learning, often = measured(name, n_topics, way, form)
            share = learning / sweep
            label = f"{n_topics:>4} {name:<8} {way + ' ' + form:<21}"
            print(
                f"{label} {sweep:>9.1f} {learning:>9.2f} {share:>7.1%} {share * often:>12.1%}",
                flush=True,
            )
