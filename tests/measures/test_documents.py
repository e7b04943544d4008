"""Documents that show a topic, and the topics of their words, against plain arithmetic."""

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up, tiny_comparison, tiny_corpus, tiny_run
from scipy.stats import binomtest

import workbench as wb
from workbench.measures import MeasureError, representative_documents, token_topics


def training() -> wb.Corpus:
    return wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)[0]


def with_counts(n_dk) -> xr.Dataset:
    """Two topics of which documents have these tokens, with an alpha of 0.01."""
    n_dk = np.array(n_dk, float)
    raised = n_dk + 0.01
    run = made_up("cgs", [1]).assign(
        {
            "n_dk": (("snapshot", "document", "topic"), n_dk[None]),
            "theta": (("document", "topic"), raised / raised.sum(axis=1, keepdims=True)),
            "n_kw": (("snapshot", "topic", "word"), n_dk.sum(axis=0)[None, :, None]),
            "phi": (("topic", "word"), [[1.0], [1.0]]),
        }
    )
    return run.assign_coords(
        document=np.array([f"d{d}" for d in range(len(n_dk))], dtype=object), word=["w"]
    )


def test_representative_documents_rank_documents_of_one_token_low():
    result = representative_documents(with_counts([[1, 0], [90, 10], [0, 5], [10, 0]]), 0)
    assert result["title"].values.tolist() == ["d1", "d3", "d0"]  # d2 has no token of the topic
    assert result["theta"].values[2] > result["theta"].values[0]
    assert result["n_tokens"].values.tolist() == [100, 10, 1] and result[
        "n_topic_tokens"
    ].values.tolist() == [90, 10, 1]


def test_the_score_is_the_lower_end_of_wilsons_interval():
    result = representative_documents(with_counts([[1, 0], [80, 20], [7, 3]]), 0)
    for own, tokens, score in zip(
        result["n_topic_tokens"], result["n_tokens"], result["score"], strict=True
    ):
        low = binomtest(int(own), int(tokens)).proportion_ci(0.95, "wilson").low
        assert float(score) == pytest.approx(low, abs=1e-12)


def test_representative_documents_are_none_for_an_empty_topic():
    assert representative_documents(with_counts([[0, 0], [0, 3]]), 0).sizes["rank"] == 0
    assert representative_documents(with_counts([[0, 0], [0, 3]]), 1)[
        "document"
    ].values.tolist() == [1]


def test_representative_documents_have_index_and_theta():
    run = tiny_run()
    result = representative_documents(run, 2, 3)
    assert result.sizes["rank"] <= 3 and result.attrs["topic"] == 2
    for place, title, theta in zip(
        result["document"], result["title"], result["theta"], strict=True
    ):
        assert (
            title == run["document"].values[int(place)]
            and float(theta) == run["theta"].values[int(place), 2]
        )


def test_the_topic_of_a_word_follows_theta_and_phi():
    run, corpus = tiny_run(), training()
    result = token_topics(run, corpus, 5)
    first, last = corpus.indptr[5:7]
    assert result["word"].values.tolist() == [
        corpus.vocabulary[w] for w in corpus.words[first:last]
    ]
    assert result["n_tokens"].values.tolist() == corpus.counts[first:last].tolist()
    for row, word in enumerate(corpus.words[first:last]):
        joint = [float(run["theta"][5, k]) * float(run["phi"][k, word]) for k in range(4)]
        np.testing.assert_allclose(
            result["probability"].values[row], np.array(joint) / sum(joint), rtol=1e-12
        )
        assert int(result["likely"][row]) == max(range(4), key=lambda k, joint=joint: joint[k])


def test_words_of_unseen_text_are_matched_by_their_spelling():
    run = tiny_run()
    known = str(run["word"].values[3])
    corpus = wb.Corpus.from_pairs([0, 0], [0, 1], [2, 1], vocabulary=(known, "neverseen"))
    theta = wb.infer(run, corpus)["theta"][0]
    result = token_topics(run, corpus, 0, theta=theta)
    row = result["word"].values.tolist().index(known)
    joint = theta.values * run["phi"].values[:, 3]
    np.testing.assert_allclose(result["probability"].values[row], joint / joint.sum(), rtol=1e-12)
    assert (
        int(result["likely"][1 - row]) == -1
        and np.isnan(result["probability"].values[1 - row]).all()
    )


def test_an_empty_document_has_no_word():
    corpus = wb.Corpus.from_pairs([0, 2], [0, 1], [2, 2], vocabulary=("one", "two"))
    run = wb.fit(corpus, "cgs", n_topics=1, n_iterations=2, progress=False)
    assert token_topics(run, corpus, 1).sizes["word"] == 0
    assert token_topics(run, corpus, 2)["likely"].values.tolist() == [0]


def test_token_topics_leave_out_empty_topics_of_an_hdp():
    corpus = tiny_corpus()
    run = wb.fit(corpus, "g-hdp", n_topics=3, n_iterations=3, progress=False)
    gone = int(np.flatnonzero(run["n_k"].values[-1])[0])
    run["n_kw"][-1, gone] = 0
    for theta in (None, run["theta"].values[0]):
        result = token_topics(run, corpus, 0, theta)
        assert gone not in result["topic"].values and gone not in result["likely"].values
        np.testing.assert_allclose(result["probability"].sum("topic"), 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: representative_documents(tiny_run(), 4),
            "there is no topic 4; the run has 0 to 3",
        ),
        (lambda: representative_documents(tiny_run(), "first"), "there is no topic 'first'"),
        (
            lambda: representative_documents(tiny_run(), 0, 0),
            "the number of documents must be .* at least 1; got 0",
        ),
        (lambda: representative_documents(tiny_comparison(), 0), "has no phi"),
        (
            lambda: token_topics(tiny_run(), training(), 12),
            "the document must be a number from 0 to 11; got 12",
        ),
        (lambda: token_topics(tiny_run(), tiny_corpus(), 0), "was trained on another corpus"),
        (
            lambda: token_topics(tiny_run(), training(), 0, theta=[1.0]),
            "one number for each of 4 topics; it has shape",
        ),
    ],
)
def test_wrong_input_gets_one_sentence(call, message):
    with pytest.raises(MeasureError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
