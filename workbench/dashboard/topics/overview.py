"""The map of the topics and the search for words beside it, the table of topics, their words, and their sizes over time."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr
from markupsafe import Markup

from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.card import CardContent
from workbench.dashboard.shared.clickable import KEY
from workbench.dashboard.shared.shell import message
from workbench.dashboard.shared.snapshots import (
    SnapshotKey,
    apply_to_documents,
    counts_of,
    labels_of_snapshot,
    progress_of,
    run_of,
    train_of,
    with_labels,
)
from workbench.dashboard.topics.cells import TopicCard, chip, topic_table
from workbench.measures import (
    coherence,
    diversity,
    salient_words,
    suggested_names,
    top_words,
    topic_descriptions,
    topic_map,
    topic_sizes,
    topics_by_size,
    topics_of_word,
    used_topics,
)
from workbench.measures.selection import has_course
from workbench.measures.topics import word_tokens
from workbench.numbers import capital, format_number
from workbench.tables import Column, Table, numbers
from workbench.views import draw_view
from workbench.views.elements import chosen_colours, topic_colours
from workbench.views.progress import size_controls
from workbench.views.topics import word_controls

FEW = 6
"""Number of words of a topic in the table, and of topics whose words are drawn while none is chosen."""
MANY = 20
"""Number of the most probable words of a topic that are offered to be left out."""
MAP_HEIGHT = 4.0
"""Height of the map on the page, inches."""
SCALE = 1.4
"""Size of the letters of the words, on a page."""
MAPS: dict[tuple[Path, str], xr.Dataset] = {}
"""Path and hash of a run → its last map, with which its next map is aligned, for all visitors."""
MOST_MAPS = 64
MOST_FOUND, MOST_TOPICS, LEAST = 40, 6, 0.01
"""Maximum numbers of words listed that were found and of topics shown of a word, and the minimum share of a shown topic."""
WORD_COLUMNS = [
    Column("Word", meaning="a click: its topics on the map"),
    *numbers("Tokens", meaning="training tokens"),
    Column("Topics", meaning="p(topic | word): which share of the word's tokens each topic has"),
]
MOST_POINTS = 120
"""Maximum number of iterations for which sizes are drawn."""
CONTROLS = size_controls(first="stacked")
NO_TOPICS = "topics, and so no sizes"
TAP = " Point at a topic for its name, tap it to choose it."
COLUMNS = [
    Column("Topic", meaning="the run's number of the topic"),
    Column("Size", kind="share", digits=1, meaning="share of the training tokens"),
    Column("Label", meaning="what people call it"),
    Column("Words", meaning="the most probable ones"),
    *(
        Column(name, kind="number", digits=3, meaning=meaning)
        for name, meaning in (
            (
                "u_mass",
                "mean log conditional share of documents, nats; at most about 0, higher is better",
            ),
            (
                "NPMI",
                "mean normalised mutual information of pairs of words; −1 to 1, higher is better",
            ),
            ("c_v", "mean cosine of the words' NPMI with that of all; higher is better"),
            ("Diversity", "share of the 25 top words that is the topic's own; 1: no other has any"),
        )
    ),
]
SCORES = ["u_mass", "npmi", "c_v", "diversity"]


class Topics(NamedTuple):
    """The topics of a run at a snapshot."""

    snapshot: SnapshotKey
    numbers: tuple[int, ...] = ()  # largest first
    names: dict[int, str] = {}  # noqa: RUF012  # node in a network and label, of topics with one of these
    labels: dict[int, str] = {}  # noqa: RUF012
    top: dict[int, tuple[str, ...]] = {}  # noqa: RUF012  # the `MANY` most probable words
    colours: dict[int, str] = {}  # noqa: RUF012  # that people gave topics
    sentence: str = ""  # why there are no topics, or what is wrong with their labels

    @property
    def words(self) -> dict[int, str]:
        """Return a dict topic -> its first words, separated by blanks."""
        return {topic: " ".join(words[:FEW]) for topic, words in self.top.items()}


@lru_cache(maxsize=8)
def topics_of(snapshot: SnapshotKey, written: int) -> Topics:
    """Return the topics of a run; ``written``, the time of the last change of its notes, is only a key of the cache."""
    run = counts_of(snapshot)
    if run is None:
        missing = (
            "snapshot of its topics yet; they appear with the first"
            if "n_k" in run_of(snapshot).progress()
            else "topics"
        )
        return Topics(snapshot, sentence=f"{snapshot.path.name} has no {missing}.")
    labels, label_error = labels_of_snapshot(snapshot)
    order, words = tuple(topics_by_size(run)), top_words(used_topics(run), MANY)["word"]
    top = {topic: tuple(map(str, words.sel(topic=topic).values)) for topic in order}
    nodes = (
        dict(zip(run["topic"].values.tolist(), run["node"].values, strict=True))
        if "node" in run.coords
        else {}
    )
    names = {
        topic: " · ".join(filter(None, (str(nodes.get(topic, "")), labels.get(topic))))
        for topic in order
    }
    return Topics(
        snapshot,
        order,
        {topic: name for topic, name in names.items() if name},
        labels,
        top,
        chosen_colours(run),
        capital(label_error),
    )


@lru_cache(maxsize=4)
def map_of(snapshot: SnapshotKey) -> xr.Dataset:
    """Return the map of topics, aligned with the last map of the same run."""
    run = snapshot.path, snapshot.hash
    new_map = topic_map(counts_of(snapshot), MAPS.get(run))
    MAPS.pop(run, None)
    MAPS[run] = new_map
    while len(MAPS) > MOST_MAPS:
        MAPS.pop(next(iter(MAPS)), None)
    return new_map


def map_card(topics: Topics, written: int, query: str, word: str) -> CardContent:
    """Return the map, with circles sized by ``word`` if given, and a table of the words that contain ``query``."""
    if not topics.numbers:
        return CardContent()
    sentence, table = words_with(topics.snapshot, topics.names, query) if query else ("", "")
    is_known = word in set(map(str, counts_of(topics.snapshot)["word"].values))
    picture = _map_picture(topics.snapshot, written, word if is_known else "")
    map_alone = replace(picture, panels=picture.panels[:1], height=MAP_HEIGHT)
    return CardContent(
        message(sentence), picture, table, (topics.snapshot.path,), on_page=map_alone
    )


def words_with(snapshot: SnapshotKey, names: Mapping[int, str], query: str) -> tuple[str, str]:
    """Return a sentence on the words that contain a text, ignoring case, and a table of these words.

    First comes the text itself, then words that begin with it, then others; within each group the most frequent first.
    """
    run, text = used_topics(counts_of(snapshot)), query.casefold()
    lower_words, tokens = [str(word).casefold() for word in run["word"].values], word_tokens(run)
    indices = np.array([index for index, word in enumerate(lower_words) if text in word], int)
    ranks = [
        2 - (lower_words[index] == text) - lower_words[index].startswith(text) for index in indices
    ]
    some = indices[np.lexsort((-tokens[indices], ranks))][:MOST_FOUND]
    rows = []
    for index in some.tolist():
        word = str(run["word"].values[index])
        share = topics_of_word(run, word).to_series().sort_values(ascending=False, kind="stable")
        chips = (
            chip(
                topic,
                f"{topic}{f' · {names[topic]}' if topic in names else ''} {100 * share_of_topic:.1f} %",
            )
            for topic, share_of_topic in share[share >= LEAST][:MOST_TOPICS].items()
        )
        rows.append(
            (KEY.format(f"word {word}", "", word), int(tokens[index]), Markup("").join(chips))
        )
    several = f"{len(indices):,} of {len(lower_words):,} words contain"
    limit_note = f"; {MOST_FOUND} are shown" if len(indices) > MOST_FOUND else ""
    sentence = f"{several if len(indices) != 1 else 'One word contains'} “{query}”{limit_note}."
    if not rows:
        return f"No word of {snapshot.path.name} contains “{query}”.", ""
    return sentence, Table(WORD_COLUMNS, rows, f"words that contain {query}").html()


@lru_cache(maxsize=8)
def _map_picture(snapshot: SnapshotKey, written: int, word: str):
    return _view_picture("map", "topic-map", snapshot, written, points=map_of(snapshot), word=word)


@lru_cache(maxsize=32)
def words_card(
    snapshot: SnapshotKey, written: int, topic: int, n_words: float, relevance: float
) -> CardContent:
    """Return the words of a topic; for NONE, those of the largest topics and the salient words of the corpus."""
    topics = topics_of(snapshot, written)
    if not topics.numbers:
        return CardContent()
    chosen_topics = [topic] if topic in topics.numbers else list(topics.numbers[:FEW])
    name = f"words-{topic}" if topic in topics.numbers else "words"
    options = {"topics": chosen_topics, "n_words": n_words, "relevance": relevance, "scale": SCALE}
    picture = _view_picture(name, "topic-words", snapshot, written, **options)
    salient = salient_words(used_topics(counts_of(snapshot)), 12)["word"].values
    sentence = f"Of the whole corpus these words tell topics apart: {', '.join(map(str, salient))}."
    description = topic_descriptions(counts_of(snapshot)).get(topic, "")
    sentence_html, path = (
        message(description if topic in topics.numbers else sentence),
        snapshot.path,
    )
    return CardContent(sentence_html, picture, paths=(path,), controls=word_controls())


@lru_cache(maxsize=32)
def suggestions_of(snapshot: SnapshotKey, topic: int) -> list[str]:
    """Return names that suit a topic, the best first, without the texts of its documents if these cannot be read."""
    table = run_of(snapshot).readable_table
    names = apply_to_documents(lambda run: suggested_names(run, table, topic=topic), snapshot)[
        "name"
    ]
    return [name for name in names.values[0].tolist() if name]


def _view_picture(name: str, view: str, snapshot: SnapshotKey, written: int, **options):
    """Return the picture that a view (a kind of figure) makes of a run, in the colours of its topics."""
    run = with_labels(counts_of(snapshot), topics_of(snapshot, written).names)
    (picture,) = draw_view(view, [run], 1, colours=topic_colours(run), **options)
    title = f"{picture.title.partition(',')[0]}, {snapshot.path.name}"
    return replace(picture, name=f"{snapshot.path.name}-{name}", title=title)


@lru_cache(maxsize=8)
def scores_of(snapshot: SnapshotKey) -> xr.Dataset:
    """Return sizes, u_mass, npmi, c_v and diversity of the topics at the last snapshot, which must be there."""
    run = counts_of(snapshot)
    coherence_scores = coherence(run, train_of(snapshot))
    several = diversity(run)
    return coherence_scores.assign(
        diversity=several["diversity"],
        share=topic_sizes(run)["share"].sel(topic=coherence_scores["topic"]),
    ).assign_attrs(several.attrs)


class TopicTable(TopicCard):
    """The table of the topics; their coherence is added once it is computed."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self._scores_task, self._scored_snapshot, self._score_error = LatestTask(), None, ""
        self._topics: Topics | None = None

    def follow(self, topics: Topics) -> None:
        """Show the table of these topics."""
        self._topics, snapshot = topics, topics.snapshot
        is_scored = self._scored_snapshot == snapshot
        request = topics, self.sort, is_scored, self._score_error

        def on_result(scores, error: Exception | None) -> None:
            self._scored_snapshot = snapshot if error is None else None
            self._score_error = "" if error is None else sentence_of(error)
            self.follow(self._topics)

        self.bring(request, partial(topics_card, *request))
        if topics.numbers:
            self._scores_task.submit(snapshot, partial(scores_of, snapshot), on_result)

    def clear(self, sentence: str = "") -> None:
        """Show nothing but a sentence."""
        self._scores_task.reset()
        super().clear(sentence)


def topics_card(topics: Topics, sort: str, is_scored: bool, score_error: str = "") -> CardContent:
    """Return the table of the topics, with their coherence if that is computed (``is_scored``)."""
    if not topics.numbers:
        return CardContent()
    topic_scores = scores_of(topics.snapshot) if is_scored else None
    sizes = topic_sizes(counts_of(topics.snapshot))["share"].to_series()
    scores = topic_scores[SCORES].to_dataframe()[SCORES] if is_scored else None
    rows = [
        (
            topic,
            float(sizes[topic]),
            topics.names.get(topic, ""),
            topics.words[topic],
            *(scores.loc[topic].tolist() if is_scored else [None] * len(SCORES)),
        )
        for topic in topics.numbers
    ]
    sentence = score_error or "Computing the coherence …"
    if is_scored:
        means = (
            f"{name} {format_number(topic_scores.attrs[f'mean_{name}'], 3)}" for name in SCORES
        )
        sentence = (
            "Coherence is of the ten likeliest words of each topic; two words are together when a training document has "
            f"both. Means over topics: {', '.join(means)}."
        )
    caption = f"topics of {topics.snapshot.path.name}"
    table = topic_table(COLUMNS, rows, sort, caption, topics.names)
    return CardContent(message(sentence), None, table, (topics.snapshot.path,))


@lru_cache(maxsize=8)
def sizes_card(snapshot: SnapshotKey, n_changes: int, labels: tuple, kind: str) -> CardContent:
    """Return the picture of sizes at evenly spaced iterations, with first and last, or a sentence why there is none.

    Cached for all sessions; ``n_changes`` is a key for the state of the run.
    """
    run, path = progress_of(snapshot), snapshot.path
    n = run.sizes["iteration"]
    if "n_k" not in run:
        return CardContent(message(f"{path.name} has no {NO_TOPICS}."))
    if not n:
        return CardContent(
            message(f"{path.name} has no iteration yet; sizes appear with the first.")
        )
    if not has_course(run):
        text = "its iterations are not known. Sizes are in the table of topics"
        return CardContent(message(f"{path.name} was imported: {text}."))
    indices = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    some = run.isel(iteration=indices)
    (picture,) = draw_view("topic-sizes", [some], 1, kind=kind, labels=dict(labels))
    title, caption = f"Topic sizes, {path.name}", picture.caption + TAP * (kind != "tokens")
    picture = replace(picture, name=f"{path.name}-sizes", title=title, caption=caption)
    return CardContent("", picture, paths=(path,), controls=CONTROLS)
