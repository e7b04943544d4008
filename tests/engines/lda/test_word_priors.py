"""Priors that differ from word to word in each topic: against enumeration, and engines of one model against each other."""

import json
from dataclasses import replace

import numpy as np
import pytest
from geweke import assert_same_expectations, z_of
from scipy.special import gammaln, logsumexp
from stepping import states, stepped
from toys import corpus_of_table, simulated

import workbench as wb
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.lda import hybrid_bound
from workbench.engines.lda.hybrid import for_bound
from workbench.engines.options import make_options
from workbench.kernels.count_moments import expected_log_joint_of_counts
from workbench.kernels.lda.enumeration import assignments
from workbench.kernels.lda.word_prior import padded_prior
from workbench.measures.exact import every_pair, exact
from workbench.models import LDA, ModelError
from workbench.models.options import OptionError
from workbench.models.seed_words import parse_seeds, seeds_text
from workbench.runs.afterwards.examine import examine
from workbench.runs.execution.memory_check import Planned, predict_memory
from workbench.runs.recorded import priors_of
from workbench.runs.spec import SpecError, make_spec
from workbench.sklearn import TopicModel

ROUNDING = 1e-9  # two orders of summation of some logs of gamma functions
CORPUS = corpus_of_table([[2, 1, 0, 1], [0, 2, 1, 0], [1, 0, 0, 2]], ("a", "b", "c", "d"))
MODEL = LDA(2, 0.7, 0.3, "one: a c; two: d", 1.7).for_data(CORPUS)
OF_LDA = [name for name in ENGINES if get_engine(name).model is LDA]
WORDS = np.repeat(CORPUS.words, CORPUS.counts)
DOCUMENTS = np.repeat(CORPUS.documents, CORPUS.counts)


def counts_of(topics, n_topics):
    """n_dk (document, topic) and n_kw (topic, word) of the tokens' topics."""
    n_dk, n_kw = np.zeros((CORPUS.n_documents, n_topics)), np.zeros((n_topics, CORPUS.n_words))
    np.add.at(n_dk, (DOCUMENTS, topics), 1)
    np.add.at(n_kw, (topics, WORDS), 1)
    return n_dk, n_kw


def log_dirichlet(prior, counts):
    """log of the Polya probability of each row of counts."""
    prior = np.broadcast_to(prior, counts.shape)
    totals, sizes = prior.sum(axis=1), counts.sum(axis=1)
    rises = (gammaln(prior + counts) - gammaln(prior)).sum(axis=1)
    return rises + gammaln(totals) - gammaln(totals + sizes)


def log_joint(model, topics):
    n_dk, n_kw = counts_of(topics, model.n_topics)
    return (
        log_dirichlet(model.alphas, n_dk).sum() + log_dirichlet(model.priors({}).beta, n_kw).sum()
    )


def by_enumeration(model):
    """log evidence, p(topic of a token), and p(w|d), each as a sum over all assignments, by another way than `exact`."""
    topics = assignments(CORPUS.n_tokens, model.n_topics)
    logs = np.array([log_joint(model, row) for row in topics])
    weights, table = np.exp(logs - logsumexp(logs)), model.priors({}).beta
    predictive = np.zeros((CORPUS.n_documents, CORPUS.n_words))
    for weight, row in zip(weights, topics, strict=True):
        n_dk, n_kw = counts_of(row, model.n_topics)
        theta, phi = model.alphas + n_dk, table + n_kw
        predictive += (
            weight * (theta / theta.sum(1, keepdims=True)) @ (phi / phi.sum(1, keepdims=True))
        )
    token_topic = [np.bincount(column, weights, model.n_topics) for column in topics.T]
    return logsumexp(logs), np.array(token_topic), predictive


def test_the_exact_posterior_is_that_of_a_sum_over_assignments():
    evidence, token_topic, predictive = by_enumeration(MODEL)
    found = exact(CORPUS, MODEL)
    assert float(found["log_evidence"]) == pytest.approx(evidence, abs=ROUNDING)
    assert found["token_topic"].values == pytest.approx(token_topic, abs=ROUNDING)
    assert found["predictive"].values == pytest.approx(predictive, abs=ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("scan", ["documents", "words"])
def test_the_sampler_draws_from_the_posterior(scan):
    engine, options = get_engine("cgs"), make_options(get_engine("cgs"), {"scan": scan})
    posterior = exact(CORPUS, MODEL)
    drawn, predicted = [], []
    for state in states(engine, CORPUS, MODEL, options, 20_000, seed=1):
        drawn.append(state.topics == 0)
        predicted.append(engine.predict(CORPUS, MODEL, options, state, every_pair(CORPUS)))
    assert z_of(np.array(drawn, float), posterior["token_topic"].values[:, 0]).max() < 4.5
    assert z_of(np.array(predicted), posterior["predictive"].values.ravel()).max() < 4.5


@pytest.mark.slow
def test_draws_of_the_sampler_and_of_the_prior_have_the_same_expectations():
    """Geweke's test: phi from the prior of the words, or in turns with a sweep."""
    engine = get_engine("cgs")
    options, model = make_options(engine, {}), MODEL
    independent, chain, random = [], [], np.random.default_rng(5)
    for seed in range(3000):
        independent.append(statistics(model.simulate(3, 4, 5, seed=seed)[1]["n_kw"]))
    documents, topics = np.repeat(np.arange(3), 5), np.zeros(15, int)
    n_kw = np.zeros((2, 4))
    for step in range(12_000):
        phi = [random.dirichlet(row) for row in model.priors({}).beta + n_kw]
        words = np.array([random.choice(4, p=phi[k]) for k in topics])
        # the canonical order of tokens, at random where words are the same
        order = np.lexsort([random.random(15), words, documents])
        words, topics = words[order], topics[order]
        table, n_dk, n_kw = np.zeros((3, 4), int), np.zeros((3, 2)), np.zeros((2, 4))
        for counts, rows, columns in (
            (table, documents, words),
            (n_dk, documents, topics),
            (n_kw, topics, words),
        ):
            np.add.at(counts, (rows, columns), 1)
        corpus = corpus_of_table(table, CORPUS.vocabulary)
        start = WarmStart(n_kw, n_dk, topics.astype(np.int32))
        state = engine.init(corpus, model, options, StepContext(1, 0), start)
        state, _ = engine.step(corpus, model, options, state, StepContext(1, step + 1))
        topics, n_kw = state.topics.astype(int), state.n_wk[:, :2].T
        chain.append(statistics(n_kw))
    assert_same_expectations(np.array(chain), np.array(independent))


def statistics(n_kw):
    return [*n_kw.ravel()[:7], *(n_kw.ravel()[:7] ** 2)]


@pytest.mark.parametrize(
    ("name", "options", "number"),
    [
        ("svb", {}, "bound"),
        ("svb", {"schedule": "sequential"}, "bound"),
        ("vb", {}, "bound"),
        ("online-vb", {}, "bound"),
        ("cvb", {}, "bound"),
        ("cvb", {}, "collapsed_bound"),
        ("cvb0", {}, "bound"),
    ],
)
def test_a_bound_is_below_the_evidence(name, options, number):
    engine, evidence = get_engine(name), by_enumeration(MODEL)[0]
    options = make_options(engine, options)
    for state in states(engine, CORPUS, MODEL, options, 80):
        found = engine.watch(CORPUS, MODEL, options, state)[number]
    assert evidence - 3.5 < found < evidence  # a gap of some nats, as with one prior for all words


def test_the_bound_of_svb_never_falls_and_is_that_of_its_responsibilities():
    engine = get_engine("svb")
    options = make_options(engine, {"init": "dirichlet"})
    bounds = [
        engine.watch(CORPUS, MODEL, options, state)["bound"]
        for state in states(engine, CORPUS, MODEL, options, 60)
    ]
    assert np.all(np.diff(bounds) > -ROUNDING)
    engine, options = get_engine("svb"), make_options(engine, {"schedule": "sequential"})
    state = stepped(engine, CORPUS, MODEL, options, 9)
    gamma = state.gamma[:, :2]
    n_dk, n_kw = np.zeros((3, 2)), np.zeros((2, 4))
    np.add.at(n_dk, CORPUS.documents, CORPUS.counts[:, None] * gamma)
    np.add.at(n_kw.T, CORPUS.words, CORPUS.counts[:, None] * gamma)
    joint = (
        log_dirichlet(MODEL.alphas, n_dk).sum() + log_dirichlet(MODEL.priors({}).beta, n_kw).sum()
    )
    entropy = -(CORPUS.counts[:, None] * gamma * np.log(gamma)).sum()
    found = engine.watch(CORPUS, MODEL, options, state)["bound"]
    assert found == pytest.approx(joint + entropy, abs=ROUNDING)


def test_the_log_joint_is_that_of_the_topics():
    engine = get_engine("cgs")
    options = make_options(engine, {})
    for state in states(engine, CORPUS, MODEL, options, 5):
        found = engine.watch(CORPUS, MODEL, options, state)["log_joint"]
        assert found == pytest.approx(log_joint(MODEL, state.topics), abs=ROUNDING)


def test_the_bound_of_a_hybrid_lies_below_the_evidence_and_ais_finds_it():
    engine = get_engine("svb-cgs")
    options = make_options(engine, {"r": 1})
    state = stepped(engine, CORPUS, MODEL, options, 30)
    arguments = hybrid_bound.whole(CORPUS, *for_bound(CORPUS, options, state))
    bound = hybrid_bound.exact(*arguments)
    assert bound < by_enumeration(MODEL)[0]
    annealed = hybrid_bound.ais(*arguments, StepContext(0, 0), n_runs=16)
    assert annealed.bound == pytest.approx(bound, abs=6 * annealed.standard_error + 1e-3)
    bracket = hybrid_bound.bracket(*arguments, StepContext(0, 0))
    assert bracket.low - 0.2 < bound < bracket.high + 0.2  # of 100 sweeps


@pytest.mark.parametrize(
    ("name", "options", "pure", "pure_options"),
    [
        ("svb-cgs", {"r": 0.0}, "svb", {}),
        ("cvb-cgs", {"r": 0.0}, "cvb", {}),
        ("cvb0-cgs", {"r": 0.0}, "cvb0", {}),
        ("svb-cgs", {"r": np.inf}, "cgs", {}),
        ("cvb0-cgs", {"r": np.inf}, "cgs", {}),
        ("svb-cgs", {"r": np.inf, "partition": 2}, "cgs", {"partition": 2}),
    ],
)
def test_at_its_ends_a_hybrid_has_the_bits_of_the_pure_engine(name, options, pure, pure_options):
    corpus = simulated(20)
    model = LDA(3, 0.2, 0.1, {"0": corpus.vocabulary[:3], "two": corpus.vocabulary[3]}, 7.5)
    model, tables = model.for_data(corpus), []
    for engine_name, values in ((name, options), (pure, pure_options)):
        engine = get_engine(engine_name)
        engine_options = make_options(engine, values)
        state = stepped(engine, corpus, model, engine_options, 60)
        tables.append(engine.counts(corpus, model, engine_options, state)["n_kw"])
    assert np.array_equal(*tables)


@pytest.mark.parametrize("name", OF_LDA)
def test_expected_and_sampled_counts_are_those_of_tokens_alone(name):
    """A run continues from counts without the prior, so they are kept without it."""
    engine = get_engine(name)
    options = make_options(engine, {})
    state = stepped(engine, CORPUS, MODEL, options, 3)
    counts = engine.counts(CORPUS, MODEL, options, state)
    assert counts["n_kw"].sum() == pytest.approx(CORPUS.n_tokens, abs=ROUNDING)
    warm = WarmStart(np.array(counts["n_kw"], float), np.array(counts["n_dk"], float))
    state = engine.init(CORPUS, MODEL, options, StepContext(0, 0), warm)
    warm_counts = engine.counts(CORPUS, MODEL, options, state)
    assert warm_counts["n_kw"].sum() == pytest.approx(CORPUS.n_tokens, abs=ROUNDING)


def test_a_constant_table_has_the_collapsed_bound_of_the_number():
    random = np.random.default_rng(2)
    mean, variance = np.zeros((2, 4, 16))
    mean[:, :2], variance[:, :2] = random.uniform(0, 3, (4, 2)), random.uniform(0, 1, (4, 2))
    zero = np.exp(-mean)
    wanted = expected_log_joint_of_counts(mean, variance, zero, 0.3, 2)
    table = padded_prior(np.full((2, 4), 0.3))
    assert expected_log_joint_of_counts(mean, variance, zero, table, 2) == pytest.approx(wanted)


def test_seeds_are_read_as_they_are_written():
    seeds = {"energy": ("oil", "barrel"), "natural gas": ("say: so", 'quo"ta\\', ";"), "3": ("x",)}
    text = seeds_text(seeds)
    assert parse_seeds(text) == seeds
    assert seeds_text(text) == text
    assert seeds_text({"a": "oil barrel", 2: ["gas"]}) == "a: oil barrel; 2: gas"
    assert parse_seeds(" a : oil,gas ;; b:x ; ") == {"a": ("oil", "gas"), "b": ("x",)}


def test_a_number_of_a_topic_has_one_form():
    assert parse_seeds("00: a; ٣: b") == {"0": ("a",), "3": ("b",)}
    assert seeds_text({np.int64(3): iter(["b", "a"])}) == "3: b a"
    for seeds in ("0: a; 00: a b", "٣: a; 3: b", {3: ["a"], "3": ["b"]}, {"03": ["a"], 3: ["b"]}):
        with pytest.raises(OptionError, match="topic '[03]' comes twice; write each topic once"):
            seeds_text(seeds)


@pytest.mark.parametrize("topic", [-1, 0.0, True, None])
def test_a_topic_is_a_name_or_a_number_from_0_on(topic):
    with pytest.raises(OptionError, match=r"seed_words must be a dict from topics \(names, or"):
        seeds_text({topic: ["a"]})


def test_words_of_a_set_are_sorted_and_those_of_a_list_are_not():
    words = [f"word {i}" for i in range(30, 10, -1)]
    assert parse_seeds(seeds_text({"a": set(words)})) == {"a": tuple(sorted(words))}
    assert parse_seeds(seeds_text({"a": words})) == {"a": tuple(words)}


def test_names_get_the_first_topics_that_no_number_claims():
    model = LDA(4, 0.1, 0.5, "one: a; 1: b c; two: d", 2.0).for_data(CORPUS)
    wanted = np.full((4, 4), 0.5)
    wanted[[0, 1, 1, 2], [0, 1, 2, 3]] += 2.0
    assert np.array_equal(model.priors({}).beta, wanted)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ("one: a zebra", "seed_words has 'zebra', which the corpus lacks; leave it out, or choose"),
        ("7: a", "seed_words has words for topic '7', and the topics are 0 to 1; leave it out"),
        ("x: a; y: b; z: c", "seed_words has words for topic 'z', and the topics are 0 to 1"),
    ],
)
def test_seeds_that_do_not_suit_the_corpus_are_refused(seeds, message):
    with pytest.raises(ModelError, match=message):
        LDA(2, seed_words=seeds).for_data(CORPUS)


def test_a_beta_that_is_turned_keeps_the_seeds():
    run = wb.fit(
        CORPUS,
        "cgs",
        2,
        0.7,
        0.3,
        options={"seed_words": "one: a c; two: d", "seed_weight": 1.7},
        n_iterations=5,
        interventions=[(3, {"beta": 0.4})],
        progress=False,
    )
    phi = run["n_kw"].values[-1] + MODEL.turned(beta=0.4).priors({}).beta
    assert run["phi"].values == pytest.approx(phi / phi.sum(axis=1, keepdims=True), abs=1e-15)


@pytest.mark.parametrize("name", ["cgs", "svb", "cvb", "svb-cgs", "adaptive-cgs"])
def test_a_run_that_is_continued_has_the_bits_of_a_longer_one(name, tmp_path):
    runs = []
    for folder, lengths in (("a", [12]), ("b", [5, 12])):
        for n_iterations in lengths:
            run = wb.fit(
                CORPUS,
                name,
                2,
                options={"seed_words": "one: a c; 1: d"},
                n_iterations=n_iterations,
                store=tmp_path / folder,
                progress=False,
            )
        runs.append(run["phi"].values)
    assert np.array_equal(*runs)
    assert runs[0][0, [0, 2]].min() > 0.2  # 100 pseudo-counts of two words each


def test_an_estimator_takes_seeds_and_keeps_them_in_further_batches():
    counts = np.ones((8, 5), int)
    model = TopicModel(2, engine="online-vb", options={"seed_words": {"one": ["w1"]}}, max_iter=2)
    for _ in range(2):
        model.partial_fit(counts)
        assert model.components_[0, 1] > 100 > model.components_[1].max()
    assert model.transform(counts).shape == (8, 2)


@pytest.mark.parametrize("options", [{}, {"schedule": "sequential", "init": "hard"}])
def test_a_start_lies_where_the_seeds_are_and_its_counts_are_those_of_its_responsibilities(options):
    engine, model = get_engine("svb"), LDA(2, 0.7, 0.3, "one: a", 1e6).for_data(CORPUS)
    state = engine.init(CORPUS, model, make_options(engine, options), StepContext(0, 0))
    assert state.mean_wk[0, 0] == pytest.approx(3, abs=1e-3 if not options else 3)
    assert state.mean_wk.sum() == pytest.approx(CORPUS.n_tokens)
    assert state.mean_k == pytest.approx(state.mean_wk.sum(axis=0))
    if len(state.gamma):
        weights = CORPUS.counts[:, None] * state.gamma
        for found, rows in ((state.mean_dk, CORPUS.documents), (state.mean_wk, CORPUS.words)):
            wanted = np.zeros_like(found)
            np.add.at(wanted, rows, weights)
            assert found == pytest.approx(wanted)
    chain = get_engine("cgs").init(
        CORPUS, model, make_options(get_engine("cgs"), {}), StepContext(0, 0)
    )
    assert chain.n_wk[0, :2].tolist() == [3, 0]


def test_names_of_seeds_are_labels_of_topics_and_learning_beta_beside_them_is_refused():
    seeds = {"one": "a", 2: "b", "two": "d"}
    run = wb.fit(CORPUS, "svb", 4, seed_words=seeds, n_iterations=2, progress=False)
    assert wb.measures.topic_labels(run) == {0: "one", 1: "two", 2: "", 3: ""}
    with pytest.raises(ModelError, match="learn_beta=maximised learns one number for all words"):
        wb.fit(CORPUS, "svb", 4, seed_words=seeds, learn_beta="maximised", progress=False)


TABLE = np.array([[0.5, 0.0, 0.3, 0.0], [0.4, 0.7, 0.0, 0.2]])
FORBIDS = LDA(2, 0.7, TABLE)
VECTOR = (0.1, 0.2, 0.3, 0.4)


@pytest.mark.parametrize("beta", [[0.3] * 4, np.full((2, 4), 0.3)])
def test_a_beta_of_equal_numbers_is_the_number(beta):
    runs = [
        wb.fit(CORPUS, "svb", 2, beta=value, n_iterations=3, progress=False)
        for value in (0.3, beta)
    ]
    assert runs[0].attrs["spec"] == runs[1].attrs["spec"]
    assert np.array_equal(*(run["phi"].values for run in runs))


def test_a_table_of_the_seeds_has_the_bits_of_the_seeds():
    found = []
    for model in (MODEL, LDA(2, 0.7, MODEL.priors({}).beta)):
        engine = get_engine("svb-cgs")
        options = make_options(engine, {})
        state = stepped(engine, CORPUS, model, options, 60)
        found.append(engine.counts(CORPUS, model, options, state)["n_kw"])
    assert np.array_equal(*found)


def test_the_exact_posterior_with_zeros_is_the_limit_of_small_priors():
    limit = LDA(2, 0.7, np.where(TABLE > 0.0, TABLE, 1e-8)).for_data(CORPUS)
    evidence, token_topic, predictive = by_enumeration(limit)
    found = exact(CORPUS, FORBIDS)
    near = 1e-6  # of a hundred times the smallest prior
    assert float(found["log_evidence"]) == pytest.approx(evidence, abs=near)
    assert found["token_topic"].values == pytest.approx(token_topic, abs=near)
    assert found["predictive"].values == pytest.approx(predictive, abs=near)
    assert not found["token_topic"].values[np.equal(WORDS, 1), 0].any()


def test_a_topic_with_a_prior_of_enormous_mass_is_one_whose_words_are_given():
    """Topic 0 has phi, exactly: its words are independent; topic 1 is learnt. c = 1e9 is within n / c of that."""
    phi, learnt = np.array([0.4, 0.3, 0.2, 0.1]), np.full(4, 0.3)
    topics, logs = assignments(CORPUS.n_tokens, 2), []
    for row in topics:
        n_dk, n_kw = counts_of(row, 2)
        of_words = (n_kw[0] * np.log(phi)).sum() + log_dirichlet(learnt, n_kw[1:])[0]
        logs.append(log_dirichlet(MODEL.alphas, n_dk).sum() + of_words)
    wanted = [np.exp(np.array(logs) - logsumexp(logs)) @ (topics == k) for k in (0, 1)]
    model = LDA(2, 0.7, np.stack([1e9 * phi, learnt]))
    found = exact(CORPUS, model)
    assert found["token_topic"].values == pytest.approx(np.transpose(wanted), abs=1e-7)
    assert float(found["log_evidence"]) == pytest.approx(logsumexp(logs), abs=1e-5)
    run = wb.fit(CORPUS, "cgs", 2, beta=model.beta, n_iterations=20, progress=False)
    assert run["phi"].values[0] == pytest.approx(phi, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("scan", ["documents", "words"])
def test_the_sampler_draws_from_a_posterior_with_zeros(scan):
    engine, options = get_engine("cgs"), make_options(get_engine("cgs"), {"scan": scan})
    posterior, free = exact(CORPUS, FORBIDS)["token_topic"].values[:, 0], np.equal(WORDS, 0)
    drawn = np.array(
        [state.topics == 0 for state in states(engine, CORPUS, FORBIDS, options, 20_000, seed=1)]
    )
    assert z_of(drawn[:, free].astype(float), posterior[free]).max() < 4.5
    assert np.array_equal(drawn[:, ~free].mean(axis=0), posterior[~free])


WAYS = [
    *((name, {}) for name in (*OF_LDA, "slda")),
    ("svb", {"init": "dirichlet"}),
    ("svb", {"schedule": "sequential", "init": "hard"}),
    ("vb", {"init": "hard"}),
    ("vb", {"n_inner": 3, "init": "noise"}),
    ("cvb", {"init": "hard"}),
    ("cvb", {"init": "dirichlet", "precision": "single"}),
    ("cvb0", {"init": "hard"}),
    ("cgs", {"scan": "words"}),
    ("cgs", {"scored": "sampled", "learn_alpha": "sampled"}),
    ("cgs", {"partition": 2}),
    ("svb-cgs", {"n_chains": 3}),
    ("svb-cgs", {"phases": "interleaved", "schedule": "sequential"}),
    ("cvb-cgs", {"n_chains": 2, "init": "hard"}),
    ("cvb-cgs", {"cg_second_order": True}),
    ("cvb-cgs", {"phases": "interleaved"}),
    ("cvb0-cgs", {"r": 2}),
    ("adaptive-cgs", {"r": 2, "learn_alpha": "maximised"}),
]


@pytest.mark.parametrize(("name", "options"), WAYS)
def test_no_token_is_in_a_topic_that_cannot_have_its_word(name, options):
    corpus = replace(simulated(20), labels=("x", "y") * 10)
    random = np.random.default_rng(3)
    table = random.uniform(0.05, 1, (3, corpus.n_words)) * random.integers(
        0, 2, (3, corpus.n_words)
    )
    table[random.integers(0, 3, corpus.n_words), np.arange(corpus.n_words)] = 0.5
    engine = get_engine(name)
    model = engine.model(3, 0.2, table).for_data(corpus)
    options, one_each = make_options(engine, options), every_pair(corpus)
    start = engine.init(corpus, model, options, StepContext(0, 0))
    for state in [start, *states(engine, corpus, model, options, 70)][::7]:
        n_kw = np.array(engine.counts(corpus, model, options, state)["n_kw"], float)
        assert not n_kw[table == 0.0].any()
        predicted = engine.predict(corpus, model, options, state, one_each).reshape(20, -1)
        assert predicted.sum(axis=1) == pytest.approx(1.0)
    single = 1e-6 if getattr(options, "precision", "") == "single" else ROUNDING
    assert n_kw.sum() == pytest.approx(corpus.n_tokens, rel=single)
    numbers = engine.watch(corpus, model, options, state)
    assert all(np.isfinite(value).all() for value in numbers.values())


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *((name, "bound") for name in ("svb", "vb", "online-vb", "cvb", "cvb0")),
        ("cvb", "collapsed_bound"),
    ],
)
def test_a_bound_with_zeros_is_below_the_evidence(name, number):
    engine, evidence = get_engine(name), float(exact(CORPUS, FORBIDS)["log_evidence"])
    options = make_options(engine, {})
    for state in states(engine, CORPUS, FORBIDS, options, 80):
        assert evidence - 3.5 < engine.watch(CORPUS, FORBIDS, options, state)[number] < evidence


def test_the_bound_of_a_hybrid_with_zeros_is_below_the_evidence_and_ais_is_refused():
    engine = get_engine("svb-cgs")
    options = make_options(engine, {"r": 1})
    state = stepped(engine, CORPUS, FORBIDS, options, 60)
    arguments = hybrid_bound.whole(CORPUS, *for_bound(CORPUS, options, state))
    bound = hybrid_bound.exact(*arguments)
    assert bound < float(exact(CORPUS, FORBIDS)["log_evidence"])
    bracket = hybrid_bound.bracket(*arguments, StepContext(0, 0))
    assert bracket.low - 0.2 < bound < bracket.high + 0.2  # of 100 sweeps
    with pytest.raises(OptionError, match="ais needs a beta above 0 for all words; use bracket"):
        hybrid_bound.ais(*arguments, StepContext(0, 0))


@pytest.mark.parametrize(("beta", "dims"), [(TABLE, ("topic", "word")), (VECTOR, ("word",))])
def test_a_run_keeps_its_beta_in_the_store_and_a_small_spec(beta, dims, tmp_path):
    about = {"beta": beta, "n_iterations": 4, "progress": False}
    run = wb.fit(CORPUS, "cgs", 2, **about, store=tmp_path)
    run = wb.fit(CORPUS, "cgs", 2, **about | {"n_iterations": 9}, store=tmp_path)
    stored, in_memory = (
        wb.open_run(run.attrs["name"], tmp_path),
        wb.fit(CORPUS, "cgs", 2, **about | {"n_iterations": 9}),
    )
    for one in (run, in_memory):
        assert one["phi"].values.tobytes() == stored["phi"].values.tobytes()
        assert one.attrs["spec_hash"] == stored.attrs["spec_hash"]
        theta = wb.infer(one, CORPUS, progress=False)["theta"].values
        assert np.array_equal(theta, wb.infer(stored, CORPUS, progress=False)["theta"].values)
    means = run["n_kw"].values[-1] + np.asarray(beta)
    assert run["phi"].values == pytest.approx(means / means.sum(axis=1, keepdims=True))
    assert stored["word_prior"].dims == dims
    assert np.array_equal(stored["word_prior"].values, beta)
    prior = json.loads(run.attrs["spec"])["model"]["beta"]
    assert (
        prior["shape"] == list(np.shape(beta))
        and (tmp_path / ".priors" / f"{prior['hash']}.npy").is_file()
    )
    other = wb.fit(CORPUS, "cgs", 2, beta=np.multiply(beta, 2.0), n_iterations=1, progress=False)
    assert other.attrs["spec_hash"] != run.attrs["spec_hash"]
    priors = {prior.name: prior.values for prior in wb.measures.hyperparameters(stored)}
    assert np.array_equal(priors["beta"], beta)


def test_a_run_whose_beta_is_lost_says_so(tmp_path):
    run = wb.fit(CORPUS, "cgs", 2, beta=VECTOR, n_iterations=4, store=tmp_path, progress=False)
    (file,) = (tmp_path / ".priors").iterdir()
    file.write_bytes(b"")
    with pytest.raises(ModelError, match=r"the prior of words cannot be read from .*fit the run"):
        wb.open_run(run.attrs["name"], tmp_path)
    assert any("prior of words" in text for text in examine(tmp_path / run.attrs["name"]).damage)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beta": TABLE[:1] + 1.0}, "beta must have a row for each of the 2 topics; got 1 rows"),
        ({"beta": TABLE[:, :3] + 1}, "beta must have a number for each of the 4 words of the corp"),
        ({"beta": TABLE - 0.1}, "beta must have numbers from 1e-08 to 1e.12, or 0 .*; got -0.1"),
        ({"beta": TABLE * np.nan}, "beta must have numbers from .*; got nan"),
        ({"beta": [0.0, 1, 1, 1]}, "beta is 0 in all topics for word 0 "),
        ({"beta": [[0.0] * 4, [1.0] * 4]}, "beta is 0 for all words in topic 0; give it a word"),
        ({"beta": [[1.0], [1.0, 2.0]]}, "beta must be a number, one per word, or a table"),
        ({"beta": TABLE, "learn_beta": "maximised"}, "learn_beta=maximised learns one number for"),
        ({"beta": TABLE, "seed_words": "0: b"}, "seed_words has 'b' for topic 0, where beta is 0"),
        ({"beta": TABLE, "interventions": [(2, {"beta": 0.3})]}, "beta of this run is a table "),
        ({"beta": TABLE, "engine": "vb", "topics": "point"}, "topics=point adds 1 to beta, so"),
        ({"beta": TABLE, "engine": "sb-ctm"}, "beta must be above 0 for every topic and word in"),
    ],
)
def test_a_beta_that_does_not_suit_is_refused(settings, message):
    with pytest.raises(ModelError, match=message):
        wb.fit(CORPUS, n_topics=2, n_iterations=2, progress=False, **settings)


def test_a_run_starts_from_another_where_no_token_is_forbidden():
    first = wb.fit(CORPUS, "cgs", 2, beta=TABLE, n_iterations=5, progress=False)
    for engine in ("svb", "cgs"):
        second = wb.fit(CORPUS, engine, 2, beta=TABLE, start=first, n_iterations=5, progress=False)
        assert not second["n_kw"].values[-1][TABLE == 0.0].any()
    other = wb.fit(CORPUS, "svb", 2, n_iterations=2, progress=False)
    with pytest.raises(ModelError, match="the run to start from has tokens in topics where beta"):
        wb.fit(CORPUS, "cgs", 2, beta=TABLE, start=other, progress=False)


def test_edited_topics_keep_the_prior_of_the_topic_whose_number_they_have(tmp_path):
    """phi of merged topics is the mean of theirs; their further tokens have the prior of the first."""
    settings = {"n_iterations": 3, "store": tmp_path, "progress": False}
    seeded = wb.fit(CORPUS, "cgs", 3, beta=0.5, seed_words="0: a; 1: b; 2: d", **settings)
    table = np.arange(1.0, 13.0).reshape(3, 4)
    given = wb.fit(CORPUS, "cgs", 3, beta=table, **settings)
    for run, wanted in (
        (seeded, [[0.5, 100.5, 0.5, 0.5], [100.5, 0.5, 0.5, 0.5]]),
        (given, table[[1, 0]]),
    ):
        stored = wb.Run(tmp_path / run.attrs["name"])
        stored.edit("merge 0 2", "order 1 0")
        edited = stored.edited()
        first = edited["topic"].values.tolist()
        assert sorted(first) == [0, 1]
        wanted = np.array(wanted)[[[1, 0].index(k) for k in first]]
        assert np.array_equal(priors_of(edited).beta, wanted)
        assert wb.infer(edited, CORPUS, progress=False)["theta"].shape == (3, 2)
        with pytest.raises(SpecError, match="or with a beta for each word, cannot be edited"):
            stored.branch("merge 0 2")


@pytest.mark.parametrize("more", [{"beta": range(1, 21)}, {"options": {"seed_words": "0: w0"}}])
def test_the_forecast_of_memory_counts_the_table(more):
    corpus = simulated(30)
    plain, tabular = (
        predict_memory(Planned(make_spec(corpus, "cgs", 4000, **each), corpus, None))
        for each in ({}, more)
    )
    n_bytes = corpus.n_words * 4000 * 8
    assert tabular.resident >= 2 * n_bytes and tabular.temporary >= 2 * n_bytes  # phi, and a table
    assert tabular.total >= plain.total + 2 * n_bytes
