"""Hidden Markov models: what a run finds and predicts, and what it does not depend on."""

import numpy as np
import pytest
from stepping import stepped

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.errors import DataError

ENGINE = get_engine("hmm")
TRANSITIONS = np.array([[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.9]])
EMISSIONS = np.array([[0.6, 0.4, 0, 0, 0, 0], [0, 0, 0.6, 0.4, 0, 0], [0, 0, 0, 0, 0.6, 0.4]])


def symbols(n_sequences=3, length=200, seed=0) -> tuple[Corpus, np.ndarray]:
    """Sequences of symbols from three states that follow each other in a circle, and the states."""
    random, states, words = np.random.default_rng(seed), [], []
    for _ in range(n_sequences):
        state = 0
        for _ in range(length):
            state = random.choice(3, p=TRANSITIONS[state])
            states.append(state)
            words.append(random.choice(6, p=EMISSIONS[state]))
    n, names = len(words), "abcdefgh"
    sequence = [(names[t // length], t % length) for t in range(n)]
    return Corpus.from_pairs(
        range(n), words, [1] * n, n_words=6, sequence=sequence, name="symbols"
    ), np.array(states)


@pytest.fixture(scope="module")
def fitted():
    corpus, states = symbols()
    train, test = wb.hold_out_ends(corpus, 20)
    options = {"n_states": 3, "alpha0": 0.5}
    return (
        train,
        test,
        states,
        wb.fit(
            train, "hmm", test=test, n_iterations=200, burn_in=50, options=options, progress=False
        ),
    )


def test_states_that_made_the_symbols_are_found(fitted):
    train, _, states, run = fitted
    last = run.isel(snapshot=-1)
    order = [
        int(last["emissions"].values[:, [2 * s, 2 * s + 1]].sum(axis=1).argmax()) for s in range(3)
    ]
    assert sorted(order) == [0, 1, 2]
    # four deviations of a draw given 180 symbols
    assert np.abs(last["emissions"].values[order] - EMISSIONS).max() < 0.2
    # the same, for 0.1
    assert np.abs(last["transitions"].values[np.ix_(order, order)] - TRANSITIONS).max() < 0.1
    known = train.document_tokens > 0
    # symbols tell the state
    assert (last["state_probability"].values[:, order].argmax(axis=1) == states)[
        known
    ].mean() > 0.99
    for name, dim in (
        ("emissions", "word"),
        ("transitions", "to_state"),
        ("state_probability", "hidden_state"),
    ):
        np.testing.assert_allclose(last[name].sum(dim), 1.0, rtol=1e-12)


def test_the_end_of_a_sequence_is_predicted_from_what_came_before(fitted):
    train, test, _, run = fitted
    shares = np.bincount(train.words, train.counts) / train.n_tokens
    # of six symbols two are left
    assert float(run["test_perplexity"][-1]) < 0.6 * np.exp(-np.log(shares[test.words]).mean())


def test_the_order_of_sequences_and_of_documents_changes_nothing():
    corpus, _ = symbols(3, 30)
    turned = np.random.default_rng(1).permutation(corpus.n_documents)
    model, other = ENGINE.model(3), corpus.of_documents(turned)
    found = [stepped(ENGINE, each, model, None, 3, seed=4) for each in (corpus, other)]
    assert np.array_equal(found[0].states[turned], found[1].states)
    assert all(np.array_equal(a, b) for a, b in zip(found[0][1:], found[1][1:], strict=True))


def test_rows_without_words_may_stand_anywhere():
    corpus, _ = symbols(2, 20)
    used = np.ones(40, bool)
    used[[0, 7, 8, 19, 20, 39]] = False
    counts = np.where(used, corpus.counts, 0)
    gaps = Corpus.from_pairs(
        corpus.documents, corpus.words, counts, n_documents=40, n_words=6, sequence=corpus.sequence
    )
    run = wb.fit(gaps, "hmm", n_iterations=5, progress=False, options={"n_states": 2})
    assert (
        np.isfinite(run["state_probability"].values).all()
        and np.isfinite(run["log_joint"].values).all()
    )


def test_one_state_is_a_multinomial_and_its_log_joint_is_exact():
    corpus, _ = symbols(1, 30)
    run = wb.fit(corpus, "hmm", n_iterations=3, progress=False, options={"n_states": 1})
    phi = run["emissions"].values[-1, 0]
    # Dirichlet(1, …, 1) of six words: 5!
    wanted = np.bincount(corpus.words, minlength=6) @ np.log(phi) + np.log(120.0)
    assert float(run["log_joint"][-1]) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("engine", ["hmm", "lnm-lds", "sbm-lds"])
def test_documents_in_no_sequence_are_refused(engine):
    with pytest.raises(DataError, match="stand in no sequences; give sequence="):
        wb.fit(Corpus.from_pairs([0, 1], [0, 1], [1, 1]), engine, n_iterations=1, progress=False)
