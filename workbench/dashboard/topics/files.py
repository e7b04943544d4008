"""The downloads of the Topics page: its figures for paper, and the values behind them."""

from dataclasses import replace
from typing import NamedTuple

import pandas as pd
import xarray as xr

from workbench.dashboard.shared.files import File, FileError, picture_file
from workbench.dashboard.shared.snapshots import Moment, counts_of, labelled, of_documents
from workbench.dashboard.topics.filled import NONE
from workbench.dashboard.topics.hierarchy import levels_of
from workbench.dashboard.topics.matching import matched_of
from workbench.dashboard.topics.overview import map_of
from workbench.dashboard.topics.scores import scores_of
from workbench.measures import (
    documents_table,
    find_documents,
    representative_documents,
    salient_words,
    topics_by_size,
)
from workbench.report.gathering import gather_started
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus
from workbench.views import draw_view
from workbench.views.coherence import scores_picture
from workbench.views.picture import WHOSE

FORMS = ("svg", "pdf", "png")


class Shown(NamedTuple):
    """What the page shows: a run at a snapshot, the labels of its topics, and the visitor's choices."""

    moment: Moment | None
    labels: dict[int, str]
    topic: int = NONE
    n_words: int = 30
    relevance: float = 0.6
    other: Moment | None = None  # last snapshot of the run to match with
    query: str = ""  # search for documents

    @property
    def name(self) -> str:
        return self.moment.path.name

    def counts(self) -> xr.Dataset:
        """Return the last counts of the run, with the labels of its topics; raise FileError if there are none."""
        return labelled(counts_of(self.require()), self.labels)

    def require(self, snapshot: bool = True) -> Moment:
        """Return the snapshot that is shown; raise FileError without a run or, if ``snapshot``, before its first snapshot."""
        if self.moment is None:
            raise FileError("there is no run; start one on the Compare page")
        if snapshot and counts_of(self.moment) is None:
            raise FileError(f"{self.name} has no snapshot of its topics yet; wait for its first")
        return self.moment


def map_file(shown: Shown, form: str, columns: int = 1) -> File:
    """Return the map of topics as a figure, or as CSV with topic, label, x, y, n_k, share and name."""
    run = shown.counts()
    return _view_file(shown, "topic-map", run, "map", form, columns, points=map_of(shown.moment))


def model_file(shown: Shown) -> File:
    """Return as CSV the number of tokens (row, value) in each level of a run's network."""
    levels = levels_of(shown.require())
    return _view_file(shown._replace(labels={}), "network", levels, "model", "csv", 1)


def words_file(shown: Shown, form: str, columns: int = 1) -> File:
    """Return the words of the chosen topic, or of all topics, as a figure, or as CSV with a row for each word of a topic."""
    topics, name = (
        (None, "words") if shown.topic == NONE else ([shown.topic], f"words-{shown.topic}")
    )
    return _view_file(
        shown,
        "topic-words",
        shown.counts(),
        name,
        form,
        columns,
        topics=topics,
        n_words=shown.n_words,
        relevance=shown.relevance,
    )


def salient_file(shown: Shown) -> File:
    """Return the salient words of the corpus as CSV."""
    table = salient_words(shown.counts(), shown.n_words).to_dataframe()
    return _csv(f"{shown.name}-salient-words", table)


def documents_file(shown: Shown, form: str = "csv") -> File:
    """Return documents as CSV: those found by the search, else the most typical of the chosen topic or of every topic."""
    return of_documents(lambda run: _documents_file(shown, run), shown.require())


def _documents_file(shown: Shown, run: xr.Dataset) -> File:
    path = shown.moment.path
    if shown.query:
        found = find_documents(
            run, shown.query, Run(path).table, get_corpus(path.parent, Run(path).spec.train)
        )
        table = documents_table(labelled(run, shown.labels), Run(path).table, found)
        return _csv(f"{shown.name}-documents-found", table, index=False)
    topics = topics_by_size(run) if shown.topic == NONE else [shown.topic]
    tables = {
        one: representative_documents(run, one, 50)
        .drop_vars("topic", errors="ignore")
        .to_dataframe()
        for one in topics
    }
    return _csv(f"{shown.name}-documents", pd.concat(tables, names=["topic"]))


def sizes_file(shown: Shown) -> File:
    """Return n_k of every recorded iteration and topic as CSV."""
    run = Run(shown.require(snapshot=False).path).progress()
    if not run.sizes["iteration"]:
        raise FileError(f"{shown.name} has no iteration yet; wait for its first")
    return _view_file(shown, "topic-sizes", run, "sizes", "csv", 1)


def scores_file(shown: Shown, form: str, columns: int = 1) -> File:
    """Return coherence and diversity of the topics: coherence as a figure, or both as CSV."""
    run, found, name = (
        shown._replace(labels={}).counts(),
        scores_of(shown.moment),
        f"{shown.name}-coherence",
    )
    if form == "csv":
        return _csv(
            name, _with_labels(found.to_dataframe().reset_index(), shown.labels).set_index("topic")
        )
    picture = scores_picture(run, found, name, f"Coherence of the topics, {shown.name}", columns)
    return picture_file(picture, gather_started(shown.moment.path), form, columns)


def matching_file(shown: Shown) -> File:
    """Return the matching of two runs as CSV: each topic, the topic matched with it, and the shared tokens."""
    now, other = shown.require(), shown.other
    if other is None:
        raise FileError("no other run is chosen; choose one to match with")
    pairs, flow = matched_of(now, other)
    if pairs is None:
        raise FileError(f"{other.path.name} has no snapshot of its topics yet; wait for its first")
    table = pairs.to_dataframe()
    if flow is not None:
        table = table.join(flow.to_pandas().add_prefix("tokens shared with "))
    name = f"{shown.name}-with-{other.path.name}-matching"
    return _csv(name, _with_labels(table.reset_index(), shown.labels), index=False)


def _view_file(
    shown: Shown,
    view: str,
    run: xr.Dataset,
    what: str,
    form: str,
    columns: int,
    **options,
) -> File:
    """Return a view of a run as a figure, or the table behind it as CSV with the labels of topics."""
    (picture, *_) = draw_view(view, [run], columns, **options)
    name = f"{shown.name}-{what}"
    if form == "csv":
        table = pd.DataFrame(picture.rows, columns=picture.header).drop(
            columns=list(WHOSE), errors="ignore"
        )
        return _csv(name, _with_labels(table, shown.labels).set_index(table.columns[0]))
    title = f"{picture.title.partition(',')[0]}, {shown.name}"
    picture = replace(picture, name=name, title=title)
    return picture_file(picture, gather_started(shown.moment.path), form, columns)


def _with_labels(table: pd.DataFrame, labels: dict[int, str]) -> pd.DataFrame:
    """Return the table with a column of labels after the topic, if there are labels."""
    if labels:
        table.insert(
            table.columns.get_loc("topic") + 1,
            "label",
            [labels.get(topic, "") for topic in table["topic"]],
        )
    return table


def _csv(name: str, table: pd.DataFrame, index: bool = True) -> File:
    return File(f"{name}.csv", table.to_csv(index=index, lineterminator="\n").encode())
