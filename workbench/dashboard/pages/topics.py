"""The Topics page: what the topics of one run are about, and what else has to do with them."""

from __future__ import annotations

from pathlib import Path

import panel as pn

from workbench.dashboard.downloads import Handover
from workbench.dashboard.link import Part, from_query, to_query, widget_part
from workbench.dashboard.readings import readings_of
from workbench.dashboard.shell import begin_session, column, dressed, lay_out, message, text
from workbench.dashboard.snapshots import Moment, moment_of
from workbench.dashboard.topics_page.overview import NONE, Explorer
from workbench.runs.notes import FILE
from workbench.runs.run import default_store

TITLE = "workbench · Topics"
FIRST_LOOK = 0.5
"""Seconds that the first visitor waits for the first look at the store."""
NEWEST = "the newest run"
MOST_WORDS = 50


class TopicsPage:
    """One visitor's view of one run: the newest until one is picked, in the menu or by the link."""

    def __init__(self, store: Path):
        self.store, self._readings = Path(store), readings_of(store)
        self.run = dressed(pn.widgets.Select(label="Topics of", options={NEWEST: ""}, value="", width=330))
        self.n_words = dressed(pn.widgets.IntInput(label="Words", value=30, start=1, end=MOST_WORDS, width=64))
        self.relevance = dressed(pn.widgets.FloatSlider(label="Relevance λ", value=0.6, start=0, end=1, step=0.05, width=180))
        self.said = text(sizing_mode="stretch_width")
        self.handover = Handover()
        self.explorer = Explorer(self._heard)
        self._picked, self._topic = "", NONE          # as asked for; a run and a topic may not be there yet
        self._moments: dict[str, Moment] = {}         # of every readable run, newest first
        self._moving, self._trouble = False, ""
        overview = self.explorer.view
        self._parts = {
            "run": Part(lambda: self._picked, "", self._take_run), "topic": Part(self._topic_told, "", self._take_topic),
            "words": widget_part(self.n_words), "relevance": widget_part(self.relevance),
        }
        self._take(self._readings.latest(FIRST_LOOK))
        self._read_link()
        self._show()
        self.run.param.watch(self._run_chosen, "value")
        overview.param.watch(self._topic_chosen, "chosen")
        for widget in (self.n_words, self.relevance):
            widget.param.watch(self._changed, "value")

    # ------------------------------------------------------------------ every second

    def tick(self) -> None:
        """Brings the page to the latest listing of the store."""
        self._take(self._readings.latest())
        self._show()

    def _take(self, listing) -> None:
        """Takes in which runs there are and what they have reached."""
        self._moments = {reading.name: moment_of(reading) for reading in listing.readings if reading.spec is not None}
        options = {NEWEST: ""} | {name: name for name in self._moments}
        wanted = self._picked if self._picked in self._moments else ""
        if options != self.run.options or wanted != self.run.value:
            self._moving = True
            self.run.param.update(options=options, value=wanted)
            self._moving = False

    def moment(self) -> Moment | None:
        """What is shown; None where there is no run."""
        return self._moments.get(self.run.value or next(iter(self._moments), ""))

    def _show(self) -> None:
        """Shows the run that is chosen, as of its last snapshot."""
        moment = self.moment()
        if moment is None:
            self.explorer.clear()
            self._say(_empty(self.store) if not self._picked else f"There is no run {self._picked} in {self.store}.")
            return
        self.explorer.show(moment, _written(moment.path), self.n_words.value, self.relevance.value)

    def _heard(self, topics: list[dict], trouble: str) -> None:
        """The topics are there, or it is known why not."""
        moment = self.moment()
        if trouble or moment is None:
            self._say(trouble, "muted" if not topics else "bad")
        else:
            self._say(f"{len(topics)} topics of {moment.path.name}, {moment.state}.")

    def _say(self, sentence: str, kind: str = "muted") -> None:
        if message(sentence, kind) != self.said.object:
            self.said.object = message(sentence, kind)

    # ------------------------------------------------------------------ what the visitor does

    def _run_chosen(self, event) -> None:
        if not self._moving:
            self._picked = event.new
            self._changed()

    def _topic_chosen(self, event) -> None:
        self._changed()

    def _changed(self, event=None) -> None:
        self._write_link()
        self._show()

    # ------------------------------------------------------------------ the link

    def _take_run(self, name: str) -> bool:
        self._picked = name
        if name in self._moments:
            self.run.value = name
        return True

    def _topic_told(self) -> str:
        return "" if self.explorer.view.chosen == NONE else str(self.explorer.view.chosen)

    def _take_topic(self, number: str) -> bool:
        if not number.isdecimal():
            return False
        self.explorer.view.chosen = int(number)
        return True

    def _read_link(self) -> None:
        if pn.state.location is not None:
            refused = from_query(pn.state.location.search or "", self._parts)
            if refused:
                self._say(f"The link's {', '.join(refused)} could not be used; the usual values stand instead.")

    def _write_link(self) -> None:
        if pn.state.location is not None:
            pn.state.location.search = to_query(self._parts)

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """The whole page; ties it to the session."""
        overview = column(
            column(self.run, self.n_words, self.relevance, kind="wb-bar"), self.said, self.explorer.view, kind="wb-card"
        )
        main = column(overview, self.handover, kind="wb-main")
        begin_session(self, TITLE, [], self.tick)
        return lay_out("workbench", "what the topics are about", [column(main, kind="wb-body")], [], "topics")


def page() -> pn.Column:
    """The page for one visitor, of the store that WORKBENCH_STORE names."""
    return TopicsPage(default_store()).view()


def _written(path: Path) -> int:
    """When the notes of a run were replaced last; 0 where there are none."""
    try:
        return (path / FILE).stat().st_mtime_ns
    except OSError:
        return 0


def _empty(store: Path) -> str:
    return (
        "No run yet. Start one on the Compare page, or type in a terminal: "
        f"workbench fit docstrings --engine cgs --topics 10 --store {store}"
    )
