"""The Topics page: what the topics of one run are about, and what else has to do with them."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path

import numpy as np
import panel as pn

from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.link import Part, follow_address, widget_part, write_address
from workbench.dashboard.shared.run_monitor import Reading, monitor_of
from workbench.dashboard.shared.shell import Choice, begin_session, column, dressed, lay_out, message, text
from workbench.dashboard.shared.snapshots import Moment, moment_of, written
from workbench.dashboard.topics import files
from workbench.dashboard.topics.documents import Documents
from workbench.dashboard.topics.hierarchy import Hierarchy, is_network
from workbench.dashboard.topics.matching import Matching
from workbench.dashboard.topics.overview import NONE, Explorer, named
from workbench.dashboard.topics.recorded import Recorded
from workbench.dashboard.topics.scores import Scores
from workbench.dashboard.topics.sizes import KINDS, Sizes
from workbench.dashboard.topics.unseen import Unseen
from workbench.runs.execution.run import default_store

TITLE = "workbench · Topics"
FIRST_LOOK = 0.5
"""Seconds that the first visitor waits for the first look at the store."""
NEWEST, NO_RUN = "the newest run", "no run"
MOST_WORDS = 50


class TopicsPage:
    """One visitor's view of one run: the newest until one is picked, in the menu or by the link."""

    def __init__(self, store: Path):
        self.store, self._readings = Path(store), monitor_of(store)
        self.run = dressed(pn.widgets.Select(label="Topics of", options={NEWEST: ""}, value="", width=330))
        self.n_words = dressed(pn.widgets.IntInput(label="Words", value=30, start=1, end=MOST_WORDS, width=64))
        self.relevance = dressed(pn.widgets.FloatSlider(label="Relevance λ", value=0.6, start=0, end=1, step=0.05, width=180))
        self.said = text(sizing_mode="stretch_width")
        self.handover = Handover()
        self.explorer = Explorer(self._heard, self._topic_gone)
        self.documents = Documents(self._choose, self._document_gone)
        self.scores, self.sizes, self.matching = Scores(), Sizes(), Matching()
        self.hierarchy, self.unseen = Hierarchy(), Unseen(self.handover, self._choose)
        self.kind = dressed(Choice(label="Sizes as", options=KINDS, value="stacked"))
        self.other = dressed(pn.widgets.Select(label="Match with", options={NO_RUN: ""}, value="", width=330))
        self.files = {name: Downloads(self.handover, *makers) for name, makers in self._makers().items()}
        self.recorded = Recorded(self.files["recorded"])
        self._model = self._card("model", "Model", self.hierarchy, files="The model:")
        self._model.visible = False
        self._matching_files = column(*self._take_away("matching", "The matching:"), kind="wb-stack", visible=False)
        self._of_runs: list[pn.Column] = []           # what is seen while there is a run
        self._of_topics: list[pn.Column] = []         # while there are topics
        self._picked, self._against = "", ""          # as asked for; a run may not be there yet
        self._runs: dict[str, Reading] = {}           # every readable run, newest first
        self._labels: dict[int, str] = {}             # of the run that is shown
        self._moving, self._choosing, self._heard_of = False, False, None
        self._news, self._gone = ("", "muted"), ""    # about the run; what of the link, or of a choice, is not there
        self._choosers = (
            self.explorer.view, self.sizes, self.scores.sheet, self.matching.flow, self.matching.sheet, self.hierarchy
        )
        shelf = self.documents.shelf
        self._parts = {
            "run": self._run_part(self.run, "_picked"),
            "topic": _number_part(lambda: self.explorer.view.chosen, self._spread),
            "words": widget_part(self.n_words), "relevance": widget_part(self.relevance), "sizes": widget_part(self.kind),
            "with": self._run_part(self.other, "_against"),
            "document": _number_part(lambda: shelf.chosen, lambda document: shelf.param.update(chosen=document)),
            "scores": self.scores.sheet.part(), "matches": self.matching.sheet.part(),
        }
        self._take(self._readings.latest(FIRST_LOOK))
        self._gone = follow_address(self._parts)
        self._show()
        for menu, asked in ((self.run, "_picked"), (self.other, "_against")):
            menu.param.watch(partial(self._run_chosen, asked), "value")
        shelf.param.watch(self._changed, "chosen")
        for view in self._choosers:
            view.param.watch(lambda event: self._choose(event.new), "chosen")
        for widget in (self.n_words, self.relevance, self.kind):
            widget.param.watch(self._changed, "value")
        for sheet in (self.scores.sheet, self.matching.sheet):
            sheet.param.watch(lambda event: write_address(self._parts), "sort")

    # ------------------------------------------------------------------ every second

    def tick(self) -> None:
        """Brings the page to the latest listing of the store."""
        self._take(self._readings.latest())
        self._show()
        write_address(self._parts)  # again: a browser that draws the page takes what it has for the view's

    def _take(self, listing) -> None:
        """Updates the menus to the runs that there are."""
        self._runs = {reading.name: reading for reading in listing.readings if reading.spec is not None}
        for menu, nothing, asked in ((self.run, NEWEST, self._picked), (self.other, NO_RUN, self._against)):
            options = {nothing: ""} | {name: name for name in self._runs}
            wanted = asked if asked in self._runs else ""
            if options != menu.options or wanted != menu.value:
                self._moving = True
                menu.param.update(options=options, value=wanted)
                self._moving = False

    def moment(self) -> Moment | None:
        """What is shown; None where there is no run."""
        return self._moment_of(self.run.value or next(iter(self._runs), ""))

    def _moment_of(self, name: str) -> Moment | None:
        return moment_of(self._runs[name]) if name in self._runs else None

    def _show(self) -> None:
        """Shows the run that is chosen, as of its last snapshot."""
        moment = self.moment()
        if moment is None:
            for card in (
                self.explorer, self.documents, self.scores, self.sizes, self.matching, self.hierarchy, self.recorded
            ):
                card.clear()
            self._model.visible = False
            self.unseen.show(None, NONE, {})
            self._see()
            self.said.object = _empty(self.store)
            return
        self.explorer.show(moment, written(moment), self.n_words.value, self.relevance.value)
        if self.sizes.kind != self.kind.value:
            self.sizes.kind = self.kind.value
        self._see()
        if self._heard_of != moment.path:      # its labels are not known yet
            return
        topic, labels, other = self.explorer.view.chosen, self._labels, self._moment_of(self.other.value)
        self.documents.show(moment, topic, labels)
        self.scores.show(moment, labels)
        rows = moment.path, moment.hash, _n_rows(self._runs[moment.path.name])
        self.sizes.show(*rows, labels)
        self.recorded.show(*rows)
        self.matching.show(moment, other, labels)
        self._model.visible = is_network(self._runs[moment.path.name].spec)
        if self._model.visible:
            self.hierarchy.show(moment, labels)
        else:
            self.hierarchy.clear()
        self._matching_files.visible = other is not None
        self.unseen.show(moment, topic, labels)

    def _see(self) -> None:
        """Shows the cards that have something to show."""
        for box in self._of_runs:
            box.visible = self.moment() is not None
        for box in self._of_topics:
            box.visible = bool(self.explorer.view.topics)

    def _heard(self, topics: list[dict], trouble: str) -> None:
        """Takes the topics of the run, or the reason why there are none."""
        moment = self.moment()
        if moment is None:
            return
        self._heard_of = moment.path
        self._labels = {one["topic"]: named(one) for one in topics if named(one)}
        if trouble:
            self._news = trouble, "bad" if topics else "muted"
        else:
            gone = self._picked not in {"", *self._runs}
            lost = f"There is no run {self._picked} here; the newest is shown. " if gone else ""
            self._news = f"{lost}{len(topics)} topics of {moment.path.name}, {moment.state}.", "muted"
        self._say()
        self._show()

    def _say(self) -> None:
        """Writes what is missing of what was asked for, and what there is."""
        sentence, kind = self._news
        said = message(f"{self._gone} {sentence}".strip(), kind)
        if said != self.said.object:
            self.said.object = said

    def _topic_gone(self, topic: int) -> None:
        self._spread(NONE)
        self._leave_out(f"There is no topic {topic} with tokens in {self.moment().path.name}.")

    def _document_gone(self, document: int) -> None:
        self._moving = True
        self.documents.shelf.chosen = NONE
        self._moving = False
        self._leave_out(f"There is no document {document} in {self.moment().path.name}.")

    def _leave_out(self, sentence: str) -> None:
        """Goes on without what is not there, with a sentence about it until the visitor does something."""
        self._gone = f"{self._gone} {sentence}".strip()
        self._say()
        self._show()

    # ------------------------------------------------------------------ what the visitor does

    def _run_chosen(self, asked: str, event) -> None:
        if not self._moving:
            setattr(self, asked, event.new)
            self._changed()

    def _choose(self, topic: int) -> None:
        """Chooses a topic in all cards."""
        if not self._choosing and any(view.chosen != topic for view in self._choosers):
            self._spread(topic)
            self.documents.shelf.chosen = NONE
            self._changed()

    def _spread(self, topic: int) -> None:
        self._choosing = True
        for view in self._choosers:
            view.chosen = topic
        self._choosing = False

    def _changed(self, event=None) -> None:
        if not self._moving:
            self._gone = ""
            self._say()
            write_address(self._parts)
            self._show()

    def _makers(self) -> dict[str, tuple[dict, ...]]:
        """Card → label of a button → what makes its file at the click; those of figures in a second dict."""

        def now() -> tuple[Moment | None, dict[int, str]]:
            return self.moment(), self._labels

        def words(*asked):
            ranked = self.n_words.value, self.relevance.value
            return partial(files.words_file, *now(), self.explorer.view.chosen, *ranked, *asked)

        def matching(*asked):
            moment, labels = now()
            return partial(files.matching_file, moment, self._moment_of(self.other.value), labels, *asked)

        salient = {"Salient words": lambda: partial(files.salient_file, self.moment(), self.n_words.value)}
        return {
            "map": _forms(lambda *asked: partial(files.map_file, *now(), *asked)),
            "words": _forms(words, salient),
            "model": _forms(lambda *asked: partial(files.model_file, self.moment(), *asked)),
            "documents": ({"CSV": lambda: partial(files.documents_file, self.moment(), self.explorer.view.chosen)},),
            "sizes": _forms(lambda *asked: partial(files.sizes_file, *now(), *asked)),
            "scores": _forms(lambda *asked: partial(files.scores_file, *now(), *asked)),
            "matching": _forms(matching),
            "recorded": _forms(lambda *asked: partial(files.recorded_file, self.moment(), self.recorded.title.value, *asked)),
        }

    def _take_away(self, card: str, said: str) -> list:
        return self.files[card].row(said, f"download the {card}")

    def _card(self, name: str, title: str, *parts, files: str = "") -> pn.Column:
        """A card with a heading, and below its parts the buttons of its files."""
        kept = self._take_away(name, files) if files else []
        return column(text(f"<h2>{title}</h2>"), *parts, *kept, kind=f"wb-card {name}")

    # ------------------------------------------------------------------ the link

    def _run_part(self, menu: pn.widgets.Select, asked: str) -> Part:
        """The run of a menu; a run that is asked for may not be there yet."""

        def take(name: str) -> bool:
            setattr(self, asked, name)
            if name in self._runs:
                menu.value = name
            return True

        return Part(lambda: getattr(self, asked), "", take)

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """The whole page; ties it to the session."""
        overview_files = column(
            *self._take_away("map", "The map:"), *self._take_away("words", "The words:"), kind="wb-stack"
        )
        overview = column(
            column(self.run, self.n_words, self.relevance, kind="wb-bar"), self.said, self.explorer.view, overview_files,
            kind="wb-card overview",
        )
        documents = self._card("documents", "Documents", self.documents.shelf, files="These documents:")
        sizes = column(
            column(text("<h2>Sizes over the iterations</h2>", css_classes=["wb-mid"]), self.kind, kind="wb-bar"), self.sizes,
            *self._take_away("sizes", "The sizes:"), kind="wb-card sizes",
        )
        scores = self._card("scores", "Coherence and diversity", self.scores.sheet, files="The scores:")
        matching = self._card(
            "matching", "The same topics in another run", column(self.other, kind="wb-bar"), self.matching.flow,
            self.matching.sheet, self._matching_files,
        )
        pair = column(sizes, scores, kind="wb-halves")
        unseen = self.unseen.view()
        main = column(
            overview, self._model, documents, pair, self.recorded.card, matching, unseen, self.handover, kind="wb-main"
        )
        self._of_runs, self._of_topics = [sizes], [overview_files, documents, scores, matching, unseen]
        self._see()
        begin_session(self, TITLE, [], self.tick)
        return lay_out("workbench", "what the topics are about", [main], [], "topics")


def page() -> pn.Column:
    """The page for one visitor, of the store that WORKBENCH_STORE names."""
    return TopicsPage(default_store()).view()


def _forms(make, more=()) -> tuple[dict, dict]:
    """A button for the numbers behind a figure, and more; and one for each of its formats."""
    return {"CSV": lambda: make("csv"), **dict(more)}, {form.upper(): partial(make, form) for form in files.FORMS}


def _number_part(now, take) -> Part:
    """The number of a topic or a document as a part of the link."""

    def taken(text: str) -> bool:
        known = text.isdecimal() and len(text) < 10
        if known:
            take(int(text))
        return known

    return Part(lambda: "" if now() == NONE else str(now()), "", taken)


def _n_rows(reading: Reading) -> int:
    """Iterations that are committed."""
    return int(np.nan_to_num(reading.latest[0]))


def _empty(store: Path) -> str:
    """What to do where there is no run, as HTML."""
    return (
        '<p role="status">No run yet. <a href="compare">Start one on the Compare page</a>, or type in a terminal: '
        f"<code>workbench fit docstrings --engine cgs --topics 10 --store {escape(str(store))}</code></p>"
    )
