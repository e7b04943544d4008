"""What a visitor of the Topics page takes away: its figures for paper, and the numbers behind them."""

from __future__ import annotations

import pandas as pd

from workbench.dashboard.compare.files import HEIGHTS, File, FileError, picture_file
from workbench.dashboard.shared.snapshots import Moment, counts_of, documents_of, topic_colour
from workbench.dashboard.topics.hierarchy import mixture_table_of, network_of_run
from workbench.dashboard.topics.matching import matched_of
from workbench.dashboard.topics.overview import NONE, map_of
from workbench.dashboard.topics.scores import scores_of
from workbench.measures import representative_documents, salient_words, top_words, topics_by_size
from workbench.report.drawing import option
from workbench.report.gathering import gather_begun
from workbench.report.networks import network_told
from workbench.report.picture import Picture
from workbench.report.pictures import MOST_TOPICS
from workbench.report.topic_captions import COHERENCES, flow_told, map_told, scores_told, sizes_told, words_told
from workbench.runs.execution.run import Run
from workbench.views.coherence import coherence_view
from workbench.views.flow import LETTERS, topic_flow_view
from workbench.views.network import network_view
from workbench.views.progress import topic_size_curves
from workbench.views.topic_map import map_height, topic_list_view, topic_map_view
from workbench.views.topics import ACROSS, names_of_topics, topic_words_view, words_height

FORMS = ("svg", "pdf", "png")


def map_file(moment: Moment | None, labels: dict[int, str], form: str, columns: int = 1) -> File:
    """The map of the topics: a figure, or as CSV topic, label, x, y, n_k and share."""
    _there(moment)
    found = map_of(moment)
    if form == "csv":
        return _csv(moment, "map", _with_labels(found.to_dataframe(), labels))
    run = counts_of(moment)
    panels, height = [topic_map_view(found), topic_list_view(run, labels=labels)], map_height(found.sizes["topic"])
    return _figure(moment, "map", "Map of the topics", map_told(run, found), panels, height, form, columns)


def model_file(moment: Moment | None, form: str, columns: int = 1) -> File:
    """The picture of a run's network, or as CSV the tokens of each row and value of its levels."""
    _there(moment, snapshot=form == "csv")
    if form == "csv":
        return _csv(moment, "levels", mixture_table_of(moment).set_index("level"))
    network = network_of_run(moment)
    panel, title = network_view(network), f"The network {network.name}"
    return _figure(moment, "model", title, network_told(network), [panel], option(panel, "fig_inches")[1], form, columns)


def words_file(
    moment: Moment | None, labels: dict[int, str], topic: int, n: int, relevance: float, form: str, columns: int = 1
) -> File:
    """The words of the topic that is chosen, or of all: a figure, or as CSV a row for each word of a topic.

    Without a topic the CSV has the salient words of the corpus too, as topic "corpus".
    """
    _there(moment)
    run = counts_of(moment)
    topics = topics_by_size(run) if topic == NONE else [topic]
    name = "words" if topic == NONE else f"words-{topic}"
    if form == "csv":
        found = top_words(run, n, relevance).sel(topic=topics)
        return _csv(moment, name, _with_labels(found.to_dataframe().reset_index("rank"), labels))
    n_shown, across, shown = n if topic != NONE else min(n, 10), ACROSS if columns == 2 else 2, topics[:MOST_TOPICS]
    fewer = f" The {len(shown)} largest of {len(topics)} topics." if shown != topics else ""
    return _figure(
        moment, name, "Words of the topics", words_told(run, relevance, None if topic == NONE else topic) + fewer,
        [topic_words_view(run, n_shown, shown, relevance, across)], words_height(len(shown), n_shown, across), form, columns,
    )


def salient_file(moment: Moment | None, n: int) -> File:
    """The salient words of the corpus as CSV."""
    _there(moment)
    return _csv(moment, "salient-words", salient_words(counts_of(moment), n).to_dataframe())


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
    if form == "csv":
        return _csv(moment, "sizes", _with_labels(run["n_k"].to_dataframe()[["n_k"]].reset_index("iteration"), labels))
    told = sizes_told(f"one run (seed {Run(moment.path).spec.seed})")
    return _figure(moment, "sizes", "Topic sizes", told, [topic_size_curves(run)], HEIGHTS[columns], form, columns)


def scores_file(moment: Moment | None, labels: dict[int, str], form: str, columns: int = 1) -> File:
    """Coherence and diversity of the topics: figures of coherence, or a table as CSV."""
    _there(moment)
    found = scores_of(moment)
    if form == "csv":
        return _csv(moment, "coherence", _with_labels(found.to_dataframe(), labels))
    panels, told = [coherence_view(found, measure) for measure in COHERENCES], scores_told(counts_of(moment))
    height = option(panels[0], "fig_inches")[1]
    return _figure(moment, "coherence", "Coherence of the topics", told, panels, height, form, columns)


def matching_file(
    moment: Moment | None, other: Moment | None, labels: dict[int, str], form: str, columns: int = 1
) -> File:
    """The matching of two runs: the flow as a figure, or as CSV each topic with the one it matches and the tokens shared."""
    _there(moment)
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
        return File(f"{name}.csv", _with_labels(table, labels).to_csv(lineterminator="\n").encode())
    if found.flow is None:
        raise FileError("these runs were trained on different tokens, so no flow is drawn; take the CSV of their distances")
    runs, letters = (moment.path.name, other.path.name), columns * LETTERS
    named = tuple(
        names_of_topics(counts_of(one), 3 if columns == 1 else 5, letters, own)
        for one, own in ((moment, labels), (other, None))
    )
    panel = topic_flow_view(found.flow, found.pairs, runs, named, topic_colour, letters)
    title, height = f"Topics of {runs[0]} and {runs[1]}", option(panel, "fig_inches")[1]
    picture = Picture(name, title, flow_told(*runs), [panel], legend=False, height=height)
    return picture_file(picture, gather_begun([moment.path, other.path]), form, columns)


def _figure(
    moment: Moment, what: str, title: str, told: str, panels: list, height: float, form: str, columns: int
) -> File:
    """A figure of one run."""
    name = moment.path.name
    picture = Picture(f"{name}-{what}", f"{title}, {name}", told, panels, legend=False, height=height)
    return picture_file(picture, gather_begun(moment.path), form, columns)


def _with_labels(table: pd.DataFrame, labels: dict[int, str]) -> pd.DataFrame:
    """The table with a column label behind the topic, where there are labels."""
    if labels:
        table.insert(0, "label", [labels.get(topic, "") for topic in table.index.get_level_values("topic")])
    return table


def _csv(moment: Moment, what: str, table: pd.DataFrame) -> File:
    return File(f"{moment.path.name}-{what}.csv", table.to_csv(lineterminator="\n").encode())


def _there(moment: Moment | None, snapshot: bool = True) -> None:
    if moment is None:
        raise FileError("there is no run; start one on the Compare page")
    if snapshot and counts_of(moment) is None:
        raise FileError(f"{moment.path.name} has no snapshot of its topics yet; wait for its first")
