"""The downloads of the Topics page besides its pictures: tables as CSV."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from workbench.dashboard.shared.files import File, FileError
from workbench.dashboard.shared.snapshots import (
    SnapshotKey,
    counts_of,
    labelled,
    of_documents,
    progress_of,
    run_of,
)
from workbench.dashboard.topics.document_rows import OF_TOPIC, shares_of
from workbench.dashboard.topics.documents import listed
from workbench.dashboard.topics.matching import matched_of
from workbench.dashboard.topics.overview import map_of, scores_of
from workbench.measures import documents_table, salient_words
from workbench.measures.documents import ranked_documents
from workbench.views.live import NONE


class Asked(NamedTuple):
    """What the page shows: a run at a snapshot, the labels of its topics, and the visitor's choices."""

    snapshot: SnapshotKey | None
    labels: dict[int, str]
    topic: int = NONE
    other: SnapshotKey | None = None  # last snapshot of the run to match with
    query: str = ""  # search for documents
    sort: str = ""  # order of the documents

    def file(self, what: str, table: pd.DataFrame, index: bool = True) -> File:
        """Return a table as CSV, with a column of labels after the topic, if there are labels."""
        if self.labels and "topic" in table and "topic_label" not in table:
            labels = [self.labels.get(topic, "") for topic in table["topic"]]
            table.insert(table.columns.get_loc("topic") + 1, "label", labels)
        content = table.to_csv(index=index, lineterminator="\n").encode()
        return File(f"{self.snapshot.path.name}-{what}.csv", content)

    def counts(self) -> xr.Dataset:
        """Return phi, n_kw and n_k at the run's last snapshot; raise FileError if there is none."""
        if self.snapshot is None:
            raise FileError("there is no run; start one on the Compare page")
        if (run := counts_of(self.snapshot)) is None:
            name = self.snapshot.path.name
            raise FileError(f"{name} has no snapshot of its topics yet; wait for its first")
        return run


def topics_file(asked: Asked) -> File:
    """Return position on the map, size, coherence and diversity of the topics as CSV."""
    asked.counts()
    found = scores_of(asked.snapshot).merge(map_of(asked.snapshot)[["x", "y", "n_k"]])
    return asked.file("topics", found.to_dataframe().reset_index(), index=False)


def salient_file(asked: Asked) -> File:
    """Return the salient words of the corpus as CSV."""
    return asked.file("salient-words", salient_words(asked.counts(), 100).to_dataframe())


def documents_file(asked: Asked) -> File:
    """Return all documents of the list as CSV, in its order, with their columns and values for the shown topic."""
    asked.counts()
    return of_documents(lambda run: _documents_file(asked, run), asked.snapshot)


def _documents_file(asked: Asked, run: xr.Dataset) -> File:
    kept = run_of(asked.snapshot).table
    found, of, _ = listed(run, asked.snapshot, kept, asked.topic, asked.query, asked.sort)
    ascending = np.argsort(found)  # a block of a stored array is read once
    table = documents_table(labelled(run, asked.labels), kept, found[ascending])
    table = table.iloc[np.argsort(ascending)].reset_index(drop=True)
    if of != NONE:
        _, topic_tokens, _, scores = ranked_documents(run, of)
        columns = {
            OF_TOPIC.format(of): shares_of(asked.snapshot, of),
            "n_topic_tokens": topic_tokens,
            "score": scores,
        }
        table = table.rename(columns={name: f"{name} of the table" for name in columns})
        for name, values in columns.items():
            table.insert(table.columns.get_loc("n_tokens"), name, values[found])
    return asked.file("documents-found" if asked.query else "documents", table, index=False)


def sizes_file(asked: Asked) -> File:
    """Return n_k of every recorded iteration and topic as CSV."""
    asked.counts()
    sizes = progress_of(asked.snapshot)["n_k"].to_dataframe()[["n_k"]]
    return asked.file("sizes", sizes.reset_index(), index=False)


def matching_file(asked: Asked) -> File:
    """Return the matching of two runs as CSV: each topic, the topic matched with it, and the shared tokens."""
    asked.counts()
    if asked.other is None:
        raise FileError("no other run is chosen; choose one to match with")
    pairs, flow = matched_of(asked.snapshot, asked.other)
    if pairs is None:
        name = asked.other.path.name
        raise FileError(f"{name} has no snapshot of its topics yet; wait for its first")
    table = pairs.to_dataframe()
    if flow is not None:
        table = table.join(flow.to_pandas().add_prefix("tokens shared with "))
    what = f"with-{asked.other.path.name}-matching"
    return asked.file(what, table.reset_index(), index=False)
