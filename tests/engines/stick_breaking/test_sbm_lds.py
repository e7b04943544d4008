"""Linear dynamical systems of counts: its limits, and what is made of a run."""

import numpy as np
import pytest
from stepping import stepped

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking import sbm_lds
from workbench.engines.stick_breaking.sbm_lds import Options
from workbench.errors import InputError
from workbench.models.stick_breaking.linear_dynamical import LinearDynamicalSystem


def cycle(n_rows=(60, 31), held_out=10, seed=0):
    """Two sequences that go round four words, a twentieth of the symbols at random, with what is held out at their ends."""
    random, words, sequence = np.random.default_rng(seed), [], []
    for name, n in zip("ab", n_rows, strict=True):
        words += np.where(
            random.random(n) < 0.05, random.integers(0, 4, n), np.arange(n) % 4
        ).tolist()
        sequence += [(name, t) for t in range(n)]
    corpus = Corpus.from_pairs(
        range(len(words)), words, np.ones(len(words), int), sequence=sequence, name="cycle"
    )
    return wb.hold_out_ends(corpus, held_out)


@pytest.mark.parametrize("predict", ["collapsed", "conditional"])
def test_what_goes_round_is_forecast(predict):
    train, test = cycle()
    options = {"state_dim": 4, "predict": predict, "average_after": 5, "learn_sigma_c2": True}
    run = wb.fit(
        train, "sbm-lds", test=test, n_iterations=150, burn_in=75, options=options, progress=False
    )
    assert float(run["test_perplexity"][-1]) < 2.5  # of 4 where words are equally frequent
    assert (
        np.isfinite(run["states_mean"].values).all() and (run["states_deviation"].values > 0).all()
    )
    assert run["sigma_c2"].dims == ("iteration",) and (run["sigma_c2"].values > 0).all()
    assert run["loadings"].dims == ("snapshot", "stick", "state_dim") and run["offset"].shape == (
        3,
    )


def state_after(train, n_steps=2, **chosen):
    engine = get_engine("sbm-lds")
    model, options = LinearDynamicalSystem(3, **chosen).for_data(train), Options()
    return engine, model, options, stepped(engine, train, model, options, n_steps)


def test_the_order_of_sequences_does_not_matter():
    train, test = cycle()
    documents = np.concatenate([np.arange(60, 91), np.arange(60)])
    engine, model, options, state = state_after(train)
    *_, other = state_after(train.of_documents(documents))
    for name in ("states", "mean_states"):
        # sums in another order
        assert getattr(other, name) == pytest.approx(getattr(state, name)[documents], rel=1e-9)
    assert other.loadings == pytest.approx(state.loadings, rel=1e-9)
    found = engine.predict(train, model, options, state, test, StepContext(0, 3))
    turned = engine.predict(
        train.of_documents(documents),
        model,
        options,
        other,
        test.of_documents(documents),
        StepContext(0, 3),
    )
    assert turned == pytest.approx(np.concatenate([found[10:], found[:10]]), rel=1e-8)


def test_forecasts_of_the_next_word_add_up_to_one():
    train, _ = cycle()
    engine, model, options, state = state_after(train)
    for d in (50, 81):  # the first that is held out of each sequence
        p = [
            engine.predict(
                train,
                model,
                options,
                state,
                Corpus.from_pairs([d], [w], [1], n_documents=91, n_words=4),
            )[0]
            for w in range(4)
        ]
        assert sum(p) == pytest.approx(1.0, rel=1e-12)


def test_a_row_of_many_words_has_one_probability_in_whatever_order_they_come():
    """The words of a row, each given those before it, multiply to the mean over particles of the probability of all."""
    train, _ = cycle()
    engine, model, options, state = state_after(train)
    row = Corpus.from_pairs([50, 50, 50], [0, 1, 3], [2, 1, 4], n_documents=91, n_words=4)
    joint = np.prod(engine.predict(train, model, options, state, row) ** row.counts)
    *_, vocabulary = state_after(train, order="vocabulary")
    assert 0 < joint < 1 and vocabulary.loadings.shape == state.loadings.shape
    one = [
        engine.predict(
            train,
            model,
            options,
            state,
            Corpus.from_pairs([50], [w], [n], n_documents=91, n_words=4),
        )[0]
        for w, n in ((0, 2), (0, 1))
    ]
    assert one[0] > one[1]  # E[p^2] > (E p)^2: a word that has come once is likelier to come again


def test_documents_without_tokens_may_stand_anywhere():
    """At the beginning, in the middle and at the end of a sequence, and in all of one."""
    sequence = [("a", t) for t in range(6)] + [("b", t) for t in range(3)]
    corpus = Corpus.from_pairs(
        [1, 2, 2, 4], [0, 1, 2, 1], [1, 3, 2, 1], n_documents=9, n_words=4, sequence=sequence
    )
    engine, model, options, state = state_after(corpus, 5)
    assert np.isfinite(state.states).all() and (state.states != 0).all()
    pairs = Corpus.from_pairs(range(9), [1] * 9, [2] * 9, n_documents=9, n_words=4)
    p = engine.predict(corpus, model, options, state, pairs, StepContext(0, 6))
    assert ((p > 0) & (p < 1)).all()


def test_one_word_has_no_sticks():
    corpus = Corpus.from_pairs(
        range(4), [0] * 4, [1, 2, 1, 1], sequence=[("a", t) for t in range(4)]
    )
    run = wb.fit(corpus, "sbm-lds", n_iterations=3, options={"state_dim": 2}, progress=False)
    assert run.sizes["stick"] == 0 and float(run["train_perplexity"][-1]) == 1


def test_without_tokens_behind_them_states_are_drawn_forward():
    """Of the rows to be forecast the mean is A times that of the row before, over draws of what comes to them."""
    train, _ = cycle()
    engine, model, options, state = state_after(train, 3)
    omega, drawn = sbm_lds.draw_omega(train, model, state, StepContext(0, 4)), []
    for i in range(4000):
        sbm_lds.draw_states(train, model, state, omega, StepContext(1, i))
        drawn.append(state.states[49:52].copy())
    drawn = np.array(drawn)
    off = drawn[:, 1:] - np.einsum("ij,ntj->nti", state.system, drawn[:, :-1])
    assert (np.abs(off.mean(axis=0)) / np.sqrt(np.diag(state.noise) / 4000)).max() < 4.5
    # 4.5 standard errors of 4000
    assert off.var(axis=0) == pytest.approx(np.tile(np.diag(state.noise), (2, 1)), rel=0.15)


@pytest.mark.parametrize(
    "changes, sentence",
    [
        (
            {"state_dim": 51},
            "at most the number of documents with tokens in the longest sequence, 50",
        ),
        ({"state_dim": 0}, "must be a whole number from 1 to 1000"),
        ({"sigma_c2": 0}, "must be a number from 1e-09"),
        ({"order": "0,1"}, "has 2 places, and there are 4 words"),
        ({"order": "largest"}, "must be size, vocabulary, random, or each place"),
        ({"order_seed": 3}, "is without effect while order"),
        ({"n_particles": 1}, "must be a whole number from 2"),
    ],
)
def test_what_it_cannot_take_is_refused(changes, sentence):
    train, _ = cycle()
    with pytest.raises(InputError, match=sentence):
        wb.fit(train, "sbm-lds", n_iterations=1, options=changes, progress=False)
