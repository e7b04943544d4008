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


def test_topics_have_a_row_each_with_size_and_words():
    run = tiny_run("cgs")
    found = wb.topics(run, 3)
    assert found.index.tolist() == topics_by_size(run) and list(found) == [
        "share",
        "tokens",
        "words",
    ]
    assert found["share"].sum() == pytest.approx(1)
    for topic in found.index:
        assert found["words"][topic] == " ".join(top_words(run, 3)["word"].sel(topic=topic).values)
        assert found["tokens"][topic] == float(topic_sizes(run)["n_k"].sel(topic=topic))
    labelled = run.assign(
        topic_label=("topic", np.array(["one", *[""] * (run.sizes["topic"] - 1)], object))
    )
    assert (
        wb.topics(labelled)["label"][0] == "one"
        and wb.topics(labelled, relevance=0.0)["words"][0] != found["words"][0]
    )


def test_documents_of_a_topic_and_of_all():
    run = tiny_run("cgs")
    best = representative_documents(run, 1, 2)
    found = wb.top_documents(run, 1, 2)
    assert (
        found["document"].tolist() == best["document"].values.tolist()
        and (found["topic"] == 1).all()
    )
    assert (
        found["share"].tolist() == best["theta"].values.tolist()
        and found["title"].tolist() == best["title"].values.tolist()
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
