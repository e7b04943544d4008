"""Linear dynamical systems of counts: the whole sampler by Geweke's test, its limits, and what is made of a run."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking import sbm_lds
from workbench.engines.stick_breaking.rows import Counts, Sequences
from workbench.engines.stick_breaking.sbm_lds import Options, Rows, State
from workbench.errors import InputError
from workbench.kernels.stick_breaking.linear_dynamical import stick_starts
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.models.stick_breaking.linear_dynamical import LinearDynamicalSystem, SystemPrior

LENGTHS, N = (4, 2), np.array([1, 0, 5, 3, 3, 1])  # two sequences; tokens of their rows
N_ROWS, N_WORDS, D = sum(LENGTHS), 3, 2
INDPTR = np.array([0, 4, 6])
SEQUENCES = Sequences(np.arange(N_ROWS), INDPTR, INDPTR[1:], np.array([3, 4], np.uint64))
OFFSET = np.array([0.3, -0.2])
AFTER = PAIRS = np.array([1, 2, 3, 5])  # rows that come after another one


@dataclass(frozen=True)
class WithMoments(LinearDynamicalSystem):
    """The model with priors of which four moments exist, as means of batches need them."""

    @property
    def system_prior(self):
        return SystemPrior(
            0.3 * np.eye(D), 3.0 * np.eye(D), 9.0, np.array([[2.0, 0.4], [0.4, 3.0]])
        )


MODEL = WithMoments(D, 1.0, True, 6.0, 4.0)


def from_the_prior(n, random):
    """n draws of everything: C and its variance, A, B, states, words."""
    prior = MODEL.system_prior
    variance = stats.invgamma(6.0, scale=4.0).rvs(n, random_state=random)
    C = random.normal(size=(n, N_WORDS - 1, D)) * np.sqrt(variance)[:, None, None]
    B = stats.invwishart(prior.nu, prior.scale).rvs(n, random_state=random).reshape(n, D, D)
    root = np.linalg.cholesky(B)
    A = prior.mean + root @ random.normal(size=(n, D, D)) @ np.linalg.inv(
        np.linalg.cholesky(prior.precision)
    )
    z = random.normal(size=(n, N_ROWS, D))
    for r in AFTER:
        z[:, r] = np.einsum("nij,nj->ni", A, z[:, r - 1]) + np.einsum("nij,nj->ni", root, z[:, r])
    return C, variance, A, B, z, words_of(C, z, random)


def words_of(C, z, random):
    """Counts (draw, row, word) given C and the states."""
    p = probabilities(np.einsum("nki,nri->nrk", C, z) + OFFSET)
    return random.multinomial(N, p)


def noted(C, variance, A, B, z, x):
    """Bounded functions of all parts, and products of parts: (draw, function)."""
    t, c, shares = np.tanh(z), np.tanh(C), x / np.maximum(N, 1)[:, None]
    logs = np.tanh(np.log(np.stack([variance, B[:, 0, 0], B[:, 1, 1]], axis=1)))
    psi = np.tanh(np.einsum("nki,nri->nrk", C, z))
    return np.column_stack(
        [
            np.tanh(A).reshape(len(A), -1),
            logs,
            B[:, 0, 1] / np.sqrt(B[:, 0, 0] * B[:, 1, 1]),
            c.reshape(len(C), -1),
            c[:, 0] ** 2,
            t[:, [0, 2, 4, 5], 0],
            t[:, 3, 1] ** 2,
            t[:, 5, 0] ** 2,
            t[:, 0, 0] * t[:, 1, 0],
            t[:, 3, 0] * t[:, 4, 0],
            t[:, 4, 1] * t[:, 5, 1],
            t[:, 1, 0] * t[:, 2, 0] * np.tanh(A[:, 0, 0]),
            shares[:, [0, 2, 3, 4], 0],
            shares[:, [2, 5], 1],
            shares[:, 2, 0] * psi[:, 2, 0],
            shares[:, 3, 1] * psi[:, 3, 1],
            shares[:, 2, 0] * shares[:, 3, 0],
            shares[:, 4, 0] * psi[:, 5, 0],
            c[:, 0, 0] ** 2 * logs[:, 0],
        ]
    )


def rows_of_counts(x):
    """The rows of a training corpus of these counts (row, word)."""
    rows, places = np.nonzero(x)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=N_ROWS))])
    counts = Counts(indptr, places, x[rows, places].astype(np.int64), np.arange(len(rows)))
    return Rows(
        SEQUENCES,
        np.arange(N_WORDS),
        counts,
        stick_starts(indptr, places, N_WORDS - 1),
        OFFSET,
        PAIRS,
    )


def largest_z(n, monkeypatch):
    """Largest difference between draws of the prior and a chain of n steps, in standard errors."""
    random = np.random.default_rng(1)
    independent = noted(*from_the_prior(200_000, random))
    C, variance, A, B, z, x = (part[0] for part in from_the_prior(1, random))
    state = State(
        z,
        C,
        A,
        B,
        np.linalg.inv(B),
        np.zeros((2, D, D)),
        np.zeros((2, D)),
        0 * z,
        0 * z,
        variance,
        0,
    )
    kept = []
    for i in range(n):
        x = words_of(state.loadings[None], state.states[None], random)[0]
        rows = rows_of_counts(x)
        monkeypatch.setattr(sbm_lds, "rows_of", lambda corpus, model, rows=rows: rows)
        state, _ = sbm_lds.step(SimpleNamespace(), MODEL, Options(), state, StepContext(0, i))
        kept.append(
            [
                np.copy(part)
                for part in (
                    state.loadings,
                    state.sigma_c2,
                    state.system,
                    state.noise,
                    state.states,
                    x,
                )
            ]
        )
    chain = noted(*map(np.stack, zip(*kept, strict=True)))
    batches = chain.reshape(50, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 50 + independent.var(axis=0) / len(independent))
    return np.abs((chain.mean(axis=0) - independent.mean(axis=0)) / error).max()


@pytest.mark.slow  # 20,000 sweeps
def test_the_sampler_leaves_the_joint_distribution_as_it_is(monkeypatch):
    """Geweke (2004): parameters and data drawn from the prior, and in turns by the sampler, have the same expectations."""
    assert largest_z(20_000, monkeypatch) < 4


@pytest.mark.slow  # 20,000 sweeps each
@pytest.mark.parametrize(
    "mistake", ["a step from one sequence to the next", "a standard deviation for a variance"]
)
def test_mistakes_are_seen(mistake, monkeypatch):
    if mistake == "a step from one sequence to the next":
        monkeypatch.setattr(f"{__name__}.PAIRS", np.array([1, 2, 3, 4, 5]))
    else:

        def wrong(rows, state, *rest):
            sbm_lds_draw(rows, state._replace(sigma_c2=state.sigma_c2**0.5), *rest)

        sbm_lds_draw = sbm_lds.draw_rows_of_loadings
        monkeypatch.setattr(sbm_lds, "draw_rows_of_loadings", wrong)
    assert largest_z(20_000, monkeypatch) > 5


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
    state = engine.init(train, model, options, StepContext(0, 0))
    for i in range(1, n_steps + 1):
        state, _ = engine.step(train, model, options, state, StepContext(0, i))
    return engine, model, options, state


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


def test_documents_need_a_sequence():
    with pytest.raises(InputError, match="stand in no sequences; give sequence"):
        wb.fit(Corpus.from_pairs([0, 1], [0, 1], [1, 1]), "sbm-lds", n_iterations=1, progress=False)


def test_as_many_rows_held_out_as_there_are_is_refused():
    with pytest.raises(InputError, match="no sequence of 'cycle' is longer than 60"):
        cycle(held_out=60)
