"""Gibbs sampling of networks: enumeration, plain twins, LDA, reference values, what is odd."""

from collections import Counter
from dataclasses import replace

import network_twins as twins
import numpy as np
import pytest
from engines.networks.beside_twins import assert_chains_follow_the_posterior
from engines.networks.states import paths_in, places_of_paths, with_authors
from stepping import copied, stepped
from toys import corpus_of, read_oracles, simulated

from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.lda import cgs
from workbench.engines.networks import gibbs as network_gibbs
from workbench.engines.networks.paths import paths_of
from workbench.engines.options import make_options
from workbench.models import LDA, ModelError
from workbench.models.networks.network import (
    AUTHORS,
    DOCUMENT,
    WORD,
    Level,
    Network,
    Rows,
    Variable,
)

ENGINE = network_gibbs.engine()
PLAIN = make_options(ENGINE, {})
UNEVEN, GROUPED = (0.6, 0.35), ((0.5, 0.9), (0.8, 0.3))
SIX = twins.toy()
FOUR = twins.toy(((0, 0, 1), (2,)))
THREE = twins.toy(((0, 1), (2,)))


def topics_by_document() -> Network:
    """Authors, and topics that a document shares among its authors."""
    return Network(
        "topics-by-document",
        (Variable("author", 3, ("a0", "a1", "a2")), Variable("topic", 2)),
        (
            Level("authors", "author", (Rows((DOCUMENT,)),), kind="observed", table=AUTHORS),
            Level("theta", "topic", (Rows((DOCUMENT,)),), prior=UNEVEN),
            Level("phi", WORD, (Rows(("topic",)),), prior=0.4),
        ),
    )


TOYS = {
    "lda": (twins.lda(2, UNEVEN, 0.4), SIX),
    "author-topic": (twins.author_topic(2, ("a0", "a1", "a2"), UNEVEN, 0.4), SIX),
    "pachinko": (twins.pachinko(2, 2, UNEVEN, GROUPED, 0.4), SIX),
    "pachinko-wide": (
        twins.pachinko(2, 3, UNEVEN, ((0.5, 0.9, 0.2), (0.8, 0.3, 0.6)), 0.4),
        FOUR,
    ),  # runs within super-topics
    "hpam1": (twins.hpam1(2, 2, UNEVEN, GROUPED, (0.5, 0.7, 1.1), 0.4), FOUR),
    "hpam2": (twins.hpam2(2, 2, (0.6, 0.35, 0.45), ((0.5, 0.9, 0.4), (0.8, 0.3, 0.4)), 0.4), FOUR),
    "regions": (twins.authors_by_region(), THREE),
    "topics-by-document": (topics_by_document(), SIX),
}
WIDE = {
    "lda": twins.lda(21),
    "author-topic": twins.author_topic(18),
    "pachinko": twins.pachinko(3, 19),
    "tall": twins.pachinko(20, 3),
    "hpam1": twins.hpam1(3, 17),
    "hpam2": twins.hpam2(4, 18),
    "hpam2-tall": twins.hpam2(18, 2),
    "regions": twins.authors_by_region(),
    "topics-by-document": topics_by_document(),
    "ones": twins.pachinko(1, 1),
    "one-topic": twins.lda(1),
    "one-each": twins.hpam2(1, 1),
    "unigram": Network("unigram", (), (Level("phi", WORD, (Rows(),), prior=0.3),)),
}
COMPILED_FOR_ITSELF = ("tall", "hpam2-tall", "regions", "topics-by-document", "unigram")
EACH_WIDE = [
    pytest.param(name, marks=pytest.mark.slow) if name in COMPILED_FOR_ITSELF else name
    for name in WIDE
]


def chain(network, corpus, n_sweeps, seed=0, options=PLAIN):
    return stepped(ENGINE, corpus, network, options, n_sweeps, seed)


def test_the_toys_of_the_twins_are_those_of_the_reference_values():
    printed = read_oracles("networks")
    for name, toy in {
        "mix_atm": "author-topic",
        "mix_pam": "pachinko",
        "mix_hpam1": "hpam1",
    }.items():
        exact, wanted = twins.exact(*TOYS[toy]), printed[name]["exact"]
        assert exact.log_evidence == pytest.approx(wanted["log_evidence"], abs=1e-9)
        np.testing.assert_allclose(
            exact.posteriors, wanted["posterior_per_token_copy"], rtol=0, atol=1e-9
        )


# ---------------------------------------------------------------------- what is drawn


@pytest.mark.slow
@pytest.mark.parametrize("name", TOYS)
def test_chains_follow_the_exact_posterior(name):
    assert_chains_follow_the_posterior(*TOYS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", TOYS)
def test_the_first_token_of_a_sweep_is_drawn_from_its_conditional(name):
    """Independent draws from the same counts."""
    network, corpus = TOYS[name]
    begun, n_draws = chain(network, corpus, 3, seed=8), 4000
    d, w, _ = twins.tokens_of(corpus)[0]
    expected = twins.conditional(network, corpus, paths_in(network, corpus, begun), 0)
    drawn = Counter()
    for seed in range(n_draws):
        state = copied(begun)
        ENGINE.step(corpus, network, PLAIN, state, StepContext(seed, 1))
        drawn[int(state.places[0])] += 1
    share = np.array([drawn[place] for place in places_of_paths(network, corpus, d, w)]) / n_draws
    assert share.sum() == 1
    assert np.all(np.abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / n_draws))


@pytest.mark.parametrize("known", ["topics", "documents", "words"])
def test_lda_as_a_network_starts_from_counts_as_cgs_does(known):
    network, model, corpus = twins.lda(4, 0.3, 0.2), LDA(4, 0.3, 0.2), simulated()
    options = make_options(cgs.engine(), {})
    run = cgs.counts(corpus, model, options, cgs.init(corpus, model, options, StepContext(2, 0)))
    topics = run["token_topics"].astype(np.int32)
    topics[::5] = -1
    start = WarmStart(
        run["n_kw"].astype(float), None if known == "words" else run["n_dk"].astype(float), topics
    )
    if known == "topics":
        places = ENGINE.init(corpus, network, PLAIN, StepContext(9, 0), start).places
        assert np.array_equal(places[topics >= 0], topics[topics >= 0])
    else:
        start = start._replace(topics=None)
        one = ENGINE.init(corpus, network, PLAIN, StepContext(9, 0), start)
        assert np.array_equal(
            one.places, cgs.init(corpus, model, options, StepContext(9, 0), start).topics
        )


def test_a_network_starts_from_topics_on_paths_that_end_there():
    network, corpus = twins.hpam2(3, 4), simulated()
    rows = np.arange(corpus.n_tokens, dtype=np.int32) % network.n_topics
    start = WarmStart(np.ones((network.n_topics, corpus.n_words)), None, rows)
    state = ENGINE.init(corpus, network, PLAIN, StepContext(1, 0), start)
    assert np.array_equal(ENGINE.counts(corpus, network, PLAIN, state)["token_topics"], rows)


# ---------------------------------------------------------------------- what is counted


@pytest.mark.parametrize("name", EACH_WIDE)
def test_counts_are_those_of_the_paths_of_tokens(name):
    network, corpus = WIDE[name], with_authors(simulated(6, 12, 10))
    state = chain(network, corpus, 3)
    counted, chosen = Counter(), paths_in(network, corpus, state)
    for path in chosen:
        twins.added(counted, path)
    found = ENGINE.counts(corpus, network, PLAIN, state)
    for level in network.levels:
        if level.kind == "observed":
            continue
        rows = list(twins.rows_of(network, level, corpus.n_documents))
        n_values = twins.n_values(network, level, corpus.n_words)
        wanted = np.array([[counted[row, v] for v in range(n_values)] for row in rows])
        table = found["n_kw"] if level.draws == WORD else found[f"n_{level.name}"]
        assert table.sum() == wanted.sum()  # rows that no path visits hold 0
        assert np.array_equal(
            np.sort(table.reshape(-1, wanted.shape[1]), axis=0)[-len(rows) :],
            np.sort(wanted, axis=0),
        )
    last = list(twins.rows_of(network, network.levels[-1], 1))
    numbers = [
        last.index(next(row for row, _ in path.cells if row[0] == network.levels[-1].name))
        for path in chosen
    ]
    assert found["token_topics"].tolist() == numbers
    expected = np.zeros((corpus.n_documents, network.n_topics))
    np.add.at(
        expected, (np.repeat(np.arange(corpus.n_documents), corpus.document_tokens), numbers), 1
    )
    assert np.array_equal(found["n_dk"], expected)
    watched = ENGINE.watch(corpus, network, PLAIN, state)
    assert watched["log_joint"] == pytest.approx(
        twins.log_joint(network, corpus, chosen), rel=1e-11
    )
    assert np.array_equal(watched["n_k"], found["n_kw"].sum(axis=1))


def test_a_document_may_lack_authors_only_where_it_lacks_tokens():
    network, corpus = twins.author_topic(3), corpus_of([(0, 0, 2), (2, 1, 3)], 3, 2)
    fine = replace(corpus, authors=(("a0",), (), ("a1", "a2")))
    assert chain(network, fine, 3).n_k.sum() == 5
    with pytest.raises(
        ModelError, match="1 documents have tokens and no author, the first of them 'document 0'"
    ):
        chain(network, replace(corpus, authors=((), ("a0",), ("a1",))), 1)


def test_rows_over_words_stand_where_the_network_numbers_them():
    network, corpus = twins.hpam2(2, 3), simulated()
    state = chain(network, corpus, 2)
    assert np.array_equal(
        ENGINE.counts(corpus, network, PLAIN, state)["n_kw"],
        state.n_wk[:, paths_of(network).leaf_addresses].T,
    )
