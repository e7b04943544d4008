"""The documents of a run as rows of a table, sorted by a column or by the share of a topic, one page at a time."""

import re
from functools import lru_cache, partial

import numpy as np
import pandas as pd
import xarray as xr

from workbench.corpus.document_table import DocumentTable
from workbench.dashboard.shared.snapshots import SnapshotKey, counts_of, of_documents, train_of
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
OWN = {"title": "Document", "topic": "Topic", "share": "Share", "n_tokens": "Tokens"}
"""Column of the table that is not from the corpus → heading."""
OF_TOPIC = "topic {}"
"""Name of the sort order by the share of a topic."""


@lru_cache(maxsize=4)
def columns_of(snapshot: SnapshotKey, table: DocumentTable | None) -> dict[str, list]:
    """Return a dict name -> values, for the titles of the documents and their further columns, without duplicates.

    See `distinct_columns`.
    """
    return of_documents(lambda run: distinct_columns(run, table), snapshot)


def columns_beside(columns: dict[str, list]) -> list[str]:
    """Return the names of the columns of the corpus that the table of documents shows, at most `MOST_COLUMNS`."""
    return [name for name in columns if name not in OWN][:MOST_COLUMNS]


@lru_cache(maxsize=32)
def _ranks_by(snapshot: SnapshotKey, table: DocumentTable | None, column: str) -> np.ndarray | None:
    """Return the sort key of each document (document,) for a column; None if there is no such column."""
    if column in ("topic", "share", "n_tokens"):
        return _largest_of(snapshot)[column]
    columns = columns_of(snapshot, table)
    return ranks_of(columns[column]) if column in columns else None


@lru_cache(maxsize=3)
def _largest_of(snapshot: SnapshotKey) -> dict[str, np.ndarray]:
    """Return three arrays (document,): the largest topic (NaN without tokens), that topic's share, and the tokens."""

    def largest(run: xr.Dataset) -> dict[str, np.ndarray]:
        used = used_topics(run)
        at, share, tokens = largest_topics(used, np.arange(run.sizes["document"]))
        topic = np.where(tokens == 0, np.nan, used["topic"].values[at])
        return {"topic": topic, "share": share, "n_tokens": tokens.astype(float)}

    return of_documents(largest, snapshot)


def ranks_of(values: list) -> np.ndarray:
    """Return each value's rank among the distinct values, (value,) float64; NaN for a missing value.

    Numbers, and texts that are all numbers, are ranked by size; other texts in natural order: item 2 before item 10.
    """
    given = pd.Series(values, dtype=object)[[text_of(value) != "" for value in values]]
    keys = pd.to_numeric(given, errors="coerce").astype(float)
    if not keys.notna().all():
        natural = [_natural(str(value)) for value in given]
        place = {key: at for at, key in enumerate(sorted(set(natural)))}
        keys[:] = [place[key] for key in natural]
    return keys.rank(method="dense").reindex(range(len(values))).to_numpy()


def _natural(text: str) -> tuple:
    """Return the key of a text for natural order: its pieces, alternately texts and whole numbers."""
    return tuple(
        int(part) if at % 2 else part
        for at, part in enumerate(re.split(r"(\d+)", text[:MOST_LETTERS].casefold()))
    )


def topic_sorted_by(run: xr.Dataset, sort: str) -> int:
    """Return the topic whose share the rows are sorted by; NONE if they are sorted by something else."""
    found = re.fullmatch(OF_TOPIC.format(r"(\d{1,9})"), sort.removeprefix("-"))
    return int(found[1]) if found and int(found[1]) in run["topic"].values else NONE


def in_order(
    snapshot: SnapshotKey,
    table: DocumentTable | None,
    found: np.ndarray,
    sort: str,
    topic: int,
) -> tuple[np.ndarray, bool]:
    """Return the documents ``found`` in order, and whether ``sort`` is known; documents without a value come last.

    sort : a column of `columns_of`, "n_tokens", "share" for the share of ``topic``, or "topic 3"; descending after a minus
    """
    by = sort.removeprefix("-")
    if topic_sorted_by(counts_of(snapshot), sort) != NONE or (by == "share" and topic != NONE):
        ranks = shares_of(snapshot, topic)
    elif (ranks := _ranks_by(snapshot, table, by)) is None:
        return found, False
    own = ranks[found]
    return found[np.argsort(-own if sort.startswith("-") else own, kind="stable")], True


@lru_cache(maxsize=8)
def shares_of(snapshot: SnapshotKey, topic: int) -> np.ndarray:
    """Return the share of a topic in each document, theta (document,); NaN for a document without tokens."""
    shares = of_documents(lambda run: run["theta"].sel(topic=topic).values, snapshot)
    return np.where(train_of(snapshot).document_tokens == 0, np.nan, shares)


@lru_cache(maxsize=8)
def ranked_for(snapshot: SnapshotKey, topic: int) -> np.ndarray:
    """Return the documents with tokens of a topic, the most representative first."""
    return of_documents(lambda run: ranked_documents(run, topic)[0], snapshot)


def headings(columns: dict[str, list], topic: int) -> list[Column]:
    """Return the columns of the table of documents; a column's name is the value of ``sort`` that sorts by it.

    topic : the topic whose share the rows show; NONE: the largest topic of each document
    """
    share = partial(Column, kind="share", digits=1)
    shown = [
        share(OF_TOPIC.format(topic), f"Topic {topic}", meaning="the topic's share of the document")
    ]
    if topic == NONE:
        shown = [
            Column("topic", OWN["topic"], meaning="largest topic of the document"),
            share("share", OWN["share"], meaning="its share of the document"),
        ]
    tokens = Column(
        "n_tokens", OWN["n_tokens"], "number", meaning="training tokens of the document"
    )
    further = [
        Column(one, short_text(one, MOST_VALUE), meaning="column of the corpus")
        for one in columns_beside(columns)
    ]
    return [Column("title", OWN["title"]), *shown, tokens, *further]


def rows_of(
    run: xr.Dataset, columns: dict[str, list], documents: np.ndarray, topic: int
) -> list[dict]:
    """Return the documents' rows for `shelf`, which makes HTML; share of ``topic``, or for NONE of the largest topic."""
    used = used_topics(run)
    largest, shares, tokens = largest_topics(used, documents)
    if topic != NONE:
        shares = np.where(tokens == 0, np.nan, run["theta"].sel(topic=topic)[documents].values)
    beside, numbers = columns_beside(columns), used["topic"].values[largest].tolist()
    return [
        {
            "document": document,
            "title": short_text(str(columns["title"][document]), MOST_LETTERS),
            "share": None if share != share else share,
            "tokens": n,
            "cells": [short_text(text_of(columns[name][document]), MOST_VALUE) for name in beside],
            **({"topic": number if n else None} if topic == NONE else {}),
        }
        for document, share, number, n in zip(
            documents.tolist(), shares.tolist(), numbers, tokens.tolist(), strict=True
        )
    ]
