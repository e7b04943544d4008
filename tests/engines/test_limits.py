"""The hybrid is `svb` where nothing is sampled and `cgs` where everything is, bit for bit."""

import numpy as np
import pytest
from engines.starts import assert_same_bits
from toys import CORPORA, doubled

from workbench.engines import cgs, get_engine, svb
from workbench.engines.engine import NoOptions, Turn
from workbench.engines.hybrid import Options
from workbench.models import LDA

HYBRID, SVB, CGS = get_engine("svb-cgs"), get_engine("svb"), get_engine("cgs")
WAYS = [("two_phase", "parallel"), ("two_phase", "sequential"), ("interleaved", "sequential")]
MODELS = [LDA(1, 0.1, 0.1), LDA(5, 1e-4, 1e-4), LDA(17, 0.1, 0.1)]

every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.n_topics} topics, {model.alpha:g}")
every_way = pytest.mark.parametrize(("phases", "schedule"), WAYS)
every_corpus = pytest.mark.parametrize("name", CORPORA)


def chains_of(phases):
    return (1,) if phases == "interleaved" else (1, 3)


def side_by_side(corpus, model, hybrid_options, engine, options):
    """(hybrid state, its numbers, state of the pure engine, its numbers) after each of four steps."""
    one, other = HYBRID.init(corpus, model, hybrid_options, Turn(6, 0)), engine.init(corpus, model, options, Turn(6, 0))
    for step in range(1, 5):
        one, info = HYBRID.step(corpus, model, hybrid_options, one, Turn(6, step))
        other, pure = engine.step(corpus, model, options, other, Turn(6, step))
        yield (
            one, info | HYBRID.watch(corpus, model, hybrid_options, one),
            other, pure | engine.watch(corpus, model, options, other),
        )


def assert_is_svb(corpus, model, options):
    pure = svb.Options(options.schedule)
    for hybrid, numbers, state, expected in side_by_side(corpus, model, options, SVB, pure):
        assert_same_bits(hybrid.mean, state)
        assert numbers["objective"] == expected["bound"]
        assert numbers["updates"] == expected["updates"]
        assert np.isnan(numbers["moved"])  # no token is sampled, so none moves and none stays
        assert np.array_equal(numbers["n_k"], expected["n_k"])
        predicted = HYBRID.predict(corpus, model, options, hybrid, corpus)
        assert np.array_equal(predicted, SVB.predict(corpus, model, pure, state, corpus))
        assert not hybrid.n_wk.any()


def assert_is_cgs(corpus, model, options):
    for hybrid, numbers, state, expected in side_by_side(corpus, model, options, CGS, NoOptions()):
        assert_same_bits(hybrid.chain(0), state)
        assert not hybrid.mean_wk.any()
        assert numbers["updates"] == options.n_samples * expected["updates"]
        if options.n_samples == 1:
            assert numbers["objective"] == expected["log_joint"]
            assert numbers["moved"] == expected["moved"]
            predicted = HYBRID.predict(corpus, model, options, hybrid, corpus)
            assert np.array_equal(predicted, CGS.predict(corpus, model, NoOptions(), state, corpus))
        assert np.array_equal(numbers["n_k"], expected["n_k"])


@every_model
@every_way
@every_corpus
def test_nothing_sampled_is_svb(name, phases, schedule, model):
    for n_samples in chains_of(phases):
        assert_is_svb(CORPORA[name], model, Options(0, n_samples, phases, schedule))


@every_model
@every_way
@every_corpus
def test_everything_sampled_is_cgs(name, phases, schedule, model):
    for n_samples in chains_of(phases):
        assert_is_cgs(CORPORA[name], model, Options(np.inf, n_samples, phases, schedule))


@every_way
@every_corpus
def test_a_corpus_of_counts_above_r_is_svb(name, phases, schedule):
    for n_samples in chains_of(phases):
        assert_is_svb(doubled(CORPORA[name]), LDA(5, 0.1, 0.1), Options(1, n_samples, phases, schedule))


@every_way
@every_corpus
def test_a_corpus_of_counts_up_to_r_is_cgs(name, phases, schedule):
    largest = int(CORPORA[name].counts.max())
    for n_samples in chains_of(phases):
        assert_is_cgs(CORPORA[name], LDA(5, 0.1, 0.1), Options(largest, n_samples, phases, schedule))


@every_corpus
def test_chains_with_everything_sampled_are_independent_samplers(name):
    corpus, model, options = CORPORA[name], LDA(5, 0.1, 0.1), Options(np.inf, 3)
    hybrid = HYBRID.init(corpus, model, options, Turn(6, 0))
    pure = [cgs.start_chain(corpus, model, cgs.EVERY_COUNT, Turn(6, 0), s) for s in range(3)]
    for step in range(1, 4):
        hybrid, _ = HYBRID.step(corpus, model, options, hybrid, Turn(6, step))
        for s in range(3):
            cgs.sweep(corpus, model, cgs.EVERY_COUNT, pure[s], (None, None, None), Turn(6, step), s)
            assert_same_bits(hybrid.chain(s), pure[s])
    if corpus.n_tokens > 5:
        assert not np.array_equal(hybrid.topics[0], hybrid.topics[1])
