"""The sampling kernel for many topics: its twin, the posterior it visits, and its place beside the other order of tokens."""

import numpy as np
import pytest
import twins
from geweke import z_of
from kernels.lda.test_gibbs import arrays_of, exact_quantities, quantities, uniforms_of
from toys import CORPORA, corpus_of, random_topics, simulated, toy_a, toy_three_topics

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import cgs, partition
from workbench.engines.lda.partition import DOCUMENTS, WORDS
from workbench.engines.options import make_options
from workbench.kernels.lda import sparse_gibbs
from workbench.kernels.simd.vectors import LANES
from workbench.kernels.uniforms import GIBBS
from workbench.models import LDA

ENGINE = get_engine("cgs")
BY_WORDS, BY_DOCUMENTS = cgs.Options(scan="words"), cgs.Options(scan="documents")


# ---------------------------------------------------------------------- the twin


def put(entries, k):
    """One more token in the entry of topic k, else in the first free one, else in one of sixteen new ones."""
    for entry in entries:
        if entry[0] == k and entry[1]:
            entry[1] += 1
            return
    if all(n for _, n in entries):
        entries += [[0, 0] for _ in range(LANES)]
    free = next(entry for entry in entries if not entry[1])
    free[:] = k, 1


def words_sweep(corpus, topics, alpha, beta, uniform):
    """Topics after one sweep word after word: eq. A6, what a document holds before what it may come to hold."""
    topics, n_topics = np.array(topics), len(alpha)
    lists = [[] for _ in range(corpus.n_documents)]
    for entries, row in zip(
        lists, twins.sampled_counts(corpus, topics, n_topics).n_dk, strict=True
    ):
        for k in np.flatnonzero(row):
            entries += (
                [] if entries and not all(n for _, n in entries) else [[0, 0] for _ in range(LANES)]
            )
            next(entry for entry in entries if not entry[1])[:] = k, int(row[k])
    tokens = twins.tokens_of(corpus)
    for token in sorted(
        range(len(tokens)), key=lambda token: (tokens[token][1], tokens[token][0], token)
    ):
        d, w, _ = tokens[token]
        next(entry for entry in lists[d] if entry[0] == topics[token] and entry[1])[1] -= 1
        here = np.arange(len(tokens)) == token
        counts = twins.sampled_counts(corpus, np.where(here, n_topics, topics), n_topics + 1)
        q = (beta + counts.n_wk[w]) / (corpus.n_words * beta + counts.n_k)
        entries = [lists[d][i] for lane in range(LANES) for i in range(lane, len(lists[d]), LANES)]
        p = np.array([n * q[k] for k, n in entries] + list(alpha * q[:n_topics]))
        drawn = twins.draw(p, uniform(token))
        topics[token] = entries[drawn][0] if drawn < len(entries) else drawn - len(entries)
        put(lists[d], topics[token])
    return topics


def state_of(corpus, model, topics):
    return cgs.State(*arrays_of(corpus, topics, model.n_topics), model.alphas, model.beta)


def assert_counts_are_those_of_the_topics(corpus, state, n_topics):
    for array, counts in zip(
        state[1:4], twins.sampled_counts(corpus, state.topics, n_topics), strict=True
    ):
        assert np.array_equal(array[..., :n_topics], counts)
        assert not array[..., n_topics:].any()


def assert_meets_its_twin(corpus, model, n_sweeps=2, seed=5):
    topics = random_topics(corpus, model.n_topics)
    state = state_of(corpus, model, topics)
    for step in range(1, n_sweeps + 1):
        context, before = StepContext(seed, step), topics
        state, info = ENGINE.step(corpus, model, BY_WORDS, state, context)
        topics = words_sweep(
            corpus, topics, model.alphas, model.beta, uniforms_of(context.key(GIBBS))
        )
        assert np.array_equal(state.topics, topics)
        assert info == {
            "updates": corpus.n_tokens,
            "moved": np.mean(before != topics),
            "scan": WORDS,
        }
        assert_counts_are_those_of_the_topics(corpus, state, model.n_topics)


@pytest.mark.parametrize(
    ("corpus", "model", "n_sweeps"),
    [
        *(
            (simulated(), LDA(n, tuple(np.linspace(0.1, 0.9, n)), 0.2), 2)
            for n in (1, 2, 15, 16, 17, 33, 100, 257, 500)
        ),
        *((simulated(), LDA(n, prior, prior), 2) for n in (6, 300) for prior in (1e-4, 1e-8)),
        *((corpus, LDA(n, 0.3, 0.2), 3) for corpus in CORPORA.values() for n in (3, 40)),
        # lists of several blocks that lose and win entries: 3 documents of 60 tokens, 40 topics
        (simulated(3, 12, 60), LDA(40, 0.5, 0.2), 4),
    ],
)
def test_kernel_and_twin_draw_the_same_topics_from_the_same_uniforms(corpus, model, n_sweeps):
    assert_meets_its_twin(corpus, model, n_sweeps)


def test_slices_of_words_change_no_bit(monkeypatch):
    corpus, model = simulated(), LDA(33, 0.3, 0.2)
    one, many = (state_of(corpus, model, random_topics(corpus, 33)) for _ in range(2))
    ENGINE.step(corpus, model, BY_WORDS, one, StepContext(3, 1))
    monkeypatch.setattr(
        partition,
        "slice_bounds",
        lambda indptr, lanes: [(w, w + 1) for w in range(len(indptr) - 1)],
    )
    ENGINE.step(corpus, model, BY_WORDS, many, StepContext(3, 1))
    assert all(np.array_equal(a, b) for a, b in zip(one, many, strict=True))


# ---------------------------------------------------------------------- lists


@pytest.mark.parametrize("n_topics", [1, 16, 17, 100])
def test_lists_hold_the_counts_and_give_them_back(n_topics):
    corpus = simulated()
    state = state_of(corpus, LDA(n_topics), random_topics(corpus, n_topics))
    lists = sparse_gibbs.make_lists(state.n_dk, corpus.document_tokens, n_topics)
    held = np.count_nonzero(state.n_dk, axis=1)
    assert np.array_equal(lists.ends - lists.starts[:-1], -(-held // LANES) * LANES)
    assert np.all(
        np.diff(lists.starts) >= np.minimum(corpus.document_tokens, n_topics)
    ) and not np.any(lists.starts % LANES)
    found = np.full_like(state.n_dk, 7)
    sparse_gibbs.write_back(found, *lists)
    assert np.array_equal(found, state.n_dk)
    assert sparse_gibbs.mean_held(state.n_dk, corpus.document_tokens) == pytest.approx(
        np.average(held, weights=corpus.document_tokens),
        rel=1e-12,  # rounding of one division
    )


def test_counts_that_an_entry_cannot_hold_are_drawn_by_documents():
    """Of 500 topics, 9 bits, 22 are left for counts below the sign."""
    assert sparse_gibbs.entries_fit(np.array([0, 2**22 - 1]), 500) and not sparse_gibbs.entries_fit(
        np.array([2**22]), 500
    )
    assert sparse_gibbs.entries_fit(np.array([2**30]), 1) and not sparse_gibbs.entries_fit(
        np.array([2**15]), 2**16
    )
    corpus = corpus_of([(0, 0, 2**22), (0, 1, 1)])
    assert not partition.by_words(
        corpus, ENGINE.init(corpus, LDA(500, 0.1, 0.1), cgs.Options(), StepContext(1, 0)), "words"
    )


# ---------------------------------------------------------------------- the posterior, by enumeration


def largest_deviation(corpus, model, n_sweeps, options):
    """The largest |mean - exact| / standard error over tokens, pairs of tokens and predictives; the options take turns."""
    state, visited = state_of(corpus, model, np.zeros(corpus.n_tokens)), []
    for step in range(100 + n_sweeps):  # 100 sweeps from the same start until it is forgotten
        state, _ = ENGINE.step(
            corpus, model, options[step % len(options)], state, StepContext(11, step)
        )
        visited.append(state.topics.copy())
    found = quantities(corpus, model, np.array(visited[100:]))
    return z_of(found, exact_quantities(corpus, model), 50).max()


def four_tokens():
    """17 topics with unequal alpha, 2 documents, 2 words, 3 tokens: 4913 assignments, two blocks of topics."""
    return corpus_of([(0, 0, 1), (0, 1, 1), (1, 1, 1)]), LDA(
        17, tuple(np.linspace(0.05, 0.6, 17)), 0.3
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("toy", "orders"),
    [
        *((toy, [BY_WORDS]) for toy in (toy_a, toy_three_topics, four_tokens)),
        (toy_a, [BY_WORDS, BY_DOCUMENTS]),
    ],
)
def test_draws_follow_the_exact_posterior(toy, orders):
    """Within 4 standard errors of enumeration, by words and where the orders take turns."""
    assert largest_deviation(*toy(), 10_000, orders) < 4


# ---------------------------------------------------------------------- the choice


def long_documents():
    """8 documents of 400 tokens: at random they hold half of 400 topics, and few soon after."""
    return LDA(4, 0.3, 0.05).simulate(8, 60, 400, 3)[0]


def test_the_order_follows_from_the_state():
    corpus, model = long_documents(), LDA(400, 0.01, 0.1)
    state, scans = ENGINE.init(corpus, model, cgs.Options(), StepContext(1, 0)), []
    for step in range(1, 12):
        held = np.average(np.count_nonzero(state.n_dk, axis=1), weights=corpus.document_tokens)
        expected = 400 - partition.COST * held > partition.SPARED
        state, info = ENGINE.step(corpus, model, cgs.Options(), state, StepContext(1, step))
        assert info["scan"] == expected
        scans.append(info["scan"])
    assert scans[0] == DOCUMENTS and scans[-1] == WORDS
    few = LDA(partition.SPARED, 0.01, 0.1)
    assert not partition.by_words(
        corpus, ENGINE.init(corpus, few, cgs.Options(), StepContext(1, 0)), "auto"
    )


def test_a_run_that_changes_its_order_resumes_bit_for_bit(tmp_path):
    corpus, given = long_documents(), dict(n_topics=400, alpha=0.01, beta=0.1, progress=False)
    whole = wb.fit(corpus, "cgs", n_iterations=10, **given)
    part = wb.fit(corpus, "cgs", n_iterations=2, store=tmp_path, **given)
    for n in (4, 6, 10):
        part = wb.resume(part.attrs["name"], store=tmp_path, n_iterations=n, progress=False)
    assert {0, 1} == set(part["scan"].values)
    for name in ("scan", "moved", "log_joint", "n_k"):
        assert np.array_equal(part[name], whole[name])
    assert np.array_equal(part["token_topics"][-1], whole["token_topics"][-1])


@pytest.mark.parametrize("phases", ["two_phase", "interleaved"])
@pytest.mark.parametrize("name", ["svb-cgs", "cvb0-cgs"])
def test_a_hybrid_that_samples_everything_takes_the_order_of_cgs(name, phases):
    corpus, model, hybrid = simulated(), LDA(300, 0.05, 0.1), get_engine(name)
    given = {"r": "inf", "phases": phases} | (
        {"schedule": "sequential"} if name == "svb-cgs" else {}
    )
    options = make_options(hybrid, given)
    one, other = (
        hybrid.init(corpus, model, options, StepContext(6, 0)),
        ENGINE.init(corpus, model, cgs.Options(), StepContext(6, 0)),
    )
    for step in range(1, 4):
        one, info = hybrid.step(corpus, model, options, one, StepContext(6, step))
        other, pure = ENGINE.step(corpus, model, cgs.Options(), other, StepContext(6, step))
        assert info["scan"] == pure["scan"] == WORDS and info["moved"] == pure["moved"]
        assert all(
            np.array_equal(a, b)
            for a, b in zip(one[-6:-2], [array[None] for array in other[:4]], strict=True)
        )
