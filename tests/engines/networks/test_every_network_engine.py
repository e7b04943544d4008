"""What each engine of networks does with networks of every kind; `test_protocol.py` has LDA as a network."""

from dataclasses import replace

import network_twins as twins
import numpy as np
import pytest
from engines.networks.states import NETWORKS, learning, with_authors
from stepping import stepped as last_state
from stepping import steps
from toys import CORPORA, every_pair, simulated

from workbench.engines import get_engine
from workbench.engines.networks.compiled import alphas_of, initial_alphas
from workbench.engines.options import make_options
from workbench.kernels import threads
from workbench.models import LDA, ModelError
from workbench.models.networks.network import Network, Rows

GIVEN = {
    "network-vb": {"n_inner": 1},
    "network-cvb0": {},
    "network-gibbs": {},
    "network-hybrid": {"n_chains": 2},
}
every_engine = pytest.mark.parametrize("name", GIVEN)


def stepped(name, network, corpus, n_steps, n_threads=1):
    """(engine, options, state after so many steps)."""
    engine = get_engine(name)
    options = make_options(engine, GIVEN[name])
    state = last_state(engine, corpus, network, options, n_steps, seed=7, n_threads=n_threads)
    return engine, options, state


QUICK = ("lda", "author-topic", "pachinko", "hpam1", "hpam2")
"""Networks for which Gibbs sampling is compiled among the quick tests; it takes seconds for each."""


@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
@pytest.mark.parametrize(
    ("name", "network"),
    [
        pytest.param(name, network, marks=[pytest.mark.slow] * (compiled and network not in QUICK))
        for name in GIVEN
        for network in NETWORKS
        for compiled in [name in ("network-gibbs", "network-hybrid")]
    ],
)
def test_counts_and_predictions_add_up(name, network, corpus):
    network = NETWORKS[network]
    corpus = with_authors(corpus)
    engine, options, state = stepped(name, network, corpus, 4)
    watched = engine.watch(corpus, network, options, state)
    assert all(np.isfinite(number).all() for number in watched.values()), watched
    found = engine.counts(corpus, network, options, state)
    np.testing.assert_allclose(found["n_dk"].sum(axis=1), corpus.document_tokens, atol=1e-9)
    word_tokens = np.bincount(corpus.words, corpus.counts, corpus.n_words)
    np.testing.assert_allclose(found["n_kw"].sum(axis=0), word_tokens, atol=1e-9)
    np.testing.assert_allclose(found["n_dk"].sum(axis=0), found["n_kw"].sum(axis=1), atol=1e-9)
    predicted = engine.predict(corpus, network, options, state, every_pair(corpus))
    rows = predicted.reshape(corpus.n_documents, corpus.n_words)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-9)
    assert rows.min() > 0


@pytest.mark.parametrize("network", ["lda", "author-topic", "hpam1", "authors-by-region"])
@every_engine
def test_threads_and_slices_change_no_bit(name, network, monkeypatch):
    monkeypatch.setattr(threads, "SLICE_WORK", 64)
    corpus = with_authors(simulated(40, 30, 25))
    one, three = (stepped(name, NETWORKS[network], corpus, 4, n)[2] for n in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


SIZES = [(1, 0.3), (5, 0.3), (16, 0.1), (23, 0.3)]
"""Numbers of topics that fill the lanes of a vector, or do not, and alpha."""
START = {"init": "dirichlet"}
SINGLE = START | {"precision": "single"}
AS_LDA = [
    *(
        (name, options, of_lda, its_options, *size)
        for name, options, of_lda, its_options in (
            ("network-vb", {"n_inner": 1} | START, "svb", START),
            ("network-cvb0", START, "cvb0", START),
            ("network-cvb0", SINGLE, "cvb0", SINGLE),
            ("network-gibbs", {}, "cgs", {}),
            ("network-hybrid", START, "svb-cgs", START),
            ("network-hybrid", {"n_chains": 3} | START, "svb-cgs", {"n_chains": 3} | START),
        )
        for size in SIZES
    ),
    ("network-cvb0", START, "cvb0", START, 17, 1e-8),
    ("network-gibbs", {}, "cgs", {}, 16, 1e-8),
]


@pytest.mark.parametrize(("name", "given", "of_lda", "its_given", "n_topics", "alpha"), AS_LDA)
def test_lda_as_a_network_is_the_engine_of_lda(name, given, of_lda, its_given, n_topics, alpha):
    corpus = simulated(40, 30, 25)
    network, lda = twins.lda(n_topics, alpha, 0.07), LDA(n_topics, alpha, 0.07)
    mine, other = get_engine(name), get_engine(of_lda)
    options, its_options = make_options(mine, given), make_options(other, its_given)
    # a float32 may be rounded up or down, and rounding weighs 1e-7 of so small a prior
    close = 1e-4 if "precision" in given or alpha < 1e-6 else 1e-10
    own = list(steps(mine, corpus, network, options, 15, seed=7))
    its = list(steps(other, corpus, lda, its_options, 15, seed=7))
    for (_, info), (_, its_info) in zip(own, its, strict=True):
        for number in info.keys() & its_info.keys() - {"updates"}:
            assert info[number] == pytest.approx(its_info[number], abs=close), number
    state, its_state = own[-1][0], its[-1][0]
    watched = mine.watch(corpus, network, options, state)
    its_watched = other.watch(corpus, lda, its_options, its_state)
    assert {"bound", "log_joint", "objective"} & watched.keys() & its_watched.keys()
    for number in watched.keys() & its_watched.keys():
        np.testing.assert_allclose(watched[number], its_watched[number], rtol=close, err_msg=number)
    found = mine.counts(corpus, network, options, state)
    for each, wanted in other.counts(corpus, lda, its_options, its_state).items():
        np.testing.assert_allclose(found[each], wanted, atol=close, err_msg=each)
    pairs = every_pair(corpus)
    predicted = mine.predict(corpus, network, options, state, pairs)
    wanted = other.predict(corpus, lda, its_options, its_state, pairs)
    np.testing.assert_allclose(predicted, wanted, rtol=close)


@pytest.mark.parametrize("name", ["network-vb", "network-cvb0"])
def test_super_topics_come_apart_from_a_random_start(name):
    corpus = simulated(40, 30, 25)
    engine, options, state = stepped(name, twins.pachinko(2, 4, 0.1, 0.1, 0.1), corpus, 10)
    shares = engine.counts(corpus, twins.pachinko(2, 4, 0.1, 0.1, 0.1), options, state)["n_theta0"]
    assert np.abs(shares[:, 0] - shares[:, 1]).mean() > 1


@pytest.mark.parametrize("name", ["network-cvb0", "network-gibbs", "network-hybrid"])
def test_point_estimates_are_refused(name):
    levels = NETWORKS["lda"].levels
    points = replace(NETWORKS["lda"], levels=(levels[0], replace(levels[1], kind="point")))
    with pytest.raises(ModelError, match="level 'phi' is a point estimate"):
        get_engine(name).suits(points)


@pytest.mark.parametrize("name", [*GIVEN, "network-vb-ml"])
def test_rows_over_words_by_author_are_refused(name):
    network = NETWORKS["author-topic"]
    phi = replace(network.levels[-1], rows=(Rows(("author", "topic")),))
    with pytest.raises(
        ModelError,
        match="rows over words by author, as level 'phi' has them, cannot be predicted from",
    ):
        get_engine(name).suits(Network("words", network.variables, (*network.levels[:-1], phi)))


@pytest.mark.parametrize(
    ("name", "held", "objective"),
    [
        ("network-cvb0", "gamma", "bound"),
        ("network-gibbs", "places", "log_joint"),
        ("network-hybrid", "places", "objective"),
    ],
)
def test_priors_that_learn_raise_the_objective_and_others_stay(name, held, objective):
    plain, corpus, engine = NETWORKS["pachinko"], simulated(30, 25, 20), get_engine(name)
    network, options = (
        learning(plain),
        [make_options(engine, GIVEN[name] | {"learn_after": n, "learn_every": 5}) for n in (5, 9)],
    )
    learnt, early, still = (
        last_state(engine, corpus, *each, 5, seed=7)
        for each in ((network, options[0]), (network, options[1]), (plain, options[0]))
    )
    for each in (early, still):
        np.testing.assert_array_equal(getattr(each, held), getattr(learnt, held))
        np.testing.assert_array_equal(each.alphas, initial_alphas(plain))
    told, before = (engine.watch(corpus, network, options[0], state) for state in (learnt, early))
    assert told[objective] > before[objective] + 1
    alphas = alphas_of(network, learnt.alphas)
    assert alphas["theta1"].shape == (2, 3)
    assert not np.array_equal(alphas["theta1"][0], alphas["theta1"][1])
    assert np.array_equal(np.squeeze(told["alpha_phi"]), alphas["phi"][0, 0])
