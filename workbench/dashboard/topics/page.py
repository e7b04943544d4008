"""The Topics page: the topics of one run, their words and documents, and what else is known about them."""

from collections.abc import Callable, Iterable
from functools import partial
from html import escape
from pathlib import Path
from time import monotonic

import numpy as np
import panel as pn
import param

from workbench.dashboard.shared.card import Card
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.files import File
from workbench.dashboard.shared.link import (
    LONGEST,
    Part,
    follow_address,
    widget_part,
    write_address,
)
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import FIRST_LOOK, Reading, monitor_of, stamp
from workbench.dashboard.shared.shell import (
    LOOK,
    Choice,
    column,
    lay_out,
    page_or_sentence,
    styled,
    text,
)
from workbench.dashboard.shared.snapshots import Moment, moment_of
from workbench.dashboard.topics import files
from workbench.dashboard.topics.documents import Documents
from workbench.dashboard.topics.filled import NONE
from workbench.dashboard.topics.hierarchy import Hierarchy, network_of
from workbench.dashboard.topics.matching import Flow
from workbench.dashboard.topics.overview import Overview, named
from workbench.dashboard.topics.recorded import Recorded
from workbench.dashboard.topics.scores import Scores
from workbench.dashboard.topics.sizes import KINDS, Sizes
from workbench.dashboard.topics.unseen import Unseen
from workbench.dashboard.topics.words import Words
from workbench.runs.execution.run import default_store
from workbench.runs.store.notes import FILE as NOTES

NEWEST, NO_RUN = "the newest run", "no run"
MOST_WORDS = 50
EVERY = 3.0
"""Seconds between two drawings of a picture of an active run."""


class TopicsPage:
    """One visitor's view of a run: the newest one until the menu or the link chooses another."""

    def __init__(self, store: Path):
        self.store, self._monitor = Path(store), monitor_of(store)
        self.run = styled(
            pn.widgets.Select(label="Topics of", options={NEWEST: ""}, value="", width=330)
        )
        self.other = styled(
            pn.widgets.Select(label="Match with", options={NO_RUN: ""}, value="", width=330)
        )
        self.n_words = styled(
            pn.widgets.IntInput(label="Words", value=30, start=1, end=MOST_WORDS, width=64)
        )
        self.relevance = styled(
            pn.widgets.FloatSlider(
                label="Relevance λ", value=0.6, start=0, end=1, step=0.05, width=180
            )
        )
        self.kind = styled(Choice(label="Sizes as", options=KINDS, value="stacked"))
        self.find = styled(
            pn.widgets.TextInput(
                label="Find documents",
                placeholder='word "a phrase" column:value',
                width=330,
                max_length=LONGEST,
            )
        )
        self.find_words = styled(
            pn.widgets.TextInput(
                label="Find words",
                placeholder="a word or a part of one",
                width=200,
                max_length=LONGEST,
            )
        )
        self.said, self.handover = text(sizing_mode="stretch_width"), Handover()
        # the runs chosen in the menus, which may not exist yet
        self._asked = {self.run: "", self.other: ""}
        self._runs: dict[str, Reading] = {}  # every readable run, newest first
        self._labels: dict[int, str] = {}  # labels of the shown run
        self._moving, self._heard_of = False, None
        self._due = 0.0  # time of the next drawing of an active run's pictures
        # a sentence about the run; one about chosen items that do not exist
        self._news, self._gone = ("", "muted"), ""
        self.overview = Overview(
            self._heard, lambda topic: self._leave_out(self._choosers, f"topic {topic} with tokens")
        )
        self.documents = Documents(
            self._choose, lambda one: self._leave_out([self.documents], f"document {one}")
        )
        self.scores, self.words, self.recorded = Scores(), Words(), Recorded(self.handover)
        self.sizes = Sizes(
            "Sizes over the iterations",
            self.handover,
            self.kind,
            kind="sizes",
            csv=self._file(files.sizes_file),
        )
        self.matching = Flow(self.handover, self.other, self._file(files.matching_file))
        self.hierarchy = Hierarchy()
        self.network = Card(
            "Model",
            self.handover,
            below=[self.hierarchy],
            hides=True,
            kind="model",
            csv=self._file(files.model_file),
        )
        self.unseen = Unseen(self.handover, self._choose)
        self._choosers = (
            self.overview,
            self.words,
            self.sizes,
            self.scores,
            self.matching,
            self.matching.sheet,
            self.hierarchy,
        )
        self._lay_out()
        self._parts = {
            "run": self._run_part(self.run),
            "topic": self._number_part(self.overview, self._choosers),
            "words": widget_part(self.n_words),
            "relevance": widget_part(self.relevance),
            "sizes": widget_part(self.kind),
            "word": widget_part(self.find_words),
            "with": self._run_part(self.other),
            "find": widget_part(self.find),
            "document": self._number_part(self.documents, [self.documents]),
            **self.documents.parts(),
            "scores": self.scores.part(),
            "matches": self.matching.sheet.part(),
        }
        self._take(self._monitor.latest(FIRST_LOOK))
        self._gone = follow_address(self._parts)
        self._show()
        for menu in self._asked:
            menu.param.watch(self._run_chosen, "value")
        for view in self._choosers:
            view.param.watch(lambda event: self._choose(event.new), "chosen")
        self.documents.param.watch(self._changed, ["chosen", "sort", "page"])
        for widget in (self.n_words, self.relevance, self.kind, self.find, self.find_words):
            widget.param.watch(self._changed, "value")
        for sheet in (self.scores, self.matching.sheet):
            sheet.param.watch(lambda event: write_address(self._parts), "sort")

    # ------------------------------------------------------------------ every second

    def tick(self) -> None:
        """Update the page to the latest listing of the store."""
        self._take(self._monitor.latest())
        self._show(ticking=True)
        # repeatedly, since the browser may overwrite the address while it draws the page
        write_address(self._parts)

    def _take(self, listing) -> None:
        """Set the menus to the runs of the store."""
        self._runs = {
            reading.name: reading for reading in listing.readings if reading.spec is not None
        }
        for (menu, asked), nothing in zip(self._asked.items(), (NEWEST, NO_RUN), strict=True):
            options = {nothing: ""} | {name: name for name in self._runs}
            wanted = asked if asked in self._runs else ""
            if options != menu.options or wanted != menu.value:
                self._set([menu], options=options, value=wanted)

    def _set(self, views: Iterable[param.Parameterized], **values) -> None:
        """Set parameters of the views without treating that as a choice by the visitor."""
        self._moving = True
        for view in views:
            view.param.update(**values)
        self._moving = False

    def moment(self) -> Moment | None:
        """Return the snapshot to show; None if there is no run."""
        return self._moment_of(self.run.value or next(iter(self._runs), ""))

    def _moment_of(self, name: str) -> Moment | None:
        return moment_of(self._runs[name]) if name in self._runs else None

    def _show(self, ticking: bool = False) -> None:
        """Show the chosen run at its last snapshot."""
        moment = self.moment()
        if moment is None:
            for card in (*self._choosers, self.documents, self.recorded, self.network):
                card.clear()
            self.unseen.show(None, NONE, {})
            self.said.param.update(value=_empty(self.store), visible=True)
        else:
            self.overview.show(
                moment, stamp(moment.path / NOTES), self.n_words.value, self.relevance.value
            )
            if self._heard_of == moment.path:  # else the labels are not known yet
                topic, labels, reading = (
                    self.overview.chosen,
                    self._labels,
                    self._runs[moment.path.name],
                )
                rows = moment.path, moment.hash, int(np.nan_to_num(reading.latest[0]))
                self.documents.show(moment, topic, labels, self.find.value)
                self.words.show(moment, labels, self.find_words.value)
                self.scores.show(moment, labels)
                if ticking:
                    self.recorded.tick()
                if not ticking or monotonic() >= self._due:
                    self._due = monotonic() + EVERY
                    self.sizes.follow(*rows, labels, self.kind.value)
                    self.recorded.follow(moment, rows[-1])
                    self.matching.follow(moment, self._moment_of(self.other.value), labels)
                self.network.bring(rows[:2], partial(network_of, *rows[:2]))
                self.hierarchy.show(moment, reading.spec, labels)
                self.unseen.show(moment, topic, labels)
        self._see()

    def _see(self) -> None:
        """Show the cards that have content, and hide the others."""
        for boxes, seen in (
            (self._of_runs, self.moment() is not None and not self.sizes.without_topics),
            (self._of_topics, bool(self.overview.topics)),
        ):
            for box in boxes:
                box.visible = seen

    def _heard(self, trouble: str) -> None:
        """Take the new topics of the run, and the error about it, if any; then update the cards."""
        moment, topics = self.moment(), self.overview.topics
        if moment is None:
            return
        is_known, self._heard_of = self._heard_of == moment.path, moment.path
        self._labels = {one["topic"]: named(one) for one in topics if named(one)}
        if trouble:
            self._news = trouble, "bad" if topics else "muted"
        else:
            asked = self._asked[self.run]
            lost = (
                f"There is no run {asked} here; the newest is shown. "
                if asked not in {"", *self._runs}
                else ""
            )
            self._news = (
                f"{lost}{len(topics)} topics of {moment.path.name}, {moment.state}.",
                "muted",
            )
        self._say()
        self._show(ticking=is_known)

    def _say(self) -> None:
        """Show the sentence about the run, after one about a missing choice of the link."""
        sentence, kind = self._news
        self.said.say(f"{self._gone} {sentence}".strip(), kind)

    def _leave_out(self, views: Iterable[param.Parameterized], what: str) -> None:
        """Drop a choice that does not exist, and say so until the visitor's next action."""
        self._set(views, chosen=NONE)
        self._gone = f"{self._gone} There is no {what} in {self.moment().path.name}.".strip()
        self._say()
        self._show()

    # ------------------------------------------------------------------ what the visitor does

    def _run_chosen(self, event) -> None:
        if not self._moving:
            self._asked[event.obj] = event.new
            self._changed()

    def _choose(self, topic: int) -> None:
        """Choose a topic in all cards."""
        if not self._moving and any(view.chosen != topic for view in self._choosers):
            self._set(self._choosers, chosen=topic)
            self._set([self.documents], chosen=NONE)
            self._changed()

    def _changed(self, *events) -> None:
        if not self._moving:
            if not events or any(
                event.obj is self.find or event.name == "sort" for event in events
            ):
                self._set([self.documents], page=1)
            self._gone = ""
            self._say()
            write_address(self._parts)
            self._show()

    # ------------------------------------------------------------------ the link

    def _run_part(self, menu: pn.widgets.Select) -> Part:
        """Return the part of the link for the run of a menu; it accepts runs that do not exist yet."""

        def take(name: str) -> bool:
            self._asked[menu] = name[:LONGEST]
            if name in self._runs:
                menu.value = name
            return True

        return Part(lambda: self._asked[menu], "", take)

    def _number_part(self, view: param.Parameterized, views: Iterable[param.Parameterized]) -> Part:
        """Return the part of the link for the number of a topic or document, which is chosen in all ``views``."""

        def take(number: str) -> bool:
            known = number.isdecimal() and len(number) < 10
            if known:
                self._set(views, chosen=int(number))
            return known

        return Part(lambda: "" if view.chosen == NONE else str(view.chosen), "", take)

    # ------------------------------------------------------------------ the page

    def _file(self, make: Callable[..., File], *form: str) -> Callable[..., Callable[[], File]]:
        """Return the function that is called at a click, and returns a function that makes a file of what is shown."""

        def work(*columns: int) -> Callable[[], File]:
            other, query = self._moment_of(self.other.value), self.find.value.strip()
            chosen = self.overview.chosen, self.n_words.value, self.relevance.value
            shown = files.Shown(self.moment(), self._labels, *chosen, other, query)
            return partial(make, shown, *form, *columns)

        return work

    def _files(self, make: Callable[..., File], forms=files.FORMS, more=()) -> Downloads:
        """Return the buttons for the figure in each format, for the values behind it, and for more tables."""
        tables = {name: self._file(table) for name, table in dict(more).items()}
        figures = {form.upper(): self._file(make, form) for form in forms}
        return Downloads(self.handover, {"CSV": self._file(make, "csv")} | tables, figures)

    def _lay_out(self) -> None:
        """Make the cards."""

        def row(make, what: str, said: str, **settings) -> list:
            return self._files(make, **settings).row(said, f"download the {what}")

        def card(kind: str, title: str, *parts) -> pn.Column:
            return column(text(f"<h2>{title}</h2>"), *parts, kind=f"wb-card {kind}")

        overview_files = column(
            *row(files.map_file, "map", "The map:"),
            *row(
                files.words_file, "words", "The words:", more={"Salient words": files.salient_file}
            ),
            kind="wb-stack",
        )
        overview = column(
            column(self.run, self.n_words, self.relevance, self.find_words, kind="wb-bar"),
            self.said,
            self.words,
            self.overview,
            overview_files,
            kind="wb-card overview",
        )
        documents = card(
            "documents",
            "Documents",
            column(self.find, kind="wb-bar"),
            self.documents,
            *row(files.documents_file, "documents", "These documents:", forms=()),
        )
        scores = card(
            "scores",
            "Coherence and diversity",
            self.scores,
            *row(files.scores_file, "scores", "The scores:"),
        )
        unseen, matching, sizes = self.unseen.card, self.matching.view, self.sizes.view
        pair, network = column(sizes, scores, kind="wb-halves"), self.network.view
        self._cards = overview, network, documents, pair, self.recorded.view, matching, unseen
        self._of_runs = [sizes, self.n_words, self.relevance, self.find_words]
        self._of_topics = [overview_files, documents, scores, matching, unseen]

    def view(self) -> pn.Column:
        """Return the page, after setting up its session."""
        main = column(*self._cards, self.handover, kind="wb-main")
        said = f"what the topics are about{f' {LOOK}' if policy().read_only else ''}"
        return lay_out(self, "topics", said, main)


def page() -> pn.Column:
    """Return the page for one visitor, for the store that WORKBENCH_STORE names."""
    return page_or_sentence(lambda: TopicsPage(default_store()).view())


def _empty(store: Path) -> str:
    """Return HTML on what to do if the store has no run."""
    start = "" if policy().read_only else ' <a href="compare">Start one on the Compare page</a>'
    command = f"workbench fit docstrings --engine cgs --topics 10 --store {escape(str(store))}"
    terminal = "." if policy().others else f", or type in a terminal: <code>{command}</code>"
    return f'<p role="status">No run yet.{start and start + terminal}</p>'
