"""Unseen documents under what a run of a network has learnt: plain loops over paths, LDA, authors known and unknown."""

from typing import NamedTuple

import network_twins as twins
import numpy as np
import pytest
from scipy.special import psi
from stepping import stepped
from toys import simulated

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.engines.lda.fold_in import LearntTopics
from workbench.engines.lda.fold_in import by_variational_bayes as of_lda
from workbench.engines.networks import vb as network_vb
from workbench.engines.networks.compiled import compile_network
from workbench.engines.networks.fold_in import authorless_network, first_counts, raise_to_floor
from workbench.engines.networks.paths import paths_of
from workbench.engines.options import make_options
from workbench.kernels import threads as slices
from workbench.models import Priors
from workbench.models.networks.levels import Level, Rows, Variable
from workbench.models.networks.network import Network

VB, ML = network_vb.engine("network-vb"), network_vb.engine("network-vb-ml")
OPTIONS, TURN = make_options(VB, {}), StepContext(5, 0)


class Learnt(NamedTuple):
    """As `workbench.runs` hands it over."""

    network: Network
    counts: dict
    alphas: np.ndarray


def learnt_from(network, corpus, engine=VB, n_steps=20) -> Learnt:
    network = engine.suits(network)
    state = stepped(engine, corpus, network, OPTIONS, n_steps, seed=2)
    counts = engine.counts(corpus, network, OPTIONS, state)
    by_level = {
        level.name: counts[f"n_{level.name}"]
        for level in network.levels[:-1]
        if f"n_{level.name}" in counts
    }
    return Learnt(network, by_level | {network.levels[-1].name: counts["n_kw"]}, state.alphas)


def training() -> Corpus:
    corpus = simulated(30, 8, 20)
    authors = tuple(
        ("a0", "a1", "a2")[d % 3 : d % 3 + 1 + d % 2] for d in range(corpus.n_documents)
    )
    return corpus.with_pairs(corpus.indptr, corpus.words, corpus.counts, authors=authors)


def unseen(authors=(("a0",), ("a2", "a1"), ("a1",))) -> Corpus:
    """Three documents, the last of them empty."""
    pairs = [(0, 0, 3), (0, 1, 1), (0, 7, 2), (1, 2, 1), (1, 3, 4)]
    return Corpus.from_pairs(*np.array(pairs).T, n_documents=3, n_words=8, authors=authors)


NETWORKS = {
    "lda": twins.lda(3, (0.9, 0.5, 0.2), 0.3),
    "author-topic": twins.author_topic(3, alpha=(0.6, 0.35, 0.1), beta=0.4),
    "pachinko": twins.pachinko(2, 3, (0.6, 0.35), ((0.5, 0.9, 0.1), (0.8, 0.3, 0.2)), 0.2),
    "hpam1": twins.hpam1(2, 2, 0.4, 0.3, (0.5, 0.7, 1.1), 0.4),
    "hpam2": twins.hpam2(2, 3, 0.5, 0.3, 0.3),
    "authors-by-region": twins.authors_by_region(),
}
every_network = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)


def plain_theta(network, learnt, documents) -> np.ndarray:
    """theta by loops over paths: counts of documents repeated until they rest, all else as learnt."""
    paths, levels = (
        paths_of(network),
        [level for level in network.levels if level.kind != "observed"],
    )
    places = {level.name: paths.addresses[level.name] for level in levels}
    first = first_counts(
        compile_network(network, learnt.alphas, np.zeros(8, np.uint8)), documents, TURN
    )
    xi = {}
    for level in levels:
        if level.of_documents:
            table = first[:, places[level.name].cells].reshape(
                -1, places[level.name].cells.shape[1]
            )
        else:
            table = _rows_of(network, level, learnt.counts[level.name])
        for row, n in zip(twins.rows_of(network, level, documents.n_documents), table, strict=True):
            xi[row] = n + twins.prior_of(network, row, 8)
    own = [row for row in xi if network.level(row[0]).of_documents]
    for _ in range(400 if own else 0):
        counts = twins.expected_counts(
            network, documents, twins.responsibilities(network, documents, xi)
        )
        for row in own:
            prior = twins.prior_of(network, row, 8)
            xi[row] = prior + [counts[row, value] for value in range(len(prior))]
    rows = {row: number for number, row in enumerate(twins.rows_of(network, network.levels[-1], 1))}
    theta = np.zeros((documents.n_documents, len(rows)))
    for d in range(documents.n_documents):
        for path in twins.paths_of_token(network, documents, d, 0):
            theta[d, rows[path.cells[-1][0]]] += np.prod(
                [twins.mean_of(network, documents, xi, cell) for cell in path.cells[:-1]]
            )
    return theta


def _rows_of(network, level, counts):
    if len(level.rows) == 1 and level.draws != "word":
        spans = [network.span(level.rows[0], name) for name in level.rows[0].by]
        counts = counts[tuple(slice(first, last + 1) for first, last in spans)]
    return counts.reshape(-1, counts.shape[-1])


@every_network
def test_theta_is_that_of_plain_loops_over_paths(network):
    learnt, documents = learnt_from(network, training()), unseen()
    theta = VB.fold_in(learnt, OPTIONS, documents, TURN)
    # passes end at 1e-6 tokens
    np.testing.assert_allclose(theta, plain_theta(network, learnt, documents), atol=1e-5)
    np.testing.assert_allclose(theta.sum(axis=1), 1.0, rtol=1e-12)


def test_lda_folds_in_as_lda_does():
    corpus, network = training(), NETWORKS["lda"]
    learnt = learnt_from(network, corpus)
    topics = LearntTopics(
        Priors(np.array([0.9, 0.5, 0.2]), 0.3), np.ascontiguousarray(learnt.counts["phi"])
    )
    expected = of_lda(topics, None, unseen(), TURN)
    np.testing.assert_allclose(VB.fold_in(learnt, OPTIONS, unseen(), TURN), expected, rtol=1e-9)


@pytest.mark.parametrize("authors", [None, ((), (), ()), (("nobody",), ("x", "y"), ())])
def test_a_document_by_strangers_is_an_author_of_its_own(authors):
    """Its theta has the prior of an author, fitted to its words: the author-topic model is then LDA."""
    learnt = learnt_from(NETWORKS["author-topic"], training())
    theta = VB.fold_in(learnt, OPTIONS, unseen(authors), TURN)
    alpha = np.array([0.6, 0.35, 0.1])
    topics = LearntTopics(Priors(alpha, 0.4), np.ascontiguousarray(learnt.counts["phi"]))
    expected = of_lda(topics, None, unseen(), TURN)
    np.testing.assert_allclose(theta, expected, rtol=1e-9)
    # nothing was observed: an unseen author
    np.testing.assert_allclose(theta[2], alpha / alpha.sum(), rtol=1e-12)


def test_known_authors_have_what_they_had_and_strangers_beside_them_are_left_out():
    learnt = learnt_from(NETWORKS["author-topic"], training())
    theta = VB.fold_in(learnt, OPTIONS, unseen((("a0", "nobody"), ("x",), ("a1", "a2"))), TURN)
    rows = learnt.counts["theta"] + np.array([0.6, 0.35, 0.1])
    rows /= rows.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(theta[0], rows[0], rtol=1e-9)
    np.testing.assert_allclose(theta[2], (rows[1] + rows[2]) / 2, rtol=1e-9)
    alone = VB.fold_in(learnt, OPTIONS, unseen(None), TURN)
    np.testing.assert_array_equal(theta[1], alone[1])


@every_network
def test_estimated_rows_fold_documents_in_with_words_that_they_have_not_seen(network):
    corpus = training()
    kept = corpus.words != 7
    indptr = np.concatenate([[0], np.cumsum(kept)])[corpus.indptr]
    without = corpus.with_pairs(indptr, corpus.words[kept], corpus.counts[kept])
    learnt = learnt_from(network, without, ML)
    for documents in (unseen(), unseen(None)):
        theta = ML.fold_in(learnt, OPTIONS, documents, TURN)
        np.testing.assert_allclose(theta.sum(axis=1), 1.0, rtol=1e-12)


def test_any_number_of_threads_and_any_company_give_a_document_the_same_bits(monkeypatch):
    monkeypatch.setattr(slices, "SLICE_WORK", 64)
    corpus, network = training(), NETWORKS["pachinko"]
    learnt = learnt_from(network, corpus)
    one = VB.fold_in(learnt, OPTIONS, corpus, TURN)
    np.testing.assert_array_equal(VB.fold_in(learnt, OPTIONS, corpus, StepContext(5, 0, 3)), one)
    np.testing.assert_array_equal(
        VB.fold_in(learnt, OPTIONS, corpus.of_documents([7]), TURN), one[7:8]
    )


def test_super_topics_of_one_prior_come_apart_in_unseen_documents():
    network = twins.pachinko(2, 3, 0.5, 0.3, 0.2)
    learnt = learnt_from(network, training())
    counts = first_counts(
        compile_network(network, learnt.alphas, np.zeros(8, np.uint8)), unseen(), TURN
    )
    cells = paths_of(network).addresses["theta1"].cells
    assert np.abs(psi(1 + counts[0, cells[0]]) - psi(1 + counts[0, cells[1]])).max() > 0.01


def test_two_variables_by_author_are_by_document_for_strangers():
    """Authors choose a mood, and a topic given the mood."""
    base = twins.author_topic(2)
    network = Network(
        "moods",
        (*base.variables, Variable("mood", 2)),
        (
            base.levels[0],
            Level("rho", "mood", (Rows(("author",)),)),
            Level(
                "theta",
                "topic",
                (Rows(("author", "mood")),),
                prior=((0.5, 0.2), (0.3, 0.9)),
                groups=("mood",),
            ),
            base.levels[2],
        ),
    )
    learnt = learnt_from(network, training())
    theta = VB.fold_in(learnt, OPTIONS, unseen(None), TURN)
    stranger = authorless_network(network)
    assert [rows.by for level in stranger.levels for rows in level.rows] == [
        ("document",),
        ("document", "mood"),
        ("topic",),
    ]
    np.testing.assert_allclose(theta, plain_theta(stranger, learnt, unseen(None)), atol=1e-5)


def test_rows_raised_to_the_floor_still_sum_to_one():
    table = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    found = raise_to_floor(table)
    # rounding; the floor is 1e-10
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-15)
    assert found.min() > 0
