"""Is a kernel slower than it was? One sweep of each engine, and what is computed after it, under pytest-benchmark.

    python -m pytest benchmarks/test_kernels.py --benchmark-autosave              # before a change
    python -m pytest benchmarks/test_kernels.py --benchmark-compare               # after it
    python -m pytest benchmarks/test_kernels.py -k "cgs and 100"

CPU time of one thread over a corpus that is drawn, 2000 documents of about 190 tokens. Nothing here asserts a time.
"""

import itertools
import time

import numpy as np
import pytest

from workbench.corpus import hold_out_tokens, synthetic
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda.fold_in import LearntTopics, mixture_probability
from workbench.engines.options import make_options
from workbench.models import HDP, LDA, Priors
from workbench.runs.scoring import perplexity

ROUNDS, WARM_UP = 15, 3
TOPICS = (10, 100)
GIVEN = [(name, {}) for name in ENGINES] + [
    ("svb", {"schedule": "sequential"}),
    ("vb", {"restart_documents": True}),
]
pytestmark = pytest.mark.benchmark(timer=time.process_time)


@pytest.fixture(scope="module")
def halves():
    """Training and test tokens."""
    return hold_out_tokens(synthetic.zipf()[0], 0.1, 0)


class Run:
    """An engine after a few sweeps."""

    def __init__(self, name, given, n_topics, train):
        self.engine, self.train = get_engine(name), train
        self.model = LDA(n_topics) if self.engine.model is LDA else HDP(n_topics)
        self.options, self.steps = make_options(self.engine, given), itertools.count(1)
        self.state = self.engine.init(train, self.model, self.options, StepContext(0, 0))
        for _ in range(WARM_UP):
            self.sweep()

    def sweep(self):
        self.state, _ = self.engine.step(
            self.train, self.model, self.options, self.state, StepContext(0, next(self.steps))
        )


@pytest.mark.parametrize("n_topics", TOPICS)
@pytest.mark.parametrize(
    ("name", "given"),
    GIVEN,
    ids=["-".join([name, *map(str, given.values())]) for name, given in GIVEN],
)
def test_sweep(benchmark, halves, name, given, n_topics):
    run = Run(name, given, n_topics, halves[0])
    benchmark.pedantic(run.sweep, rounds=ROUNDS)
    assert np.isfinite(
        run.engine.predict(run.train, run.model, run.options, run.state, halves[1])
    ).all()


@pytest.mark.parametrize("n_topics", TOPICS)
@pytest.mark.parametrize("name", ENGINES)
def test_watch(benchmark, halves, name, n_topics):
    run = Run(name, {}, n_topics, halves[0])
    benchmark.pedantic(
        lambda: run.engine.watch(run.train, run.model, run.options, run.state), rounds=ROUNDS
    )


@pytest.mark.parametrize("n_topics", TOPICS)
@pytest.mark.parametrize("name", ["cgs", "svb", "cv-hdp"])
def test_test_perplexity(benchmark, halves, name, n_topics):
    train, test = halves
    run = Run(name, {}, n_topics, train)

    def measured():
        return perplexity(test, run.engine.predict(train, run.model, run.options, run.state, test))

    assert benchmark.pedantic(measured, rounds=ROUNDS) > 1


@pytest.mark.parametrize("n_topics", TOPICS)
@pytest.mark.parametrize("name", ["vb", "cvb0", "cgs"])
def test_fold_in(benchmark, halves, name, n_topics):
    train, unseen = halves
    run = Run(name, {}, n_topics, train)
    n_kw = np.asarray(run.engine.counts(train, run.model, run.options, run.state)["n_kw"], float)
    learnt = LearntTopics(Priors(run.model.alphas, run.model.beta), n_kw)
    theta = benchmark.pedantic(
        lambda: run.engine.fold_in(learnt, run.options, unseen, StepContext(0, 1)), rounds=3
    )
    assert theta.shape == (unseen.n_documents, n_topics)


@pytest.mark.parametrize("n_topics", TOPICS)
def test_mixture(benchmark, halves, n_topics):
    train, test = halves
    random = np.random.default_rng(0)
    theta, phi = (
        random.dirichlet(np.ones(n_topics), train.n_documents),
        random.dirichlet(np.ones(train.n_words), n_topics).T,
    )
    phi = np.ascontiguousarray(phi)
    benchmark.pedantic(lambda: mixture_probability(theta, phi, test), rounds=ROUNDS)
