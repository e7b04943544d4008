"""Documents that show a topic, and the topics of their words, against plain arithmetic."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from comparisons import tiny_comparison, tiny_corpus, tiny_run
from measures.test_groups import with_tokens
from scipy.stats import binomtest

import workbench as wb
from workbench.corpus.document_table import DocumentTable
from workbench.measures import (
    MeasureError,
    document_map,
    documents_table,
    find_documents,
    representative_documents,
    token_topics,
    top_words,
    topic_sizes,
    topics_by_size,
)
from workbench.measures.documents import search_for


def training() -> wb.Corpus:
    return wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)[0]


def with_counts(n_dk) -> xr.Dataset:
    """Two topics of which documents have these tokens, with an alpha of 0.01."""
    raised = np.array(n_dk) + 0.01
    theta = raised / raised.sum(axis=1, keepdims=True)
    return with_tokens(n_dk).assign(theta=(("document", "topic"), theta))


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


def test_documents_of_two_topics_are_mapped_at_their_hellinger_distances():
    """A plane keeps the distances of two topics; a document without a token has no place."""
    run = with_counts([[4, 0], [0, 4], [2, 2], [0, 0]])
    result = document_map(run)
    at, roots = result[["x", "y"]].to_array().values.T, np.sqrt(run["theta"].values / 2)
    assert np.isnan(at[3]).all() and result.attrs["shown"] == pytest.approx(1)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert np.hypot(*(at[a] - at[b])) == pytest.approx(np.hypot(*(roots[a] - roots[b])))


def test_documents_with_the_same_topics_share_a_point():
    result = document_map(with_counts([[3, 1]] * 3))
    np.testing.assert_allclose(result[["x", "y"]].to_array(), 0, atol=1e-7)


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
        (lambda: wb.top_documents(tiny_run(), 99), "there is no topic 99"),
        (
            lambda: wb.perplexity(tiny_run().drop_vars("test_perplexity")),
            "has no held-out perplexity; give fit a test set",
        ),
    ],
)
def test_wrong_input_gets_one_sentence(call, message):
    with pytest.raises(MeasureError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------------- finding documents

TEXTS = ["The red Ant sees bees", "A green bee, a red rose", "", "green ants: bees & rose 12:30"]
COLUMNS = {"text": TEXTS, "kind": ("Insect", "both", None, "Insect"), "a size": (1, 12, 2, 3)}
CORPUS = replace(
    wb.Corpus.from_texts(TEXTS, titles=["first", "second", "third", "rose garden"]),
    labels=("x", "y", "x", ""),
)
TABLE = DocumentTable(COLUMNS, "text")


@pytest.fixture(scope="module")
def run():
    return wb.fit(CORPUS, "cvb0", 2, n_iterations=3, progress=False)


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("red", [0, 1]),
        ("RED", [0, 1]),
        ("red ant", [0]),
        ('"red ant"', [0]),
        ('"ant red"', []),
        ("ant", [0, 3]),
        ("rose", [1, 3]),
        ("kind:insect", [0, 3]),
        ("kind:insect rose", [3]),
        ('kind:"insect"', [0, 3]),
        ('"a size":12', [1]),
        ("label:x", [0, 2]),
        ("kind=INSECT", [0, 3]),
        ("kind=insec", []),
        ('"a size":1', [0, 1]),
        ('"a size"="1"', [0]),
        ("kin=insect", []),  # no column, so a word
        (search_for("kind", "both"), [1]),
        (search_for("label", "x"), [0, 2]),
        ('"12:30"', [3]),
        ("second", [1]),
        ("zebra", []),
        ('"see"', [0]),
        ('"', []),
        ("none", []),
        ("&", [3]),
        ('"roseboth"', []),
        ('"rose both"', []),
    ],
)
def test_find_documents_matches_every_term(run, query, result):
    assert find_documents(run, query, TABLE, CORPUS).tolist() == result


def test_find_documents_by_values_in_their_own_case_with_quotes_and_in_columns_of_one_name(run):
    columns = {"text": TEXTS, "label": ("p", "q", "q", "q"), 'a "size"': ("US", "us", 'a "b"', "")}
    table = DocumentTable(columns, "text")
    for query, documents in (
        (search_for('a "size"', "US"), [0]),
        (search_for('a "size"', "us"), [1]),
        (search_for('a "size"', "Us"), [0, 1]),
        (search_for('a "size"', 'a "b"'), [2]),
        (search_for("label", "x"), [0, 2]),
        (search_for("label of the table", "q"), [1, 2, 3]),
    ):
        assert find_documents(run, query, table).tolist() == documents, query


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("2024", [0, 1, 2]),
        ("2024Q3", [0, 1]),
        ("2024-07", [0]),
        ("2024-W31", [0, 1]),
        ("2024-07-31", [0]),
        ("2024-08-0", []),
        ("2023", []),
    ],
)
def test_find_documents_knows_the_periods_of_times(value, result):
    times = ("2024-07-31", "2024-08-01", "2024-12-29", "")
    run = wb.fit(replace(CORPUS, times=times), "cvb0", 2, n_iterations=1, progress=False)
    assert find_documents(run, f"time={value}").tolist() == result
    assert find_documents(run, search_for("time", value)).tolist() == result


@pytest.mark.parametrize(
    ("query", "result"),
    [("red", [0, 1]), ("ant", [0]), ("ANT", [0]), ("garden", [3]), ("label:y", [1])],
)
def test_find_documents_uses_word_types_without_texts(run, query, result):
    assert find_documents(run, query, None, CORPUS).tolist() == result
    assert (
        find_documents(run, query, DocumentTable({"kind": COLUMNS["kind"]}), CORPUS).tolist()
        == result
    )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "type a word, a phrase in quotes, or column:value"),
        ("  ", "type a word"),
        (
            "kin:insect",
            "documents have no column 'kin'; did you mean 'kind'.*; put a text with a colon in quotes",
        ),
        ("http://x", "no column 'http'"),
        ("12:30", "no column '12'"),
    ],
)
def test_find_documents_refuses_wrong_queries(run, query, message):
    with pytest.raises(MeasureError, match=message):
        find_documents(run, query, TABLE, CORPUS)


def test_documents_table_has_a_row_per_document_with_its_largest_topic(run):
    result = documents_table(run, TABLE)
    n_dk = run["n_dk"].isel(snapshot=-1).values
    assert list(result) == [
        "document",
        "title",
        "label",
        "topic",
        "share",
        "n_tokens",
        "kind",
        "a size",
    ]
    for at in (0, 1, 3):
        assert (
            result["topic"][at] == n_dk[at].argmax()
            and result["share"][at] == run["theta"].values[at].max()
        )
    assert (
        result["topic"].isna().tolist()
        == result["share"].isna().tolist()
        == [False, False, True, False]
    )
    assert result["n_tokens"].tolist() == CORPUS.document_tokens.tolist() and result[
        "a size"
    ].tolist() == [1, 12, 2, 3]


def test_documents_table_has_topic_labels_and_renames_columns_of_taken_names(run):
    labelled = run.assign(topic_label=("topic", np.array(["one", ""], object)))
    result = documents_table(labelled, DocumentTable({"title": ("a", "b", "c", "d")}))
    assert list(result)[-1] == "title of the table" and result["title of the table"].tolist() == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert result["topic_label"].tolist() == [
        "" if topic else "one" for topic in result["topic"].fillna(1)
    ]
    assert "kind" not in documents_table(run)


# ---------------------------------------------------------------------- topics and their documents


def test_topics_has_a_row_per_topic_with_size_and_words():
    run = tiny_run("cgs")
    result = wb.topics(run, 3)
    assert result.index.tolist() == topics_by_size(run) and list(result) == [
        "share",
        "tokens",
        "words",
    ]
    assert result["share"].sum() == pytest.approx(1)
    for topic in result.index:
        assert result["words"][topic] == " ".join(top_words(run, 3)["word"].sel(topic=topic).values)
        assert result["tokens"][topic] == float(topic_sizes(run)["n_k"].sel(topic=topic))
    labelled = run.assign(
        topic_label=("topic", np.array(["one", *[""] * (run.sizes["topic"] - 1)], object))
    )
    assert (
        wb.topics(labelled)["label"][0] == "one"
        and wb.topics(labelled, relevance=0.0)["words"][0] != result["words"][0]
    )


def test_top_documents_of_a_topic_and_of_all():
    run = tiny_run("cgs")
    best = representative_documents(run, 1, 2)
    result = wb.top_documents(run, 1, 2)
    assert (
        result["document"].tolist() == best["document"].values.tolist()
        and (result["topic"] == 1).all()
    )
    assert (
        result["share"].tolist() == best["theta"].values.tolist()
        and result["title"].tolist() == best["title"].values.tolist()
    )
    every = wb.top_documents(run, n=2)
    assert list(dict.fromkeys(every["topic"])) == topics_by_size(run)


def test_the_perplexity_is_the_last_one():
    run = tiny_run("cgs")
    assert wb.perplexity(run) == float(run["test_perplexity"][-1])
