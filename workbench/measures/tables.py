"""Tables of one run as pandas DataFrames: topics and documents; and its perplexity."""

import pandas as pd
import xarray as xr

from workbench.corpus.corpus import AnyCorpus
from workbench.measures.documents import representative_documents
from workbench.measures.selection import MeasureError, one_run, spec_of
from workbench.measures.topics import top_words, topic_labels, topic_sizes, topics_by_size
from workbench.records import Records


def topics(run: xr.Dataset, n: int = 10, relevance: float = 1.0) -> pd.DataFrame:
    """Return a DataFrame with a row per topic, largest first: share, (expected) tokens, label, and top words as one text.

    ``n`` words of each, ranked by ``relevance`` from 0 to 1, see `top_words`. The index is the topic number of the run.
    """
    entries = [
        entry | {"words": " ".join(entry["words"])} for entry in topic_entries(run, n, relevance)
    ]
    table = pd.DataFrame(entries, columns=["topic", "share", "tokens", "label", "words"]).set_index(
        "topic"
    )
    return table if table["label"].any() else table.drop(columns="label")


def topic_entries(run: xr.Dataset, n: int, relevance: float = 1.0) -> list[dict]:
    """Return a dict for each topic, largest first: number, share, tokens, label ("" if none) and words."""
    run = one_run(run)
    words, sizes = top_words(run, n, relevance)["word"], topic_sizes(run)
    labels = topic_labels(run)
    return [
        {
            "topic": int(topic),
            "share": float(sizes["share"].sel(topic=topic)),
            "tokens": float(sizes["n_k"].sel(topic=topic)),
            "label": labels.get(topic, ""),
            "words": [str(word) for word in words.sel(topic=topic).values],
        }
        for topic in topics_by_size(run)
    ]


def top_documents(run: xr.Dataset, topic: int | None = None, n: int = 5) -> pd.DataFrame:
    """Return a DataFrame of the n most representative documents of one topic, or of each topic from the largest down.

    Columns: topic, title, share (theta), n_tokens, n_topic_tokens, document (index in the training corpus, from 0), in the
    order of `representative_documents`.
    """
    run = one_run(run)
    tables = [
        representative_documents(run, number, n).to_dataframe().assign(topic=int(number))
        for number in (topics_by_size(run) if topic is None else [topic])
    ]
    columns = ["topic", "title", "theta", "n_tokens", "n_topic_tokens", "document"]
    return pd.concat(tables, ignore_index=True)[columns].rename(columns={"theta": "share"})


def perplexity(run: xr.Dataset, test: AnyCorpus | Records | None = None) -> float:
    """Return the last ``test_perplexity``; raise MeasureError if no tokens are held out, or not those of ``test``."""
    run = one_run(run)
    if test is not None and getattr(test, "content_hash", None) != spec_of(run).test:
        raise MeasureError(
            f"run {run.attrs['name']!r} was not fitted beside this test set; give it to fit, as wb.fit(train, test=test); "
            "for documents that it has not seen there is wb.document_completion"
        )
    if (
        "test_perplexity" not in run
        or not (values := run["test_perplexity"].dropna("iteration")).size
    ):
        raise MeasureError(
            f"run {run.attrs['name']!r} has no held-out perplexity; give fit a test set, as hold_out_tokens "
            "makes"
        )
    return float(values.values[-1])
