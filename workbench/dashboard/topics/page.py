"""The Topics page: the topics of one run, their words and documents, and what else is known about them."""

from collections.abc import Callable, Iterable
from functools import partial
from html import escape
from pathlib import Path
from time import monotonic
from urllib.parse import urlencode

import numpy as np
import panel as pn
import param

from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.files import File
from workbench.dashboard.shared.link import (
    LONGEST,
    QueryParameter,
    attribute_parameter,
    follow_address,
    query_of,
    widget_parameter,
    write_address,
)
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import FIRST_LOOK, Reading, monitor_of
from workbench.dashboard.shared.shell import (
    LAYOUT_CSS,
    Choice,
    button,
    column,
    in_row,
    lay_out,
    page_or_sentence,
    styled,
    text,
)
from workbench.dashboard.shared.snapshots import SnapshotKey, changes, counts_of, snapshot_of
from workbench.dashboard.topics import files, matching
from workbench.dashboard.topics.cells import TopicCard, style_of, whole_number_of
from workbench.dashboard.topics.documents import Documents
from workbench.dashboard.topics.editing import Editing
from workbench.dashboard.topics.hierarchy import model_card
from workbench.dashboard.topics.overview import (
    COLUMNS,
    CONTROLS,
    FEW,
    MOST_POINTS,
    NO_TOPICS,
    Topics,
    TopicTable,
    map_card,
    sizes_card,
    suggestions_of,
    topics_of,
    words_card,
)
from workbench.dashboard.topics.recorded import Recorded
from workbench.dashboard.topics.unseen import Unseen
from workbench.measures.choosing import warm_starts
from workbench.models.seed_words import parse_seeds, seeds_text
from workbench.runs.execution.run import default_store
from workbench.runs.request import missing_in_request
from workbench.runs.spec import RunSpec
from workbench.runs.store.notes import FILE as NOTES
from workbench.runs.store.notes import label_topic
from workbench.runs.store.status import stamp
from workbench.views.elements import short_text
from workbench.views.live import NONE
from workbench.views.topics import word_controls

MOST_LETTERS = 36
"""Maximum length of a suggested label as a button shows it."""
NEWEST, NO_RUN = "the newest run", "no run"
EVERY = 3.0
"""Seconds between two drawings of a picture of an active run."""


class TopicsPage:
    """One visitor's view of a run: the newest one until the menu or the page's address chooses another."""

    def __init__(self, store: Path):
        self.store, self._monitor = Path(store), monitor_of(store)
        self.run = styled(
            pn.widgets.Select(label="Topics of", options={NEWEST: ""}, value="", width=330)
        )
        self.other = styled(
            pn.widgets.Select(label="Match with", options={NO_RUN: ""}, value="", width=330)
        )
        self.find, self.find_words, self.find_rows, self.label = (
            styled(
                pn.widgets.TextInput(
                    label=label,
                    placeholder=hint,
                    width=width,
                    max_length=LONGEST,
                    visible=is_visible,
                )
            )
            for label, hint, width, is_visible in (
                ("Find documents", 'word "a phrase" column:value', 330, True),
                ("Find words", "a word or a part of one", 200, True),
                ("Find rows", "a name or a part of one", 200, True),
                ("Label", "what it is about", 200, False),
            )
        )
        self.suggested = styled(Choice(label="Suggested labels", options={}))
        self.suggestions = in_row("Suggested", "suggested labels", self.suggested)
        self.all = button("Whole corpus", visible=False)
        self.main = column(kind="wb-main")
        self.status, self.handover = text(sizing_mode="stretch_width"), Handover()
        self.again = text(css_classes=["wb-mid"])
        # the runs chosen in the menus, which may not exist yet
        self._names_of_menus = {self.run: "", self.other: ""}
        self._runs: dict[str, Reading] = {}  # every readable run, newest first
        self._topics: Topics | None = None  # of the shown run
        self._topics_task, self._label_task, self._time_written = LatestTask(), LatestTask(), 0
        self._suggestion_task, self._topic_of_suggestions = LatestTask(), None
        self._is_setting, self._last_label = False, None  # what the field for a label was set to
        self._time_of_drawing = 0.0  # time of the next drawing of an active run's pictures
        # a sentence about the run; one about chosen items that do not exist
        self._news_of_run, self._missing_note = ("", "muted"), ""

        def card(heading: str, kind: str, *tools, make=TopicCard, **settings) -> TopicCard:
            return make(
                heading, self.handover, *tools, kind=kind, on_change=self._changed_again, **settings
            )

        self.map = card("Map of the topics", "map", self.find_words)
        self.words = card(
            "Words",
            "words",
            self.all,
            self.label,
            components=(self.suggestions,),
            more_files={"Salient words": self._file(files.salient_file)},
        )
        self.topics = card(
            "Topics",
            "topics",
            make=TopicTable,
            csv=self._file(files.topics_file),
            has_picture=False,
        )
        self.sizes = card("Sizes over the iterations", "sizes", csv=self._file(files.sizes_file))
        self.matching = card(
            "Compare topics with another run",
            "matching",
            self.other,
            csv=self._file(files.matching_file),
        )
        self.model = card("Model", "model", self.find_rows, hides=True)
        self.recorded, self.editing = Recorded(self.handover), Editing()
        self.documents = Documents(
            self.handover,
            self.find,
            lambda number: self._leave_out([self.documents], f"document {number}", document=NONE),
            self.editing.leave_out,
            self._file(files.documents_file),
        )
        self.unseen = Unseen(self.handover)
        self._cards = (
            self.map,
            self.words,
            self.topics,
            self.model,
            self.documents,
            self.sizes,
            self.recorded,
            self.matching,
            self.unseen,
        )
        words, sizes = self.words.offer(word_controls()), self.sizes.offer(CONTROLS)
        self._parameters = {
            "run": self._run_parameter(self.run),
            "topic": self._number_parameter(self.map, "chosen", self._cards),
            "words": widget_parameter(words["n_words"]),
            "relevance": widget_parameter(words["relevance"]),
            "sizes": widget_parameter(sizes["kind"]),
            "word": widget_parameter(self.find_words),
            "with": self._run_parameter(self.other),
            "find": widget_parameter(self.find),
            "document": self._number_parameter(self.documents, "document", [self.documents]),
            "order": attribute_parameter(self.documents, "sort"),
            "page": self._number_parameter(self.documents, "page", [self.documents], 1),
            "scores": self.topics.parameter(COLUMNS),
            "matches": self.matching.parameter(matching.COLUMNS),
        }
        self._take(self._monitor.latest(FIRST_LOOK))
        self._missing_note = follow_address(self._parameters)
        self._show()
        for menu in self._names_of_menus:
            menu.param.watch(self._run_chosen, "value")
        for view in self._cards:
            view.param.watch(lambda event: self._choose(event.new), "chosen")
        self.recorded.param.watch(self._on_search, "search", onlychanged=False)
        self.documents.param.watch(self._changed, ["document", "sort", "page"])
        self.map.param.watch(lambda event: self._changed_again(), "word")
        for sorted_card in (self.topics, self.matching):
            sorted_card.param.watch(self._changed, "sort")
        for widget in (self.find, self.find_words, self.find_rows):
            widget.param.watch(self._changed, "value")
        self.label.param.watch(self._on_label, "value")
        self.suggested.param.watch(self._on_suggestion, "value")
        self.all.on_click(lambda event: self._choose(NONE))

    # ------------------------------------------------------------------ every second

    def tick(self) -> None:
        """Update the page to the latest listing of the store."""
        self._take(self._monitor.latest())
        self._show(ticking=True)
        # repeatedly, since the browser may overwrite the address while it draws the page
        write_address(self._parameters)

    def _take(self, listing) -> None:
        """Set the menus to the runs of the store."""
        self._runs = {
            reading.name: reading for reading in listing.readings if reading.spec is not None
        }
        for (menu, wanted_name), nothing in zip(
            self._names_of_menus.items(), (NEWEST, NO_RUN), strict=True
        ):
            options = {nothing: ""} | {name: name for name in self._runs}
            value = wanted_name if wanted_name in self._runs else ""
            if options != menu.options or value != menu.value:
                self._set([menu], options=options, value=value)

    def _set(self, views: Iterable[param.Parameterized], **values) -> None:
        """Set parameters of the views without treating that as a choice by the visitor."""
        self._is_setting = True
        for view in views:
            view.param.update(**values)
        self._is_setting = False

    def snapshot(self) -> SnapshotKey | None:
        """Return the snapshot to show; None if there is no run."""
        return self._snapshot_of(self.run.value or next(iter(self._runs), ""))

    def _snapshot_of(self, name: str) -> SnapshotKey | None:
        return snapshot_of(self._runs[name]) if name in self._runs else None

    def _has_topics_of(self, snapshot: SnapshotKey | None) -> bool:
        """Return whether the topics that were read last are of the run of a snapshot."""
        if snapshot is None or self._topics is None:
            return False
        return self._topics.snapshot.path == snapshot.path

    def _show(self, ticking: bool = False) -> None:
        """Show the chosen run at its last snapshot."""
        snapshot = self.snapshot()
        self.again.object = _form_links(
            snapshot and self._runs[snapshot.path.name].spec,
            self._topics if self._has_topics_of(snapshot) else None,
            self.map.chosen,
        )
        if snapshot is None:
            self._topics = None
            self._topics_task.reset()
            for card in self._cards:
                card.clear()
            self.editing.show(None, Topics(None))
            self.status.param.update(value=_empty_store_html(self.store), visible=True)
        else:
            request = snapshot, stamp(snapshot.path / NOTES)
            self._topics_task.submit(
                request, partial(topics_of, *request), partial(self._on_topics, request[1])
            )
            if self._has_topics_of(snapshot):
                self._bring(snapshot, ticking)
            else:
                self.editing.show(None, Topics(None))
                self.status.say(f"Reading the topics of {snapshot.path.name} …")
        self._see()

    def _bring(self, snapshot: SnapshotKey, ticking: bool) -> None:
        """Let each card compute its content for a snapshot."""
        topics, written, chosen_topic = self._topics, self._time_written, self.map.chosen
        if topics.numbers and chosen_topic not in (NONE, *topics.numbers):
            self._leave_out(self._cards, f"topic {chosen_topic} with tokens", chosen=NONE)
            return
        path, names = snapshot.path, topics.names
        n_rows = int(np.nan_to_num(self._runs[path.name].latest[0]))
        options, query = self.words.options, self.find_words.value.strip()
        if not query:  # the word that was found is gone with its button
            self._set([self.map], word="")
        for card, work, *arguments in (
            (self.map, map_card, topics, written, query, self.map.word),
            (self.words, words_card, topics.snapshot, written, chosen_topic, *options.values()),
            (self.model, model_card, topics, self.find_rows.value),
        ):
            card.bring(arguments, partial(work, *arguments))
        if chosen_topic != NONE and not policy().read_only:
            if (path, chosen_topic) != self._topic_of_suggestions:
                self._topic_of_suggestions = path, chosen_topic
                self._suggest()
            suggesting = snapshot, chosen_topic
            self._suggestion_task.submit(
                suggesting, partial(suggestions_of, *suggesting), self._suggest
            )
        self.topics.follow(topics)
        self.documents.follow(snapshot, chosen_topic, names, self.find.value)
        self.unseen.follow(snapshot, chosen_topic, names)
        self.editing.show(self._runs[path.name], topics)
        if ticking:
            self.recorded.tick()
        if not ticking or monotonic() >= self._time_of_drawing:
            self._time_of_drawing = monotonic() + EVERY
            sizes = snapshot, changes(n_rows, MOST_POINTS), tuple(names.items())
            sizes = *sizes, self.sizes.options["kind"]
            self.sizes.bring(sizes, partial(sizes_card, *sizes))
            self.recorded.follow(snapshot, n_rows, written)
            other = self._snapshot_of(self.other.value)
            pair = snapshot, other, names, self.matching.sort
            waiting_text = f"Matching with {other.path.name} …" if other else ""
            key = *pair, other and stamp(other.path / NOTES)
            self.matching.bring(key, partial(matching.matching_card, *pair), waiting_text)

    def _see(self) -> None:
        """Show the cards that have content, and hide the others."""
        has_topics = self._topics is not None and bool(self._topics.numbers)
        for card in (self.map, self.words, self.topics, self.documents, self.matching, self.unseen):
            card.view.visible = has_topics
        self.sizes.view.visible = (
            self.snapshot() is not None and NO_TOPICS not in self.sizes.card_content.sentence
        )
        is_chosen = has_topics and self.map.chosen in self._topics.numbers
        self.all.visible, self.label.visible = is_chosen, is_chosen and not policy().read_only
        label = self._topics.labels.get(self.map.chosen, "") if is_chosen else ""
        topic_and_label = self._topics and self._topics.snapshot.path, self.map.chosen, label
        if topic_and_label != self._last_label:  # else the visitor may be typing
            self._last_label = topic_and_label
            self._set([self.label], value=label, value_input=label)
        self.suggestions.visible = self.label.visible and bool(self.suggested.options)
        suggestion = label if label in self.suggested.options.values() else None
        if self.suggested.value != suggestion:
            self._set([self.suggested], value=suggestion)

    def _suggest(self, names: list[str] | None = None, error: Exception | None = None) -> None:
        """Offer these labels for the chosen topic; none while they are computed, or after an error."""
        options = {short_text(name, MOST_LETTERS): name for name in names or ()}
        self._set([self.suggested], options=options, value=None)
        self._see()

    def _on_suggestion(self, event) -> None:
        """Take a suggested label."""
        if not self._is_setting and event.new:
            self.label.value = event.new

    def _on_topics(self, written: int, topics: Topics | None, error: Exception | None) -> None:
        """Take the topics that were read for the run, or the error instead; then update the cards."""
        snapshot = self.snapshot()
        if snapshot is None:
            return
        is_known = self._has_topics_of(snapshot)
        if error is not None:
            topics = Topics(snapshot, sentence=sentence_of(error))
        self._topics, self._time_written = topics, written
        styles = [LAYOUT_CSS, *filter(None, [style_of(topics.colours)])]
        if styles != self.main.stylesheets:
            self.main.stylesheets = styles
        if topics.sentence:
            self._news_of_run = topics.sentence, "bad" if topics.numbers or error else "muted"
        else:
            name = self._names_of_menus[self.run]
            lost_note = (
                f"There is no run {name} here; the newest is shown. "
                if name not in {"", *self._runs}
                else ""
            )
            edit_note = ", as edited by hand" if snapshot.edition.edits else ""
            sentence = f"{lost_note}{len(topics.numbers)} topics of {snapshot.path.name}, {snapshot.state}{edit_note}."
            self._news_of_run = sentence, "muted"
        self._say()
        self._show(ticking=is_known)

    def _say(self) -> None:
        """Show the sentence about the run, after the one about a choice, such as a topic, that the run does not have."""
        sentence, kind = self._news_of_run
        self.status.say(f"{self._missing_note} {sentence}".strip(), kind)

    def _leave_out(self, views: Iterable[param.Parameterized], item: str, **none: int) -> None:
        """Drop a choice, such as a topic, that the run does not have, and say so until the visitor's next action."""
        self._set(views, **none)
        self._missing_note = (
            f"{self._missing_note} There is no {item} in {self.snapshot().path.name}.".strip()
        )
        self._say()
        self._show()

    # ------------------------------------------------------------------ what the visitor does

    def _run_chosen(self, event) -> None:
        if not self._is_setting:
            self._names_of_menus[event.obj] = event.new
            self._changed()

    def _choose(self, topic: int) -> None:
        """Choose a topic in all cards."""
        if not self._is_setting and any(view.chosen != topic for view in self._cards):
            self._set(self._cards, chosen=topic)
            self._set([self.documents], document=NONE)
            self._changed()

    def _on_search(self, event) -> None:
        """List the documents of the period or group that was tapped in a figure, those with most of the topic first."""
        if event.new:
            self._set([self.find], value=event.new, value_input=event.new)
            self._set([self.documents], document=NONE, page=1, sort="")
            self._changed_again()

    def _on_label(self, event) -> None:
        """Store the label that the visitor has typed."""
        if self._is_setting or policy().read_only or self._topics is None:
            return
        snapshot, topic = self._topics.snapshot, self.map.chosen

        def on_result(result, error) -> None:
            self._topics_task.reset()
            self._last_label = None
            self._show()
            if error is not None:
                self.status.say(sentence_of(error), "bad")

        self._label_task.reset()
        self._label_task.submit(
            event.new,
            lambda: label_topic(snapshot.path, counts_of(snapshot), topic, event.new),
            on_result,
        )

    def _changed(self, *events) -> None:
        if not self._is_setting:
            if not events or any(
                event.obj is self.find or (event.obj is self.documents and event.name == "sort")
                for event in events
            ):
                self._set([self.documents], page=1)
            self._changed_again()

    def _changed_again(self) -> None:
        """Show what the visitor chose, and write it into the page's address; the list of documents stays at its page."""
        if not self._is_setting:
            self._missing_note = ""
            self._say()
            write_address(self._parameters)
            self._show()

    # ------------------------------------------------------------------ the link

    def _run_parameter(self, menu: pn.widgets.Select) -> QueryParameter:
        """Return the query parameter of the page's address for the run of a menu; it accepts runs that do not exist yet."""

        def take(name: str) -> bool:
            self._names_of_menus[menu] = name[:LONGEST]
            if name in self._runs:
                menu.value = name
            return True

        return QueryParameter(lambda: self._names_of_menus[menu], "", take)

    def _number_parameter(
        self,
        view: param.Parameterized,
        name: str,
        views: Iterable[param.Parameterized],
        default: int = NONE,
    ) -> QueryParameter:
        """Return the query parameter of the page's address for the number of a topic, document or page in all ``views``."""

        def take(number: str) -> bool:
            if is_valid := whole_number_of(number) >= max(default, 0):
                self._set(views, **{name: int(number)})
            return is_valid

        def current() -> str:
            number = getattr(view, name)
            return "" if number == default else str(number)

        return QueryParameter(current, "", take)

    # ------------------------------------------------------------------ the page

    def _file(self, make: Callable[[files.FileRequest], File]) -> Callable[[], Callable[[], File]]:
        """Return a function to call at a click; it returns a function that makes a file of what is shown."""

        def work() -> Callable[[], File]:
            other, query = self._snapshot_of(self.other.value), self.find.value.strip()
            names, sort = self._topics.names if self._topics else {}, self.documents.sort
            return partial(
                make, files.FileRequest(self.snapshot(), names, self.map.chosen, other, query, sort)
            )

        return work

    def view(self) -> pn.Column:
        """Return the page, after setting up its session."""
        run_column = column(
            column(self.run, self.again, kind="wb-bar"), self.status, kind="wb-card overview"
        )
        overview = column(self.map.view, self.words.view, kind="wb-halves")
        pair = column(self.sizes.view, self.recorded.view, kind="wb-halves")
        further_cards = (
            self.topics.view,
            self.editing.view,
            self.model.view,
            self.documents.view,
            pair,
        )
        cards = run_column, overview, *further_cards, self.matching.view, self.unseen.view
        self.main.objects = [*cards, self.handover]
        return lay_out(self, "topics", "what the topics are about", self.main)


def page() -> pn.Column:
    """Return the page for one visitor, for the store that WORKBENCH_STORE names."""
    return page_or_sentence(lambda: TopicsPage(default_store()).view())


def _form_links(spec: RunSpec | None, topics: Topics | None, chosen_topic: int) -> str:
    """Return links to the forms with the settings of a run, as HTML; empty if no run can be started.

    One of them also has the words of the chosen topic as seed words.
    """
    if spec is None or policy().read_only:
        return ""
    missing = ", ".join(missing_in_request(spec))
    title = f' title="{escape(f"without {missing}")}"' if missing else ""
    query = query_of(spec)
    links = [f'<a href="compare?{escape(urlencode(query))}"{title}>Use these settings</a>']
    for tab, name, varied_fields, fits in (
        ("choose-k", "Choose K", ("n_topics",), spec.engine in warm_starts()),
        ("frontier", "Frontier", ("r", "n_chains"), {"r", "n_chains"} <= spec.options.keys()),
    ):
        if fits:
            fixed_fields = {
                key: text for key, text in query.items() if key not in (*varied_fields, "seeds")
            }
            address = urlencode({"tab": tab, "engine": spec.engine} | fixed_fields)
            links.append(f'<a href="sweep?{escape(address)}">{name}</a>')
    words = topics.top.get(chosen_topic, ())[:FEW] if topics is not None else ()
    if words and "seed_words" in spec.options:
        seeds = parse_seeds(spec.options["seed_words"])
        seeds |= {topics.labels.get(chosen_topic) or str(chosen_topic): words}
        address = urlencode(query | {"seed_words": seeds_text(seeds)})
        links.append(f'<a href="compare?{escape(address)}">Seed topic {chosen_topic}</a>')
    return " · ".join(links)


def _empty_store_html(store: Path) -> str:
    """Return HTML on what to do if the store has no run."""
    start = "" if policy().read_only else ' <a href="compare">Start one on the Compare page</a>'
    command = f"workbench fit docstrings --engine cgs --topics 10 --store {escape(str(store))}"
    terminal = "." if policy().others else f", or type in a terminal: <code>{command}</code>"
    return f'<p role="status">No run yet.{start and start + terminal}</p>'
