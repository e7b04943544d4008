"""The downloads of the Topics page besides its pictures: tables as CSV."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from workbench.dashboard.shared.files import File, FileError
from workbench.dashboard.shared.snapshots import (
    SnapshotKey,
    apply_to_documents,
    counts_of,
    progress_of,
    run_of,
    with_labels,
)
from workbench.dashboard.topics.document_rows import OF_TOPIC, shares_of
from workbench.dashboard.topics.documents import documents_in_order_of
from workbench.dashboard.topics.matching import pairs_and_flow_of
from workbench.dashboard.topics.overview import map_of, scores_of
from workbench.measures import documents_table, salient_words
from workbench.measures.documents import ranked_documents
from workbench.views.live import NONE


class FileRequest(NamedTuple):
    """What the page shows: a run at a snapshot, the labels of its topics, and the visitor's choices."""

    snapshot: SnapshotKey | None
    labels: dict[int, str]
    topic: int = NONE
    other: SnapshotKey | None = None  # last snapshot of the run to match with
    query: str = ""  # search for documents
    sort: str = ""  # order of the documents

    def file(self, kind: str, table: pd.DataFrame, index: bool = True) -> File:
        """Return a table as CSV, with a column of labels after the topic, if there are labels."""
        if self.labels and "topic" in table and "topic_label" not in table:
            labels = [self.labels.get(topic, "") for topic in table["topic"]]
            table.insert(table.columns.get_loc("topic") + 1, "label", labels)
        content = table.to_csv(index=index, lineterminator="\n").encode()
        return File(f"{self.snapshot.path.name}-{kind}.csv", content)

    def counts(self) -> xr.Dataset:
        """Return phi, n_kw and n_k at the run's last snapshot; raise FileError if there is none."""
        if self.snapshot is None:
            raise FileError("there is no run; start one on the Compare page")
        if (run := counts_of(self.snapshot)) is None:
            name = self.snapshot.path.name
            raise FileError(f"{name} has no snapshot of its topics yet; wait for its first")
        return run


def topics_file(request: FileRequest) -> File:
    """Return position on the map, size, coherence and diversity of the topics as CSV."""
    request.counts()
    topics = scores_of(request.snapshot).merge(map_of(request.snapshot)[["x", "y", "n_k"]])
    return request.file("topics", topics.to_dataframe().reset_index(), index=False)


def salient_file(request: FileRequest) -> File:
    """Return the salient words of the corpus as CSV."""
    return request.file("salient-words", salient_words(request.counts(), 100).to_dataframe())


def documents_file(request: FileRequest) -> File:
    """Return all documents of the list as CSV, in its order, with their columns and values for the shown topic."""
    request.counts()
    return apply_to_documents(lambda run: _documents_file(request, run), request.snapshot)


def _documents_file(request: FileRequest, run: xr.Dataset) -> File:
    stored_table = run_of(request.snapshot).table
    documents, topic, _ = documents_in_order_of(
        run, request.snapshot, stored_table, request.topic, request.query, request.sort
    )
    ascending = np.argsort(documents)  # a block of a stored array is read once
    table = documents_table(with_labels(run, request.labels), stored_table, documents[ascending])
    table = table.iloc[np.argsort(ascending)].reset_index(drop=True)
    if topic != NONE:
        _, topic_tokens, _, scores = ranked_documents(run, topic)
        columns = {
            OF_TOPIC.format(topic): shares_of(request.snapshot, topic),
            "n_topic_tokens": topic_tokens,
            "score": scores,
        }
        table = table.rename(columns={name: f"{name} of the table" for name in columns})
        for name, values in columns.items():
            table.insert(table.columns.get_loc("n_tokens"), name, values[documents])
    return request.file("documents-found" if request.query else "documents", table, index=False)


def sizes_file(request: FileRequest) -> File:
    """Return n_k of every recorded iteration and topic as CSV."""
    request.counts()
    sizes = progress_of(request.snapshot)["n_k"].to_dataframe()[["n_k"]]
    return request.file("sizes", sizes.reset_index(), index=False)


def matching_file(request: FileRequest) -> File:
    """Return the matching of two runs as CSV: each topic, the topic matched with it, and the shared tokens."""
    request.counts()
    if request.other is None:
        raise FileError("no other run is chosen; choose one to match with")
    pairs, flow = pairs_and_flow_of(request.snapshot, request.other)
    if pairs is None:
        name = request.other.path.name
        raise FileError(f"{name} has no snapshot of its topics yet; wait for its first")
    table = pairs.to_dataframe()
    if flow is not None:
        table = table.join(flow.to_pandas().add_prefix("tokens shared with "))
    kind = f"with-{request.other.path.name}-matching"
    return request.file(kind, table.reset_index(), index=False)
