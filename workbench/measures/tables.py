"""What people ask of one run first, as pandas DataFrames and numbers: its topics, their documents, its perplexity."""

import xarray as xr

from workbench.measures.documents import representative_documents
from workbench.measures.selection import MeasureError, one_run
from workbench.measures.topics import top_words, topic_sizes, topics_by_size

COLUMNS = {
    "title": "title",
    "theta": "share",
    "n_tokens": "n_tokens",
    "n_topic_tokens": "n_topic_tokens",
    "document": "document",
}
"""Variables of `representative_documents` → columns."""


def topics(run: xr.Dataset, n: int = 10, relevance: float = 1.0):
    """A DataFrame with a row a topic, the largest first: share and (expected) tokens, label, and its top words as one text.

    ``n`` words of each; ``relevance`` from 0 to 1 ranks them, see `top_words`. The index is the run's own number of the topic.
    """
    import pandas as pd

    found = [each | {"words": " ".join(each["words"])} for each in topic_entries(run, n, relevance)]
    table = pd.DataFrame(found, columns=["topic", "share", "tokens", "label", "words"]).set_index(
        "topic"
    )
    return table if table["label"].any() else table.drop(columns="label")


def topic_entries(run: xr.Dataset, n: int, relevance: float = 1.0) -> list[dict]:
    """Number, share, tokens, label ("" where it has none) and words of each topic, largest first."""
    run = one_run(run)
    words, sizes = top_words(run, n, relevance)["word"], topic_sizes(run)
    labels = (
        dict(zip(run["topic"].values.tolist(), run["topic_label"].values, strict=True))
        if "topic_label" in run
        else {}
    )
    return [
        {
            "topic": int(topic),
            "share": float(sizes["share"].sel(topic=topic)),
            "tokens": float(sizes["n_k"].sel(topic=topic)),
            "label": str(labels.get(topic, "")),
            "words": [str(word) for word in words.sel(topic=topic).values],
        }
        for topic in topics_by_size(run)
    ]


def top_documents(run: xr.Dataset, topic: int | None = None, n: int = 5):
    """A DataFrame of the n documents that represent a topic best, or each topic, the largest first.

    Columns: topic, title, share (theta), n_tokens, n_topic_tokens, document (its place in the training corpus, from 0); ranked
    as `representative_documents` ranks them.
    """
    import pandas as pd

    run = one_run(run)
    tables = []
    for one in topics_by_size(run) if topic is None else [topic]:
        found = representative_documents(run, one, n)
        columns = {called: found[name].values for name, called in COLUMNS.items()}
        tables.append(pd.DataFrame({"topic": [int(one)] * found.sizes["rank"]} | columns))
    return pd.concat(tables, ignore_index=True)


def perplexity(run: xr.Dataset) -> float:
    """The held-out perplexity at the last iteration: ``test_perplexity``; a run without held-out tokens is refused."""
    run = one_run(run)
    if (
        "test_perplexity" not in run
        or not (found := run["test_perplexity"].dropna("iteration")).size
    ):
        raise MeasureError(
            f"run {run.attrs['name']!r} has no held-out perplexity; give fit a test set, as hold_out_tokens "
            "makes"
        )
    return float(found.values[-1])
