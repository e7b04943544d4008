"""What every engine of the registry promises, on every toy corpus and with every choice of its options.

A new engine is tested here by its line in the registry alone; the toy engine stands for it.
"""

import itertools
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from pairwise import every_pair_of_choices, fewest_rows
from stepping import copied, steps
from toys import (
    CORPORA,
    LDA_ENGINES,
    corpus_of,
    data_for,
    dated,
    each_level,
    every_pair,
    has_topics,
    placed,
    sequenced,
)
from toys import simulated as words_alone

from workbench.corpus import ShardedCorpus
from workbench.corpus.shards import shard_writer
from workbench.engines import ENGINES, get_engine
from workbench.engines.bayes_nets import cases
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.options import make_options, options_of, split_options
from workbench.kernels import threads as slices
from workbench.models import LDA, VARIABLES
from workbench.models.networks.network import Network
from workbench.models.networks.shipped import generic_lda
from workbench.models.options import OptionError
from workbench.records import Records
from workbench.runs.parts.laying_out import InMemoryData, ShardedData

ROUNDING = 1e-9  # of counts, relative to the tokens: sums of responsibilities (spec A.13, 1)
SINGLE_ROUNDING = 1e-7  # the same where responsibilities are rounded to 24 bits
NAMES = [*ENGINES, "toy"]
PRIORED = (LDA, Network)  # whose priors are numbers that are given
OF_SEQUENCES = ("sbm-lds", "lnm-lds", "raw-lds")
WITHOUT_DRAWS = ("raw-gp", "static")  # engines that have no use for a seed


def simulated(*sizes):
    """Documents with years and inputs, which some models need."""
    return known(words_alone(*sizes))


def known(corpus):
    """The corpus with all that some model needs to know of a document."""
    return sequenced(placed(dated(corpus)))


@pytest.fixture(autouse=True)
def toy_registered(monkeypatch):
    monkeypatch.setitem(ENGINES, "toy", "engines.toy_engine")


@pytest.fixture
def engine(name):
    """The engine of the name with which a test is run."""
    return get_engine(name)


@pytest.fixture
def corpus(engine):
    """A small corpus that the engine takes."""
    return data_for(engine, simulated())


def every_choice(engine, data, n_topics=(3,), priors=(0.1,)):
    """(model, options): few, in which every two choices, of options, topics and priors, that may stand together do so."""
    priors = priors if engine.model in PRIORED else (None,)
    chosen = [
        row | {"n_topics": topics, "prior": prior}
        for row, topics, prior in itertools.product(every_pair_of_choices(engine), n_topics, priors)
    ]
    for row in fewest_rows(chosen):
        model = model_of(engine, row.pop("n_topics"), row.pop("prior"))
        beliefs, options = split_options(engine, row)
        model = replace(model, **beliefs)
        yield model.for_data(data) if engine.model.data is Records else model, options


def model_of(engine, n_topics, prior=0.1):
    """The model of an engine, of networks LDA written as one."""
    if engine.model is Network:
        return engine.suits(Network(**generic_lda(n_topics, prior, prior)))
    if "n_topics" not in engine.model.takes:
        return engine.model()
    return LDA(n_topics, prior, prior) if engine.model is LDA else engine.model(n_topics)


def states_of(engine, corpus, model, options, n_steps, seed=0, n_threads=1):
    """(state, info) after each step, as copies, since a step may reuse its arrays."""
    for state, info in steps(engine, corpus, model, options, n_steps, seed, n_threads=n_threads):
        info.pop("event", None)
        yield copied(state), info


def same_bits(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def rounding_of(options):
    return SINGLE_ROUNDING if getattr(options, "precision", "double") == "single" else ROUNDING


def laid_out(engine, corpus, model, options):
    """The data of a run as the loop works on them."""
    parts = engine, model, options
    spec = SimpleNamespace(
        seed=0, n_threads=1, start=None, warm_start=None, parts=lambda data=None: parts
    )
    spec.at = lambda iteration: spec
    return (InMemoryData if corpus.n_parts == 1 else ShardedData)(spec, corpus, None)


def assert_counts_add_up(engine, corpus, model, options, counts, watched, begun=True):
    assert set(counts) == {
        *(each.name for each in model.recorded(options) if "snapshot" in each.dims),
        *engine.keeps,
    }
    if not has_topics(engine.name):
        return
    n_k = watched["n_k"]
    tolerance = rounding_of(options) * corpus.n_tokens
    word_tokens = np.bincount(corpus.words, corpus.counts, corpus.n_words)
    # an HDP may have found more, or lost some
    n_topics = model.n_topics if engine.model is LDA else len(n_k)

    assert counts["n_dk"].shape == (corpus.n_documents, n_topics)
    assert counts["n_kw"].shape == (n_topics, corpus.n_words)
    assert n_k.shape == (n_topics,)
    np.testing.assert_allclose(
        counts["n_dk"].sum(axis=1), corpus.document_tokens, rtol=0, atol=tolerance
    )
    if engine.whole_counts:
        np.testing.assert_allclose(counts["n_kw"].sum(axis=0), word_tokens, rtol=0, atol=tolerance)
    np.testing.assert_allclose(counts["n_kw"].sum(axis=1), n_k, rtol=0, atol=tolerance)
    if begun and engine.whole_counts:
        np.testing.assert_allclose(counts["n_dk"].sum(axis=0), n_k, rtol=0, atol=tolerance)
    assert counts["n_dk"].min() >= 0
    assert counts["n_kw"].min() >= 0


@pytest.mark.parametrize("corpus", [*map(known, CORPORA.values())], ids=CORPORA)
@pytest.mark.parametrize("name", NAMES)
def test_counts_add_up_and_numbers_are_finite_after_every_step(engine, name, corpus):
    corpus = data_for(engine, corpus)
    of_records = engine.model.data is Records
    asked = each_level(corpus) if of_records else [every_pair(corpus)]
    for model, options in every_choice(
        engine, corpus, n_topics=(3, 1, 17), priors=(0.1, 1e-8, 1e-4, 3.0)
    ):
        for state, info in states_of(engine, corpus, model, options, 4):
            counts = engine.counts(corpus, model, options, state)
            watched = engine.watch(corpus, model, options, state)
            assert_counts_add_up(engine, corpus, model, options, counts, watched)
            scalars = info | watched
            if not engine.samples(corpus, options):  # then there is no share of what was sampled
                scalars = {
                    name: value
                    for name, value in scalars.items()
                    if name not in ("moved", "scan", "accepted")
                }
            assert all(np.all(np.isfinite(value)) for value in scalars.values()), (options, scalars)
            tables = [engine.predict(corpus, model, options, state, each) for each in asked]
            assert min(map(np.min, tables)) > 0
            if of_records:
                np.testing.assert_allclose(sum(tables), 1.0, rtol=ROUNDING)
                continue
            (table,) = tables
            rows = table.reshape(corpus.n_documents, corpus.n_words).sum(axis=1)
            # behind the last tokens a word is given those before it in its document
            if engine.name in OF_SEQUENCES:
                rows = rows[: np.flatnonzero(corpus.document_tokens)[-1]]
            if engine.name == "hmm":  # every word is given all those before it
                rows = rows[:0]
            np.testing.assert_allclose(
                rows,
                1.0,
                rtol=rounding_of(options) * corpus.n_tokens,
                err_msg=f"probabilities of a document do not sum to one; where {name} predicts a word from those "
                "before it, add it to OF_SEQUENCES in tests/engines/test_protocol.py",
            )


@pytest.mark.parametrize("name", NAMES)
def test_a_start_adds_up(corpus, engine, name):
    """Documents and words each by themselves: `vb` begins with even documents, whatever its topics (spec A.2)."""
    for model, options in every_choice(engine, corpus):
        state = engine.init(corpus, model, options, StepContext(0, 0))
        counts = engine.counts(corpus, model, options, state)
        watched = engine.watch(corpus, model, options, state)
        assert_counts_add_up(engine, corpus, model, options, counts, watched, begun=name != "vb")


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("name", [name for name in ENGINES if get_engine(name).in_parts])
def test_counts_add_up_over_so_many_parts(engine, n_parts, monkeypatch, tmp_path):
    corpus = parted = data_for(engine, simulated())
    if n_parts > 1:
        monkeypatch.setattr(shard_writer, "SHARD_PAIRS", corpus.n_pairs // n_parts + 1)
        parted = ShardedCorpus.write(corpus, tmp_path / "shards")
    assert parted.n_parts == n_parts
    for model, options in every_choice(engine, corpus):
        try:
            engine.check_options(options, parted)
        except OptionError:
            continue
        data = laid_out(engine, parted, model, options)
        state, _ = data.init(StepContext(0, 0))
        for step in range(1, 4):
            state, info = data.step(state, StepContext(0, step))
            assert info["updates"] > 0
            counts = {each: np.asarray(rows) for each, rows in data.counts(state).items()}
            assert_counts_add_up(engine, corpus, model, options, counts, data.watch(state))
            assert np.isfinite(data.train_perplexity(state, StepContext(0, step)))


@pytest.mark.parametrize("name", LDA_ENGINES)
def test_a_warm_start_takes_the_counts_of_another_run(name):
    """From counts in which each topic has words of its own, the start has the very same topics."""
    corpus, model = (
        corpus_of([(0, 0, 3), (0, 1, 2), (1, 2, 4), (1, 3, 1), (2, 0, 1), (2, 3, 2)]),
        LDA(2, 1e-8, 1e-8),
    )
    n_kw, n_dk = np.array([[4.0, 2, 0, 0], [0, 0, 4, 3]]), np.array([[5.0, 0], [0, 5], [1, 2]])
    engine = get_engine(name)
    for documents in (n_dk, None):
        for _, options in every_choice(engine, corpus):
            state = engine.init(
                corpus, model, options, StepContext(0, 0), WarmStart(n_kw, documents)
            )
            found = engine.counts(corpus, model, options, state)
            # what priors of 1e-8 leave to the other topic
            np.testing.assert_allclose(found["n_kw"], n_kw, atol=1e-6)
            np.testing.assert_allclose(found["n_dk"], n_dk, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in ENGINES if get_engine(name).model.warm_starts])
def test_a_warm_start_is_as_good_as_where_the_other_run_was(name):
    """One iteration from the counts of 40 predicts better than one from a random start."""
    engine, corpus = get_engine(name), simulated(40, 30, 60)
    model = model_of(engine, 4)
    options = make_options(
        engine, {"start_sweeps": 0} if "start_sweeps" in options_of(engine) else {}
    )
    *_, (state, _) = states_of(engine, corpus, model, options, 40)
    counts = engine.counts(corpus, model, options, state)
    log_likelihoods = []
    for start in (None, WarmStart(counts["n_kw"], counts["n_dk"]), WarmStart(counts["n_kw"], None)):
        begun = engine.init(corpus, model, options, StepContext(1, 0), start)
        begun, _ = engine.step(corpus, model, options, begun, StepContext(1, 1))
        log_likelihoods.append(
            corpus.counts @ np.log(engine.predict(corpus, model, options, begun, corpus))
        )
    # nats; a twentieth of one per token
    assert min(log_likelihoods[1:]) > log_likelihoods[0] + 0.05 * corpus.n_tokens


@pytest.mark.parametrize("name", NAMES)
def test_every_number_watched_is_delivered_and_has_a_name(corpus, engine):
    assert set(engine.watches) <= set(VARIABLES)
    for model, options in every_choice(engine, corpus):
        state, info = next(states_of(engine, corpus, model, options, 1))
        assert isinstance(state, engine.state)
        assert isinstance(engine.samples(corpus, options), bool)
        before = copied(state)
        delivered = info | engine.watch(corpus, model, options, state)
        engine.counts(corpus, model, options, state)
        assert same_bits(copied(state), before), "watch or counts changed the state"
        recorded = [each.name for each in model.recorded(options) if each.dims[0] == "iteration"]
        assert set(delivered) == {*engine.watches, "updates", *recorded}
        assert delivered["updates"] > 0
        assert all(np.ndim(delivered[watch]) == 0 for watch in engine.watches)


@pytest.mark.parametrize("name", NAMES)
def test_equal_seeds_give_equal_bits_and_others_differ(corpus, engine, name):
    for model, options in every_choice(engine, corpus):
        first, again, other = (
            list(states_of(engine, corpus, model, options, 3, seed)) for seed in (1, 1, 2)
        )
        for (a, _), (b, _), (c, _) in zip(first, again, other, strict=True):
            assert same_bits(a, b)
            assert same_bits(a, c) == (name in WITHOUT_DRAWS), (
                f"two seeds gave {'the same' if same_bits(a, c) else 'other'} bits; WITHOUT_DRAWS in "
                f"tests/engines/test_protocol.py lists the engines that draw nothing, is {name} one of them?"
            )


@pytest.mark.parametrize("name", NAMES)
def test_threads_and_slices_change_no_bit(engine, monkeypatch):
    corpus = data_for(engine, simulated(60, 50, 40))
    for module in (slices, cases):
        monkeypatch.setattr(module, "SLICE_WORK", 1000)
    for model, options in every_choice(engine, corpus, n_topics=(5,)):
        assert corpus.n_items > 1000  # several slices
        one, two, five = (
            [state for state, _ in states_of(engine, corpus, model, options, 3, n_threads=threads)]
            for threads in (1, 2, 5)
        )
        assert all(
            same_bits(a, b) and same_bits(a, c) for a, b, c in zip(one, two, five, strict=True)
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_copied_state_goes_on_with_the_same_bits(corpus, engine):
    """A checkpoint is a state: arrays in and out of a file lose their alignment, not their bits."""
    for model, options in every_choice(engine, corpus, n_topics=(17,)):
        uninterrupted = list(states_of(engine, corpus, model, options, 4))
        state = uninterrupted[1][0]
        for step in (3, 4):
            state, info = engine.step(corpus, model, options, copied(state), StepContext(0, step))
            info.pop("event", None)
            assert info == uninterrupted[step - 1][1]
            assert same_bits(state, uninterrupted[step - 1][0])


@pytest.mark.parametrize("name", NAMES)
def test_a_pulse_that_raises_ends_a_step(name):
    engine = get_engine(name)
    corpus = data_for(engine, simulated())
    for model, options in every_choice(engine, corpus):
        state = engine.init(corpus, model, options, StepContext(0, 0))
        with pytest.raises(InterruptedError):
            engine.step(
                corpus,
                model,
                options,
                state,
                StepContext(0, 1, 1, Mock(side_effect=InterruptedError)),
            )


def test_the_toy_engine_is_one_file_and_one_line():
    assert get_engine("toy").name == "toy"
    with pytest.raises(OptionError, match="did you mean 'toy'"):
        get_engine("toyy")
