"""Log probabilities of documents given topics: exact ones, and bounds as two other programs compute them."""

from importlib.util import find_spec

import numpy as np
import pytest
import twins
from missing import skip_without
from scipy.sparse import csr_matrix
from toys import CORPORA, corpus_of, simulated, toy_a, toy_three_topics

from workbench.engines.lda.fold_in import LearntTopics, word_probabilities
from workbench.measures import MeasureError, exact
from workbench.measures.document_likelihoods import (
    exact_logs,
    left_to_right_logs,
    mean_of_estimates,
    variational_bound,
    variational_counts,
)
from workbench.models import LDA, Priors

# sums over at most 3^7 assignments, and lnGamma of a prior of 1e-8, in another order
ROUNDING = 1e-10
SAME_BOUND = 1e-6  # of a token; both programs compute digamma in their own way


def learnt_of(model, n_words, seed=0, scale=5.0):
    """Topics as a run of LDA leaves them: (topic, word) real counts, most of them small."""
    n_kw = np.random.default_rng(seed).gamma(0.3, scale, (model.n_topics, n_words))
    return LearntTopics(Priors(model.alphas, model.beta), n_kw)


@pytest.mark.parametrize(
    "corpus, model",
    [
        toy_a(),
        toy_three_topics(),
        (CORPORA["empty_documents_and_unused_words"], LDA(6, 1e-8, 1e-8)),
        (CORPORA["one_document"], LDA(1, 0.3, 0.1)),
        (CORPORA["one_token_documents"], LDA(4, (0.1, 0.2, 0.3, 1e-8), 0.5)),
    ],
    ids=["toy a", "three topics", "empty, tiny priors", "one topic", "one token"],
)
def test_exact_probabilities_are_those_of_the_enumeration(corpus, model):
    learnt = learnt_of(model, corpus.n_words)
    phi = word_probabilities(*learnt)
    result = exact_logs(corpus, phi, model.alphas)
    expected = [
        twins.log_probability_given_topics(pairs, phi.T, model.alphas)
        for pairs in twins.documents_of(corpus)
    ]
    np.testing.assert_allclose(result, expected, rtol=0, atol=ROUNDING)
    assert (result[corpus.document_tokens == 0] == 0).all()


def test_exact_logs_refuses_too_many_topic_counts():
    corpus = corpus_of([(0, 0, 30), (0, 1, 30)], 1, 2)
    assert np.isfinite(exact_logs(corpus, np.full((2, 3), 0.5), np.ones(3))).all()
    with pytest.raises(
        MeasureError,
        match=r"1 documents of up to 60 tokens in 20 topics have more than 2\^20 topic counts",
    ):
        exact_logs(corpus, np.full((2, 20), 0.5), np.ones(20))


@pytest.mark.parametrize(
    "model",
    [LDA(2, (0.7, 0.4), 0.3), LDA(3, 1e-4, 0.1), LDA(2, 1e-8, 1e-8), LDA(1, 0.5, 0.2)],
    ids=str,
)
def test_the_left_to_right_estimate_is_within_its_error_of_the_exact_one(model):
    corpus = CORPORA["toy_a"]
    phi = word_probabilities(*learnt_of(model, corpus.n_words))
    expected = exact_logs(corpus, phi, model.alphas).sum()
    value, error = mean_of_estimates(left_to_right_logs(corpus, phi, model.alphas, 20, 2_000)[0])
    assert abs(value - expected) <= 4.5 * error + ROUNDING


@pytest.mark.parametrize(
    "model",
    [LDA(2, (0.7, 0.4), 0.3), LDA(3, 0.05, 0.1), LDA(2, 1e-8, 1e-8), LDA(1, 0.5, 0.2)],
    ids=str,
)
@pytest.mark.parametrize("name", ["toy_a", "empty_documents_and_unused_words", "one_token"])
def test_bounds_are_at_most_the_exact_log_probability(name, model):
    """That of documents is below log p(w | E[phi], alpha), as E[log phi] < log E[phi]; with topics below log p(words)."""
    corpus = CORPORA[name]
    learnt = learnt_of(model, corpus.n_words)
    bound = variational_bound(corpus, learnt, variational_counts(corpus, learnt))
    assert bound.of_topics <= ROUNDING
    assert (
        bound.of_documents
        <= exact_logs(corpus, word_probabilities(*learnt), model.alphas).sum() + ROUNDING
    )
    assert sum(bound) <= float(exact(corpus, model)["log_evidence"]) + ROUNDING


def test_the_bound_is_that_of_all_of_q():
    """By the plain bound of gamma, q(theta) and q(phi), with the best gamma given the others."""
    corpus, model = toy_three_topics()
    learnt, rng = learnt_of(model, corpus.n_words), np.random.default_rng(1)
    a, b = rng.gamma(1.0, 2.0, (corpus.n_documents, 3)), model.beta + learnt.n_kw
    logs = twins.log_means(a)[corpus.documents] + twins.log_means(b).T[corpus.words]
    gamma = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
    expected = twins.uncollapsed_bound(corpus, gamma, a, b, model.alphas, model.beta)
    assert sum(variational_bound(corpus, learnt, a)) == pytest.approx(expected, abs=ROUNDING)


def test_q_of_a_document_is_the_best_one():
    """No change of its parameters by a tenth raises the bound; an empty document keeps its prior."""
    corpus = CORPORA["empty_documents_and_unused_words"]
    model = LDA(3, (0.9, 0.5, 0.2), 0.4)
    learnt = learnt_of(model, corpus.n_words)
    gamma = variational_counts(corpus, learnt)
    best = sum(variational_bound(corpus, learnt, gamma))
    for seed in range(20):
        other = gamma * np.exp(np.random.default_rng(seed).normal(0, 0.1, gamma.shape))
        assert sum(variational_bound(corpus, learnt, other)) < best
    np.testing.assert_allclose(
        gamma[corpus.document_tokens == 0], np.tile(model.alphas, (4, 1)), rtol=1e-12
    )


SETS = [
    (LDA(4, 0.3, 0.2), 3.0),
    (LDA(5, (0.1, 0.2, 0.4, 0.8, 1.6), 0.05), 20.0),
    (LDA(1, 0.5, 0.5), 5.0),
    (LDA(3, 1e-3, 1e-2), 5.0),
]


@pytest.mark.parametrize("model, scale", SETS, ids=str)
def test_gensim_computes_the_same_bound(model, scale):
    if find_spec("gensim") is None:
        skip_without("gensim is in the extra 'bench'")
    from gensim.models import LdaModel

    corpus = simulated()
    learnt = learnt_of(model, corpus.n_words, scale=scale)
    texts = [[(int(w), int(n)) for w, n in pairs] for pairs in twins.documents_of(corpus)]
    theirs = LdaModel(
        num_topics=model.n_topics,
        id2word=dict(enumerate(corpus.vocabulary)),
        alpha=model.alphas.tolist(),
        eta=model.beta,
        iterations=20_000,
        gamma_threshold=1e-10,
        dtype=np.float64,
        random_state=0,
    )
    theirs.state.sstats = learnt.n_kw
    theirs.sync_state()
    gamma = variational_counts(corpus, learnt)
    ours = sum(variational_bound(corpus, learnt, gamma))
    assert ours / corpus.n_tokens == pytest.approx(
        theirs.bound(texts, gamma=gamma[:, None]) / corpus.n_tokens, abs=1e-9
    )
    # below, documents have several fixed points, and theirs begin at random
    if model.alphas.min() > 0.01:
        assert ours / corpus.n_tokens == pytest.approx(theirs.log_perplexity(texts), abs=SAME_BOUND)


@pytest.mark.parametrize(
    "model, scale", [each for each in SETS if np.ndim(each[0].alpha) == 0], ids=str
)
def test_scikit_learn_computes_the_same_perplexity(model, scale):
    from sklearn.decomposition import LatentDirichletAllocation

    corpus = simulated()
    learnt = learnt_of(model, corpus.n_words, scale=scale)
    matrix = csr_matrix(
        (corpus.counts, corpus.words, corpus.indptr), (corpus.n_documents, corpus.n_words)
    )
    theirs = LatentDirichletAllocation(
        model.n_topics,
        doc_topic_prior=model.alpha,
        topic_word_prior=model.beta,
        max_iter=1,
        max_doc_update_iter=20_000,
        mean_change_tol=1e-10,
        random_state=0,
    ).fit(matrix)
    theirs.components_ = model.beta + learnt.n_kw
    theirs.exp_dirichlet_component_ = np.exp(twins.log_means(theirs.components_))
    ours = sum(variational_bound(corpus, learnt, variational_counts(corpus, learnt)))
    assert ours / corpus.n_tokens == pytest.approx(
        theirs.score(matrix) / corpus.n_tokens, abs=SAME_BOUND
    )
    assert np.exp(-ours / corpus.n_tokens) == pytest.approx(
        theirs.perplexity(matrix), rel=SAME_BOUND
    )
