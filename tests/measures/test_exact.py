"""The exact posterior of a toy: printed values, plain enumeration, symmetry, what is refused; and engines beside it."""

import numpy as np
import pytest
import twins
from stepping import stepped
from toys import CORPORA, LDA_ENGINES, corpus_of, random_gamma, toy_a, toy_three_topics

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda.token_probabilities import token_probabilities
from workbench.engines.options import make_options
from workbench.kernels.lda.enumeration import MOST_STATES
from workbench.measures import MeasureError, exact
from workbench.measures.exact import against_exact, collapsed_bounds, lda_engines, n_different
from workbench.models.options import OptionError
from workbench.runs.afterwards.bound import HYBRIDS

PRINTED = 1e-10  # exact quantities, spec E.5
ROUNDING = 1e-12  # sums of at most 65,536 probabilities in another order
NAMES = ("log_evidence", "token_topic", "co_assignment", "predictive")


def by_enumeration(corpus, model):
    """log evidence, (token, topic), (token, token), (document, word), from the plain list of all assignments."""
    every = twins.enumerate_topics(corpus, model.alphas, model.beta)
    is_topic = every.topics[:, :, None] == np.arange(model.n_topics)
    same = every.topics[:, :, None] == every.topics[:, None, :]
    tables = (
        twins.predictive(twins.sampled_counts(corpus, z, model.n_topics), model.alphas, model.beta)
        for z in every.topics
    )
    table = sum(p * one for p, one in zip(every.probability, tables, strict=True))
    p = every.probability
    return (
        every.log_sum,
        np.einsum("s,stk->tk", p, is_topic),
        np.einsum("s,stu->tu", p, same),
        table,
    )


def test_the_posterior_of_toy_a_is_the_printed_one(oracles):
    result, printed = exact(*toy_a()), oracles["toyA"]["exact"]
    for name, key in zip(NAMES, ("log_evidence", "pz", "same", "pred"), strict=True):
        np.testing.assert_allclose(
            result[name].values, printed[key], rtol=0, atol=PRINTED, err_msg=name
        )
    assert result.attrs["n_states"] == 2**9 and result["log_evidence"].attrs["units"] == "nats"
    assert result["token_word"].values.tolist() == [
        "w0",
        "w0",
        "w0",
        "w1",
        "w0",
        "w1",
        "w2",
        "w2",
        "w2",
    ]


def test_empty_documents_and_unused_words_have_their_printed_predictive(oracles):
    printed = oracles["edge"]["empty_doc_and_unused_words"]
    corpus = corpus_of(printed["pairs"], printed["D"], printed["W"])
    result = exact(corpus, wb.LDA(2, tuple(printed["alpha"]), printed["beta"]))
    assert float(result["log_evidence"]) == pytest.approx(printed["log_evidence"], abs=PRINTED)
    np.testing.assert_allclose(result["predictive"].values, printed["pred"], rtol=0, atol=PRINTED)


def test_with_one_topic_the_evidence_is_the_printed_log_joint(oracles):
    printed = oracles["edge"]["K1"]
    result = exact(toy_a()[0], wb.LDA(1, tuple(printed["alpha"]), printed["beta"]))
    assert float(result["log_evidence"]) == pytest.approx(printed["log_evidence"], abs=PRINTED)
    assert (result["co_assignment"] == 1).all() and result.attrs["n_states"] == 1


@pytest.mark.parametrize(
    "corpus, model",
    [
        toy_three_topics(),
        (CORPORA["one_document"], wb.LDA(2, 0.05, 1.5)),
        (CORPORA["one_word"], wb.LDA(2, (1e-8, 3.0), 0.2)),
        (CORPORA["one_token"], wb.LDA(5, (0.1, 0.2, 0.3, 0.4, 0.5), 1e-8)),
        (CORPORA["empty_documents_and_unused_words"], wb.LDA(6, 0.1, 0.01)),
    ],
    ids=["three topics", "one document", "one word", "one token", "more topics than tokens"],
)
def test_every_number_is_that_of_the_plain_enumeration(corpus, model):
    result = exact(corpus, model)
    for name, expected in zip(NAMES, by_enumeration(corpus, model), strict=True):
        np.testing.assert_allclose(
            result[name].values, expected, rtol=0, atol=ROUNDING, err_msg=name
        )
    assert result["predictive"].sum("word").values == pytest.approx(1, abs=ROUNDING)


def test_exact_gives_exchangeable_topics_equal_probability():
    result = exact(corpus_of([(0, 0, 5), (0, 1, 1), (1, 1, 1), (1, 2, 5)]), wb.LDA(2, 0.1, 0.1))
    np.testing.assert_allclose(result["token_topic"].values, 0.5, rtol=0, atol=ROUNDING)


def test_the_largest_corpora_are_enumerated():
    for n_topics, n_tokens in ((2, 16), (256, 2), (65_535, 1)):
        result = wb.exact(corpus_of([(0, 0, n_tokens)], 2, 3), wb.LDA(n_topics))
        assert result.attrs["n_states"] == n_topics**n_tokens <= MOST_STATES
        # 65,536 weights
        assert result["predictive"].sum("word").values == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("corpus", "model", "sentence"),
    [
        (
            corpus_of([(0, 0, 17)]),
            wb.LDA(2),
            r"^17 tokens in 2 topics have 2\^17 assignments, .* take at most 16 tokens$",
        ),
        (
            corpus_of([(0, 0, 11)]),
            wb.LDA(3),
            r"3\^11 .* take at most 10 tokens, or fewer topics$",
        ),
        (wb.Corpus(np.array([0, 0]), [], [], ("a",), ("d",)), wb.LDA(2), "has no token"),
        (corpus_of([(0, 0, 5000)]), wb.LDA(1), "more than 16,777,216 cells"),
        ("toy", wb.LDA(2), "got str"),
        (toy_a()[0], 2, "got int"),
    ],
)
def test_exact_refuses_what_cannot_be_enumerated(corpus, model, sentence):
    with pytest.raises(MeasureError, match=sentence):
        exact(corpus, model)


# ---------------------------------------------------------------------- engines beside it

PRINTED_BOUND = 1e-9  # values of the specification, E.5
CONVERGED = 1e-7  # converged fixed points, E.5
SLACK = 1e-9  # a bound that is the evidence
TWO = corpus_of([(0, 0, 5), (0, 1, 1), (1, 1, 1), (1, 2, 5)])


def expected_joint(corpus, gamma, alpha, beta):
    """E_q[L(n)] over every assignment."""
    every = twins.enumerate_topics(corpus, alpha, beta)
    q = np.prod(
        np.repeat(gamma, corpus.counts, axis=0)[np.arange(corpus.n_tokens), every.topics], axis=1
    )
    joints = [
        twins.log_joint(twins.sampled_counts(corpus, z, len(alpha)), alpha, beta)
        for z in every.topics
    ]
    return q @ np.array(joints)


@pytest.mark.parametrize(
    "corpus, model",
    [toy_a(), toy_three_topics(), (CORPORA["empty_documents_and_unused_words"], wb.LDA(2))],
)
def test_bounds_are_those_of_all_assignments_and_in_order(corpus, model):
    gamma = random_gamma(corpus, model.n_topics)
    result = collapsed_bounds(corpus, model, gamma)
    entropy = twins.entropy(corpus, gamma)
    assert result["jensen"] == pytest.approx(
        twins.bound(corpus, gamma, model.alphas, model.beta), abs=ROUNDING
    )
    assert result["exact"] == pytest.approx(
        expected_joint(corpus, gamma, model.alphas, model.beta) + entropy, abs=ROUNDING
    )
    assert result["jensen"] < result["exact"] < float(exact(corpus, model)["log_evidence"])
    assert result["collapsed"] == pytest.approx(result["exact"], abs=0.1)  # an expansion


def test_bounds_at_the_optimum_of_svb_are_the_printed_ones(oracles, toy):
    result = collapsed_bounds(*toy, np.array(oracles["toyA"]["svb_parallel"]["gamma_final"]))
    assert result["jensen"] == pytest.approx(
        oracles["toyA"]["svb_parallel"]["F_final"], abs=PRINTED_BOUND
    )
    assert result["exact"] == pytest.approx(-12.8564, abs=5e-5)  # four digits, spec A.13, 5


def test_exact_expectations_of_many_tokens_are_refused():
    with pytest.raises(MeasureError, match="at most 2,000 tokens; the corpus has 2,001"):
        collapsed_bounds(corpus_of([(0, 0, 2001)]), wb.LDA(1), np.ones((1, 1)))


def test_against_exact_has_the_evidence_and_bounds_of_every_engine_of_lda():
    """Each valid bound lies below it; what rests has F and what is of both halves B."""
    model = wb.LDA(2)
    truth = exact(TWO, model)
    # a plug-in's state is not read token by token
    assert set(lda_engines()) <= set(LDA_ENGINES) and "adaptive-cgs" in lda_engines()
    for name in lda_engines():
        result = against_exact(truth, TWO, model, name, n_starts=3)
        bounds = result["bound"].to_series()
        assert (
            bounds.drop("collapsed").max() <= float(truth["log_evidence"]) + SLACK or name == "cgs"
        ), name
        assert np.isfinite(bounds["hybrid"]) == (name in HYBRIDS), name
        assert np.isfinite(bounds["exact"]) == ("bound" in get_engine(name).watches), name
        assert result["predictive"].sum("word").values == pytest.approx(1, abs=ROUNDING)
        assert (
            0 < float(result["predictive_distance"]) < 0.1
            and 0 < float(result["co_assignment_distance"]) < 0.3
        ), name
        assert 1 <= int(result["n_attractors"]) <= 3
        np.testing.assert_allclose(
            result["token_topic"].sum("topic").values, 1, rtol=0, atol=ROUNDING
        )


def test_ends_of_toy_a_are_the_printed_optima(oracles, toy):
    """Converged gamma of the first topic at the start with the highest exact F; topics have unequal priors."""
    corpus, model = toy
    truth = exact(corpus, model)
    result = against_exact(truth, corpus, model, "cvb")
    one_each = np.cumsum(corpus.counts) - 1
    np.testing.assert_allclose(
        result["token_topic"].values[one_each, 0],
        [0.980815, 0.902172, 0.758324, 0.553780, 0.052147],
        rtol=0,
        atol=5e-7,
    )
    svb = against_exact(truth, corpus, model, "svb")
    assert float(svb["bound"].sel(kind="jensen")) == pytest.approx(
        oracles["toyA"]["svb_parallel"]["F_final"], abs=CONVERGED
    )


def test_gibbs_sampling_converges_to_the_exact_posterior(toy):
    """20 chains of 180 sweeps: distances of about 0.002 and 0.008; those of the best hybrid are several times as large."""
    result = against_exact(exact(*toy), *toy, "cgs")
    assert (
        float(result["predictive_distance"]) < 0.01
        and float(result["co_assignment_distance"]) < 0.03
    )
    assert int(result["n_attractors"]) == 1 and result.attrs["samples"]


def test_distances_are_zero_for_one_token_and_for_one_topic():
    for corpus, model in ((CORPORA["one_token"], wb.LDA(3)), (toy_a()[0], wb.LDA(1))):
        for name in LDA_ENGINES:
            result = against_exact(exact(corpus, model), corpus, model, name, n_starts=2)
            if model.n_topics == 1:
                bounds = result["bound"].values
                assert bounds[np.isfinite(bounds)] == pytest.approx(
                    float(result["log_evidence"]), abs=1e-9
                )
                assert float(result["co_assignment_distance"]) == 0
            else:
                assert np.isnan(result["co_assignment_distance"])


def test_n_different_compares_tables_by_their_largest_difference():
    tables = np.array([[0.5, 0.5], [0.5004, 0.4996], [0.6, 0.4], [0.1, 0.9], [0.6, 0.4]])
    assert (
        n_different(tables, 1e-3) == 3
        and n_different(tables, 0.1) == 2
        and n_different(tables, 0.5) == 1
    )


def test_token_probabilities_are_refused_for_point_estimates_of_topics():
    engine = get_engine("vb")
    options = make_options(engine, {"topics": "point"})
    state = engine.init(TWO, wb.LDA(2), options, StepContext(0, 0))
    with pytest.raises(OptionError, match="take topics=full"):
        token_probabilities(TWO, options, state)


@pytest.mark.parametrize("name", ("svb", "svb-cgs"))
def test_recomputed_responsibilities_equal_the_stored_ones_at_convergence(name):
    """Sampled tokens would move the counts on, so all pairs of the hybrid are averaged."""
    engine, model = get_engine(name), wb.LDA(2, (0.7, 0.4), 0.3)
    result = []
    for schedule in ("parallel", "sequential"):
        options = make_options(engine, {"schedule": schedule} | ({"r": 0} if name != "svb" else {}))
        state = stepped(engine, TWO, model, options, 399)
        result.append(token_probabilities(TWO, options, state))
    np.testing.assert_allclose(*result, rtol=0, atol=CONVERGED)
