"""Each hybrid is its variational engine where nothing is sampled and `cgs` where everything is, bit for bit."""

import numpy as np
import pytest
from engines.lda.starts import assert_same_bits
from stepping import states, steps
from toys import CORPORA, doubled

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import cgs
from workbench.engines.lda.hybrid import Cvb0Options, CvbOptions, SvbOptions
from workbench.engines.lda.hybrid_state import chain_of, mean_part
from workbench.engines.lda.split import all_sampled
from workbench.models import LDA

CGS = get_engine("cgs")
# name of the hybrid, of its variational engine; the options of both that belong together
WAYS = [
    ("svb-cgs", "svb", {"phases": "two_phase", "schedule": "parallel"}),
    ("svb-cgs", "svb", {"phases": "two_phase", "schedule": "sequential"}),
    ("svb-cgs", "svb", {"phases": "interleaved", "schedule": "sequential"}),
    ("cvb-cgs", "cvb", {"phases": "two_phase"}),
    ("cvb-cgs", "cvb", {"phases": "two_phase", "cg_second_order": True}),
    ("cvb-cgs", "cvb", {"phases": "interleaved"}),
    ("cvb0-cgs", "cvb0", {"phases": "two_phase"}),
    ("cvb0-cgs", "cvb0", {"phases": "interleaved"}),
    ("svb-cgs", "svb", {"phases": "two_phase", "partition": 3}),
    ("cvb-cgs", "cvb", {"phases": "two_phase", "partition": 2}),
    ("cvb0-cgs", "cvb0", {"phases": "two_phase", "partition": 7}),
]
OPTIONS = {"svb-cgs": SvbOptions, "cvb-cgs": CvbOptions, "cvb0-cgs": Cvb0Options}
MODELS = [LDA(1, 0.1, 0.1), LDA(5, 1e-4, 1e-4), LDA(17, 0.1, 0.1)]

every_model = pytest.mark.parametrize(
    "model", MODELS, ids=lambda model: f"{model.n_topics} topics, {model.alpha:g}"
)
every_way = pytest.mark.parametrize(
    ("name", "pure", "given"), WAYS, ids=lambda way: way if isinstance(way, str) else str(way)
)
every_corpus = pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)


def chains_of(given):
    return (1,) if given["phases"] == "interleaved" else (1, 3)


def side_by_side(corpus, model, name, hybrid_options, engine, options):
    """(hybrid state, its numbers, its engine, state of the pure engine, its numbers) after each of four steps."""
    hybrid = get_engine(name)
    for (one, info), (other, pure) in zip(
        steps(hybrid, corpus, model, hybrid_options, 4, seed=6),
        steps(engine, corpus, model, options, 4, seed=6),
        strict=True,
    ):
        yield (
            one,
            info | hybrid.watch(corpus, model, hybrid_options, one),
            hybrid,
            other,
            pure | engine.watch(corpus, model, options, other),
        )


def assert_is_variational(corpus, model, name, pure, given, r, n_chains):
    start = {"warm_up": 2} if pure in ("svb", "cvb") else {}
    engine, options = get_engine(pure), OPTIONS[name](r=r, n_chains=n_chains, **given | start)
    shared = {field: given[field] for field in ("schedule", "partition") if field in given}
    if pure == "svb":
        shared.pop("partition", None)
    own = engine.options(**shared | start)
    for state, numbers, hybrid, expected_state, expected in side_by_side(
        corpus, model, name, options, engine, own
    ):
        assert_same_bits(mean_part(state), expected_state)
        assert numbers["objective"] == expected["bound"]
        assert numbers["updates"] == expected["updates"]
        assert numbers.get("change") == expected.get("change")
        assert np.isnan(numbers["moved"])  # no token is sampled, so none moves and none stays
        assert np.array_equal(numbers["n_k"], expected["n_k"])
        predicted = hybrid.predict(corpus, model, options, state, corpus)
        assert np.array_equal(predicted, engine.predict(corpus, model, own, expected_state, corpus))
        assert not state.n_wk.any()


def assert_is_cgs(corpus, model, name, given, r, n_chains):
    options = OPTIONS[name](r=r, n_chains=n_chains, **given)
    own = cgs.Options(given.get("partition", 1))
    for state, numbers, hybrid, expected_state, expected in side_by_side(
        corpus, model, name, options, CGS, own
    ):
        assert_same_bits(chain_of(state, 0), expected_state)
        assert not state.mean_wk.any()
        assert numbers["updates"] == n_chains * expected["updates"]
        if n_chains == 1:
            assert numbers["objective"] == expected["log_joint"]
            assert numbers["moved"] == expected["moved"] and numbers["scan"] == expected["scan"]
            predicted = hybrid.predict(corpus, model, options, state, corpus)
            assert np.array_equal(
                predicted, CGS.predict(corpus, model, own, expected_state, corpus)
            )
        assert np.array_equal(numbers["n_k"], expected["n_k"])


@every_model
@every_way
@every_corpus
def test_nothing_sampled_is_the_variational_engine(corpus, name, pure, given, model):
    for n_chains in chains_of(given):
        assert_is_variational(corpus, model, name, pure, given, 0, n_chains)


@every_model
@every_way
@every_corpus
def test_everything_sampled_is_cgs(corpus, name, pure, given, model):
    for n_chains in chains_of(given):
        assert_is_cgs(corpus, model, name, given, np.inf, n_chains)


@every_way
@every_corpus
def test_a_corpus_of_counts_above_r_is_variational(corpus, name, pure, given):
    for n_chains in chains_of(given):
        assert_is_variational(doubled(corpus), LDA(5, 0.1, 0.1), name, pure, given, 1, n_chains)


@every_way
@every_corpus
def test_a_corpus_of_counts_up_to_r_is_cgs(corpus, name, pure, given):
    for n_chains in chains_of(given):
        assert_is_cgs(corpus, LDA(5, 0.1, 0.1), name, given, int(corpus.counts.max()), n_chains)


@every_corpus
def test_chains_with_everything_sampled_are_independent_samplers(corpus):
    model, options, engine = LDA(5, 0.1, 0.1), SvbOptions(np.inf, 3), get_engine("svb-cgs")
    pure = [
        cgs.initial_chain(corpus, model, all_sampled(corpus), StepContext(6, 0), s)
        for s in range(3)
    ]
    for step, hybrid in enumerate(states(engine, corpus, model, options, 3, seed=6), 1):
        for s in range(3):
            cgs.sweep(corpus, all_sampled(corpus), pure[s], cgs.NO_MEAN, StepContext(6, step), s)
            assert_same_bits(chain_of(hybrid, s), pure[s])
    if corpus.n_tokens > 5:
        assert not np.array_equal(hybrid.topics[0], hybrid.topics[1])
