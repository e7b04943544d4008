"""What every engine of the registry promises, on every toy corpus and with every choice of its options.

A new engine is tested here by its line in the registry alone; the toy engine stands for it.
"""

import itertools
from dataclasses import fields

import numpy as np
import pytest
from toys import CORPORA, every_pair, simulated

from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import OptionError, Turn, make_options
from workbench.kernels import slices
from workbench.models import LDA, VARIABLES

ROUNDING = 1e-9  # of counts, relative to the tokens: sums of responsibilities (spec A.13, 1)
NAMES = [*ENGINES, "toy"]


@pytest.fixture(autouse=True)
def toy_registered(monkeypatch):
    monkeypatch.setitem(ENGINES, "toy", "engines.toy_engine")


def every_choice(engine):
    """Options with every choice, and whole numbers at their default and one above, in every combination that is allowed."""
    several = []
    for f in fields(engine.options):
        values = f.metadata["choices"] or ((f.default, f.default + 1) if f.metadata["whole"] else (f.default,))
        several.append([(f.name, value) for value in values])
    for chosen in itertools.product(*several):
        try:
            yield make_options(engine, dict(chosen))
        except OptionError:  # a combination that the engine refuses
            continue


def states_of(engine, corpus, model, options, n_steps, seed=0, n_threads=1):
    """(state, info) after each step, as copies, since a step may reuse its arrays."""
    state = engine.init(corpus, model, options, Turn(seed, 0, n_threads))
    for step in range(1, n_steps + 1):
        state, info = engine.step(corpus, model, options, state, Turn(seed, step, n_threads))
        yield copied(state), info


def copied(state):
    return type(state)(*(array.copy() if isinstance(array, np.ndarray) else array for array in state))


def same_bits(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def assert_counts_add_up(engine, corpus, model, options, state):
    counts, n_k = engine.counts(corpus, model, options, state), engine.watch(corpus, model, options, state)["n_k"]
    tolerance = ROUNDING * corpus.n_tokens
    word_tokens = np.bincount(corpus.words, corpus.counts, corpus.n_words)
    assert counts["n_dk"].shape == (corpus.n_documents, model.n_topics)
    assert counts["n_kw"].shape == (model.n_topics, corpus.n_words)
    assert n_k.shape == (model.n_topics,)
    np.testing.assert_allclose(counts["n_dk"].sum(axis=1), corpus.document_tokens, rtol=0, atol=tolerance)
    np.testing.assert_allclose(counts["n_kw"].sum(axis=0), word_tokens, rtol=0, atol=tolerance)
    np.testing.assert_allclose(counts["n_kw"].sum(axis=1), n_k, rtol=0, atol=tolerance)
    np.testing.assert_allclose(counts["n_dk"].sum(axis=0), n_k, rtol=0, atol=tolerance)
    assert counts["n_dk"].min() >= 0
    assert counts["n_kw"].min() >= 0


@pytest.mark.parametrize("prior", [1e-8, 1e-4, 0.1, 3.0])
@pytest.mark.parametrize("n_topics", [1, 3, 17])
@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
@pytest.mark.parametrize("name", NAMES)
def test_counts_add_up_and_numbers_are_finite_after_every_step(name, corpus, n_topics, prior):
    engine, model = get_engine(name), LDA(n_topics, prior, prior)
    for options in every_choice(engine):
        for state, info in states_of(engine, corpus, model, options, 4):
            assert_counts_add_up(engine, corpus, model, options, state)
            scalars = info | engine.watch(corpus, model, options, state)
            assert all(np.all(np.isfinite(value)) for value in scalars.values()), (options, scalars)
            table = engine.predict(corpus, model, options, state, every_pair(corpus))
            rows = table.reshape(corpus.n_documents, corpus.n_words).sum(axis=1)
            np.testing.assert_allclose(rows, 1.0, rtol=ROUNDING * corpus.n_tokens)
            assert table.min() > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_start_adds_up(name):
    engine, corpus, model = get_engine(name), simulated(), LDA(3)
    for options in every_choice(engine):
        assert_counts_add_up(engine, corpus, model, options, engine.init(corpus, model, options, Turn(0, 0)))


@pytest.mark.parametrize("name", NAMES)
def test_every_number_watched_is_delivered_and_has_a_name(name):
    engine, corpus, model = get_engine(name), simulated(), LDA(3)
    assert set(engine.watches) <= set(VARIABLES)
    for options in every_choice(engine):
        state, info = next(states_of(engine, corpus, model, options, 1))
        assert isinstance(state, engine.state)
        assert isinstance(engine.samples(options), bool)
        delivered = info | engine.watch(corpus, model, options, state)
        assert set(delivered) == {*engine.watches, "updates", "n_k"}
        assert delivered["updates"] > 0
        assert all(np.ndim(delivered[watch]) == 0 for watch in engine.watches)


@pytest.mark.parametrize("name", NAMES)
def test_equal_seeds_give_equal_bits_and_others_differ(name):
    engine, corpus, model = get_engine(name), simulated(), LDA(3)
    for options in every_choice(engine):
        first, again, other = (list(states_of(engine, corpus, model, options, 3, seed)) for seed in (1, 1, 2))
        for (a, _), (b, _), (c, _) in zip(first, again, other, strict=True):
            assert same_bits(a, b)
            assert not same_bits(a, c)


@pytest.mark.parametrize("name", NAMES)
def test_threads_and_slices_change_no_bit(name, monkeypatch):
    engine, corpus, model = get_engine(name), simulated(60, 50, 40), LDA(5)
    for options in every_choice(engine):
        found = []
        for work, n_threads in ((2**20, 1), (1000, 1), (1000, 2), (1000, 5)):
            monkeypatch.setattr(slices, "SLICE_WORK", work)
            found.append([state for state, _ in states_of(engine, corpus, model, options, 3, n_threads=n_threads)])
        assert len(slices.slice_bounds(corpus.indptr, 16)) > 10
        _, one, two, five = found
        assert all(same_bits(a, b) and same_bits(a, c) for a, b, c in zip(one, two, five, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_copied_state_goes_on_with_the_same_bits(name):
    """A checkpoint is a state: arrays in and out of a file lose their alignment, not their bits."""
    engine, corpus, model = get_engine(name), simulated(), LDA(17)
    for options in every_choice(engine):
        uninterrupted = list(states_of(engine, corpus, model, options, 4))
        state = uninterrupted[1][0]
        for step in (3, 4):
            state, info = engine.step(corpus, model, options, copied(state), Turn(0, step))
            assert info == uninterrupted[step - 1][1]
            assert same_bits(state, uninterrupted[step - 1][0])


@pytest.mark.parametrize("name", NAMES)
def test_a_pulse_that_raises_ends_a_step(name):
    class Stop(Exception):
        pass

    def pulse():
        raise Stop

    engine, corpus, model = get_engine(name), simulated(), LDA(3)
    for options in every_choice(engine):
        state = engine.init(corpus, model, options, Turn(0, 0))
        with pytest.raises(Stop):
            engine.step(corpus, model, options, state, Turn(0, 1, 1, pulse))


def test_the_toy_engine_is_one_file_and_one_line():
    assert get_engine("toy").name == "toy"
    with pytest.raises(OptionError, match="did you mean 'toy'"):
        get_engine("toyy")
