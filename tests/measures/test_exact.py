"""The exact posterior of a toy: printed values, the plain enumeration, what symmetry says, and what is refused."""

import numpy as np
import pytest
import twins
from toys import CORPORA, corpus_of, toy_a, toy_three_topics

import workbench as wb
from workbench.kernels.lda.enumeration import MOST_STATES
from workbench.measures import MeasureError, exact

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
