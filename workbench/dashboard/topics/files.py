"""The downloads of the Topics page besides its pictures: tables as CSV."""

from typing import NamedTuple

import pandas as pd
import xarray as xr

from workbench.dashboard.shared.files import File, FileError
from workbench.dashboard.shared.snapshots import Moment, counts_of, labelled, of_documents
from workbench.dashboard.topics.matching import matched_of
from workbench.dashboard.topics.overview import map_of, scores_of
from workbench.measures import (
    documents_table,
    find_documents,
    representative_documents,
    salient_words,
    topics_by_size,
)
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus
from workbench.views.live import NONE


class Asked(NamedTuple):
    """What the page shows: a run at a snapshot, the labels of its topics, and the visitor's choices."""

    moment: Moment | None
    labels: dict[int, str]
    topic: int = NONE
    other: Moment | None = None  # last snapshot of the run to match with
    query: str = ""  # search for documents

    def file(self, what: str, table: pd.DataFrame, index: bool = True) -> File:
        """Return a table as CSV, with a column of labels after the topic, if there are labels."""
        if self.labels and "topic" in table:
            labels = [self.labels.get(topic, "") for topic in table["topic"]]
            table.insert(table.columns.get_loc("topic") + 1, "label", labels)
        content = table.to_csv(index=index, lineterminator="\n").encode()
        return File(f"{self.moment.path.name}-{what}.csv", content)

    def counts(self) -> xr.Dataset:
        """Return the last counts of the run; raise FileError if there are none."""
        if self.moment is None:
            raise FileError("there is no run; start one on the Compare page")
        if (run := counts_of(self.moment)) is None:
            name = self.moment.path.name
            raise FileError(f"{name} has no snapshot of its topics yet; wait for its first")
        return run


def topics_file(asked: Asked) -> File:
    """Return place, size, coherence and diversity of the topics as CSV."""
    asked.counts()
    found = scores_of(asked.moment).merge(map_of(asked.moment)[["x", "y", "n_k"]])
    return asked.file("topics", found.to_dataframe().reset_index(), index=False)


def salient_file(asked: Asked) -> File:
    """Return the salient words of the corpus as CSV."""
    return asked.file("salient-words", salient_words(asked.counts(), 100).to_dataframe())


def documents_file(asked: Asked) -> File:
    """Return documents as CSV: those found by the search, else the most typical of the chosen topic or of every topic."""
    asked.counts()
    return of_documents(lambda run: _documents_file(asked, run), asked.moment)


def _documents_file(asked: Asked, run: xr.Dataset) -> File:
    path, table = asked.moment.path, Run(asked.moment.path).table
    if asked.query:
        found = find_documents(
            run, asked.query, table, get_corpus(path.parent, Run(path).spec.train)
        )
        named = labelled(run, asked.labels)
        return asked.file("documents-found", documents_table(named, table, found), index=False)
    tables = {
        one: representative_documents(run, one, 50)
        .drop_vars("topic", errors="ignore")
        .to_dataframe()
        for one in (topics_by_size(run) if asked.topic == NONE else [asked.topic])
    }
    return asked.file("documents", pd.concat(tables, names=["topic"]))


def sizes_file(asked: Asked) -> File:
    """Return n_k of every recorded iteration and topic as CSV."""
    asked.counts()
    sizes = Run(asked.moment.path).progress()["n_k"].to_dataframe()[["n_k"]]
    return asked.file("sizes", sizes.reset_index(), index=False)


def matching_file(asked: Asked) -> File:
    """Return the matching of two runs as CSV: each topic, the topic matched with it, and the shared tokens."""
    asked.counts()
    if asked.other is None:
        raise FileError("no other run is chosen; choose one to match with")
    pairs, flow = matched_of(asked.moment, asked.other)
    if pairs is None:
        name = asked.other.path.name
        raise FileError(f"{name} has no snapshot of its topics yet; wait for its first")
    table = pairs.to_dataframe()
    if flow is not None:
        table = table.join(flow.to_pandas().add_prefix("tokens shared with "))
    what = f"with-{asked.other.path.name}-matching"
    return asked.file(what, table.reset_index(), index=False)
