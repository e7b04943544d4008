"""The documents of a run as rows of a table, sorted by a column or by the share of a topic, one page at a time."""

import re
from functools import lru_cache, partial

import numpy as np
import pandas as pd
import xarray as xr

from workbench.corpus.document_table import DocumentTable
from workbench.dashboard.shared.snapshots import (
    SnapshotKey,
    apply_to_documents,
    counts_of,
    train_of,
)
from workbench.measures import used_topics
from workbench.measures.documents import (
    distinct_columns,
    largest_topics,
    ranked_documents,
    text_of,
)
from workbench.tables import Column
from workbench.views.elements import short_text
from workbench.views.live import NONE

PER_PAGE = 50
MOST_COLUMNS = 20
"""Maximum number of shown columns of the corpus; rows can be sorted by all columns."""
MOST_LETTERS, MOST_VALUE = 200, 80
"""Letters shown of a title, and of the value of a column."""
OWN_COLUMNS = {"title": "Document", "topic": "Topic", "share": "Share", "n_tokens": "Tokens"}
"""Column of the table that is not from the corpus → heading."""
OF_TOPIC = "topic {}"
"""Name of the sort order by the share of a topic."""


@lru_cache(maxsize=4)
def columns_of(snapshot: SnapshotKey, table: DocumentTable | None) -> dict[str, list]:
    """Return a dict name -> values, for the titles of the documents and their further columns, without duplicates.

    See `distinct_columns`.
    """
    return apply_to_documents(lambda run: distinct_columns(run, table), snapshot)


def columns_beside(columns: dict[str, list]) -> list[str]:
    """Return the names of the columns of the corpus that the table of documents shows, at most `MOST_COLUMNS`."""
    return [name for name in columns if name not in OWN_COLUMNS][:MOST_COLUMNS]


@lru_cache(maxsize=32)
def _ranks_by(snapshot: SnapshotKey, table: DocumentTable | None, column: str) -> np.ndarray | None:
    """Return the sort key of each document (document,) for a column; None if there is no such column."""
    if column in ("topic", "share", "n_tokens"):
        return _largest_topics_of(snapshot)[column]
    columns = columns_of(snapshot, table)
    return ranks_of(columns[column]) if column in columns else None


@lru_cache(maxsize=3)
def _largest_topics_of(snapshot: SnapshotKey) -> dict[str, np.ndarray]:
    """Return three arrays (document,): the largest topic (NaN without tokens), that topic's share, and the tokens."""

    def largest(run: xr.Dataset) -> dict[str, np.ndarray]:
        used_run = used_topics(run)
        index, share, tokens = largest_topics(used_run, np.arange(run.sizes["document"]))
        topic = np.where(tokens == 0, np.nan, used_run["topic"].values[index])
        return {"topic": topic, "share": share, "n_tokens": tokens.astype(float)}

    return apply_to_documents(largest, snapshot)


def ranks_of(values: list) -> np.ndarray:
    """Return each value's rank among the distinct values, (value,) float64; NaN for a missing value.

    Numbers, and texts that are all numbers, are ranked by size; other texts in natural order: item 2 before item 10.
    """
    values_with_text = pd.Series(values, dtype=object)[[text_of(value) != "" for value in values]]
    keys = pd.to_numeric(values_with_text, errors="coerce").astype(float)
    if not keys.notna().all():
        natural_keys = [_natural_key(str(value)) for value in values_with_text]
        rank_of = {key: rank for rank, key in enumerate(sorted(set(natural_keys)))}
        keys[:] = [rank_of[key] for key in natural_keys]
    return keys.rank(method="dense").reindex(range(len(values))).to_numpy()


def _natural_key(text: str) -> tuple:
    """Return the key of a text for natural order: its pieces, alternately texts and whole numbers."""
    return tuple(
        int(piece) if index % 2 else piece
        for index, piece in enumerate(re.split(r"(\d+)", text[:MOST_LETTERS].casefold()))
    )


def topic_sorted_by(run: xr.Dataset, sort: str) -> int:
    """Return the topic whose share the rows are sorted by; NONE if they are sorted by something else."""
    match = re.fullmatch(OF_TOPIC.format(r"(\d{1,9})"), sort.removeprefix("-"))
    return int(match[1]) if match and int(match[1]) in run["topic"].values else NONE


def documents_in_order(
    snapshot: SnapshotKey,
    table: DocumentTable | None,
    documents: np.ndarray,
    sort: str,
    topic: int,
) -> tuple[np.ndarray, bool]:
    """Return the documents ``documents`` in order, and whether ``sort`` is known; documents without a value come last.

    sort : a column of `columns_of`, "n_tokens", "share" for the share of ``topic``, or "topic 3"; descending after a minus
    """
    column = sort.removeprefix("-")
    if topic_sorted_by(counts_of(snapshot), sort) != NONE or (column == "share" and topic != NONE):
        ranks = shares_of(snapshot, topic)
    elif (ranks := _ranks_by(snapshot, table, column)) is None:
        return documents, False
    ranks_of_documents = ranks[documents]
    return documents[
        np.argsort(
            -ranks_of_documents if sort.startswith("-") else ranks_of_documents, kind="stable"
        )
    ], True


@lru_cache(maxsize=8)
def shares_of(snapshot: SnapshotKey, topic: int) -> np.ndarray:
    """Return the share of a topic in each document, theta (document,); NaN for a document without tokens."""
    shares = apply_to_documents(lambda run: run["theta"].sel(topic=topic).values, snapshot)
    return np.where(train_of(snapshot).document_tokens == 0, np.nan, shares)


@lru_cache(maxsize=8)
def ranked_documents_of(snapshot: SnapshotKey, topic: int) -> np.ndarray:
    """Return the documents with tokens of a topic, the most representative first."""
    return apply_to_documents(lambda run: ranked_documents(run, topic)[0], snapshot)


def headings(columns: dict[str, list], topic: int) -> list[Column]:
    """Return the columns of the table of documents; a column's name is the value of ``sort`` that sorts by it.

    topic : the topic whose share the rows show; NONE: the largest topic of each document
    """
    share = partial(Column, kind="share", digits=1)
    further_columns = [
        share(OF_TOPIC.format(topic), f"Topic {topic}", meaning="the topic's share of the document")
    ]
    if topic == NONE:
        further_columns = [
            Column("topic", OWN_COLUMNS["topic"], meaning="largest topic of the document"),
            share("share", OWN_COLUMNS["share"], meaning="its share of the document"),
        ]
    tokens = Column(
        "n_tokens", OWN_COLUMNS["n_tokens"], "number", meaning="training tokens of the document"
    )
    further = [
        Column(name, short_text(name, MOST_VALUE), meaning="column of the corpus")
        for name in columns_beside(columns)
    ]
    return [Column("title", OWN_COLUMNS["title"]), *further_columns, tokens, *further]


def rows_of(
    run: xr.Dataset, columns: dict[str, list], documents: np.ndarray, topic: int
) -> list[dict]:
    """Return the rows of documents for `documents_html`; share of ``topic``, or for NONE of the largest topic."""
    used_run = used_topics(run)
    largest, shares, tokens = largest_topics(used_run, documents)
    if topic != NONE:
        shares = np.where(tokens == 0, np.nan, run["theta"].sel(topic=topic)[documents].values)
    names, numbers = columns_beside(columns), used_run["topic"].values[largest].tolist()
    return [
        {
            "document": document,
            "title": short_text(str(columns["title"][document]), MOST_LETTERS),
            "share": None if share != share else share,
            "tokens": n,
            "cells": [short_text(text_of(columns[name][document]), MOST_VALUE) for name in names],
            **({"topic": number if n else None} if topic == NONE else {}),
        }
        for document, share, number, n in zip(
            documents.tolist(), shares.tolist(), numbers, tokens.tolist(), strict=True
        )
    ]
