"""Topics, their documents and the perplexity of a run, as people ask for them first."""

import numpy as np
import pytest
from comparisons import tiny_run

import workbench as wb
from workbench.measures import (
    MeasureError,
    representative_documents,
    top_words,
    topic_sizes,
    topics_by_size,
)


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
    with pytest.raises(MeasureError, match="there is no topic 99"):
        wb.top_documents(run, 99)


def test_the_perplexity_is_the_last_one():
    run = tiny_run("cgs")
    assert wb.perplexity(run) == float(run["test_perplexity"][-1])
    with pytest.raises(MeasureError, match="has no held-out perplexity; give fit a test set"):
        wb.perplexity(run.drop_vars("test_perplexity"))
