"""Several leaves: enumeration, plain twins, LDA, what predictions sum to, simulation, top words, errors."""

from collections import Counter
from dataclasses import replace

import network_twins as twins
import numpy as np
import pytest
from engines.networks.beside_twins import (
    assert_chains_follow_the_posterior,
    assert_cvb0_updates_as_plain_loops,
    assert_vb_rests_below_the_evidence,
)
from engines.networks.states import paths_in, places_of_paths
from geweke import assert_same_expectations
from stepping import copied, stepped
from toys import every_pair

import workbench as wb
from workbench.corpus.shards import shard_writer
from workbench.engines import get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.networks.compiled import initial_alphas
from workbench.engines.networks.fold_in import Learnt
from workbench.engines.networks.gibbs import all_sampled, initial_chain, rows_of_tokens
from workbench.engines.options import make_options
from workbench.measures.topics import topics_of_word
from workbench.models import ModelError
from workbench.models.networks.leaves import leaves_of
from workbench.models.networks.levels import PREFIXES
from workbench.models.networks.network import Network

GIBBS, CVB0, VB, HYBRID = map(
    get_engine, ("network-gibbs", "network-cvb0", "network-vb", "network-hybrid")
)
EACH = {
    "network-gibbs": {},
    "network-cvb0": {},
    "network-vb": {},
    "network-hybrid": {"n_chains": 2},
}
each_engine = pytest.mark.parametrize("name", EACH)


def with_leaves(network, leaves=PREFIXES) -> Network:
    *upper, last = network.levels
    return replace(network, levels=(*upper, replace(last, leaves=leaves)))


VOCABULARY = ("de:a", "b", "de:c", "tag:d", "tag:e")
"""Words of three leaves that lie between each other."""


def toy(*documents, authors=None):
    return replace(twins.toy(documents, 5, authors), vocabulary=VOCABULARY)


AUTHORS = (("a0", "a1"), ("a1", "a2"))
TOYS = {
    "polylingual": (
        Network.of("polylingual", 2, alpha=(0.9, 0.4), beta=0.5),
        toy((0, 2, 2, 3), (1, 3, 4)),
    ),
    "pachinko": (
        with_leaves(twins.pachinko(2, 2, 0.6, ((0.5, 0.9), (0.8, 0.3)), 0.4)),
        toy((0, 2, 3), (4,)),
    ),
    "hpam2": (
        with_leaves(twins.hpam2(2, 2, 0.6, 0.5, 0.4), ("de:", "tag:")),
        toy((0, 2, 1), (3,)),
    ),
    "regions": (
        with_leaves(twins.authors_by_region(), ("tag:",)),
        toy((0, 2, 3), (1,), authors=AUTHORS),
    ),
}
each_toy = pytest.mark.parametrize("name", TOYS)


def simulated(n_topics=5, n_words=60, name="polylingual", **more):
    """Return a network, and a corpus of it whose words of the two leaves lie between each other."""
    network = Network.of(name, n_topics, alpha=0.2, beta=0.1, **more)
    corpus, truth = network.simulate(40, n_words, 60, seed=1)
    new = np.argsort(np.random.default_rng(2).permutation(n_words))
    vocabulary = np.empty(n_words, object)
    vocabulary[new] = corpus.vocabulary
    mixed = wb.Corpus.from_pairs(
        corpus.documents, new[corpus.words], corpus.counts, vocabulary=vocabulary.tolist()
    )
    return network, mixed, truth


# ---------------------------------------------------------------------- against enumeration and twins


@pytest.mark.slow
@each_toy
def test_chains_follow_the_exact_posterior(name):
    assert_chains_follow_the_posterior(*TOYS[name])


@each_toy
def test_a_token_is_drawn_from_its_conditional_and_the_log_joint_is_exact(name):
    network, corpus = TOYS[name]
    options, n_draws = make_options(GIBBS, {}), 1000
    d, w, _ = twins.tokens_of(corpus)[0]
    for seed in (8, 9, 10):
        begun = stepped(GIBBS, corpus, network, options, 3, seed=seed)
        chosen, drawn = paths_in(network, corpus, begun), Counter()
        found = GIBBS.watch(corpus, network, options, begun)["log_joint"]
        assert found == pytest.approx(twins.log_joint(network, corpus, chosen), rel=1e-11)
        expected = twins.conditional(network, corpus, chosen, 0)
        for draw in range(n_draws):
            state = copied(begun)
            GIBBS.step(corpus, network, options, state, StepContext(draw, 1))
            drawn[int(state.places[0])] += 1
        share = np.array([drawn[p] for p in places_of_paths(network, corpus, d, w)]) / n_draws
        assert np.all(np.abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / n_draws))


@each_toy
def test_cvb0_updates_the_responsibilities_of_plain_loops(name):
    assert_cvb0_updates_as_plain_loops(*TOYS[name])


@each_toy
def test_vb_ends_where_plain_updates_stay_below_the_evidence(name):
    assert_vb_rests_below_the_evidence(*TOYS[name], 600)


# ---------------------------------------------------------------------- of any engine


@pytest.mark.parametrize("name", [*EACH])
@pytest.mark.parametrize("n_topics", [5, 23])
def test_counts_add_up_and_predictions_of_each_leaf_sum_to_one(name, n_topics):
    network, corpus, _ = simulated(n_topics)
    engine = get_engine(name)
    options = make_options(engine, EACH[name])
    state = stepped(engine, corpus, network, options, 5, seed=7)
    found = engine.counts(corpus, network, options, state)
    word_tokens = np.bincount(corpus.words, corpus.counts, corpus.n_words)
    np.testing.assert_allclose(found["n_kw"].sum(axis=0), word_tokens, atol=1e-9)
    np.testing.assert_allclose(found["n_dk"].sum(axis=0), found["n_kw"].sum(axis=1), atol=1e-9)
    watched = engine.watch(corpus, network, options, state)
    np.testing.assert_allclose(watched["n_k"], found["n_kw"].sum(axis=1), atol=1e-9)
    rows = engine.predict(corpus, network, options, state, every_pair(corpus))
    rows = rows.reshape(corpus.n_documents, -1)
    _, leaf = leaves_of(network.leaves, corpus.vocabulary)
    for i in range(2):
        np.testing.assert_allclose(rows[:, leaf == i].sum(axis=1), 1.0, rtol=1e-9)
    if name != "network-hybrid":  # which averages its chains
        last = {key: np.asarray(values) for key, values in found.items()}
        estimates = network.estimates(last, corpus)
        share = np.bincount(leaf, word_tokens)[leaf] / corpus.n_tokens
        joint = estimates["theta"] @ estimates["phi"]
        np.testing.assert_allclose(rows * share, joint, rtol=1e-9)
        np.testing.assert_allclose(estimates["phi"].sum(axis=1), 1.0, rtol=1e-9)


@each_engine
def test_one_leaf_is_the_network_without(name):
    """All words of one prefix, which a run refuses: the counts are those of LDA."""
    network, corpus, _ = simulated()
    corpus = replace(corpus, vocabulary=tuple(f"a:{w}" for w in range(corpus.n_words)))
    engine = get_engine(name)
    options = make_options(engine, EACH[name])
    found, wanted = (
        stepped(engine, corpus, each, options, 5, seed=7)
        for each in (network, Network.of("lda", 5, alpha=0.2, beta=0.1))
    )
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("r", "other"), [(0.0, VB), (float("inf"), GIBBS)])
def test_the_ends_of_the_hybrid_are_the_engines_it_joins(r, other):
    network, corpus, _ = simulated()
    found = stepped(HYBRID, corpus, network, make_options(HYBRID, {"r": r}), 5, seed=7)
    wanted = stepped(other, corpus, network, make_options(other, {}), 5, seed=7)
    name = "mean_wk" if r == 0 else "n_wk"
    np.testing.assert_array_equal(np.squeeze(getattr(found, name)), wanted.n_wk)


@each_engine
def test_a_warm_start_at_the_truth_stays_there(name):
    network, corpus, truth = simulated(3)
    corpus, truth = network.simulate(60, 40, 100, seed=4)
    engine = get_engine(name)
    options = make_options(engine, EACH[name])
    start = WarmStart(truth["n_kw"].astype(float), truth["n_dk"].astype(float))
    state = engine.init(corpus, network, options, StepContext(3, 0), start)
    state = stepped(engine, corpus, network, options, 20, seed=3, state=state, first=1)
    found = engine.counts(corpus, network, options, state)["n_dk"]
    assert np.minimum(found, truth["n_dk"]).sum() > 0.75 * corpus.n_tokens


def test_unseen_documents_have_the_shares_that_their_words_have_within_their_leaf():
    """A word of a large leaf says as much as one of a small leaf: shares are those of a network without the other leaf."""
    network, corpus, truth = simulated()
    corpus, truth = network.simulate(20, 60, 50, seed=3)
    learnt = Learnt(network, {"phi": truth["n_kw"].astype(float)}, initial_alphas(network))
    one_leaf = corpus.words < 30
    kept = wb.Corpus.from_pairs(
        corpus.documents[one_leaf],
        corpus.words[one_leaf],
        corpus.counts[one_leaf],
        n_documents=20,
        vocabulary=corpus.vocabulary,
    )
    options = make_options(GIBBS, {})
    found = GIBBS.fold_in(learnt, options, kept, StepContext(3, 0))
    lda = Network.of("lda", 5, alpha=0.2, beta=0.1)
    alone = Learnt(lda, {"phi": truth["n_kw"][:, :30].astype(float)}, initial_alphas(lda))
    short = replace(kept, vocabulary=corpus.vocabulary[:30])
    wanted = GIBBS.fold_in(alone, options, short, StepContext(3, 0))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


# ---------------------------------------------------------------------- runs

TAGS = """
name = "words-and-tags"
variables = [{ name = "topic", size = 4 }]
[[levels]]
name = "theta"
draws = "topic"
rows = [{ by = ["document"] }]
[[levels]]
name = "phi"
draws = "word"
rows = [{ by = ["topic"] }]
leaves = ["de:", "tag:"]
"""


def test_wb_fits_a_file_of_leaves_predicts_within_them_and_lets_them_take_turns(tmp_path):
    (tmp_path / "tags.toml").write_text(TAGS)
    network = Network.of(tmp_path / "tags.toml")
    corpus, _ = network.simulate(80, 60, 80, seed=1)
    train, test = wb.hold_out_tokens(corpus, fraction=0.1, seed=0)
    settings = {"n_iterations": 60, "test": test, "progress": False}
    run = wb.fit(train, "network-gibbs", model=tmp_path / "tags.toml", **settings)
    lda = wb.fit(train, "network-gibbs", model="lda", n_topics=4, **settings)
    # of three leaves with as many tokens LDA has to predict the leaf too
    assert wb.perplexity(run) == pytest.approx(wb.perplexity(lda) / 3, rel=0.05)
    assert set(run["word_leaf"].values) == {"", "de:", "tag:"}
    for words in wb.topics(run, 6)["words"]:
        prefixes = [word.rpartition(":")[0] for word in words.split()]
        assert sorted(prefixes[:3]) == sorted(prefixes[3:]) == ["", "de", "tag"]
    of_word, n_kw = topics_of_word(run, corpus.vocabulary[3]), run["n_kw"].isel(snapshot=-1).values
    np.testing.assert_allclose(of_word, n_kw[:, 3] / n_kw[:, 3].sum(), atol=0.02)
    inferred = wb.infer(run, test)
    assert inferred.attrs["perplexity_foldin_same"] < 20  # words of a leaf


def test_a_file_of_fifteen_lines_is_the_shipped_model(tmp_path):
    lines = TAGS.replace('["de:", "tag:"]', '"prefixes"').replace("words-and-tags", "polylingual")
    assert len(lines.strip().splitlines()) <= 15
    (tmp_path / "polylingual.toml").write_text(lines)
    assert Network.of(tmp_path / "polylingual.toml") == Network.of("polylingual", 4)


@pytest.mark.parametrize(("name", "rtol"), [("network-gibbs", 0), ("network-vb", 1e-9)])
def test_a_corpus_in_shards_has_the_leaves_of_the_whole(name, rtol, tmp_path, monkeypatch):
    monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 400)
    network, corpus, _ = simulated()
    shards = wb.ShardedCorpus.write(corpus, tmp_path / "shards")
    assert shards.n_parts > 2
    whole, parts = (
        wb.fit(each, name, model=network, n_iterations=6, progress=False)
        for each in (corpus, shards)
    )
    np.testing.assert_allclose(whole["n_kw"], parts["n_kw"], rtol=rtol, atol=rtol)
    assert parts["word_leaf"].values.tolist() == [word[:2] for word in corpus.vocabulary]


@pytest.mark.parametrize(
    ("leaves", "sentence"),
    [
        (("de:", "xx:"), "has a leaf of words that begin with 'xx:', and 'corpus' has no such"),
        (("w",), "all words of 'corpus' are of one"),
        (PREFIXES, "has several leaves, and all words of 'corpus' are of one"),
    ],
)
def test_leaves_that_a_corpus_lacks_are_refused(leaves, sentence):
    corpus = wb.Corpus.from_pairs([0, 1], [0, 1], [2, 3], name="corpus")
    network = with_leaves(Network.of("lda", 2), leaves)
    if leaves[0] == "de:":
        corpus = replace(corpus, vocabulary=("de:a", "b"))
    with pytest.raises(ModelError, match=sentence):
        wb.fit(corpus, "network-gibbs", model=network, progress=False)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"leaves": ("de:", "de:")}, "must have leaves of different prefixes"),
        ({"leaves": ("",)}, "must have leaves of different prefixes"),
        ({"leaves": PREFIXES, "kind": "point"}, "has several leaves; make it dirichlet"),
        ({"leaves": PREFIXES, "learn": "scalar"}, "has several leaves; make it dirichlet"),
    ],
)
def test_a_level_of_leaves_that_cannot_be_is_refused(changes, sentence):
    network = Network.of("lda", 2)
    with pytest.raises(ModelError, match=sentence):
        replace(network, levels=(network.levels[0], replace(network.levels[1], **changes)))
    with pytest.raises(ModelError, match="draws no word and has leaves"):
        replace(network, levels=(replace(network.levels[0], leaves=("a:",)), network.levels[1]))


def test_the_longest_prefix_says_of_which_leaf_a_word_is():
    names, numbers = leaves_of(("de:", "de:at:"), ("a", "de:b", "de:at:c", "d:e"))
    assert names == ("", "de:", "de:at:") and numbers.tolist() == [0, 1, 2, 0]
    names, numbers = leaves_of(PREFIXES, ("a", "de:b", "tag:c:d", ":e"))
    assert names == ("", ":", "de:", "tag:") and numbers.tolist() == [0, 2, 3, 1]


# ---------------------------------------------------------------------- Geweke's test

LEAF_OF = np.array([0, 1, 0, 1, 1, 0, 1])
"""The leaf of each word of the corpora that are drawn; words of two leaves lie between each other."""
TOKENS = [(d, leaf) for d in range(4) for leaf in (0, 0, 0, 1, 1, 1)]
"""The document and the leaf of each token."""
LABELS = (("x",), ("y", "z"), ("x", "z"), ())


def redrawn(random, network, topics):
    """Return a corpus whose words are drawn given the topics of its tokens, and the topics in the order of its tokens."""
    leaf_of = LEAF_OF if network.leaves else np.zeros_like(LEAF_OF)
    words = np.empty(len(TOKENS), int)
    for leaf in range(max(leaf_of) + 1):
        own = np.flatnonzero(leaf_of == leaf)
        phi = random.dirichlet(np.full(len(own), 0.5), network.n_topics)
        for i, (_, of) in enumerate(TOKENS):
            if of == leaf or not network.leaves:
                words[i] = random.choice(own, p=phi[topics[i]])
    documents = np.array(TOKENS)[:, 0]
    corpus = wb.Corpus.from_pairs(
        documents,
        words,
        np.ones(len(words), int),
        vocabulary=[f"{'ab'[leaf]}:{w}" for w, leaf in enumerate(LEAF_OF)],
        labels=LABELS,
    )
    return corpus, topics[np.lexsort((words, documents))]


def statistics(network, corpus, topics):
    """Statistics that do not tell topics of other names apart, nor documents: sums of squares of counts, by leaf."""
    documents = np.repeat(corpus.documents, corpus.counts)
    words = np.repeat(corpus.words, corpus.counts)
    n_dk, n_kw = np.zeros((4, network.n_topics)), np.zeros((network.n_topics, corpus.n_words))
    np.add.at(n_dk, (documents, topics), 1)
    np.add.at(n_kw, (topics, words), 1)
    sizes = [n_kw[:, leaf == LEAF_OF].sum(axis=1) for leaf in (0, 1)]
    pairs = [(n_kw[:, leaf == LEAF_OF] ** 2).sum() for leaf in (0, 1)]
    return [
        (n_dk**2).sum(),
        *pairs,
        *(size @ size for size in sizes),
        sizes[0] @ sizes[1],
        (n_dk[1] * n_dk[2]).sum(),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["polylingual", "labeled"])
def test_words_and_paths_drawn_in_turns_have_the_law_of_the_prior(name):
    random, options = np.random.default_rng(5), make_options(GIBBS, {})
    network = Network.of(name, None if name == "labeled" else 3, alpha=0.6, beta=0.5)
    if name == "labeled":
        network = network.with_labels(("x", "y", "z"))

    def from_the_prior():
        theta = []
        for names in LABELS:
            prior = [0.6 * (not names or name == "polylingual" or v in names) for v in "xyz"]
            theta.append(random.dirichlet(np.maximum(prior, 1e-300)))
        topics = np.array([random.choice(3, p=theta[d]) for d, _ in TOKENS])
        return redrawn(random, network, topics)

    independent = np.array([statistics(network, *from_the_prior()) for _ in range(4000)])
    corpus, topics, chain = *from_the_prior(), []
    for step in range(12_000):
        state = initial_chain(corpus, network, all_sampled(corpus), topics.astype(np.int32))
        state = GIBBS.step(corpus, network, options, state, StepContext(11, step + 1))[0]
        topics = rows_of_tokens(network, state)
        by_document = np.argsort(np.repeat(corpus.documents, corpus.counts), kind="stable")
        leaves = LEAF_OF[np.repeat(corpus.words, corpus.counts)]
        if network.leaves:  # the tokens of a document in the order of TOKENS
            by_document = np.lexsort((leaves, np.repeat(corpus.documents, corpus.counts)))
        corpus, topics = redrawn(random, network, topics[by_document])
        chain.append(statistics(network, corpus, topics))
    assert_same_expectations(np.array(chain), independent)
