"""What a visitor of the Topics page downloads: its figures for paper, and the numbers behind them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import xarray as xr

from workbench.dashboard.compare.files import HEIGHTS, File, FileError, picture_file
from workbench.dashboard.shared.snapshots import Moment, counts_of, documents_of, topic_colour
from workbench.dashboard.topics.hierarchy import levels_of
from workbench.dashboard.topics.matching import matched_of
from workbench.dashboard.topics.overview import NONE, map_of
from workbench.dashboard.topics.recorded import recorded_of
from workbench.dashboard.topics.scores import scores_of
from workbench.measures import representative_documents, salient_words, topics_by_size
from workbench.report.gathering import gather_begun
from workbench.runs.execution.run import Run
from workbench.views import draw_view
from workbench.views.coherence import scores_picture
from workbench.views.flow import flow_picture
from workbench.views.picture import WHOSE

FORMS = ("svg", "pdf", "png")


def map_file(moment: Moment | None, labels: dict[int, str], form: str, columns: int = 1) -> File:
    """The map of the topics: a figure, or as CSV topic, label, x, y, n_k, share and name."""
    run = _counts(moment, labels)
    return _view_file(moment, "topic-map", run, "map", form, columns, labels, points=map_of(moment))


def model_file(moment: Moment | None, form: str, columns: int = 1) -> File:
    """The picture of a run's network, or as CSV the tokens of each row and value of its levels."""
    _there(moment, snapshot=form == "csv")
    run = levels_of(moment) if form == "csv" else Run(moment.path).progress()
    return _view_file(moment, "network", run, "levels" if form == "csv" else "model", form, columns)


def words_file(
    moment: Moment | None, labels: dict[int, str], topic: int, n: int, relevance: float, form: str, columns: int = 1
) -> File:
    """The words of the topic that is chosen, or of all: a figure, or as CSV a row for each word of a topic."""
    topics, name = (None, "words") if topic == NONE else ([topic], f"words-{topic}")
    return _view_file(moment, "topic-words", _counts(moment, labels), name, form, columns, labels,
                      topics=topics, n_words=n, relevance=relevance)


def salient_file(moment: Moment | None, n: int) -> File:
    """The salient words of the corpus as CSV."""
    return _csv(moment, "salient-words", salient_words(_counts(moment), n).to_dataframe())


def documents_file(moment: Moment | None, topic: int) -> File:
    """Documents that show the topic best as CSV; of all topics where none is chosen."""
    _there(moment)
    run = documents_of(moment)
    topics = topics_by_size(run) if topic == NONE else [topic]
    tables = {one: representative_documents(run, one, 50).drop_vars("topic", errors="ignore").to_dataframe() for one in topics}
    return _csv(moment, "documents", pd.concat(tables, names=["topic"]))


def sizes_file(moment: Moment | None, labels: dict[int, str], form: str, columns: int = 1) -> File:
    """Sizes over the iterations: a figure, or as CSV n_k of every iteration and topic, nothing thinned."""
    _there(moment, snapshot=False)
    run = Run(moment.path).progress()
    if not run.sizes["iteration"]:
        raise FileError(f"{moment.path.name} has no iteration yet; wait for its first")
    return _view_file(moment, "topic-sizes", run, "sizes", form, columns, labels, HEIGHTS[columns])


def recorded_file(moment: Moment | None, title: str, form: str, columns: int = 1) -> File:
    """The picture of this title of what else a run recorded, or as CSV the table behind it."""
    _there(moment, snapshot=False)
    picture = recorded_of(moment.path).get(title)
    if picture is None:
        raise FileError(f"{moment.path.name} has no picture '{title}' yet; wait for its first iteration")
    picture = replace(picture, name=f"{moment.path.name}-{picture.name}")
    return picture_file(picture, gather_begun(moment.path), form, columns)


def scores_file(moment: Moment | None, labels: dict[int, str], form: str, columns: int = 1) -> File:
    """Coherence and diversity of the topics: figures of coherence, or a table as CSV."""
    run, found, name = _counts(moment), scores_of(moment), moment.path.name
    if form == "csv":
        return _csv(moment, "coherence", _with_labels(found.to_dataframe().reset_index(), labels).set_index("topic"))
    picture = scores_picture(run, found, f"{name}-coherence", f"Coherence of the topics, {name}")
    return picture_file(picture, gather_begun(moment.path), form, columns)


def matching_file(
    moment: Moment | None, other: Moment | None, labels: dict[int, str], form: str, columns: int = 1
) -> File:
    """The matching of two runs: the flow as a figure, or as CSV each topic with the one it matches and the tokens shared."""
    run = _counts(moment, labels)
    if other is None:
        raise FileError("no other run is chosen; choose one to match with")
    found = matched_of(moment, other)
    if found is None:
        raise FileError(f"{other.path.name} has no snapshot of its topics yet; wait for its first")
    name = f"{moment.path.name}-with-{other.path.name}"
    if form == "csv":
        table = found.pairs.to_dataframe()
        if found.flow is not None:
            table = table.join(found.flow.to_pandas().add_prefix("tokens shared with "))
        table = _with_labels(table.reset_index(), labels)
        return File(f"{name}.csv", table.to_csv(index=False, lineterminator="\n").encode())
    if found.flow is None:
        raise FileError("these runs were trained on different tokens, so no flow is drawn; take the CSV of their distances")
    called = moment.path.name, other.path.name
    picture = flow_picture(name, called, (run, counts_of(other)), found.flow, found.pairs, topic_colour, columns)
    return picture_file(picture, gather_begun([moment.path, other.path]), form, columns)


def _view_file(
    moment: Moment, view: str, run: xr.Dataset, what: str, form: str, columns: int, labels: dict[int, str] | None = None,
    height: float | None = None, **options,
) -> File:
    """A view of one run: its figure, or as CSV the table behind it with the labels of topics."""
    (picture, *_) = draw_view(view, [run], columns, **options)
    if form == "csv":
        table = pd.DataFrame(picture.rows, columns=picture.header).drop(columns=list(WHOSE), errors="ignore")
        return _csv(moment, what, _with_labels(table, labels or {}).set_index(table.columns[0]))
    name = moment.path.name
    title = f"{picture.title.partition(',')[0]}, {name}"
    picture = replace(picture, name=f"{name}-{what}", title=title, height=picture.height or height)
    return picture_file(picture, gather_begun(moment.path), form, columns)


def _with_labels(table: pd.DataFrame, labels: dict[int, str]) -> pd.DataFrame:
    """The table with a column label behind the topic, where there are labels."""
    if labels:
        table.insert(table.columns.get_loc("topic") + 1, "label", [labels.get(topic, "") for topic in table["topic"]])
    return table


def _csv(moment: Moment, what: str, table: pd.DataFrame) -> File:
    return File(f"{moment.path.name}-{what}.csv", table.to_csv(lineterminator="\n").encode())


def _counts(moment: Moment | None, labels: dict[int, str] | None = None) -> xr.Dataset:
    """The last counts of a run that has some, with the labels of its topics."""
    _there(moment)
    run = counts_of(moment)
    if not labels:
        return run
    return run.assign(topic_label=("topic", [labels.get(topic, "") for topic in run["topic"].values.tolist()]))


def _there(moment: Moment | None, snapshot: bool = True) -> None:
    if moment is None:
        raise FileError("there is no run; start one on the Compare page")
    if snapshot and counts_of(moment) is None:
        raise FileError(f"{moment.path.name} has no snapshot of its topics yet; wait for its first")
