"""A page about runs that differ in a few settings: its form says which, starts them, and its cards show what they came to."""

import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

import panel as pn

from workbench.corpus import CorpusError
from workbench.dashboard.compare.fields import FILE
from workbench.dashboard.compare.mistakes import mistake_of
from workbench.dashboard.compare.settings import ALWAYS, NOT_STARTED
from workbench.dashboard.compare.steering import each_of
from workbench.dashboard.compare.wording import counted
from workbench.dashboard.shared.background import LOOKS, in_background, sentence_of
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Form
from workbench.dashboard.shared.link import follow_address, widget_part, write_address
from workbench.dashboard.shared.policy import PolicyError, policy
from workbench.dashboard.shared.run_monitor import FIRST_LOOK, Listing, Reading, monitor_of
from workbench.dashboard.shared.shell import (
    LOOK,
    PAGES,
    begin_session,
    button,
    column,
    lay_out,
    message,
    text,
)
from workbench.dashboard.shared.ui_events import with_lock
from workbench.dashboard.shared.values import Field
from workbench.dashboard.sweeps.progress import Progress, told
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import ALIVE, STOPPED, requested

LIVE_EVERY = 4.0
"""Seconds between two looks at what runs that go on came to."""


class SweepPage:
    """The page of one visitor. A subclass says which runs its form describes, what is computed of them, and its cards."""

    name, said_of, heading = "", "", ""
    """Its address; what it is about, and what its form is called, in a few words."""
    placed_at: ClassVar[dict[str, str]] = {"engines": "engine"}
    """Setting → field under which a mistake in it is shown."""

    def __init__(self, store: Path, fields: dict[str, Field]):
        self.store, self._monitor, self._document = Path(store), monitor_of(store), pn.state.curdoc
        # of `_compute`
        self.handover, self._shown, self._computing, self._next = Handover(), ("", None), False, 0.0
        self.fields = fields
        self.form = Form(self.fields, lambda fold: None)
        self.start, self.stop = button("Start", color="primary"), button("Stop", disabled=True)
        self.said, self.ahead = (
            text(sizing_mode="stretch_width", visible=False),
            text(sizing_mode="stretch_width"),
        )
        self.progress = text(sizing_mode="stretch_width")
        # the last listing; what of it and of the form is shown
        self._listing, self._seen = Listing(0, ()), None
        self._asked = None  # what `numbers` are computed from
        self._wrong, self._busy, self._stopping, self._n_started = False, False, False, 0
        self.parts = {name: widget_part(field) for name, field in self.fields.items()}
        refused = follow_address(self.parts)
        if refused:
            self.said.say(refused, "bad")
        for name, field in self.fields.items():
            field.watch(partial(self._changed, name))
        self.start.on_click(lambda event: with_lock(self._document, self._start))
        self.stop.on_click(lambda event: with_lock(self._document, self._stop))
        self._show_fields()
        self._take(self._monitor.latest(FIRST_LOOK))

    # ------------------------------------------------------------------ what a page is about

    def settings(self, read: dict) -> dict:
        """What the fields say, as settings of the sweep."""
        raise NotImplementedError

    def mistakes(self, values: dict) -> dict[str, str]:
        """Setting → what is wrong with it."""
        raise NotImplementedError

    def look(self, listing: Listing, values: dict | None) -> str:
        """Takes the runs of the form from a listing; None: the form describes none. Returns what would be started, in words."""
        raise NotImplementedError

    def runs_shown(self) -> list[Reading]:
        """All runs of the form that are there."""
        raise NotImplementedError

    def progress_made(self, values: dict) -> Progress:
        """How far these runs are."""
        raise NotImplementedError

    def numbers(self, asked) -> object:
        """What the cards show; computed in a thread."""
        raise NotImplementedError

    def show(self, found, error: Exception | None) -> None:
        """Shows these numbers, or why there are none."""
        raise NotImplementedError

    def n_started_by(self, values: dict) -> int:
        """How many runs Start makes."""
        raise NotImplementedError

    def make_runs(self, values: dict) -> tuple[int, str]:
        """Starts them; returns how many, and a sentence."""
        raise NotImplementedError

    def cards(self) -> list:
        """The cards beside the form."""
        raise NotImplementedError

    def goes_on(self, values: dict) -> bool:
        """Is something at work that will start further runs?"""
        return False

    def stoppable(self, values: dict) -> list[Reading]:
        """The runs that Stop asks."""
        return [one for one in self.runs_shown() if one.state in ALIVE]

    def await_numbers(self, asked) -> None:
        """Says that they are being computed."""

    # ------------------------------------------------------------------ every second

    def values(self) -> dict:
        """What the form says."""
        read = {name: field.read() for name, field in self.fields.items()}
        file = read["corpus"] == FILE
        return self.settings(
            read
            | {
                "corpus": read["path"].strip() if file else read["corpus"],
                "read": {name: read[name] for name in ALWAYS if file and read[name]},
            }
        )

    def tick(self) -> None:
        """Brings the page to the latest listing of the store."""
        self._take(self._monitor.latest())
        self._compute()  # not before the page is drawn: what came at once would be lost
        write_address(self.parts)

    def _take(self, listing: Listing) -> None:
        """Shows the runs of the form that are listed."""
        self._listing, values = listing, self.values()
        if (seen := (listing.version, repr(values))) != self._seen:
            self._seen, self._wrong = seen, bool(self.mistakes(values))
            said = self.look(listing, None if self._wrong else values)
            self.ahead.object = said and message(said)
        self._show_progress(values)

    def _show_progress(self, values: dict) -> None:
        goes_on, runs = self.goes_on(values), self.runs_shown()
        alive = [one for one in runs if one.state in ALIVE]
        self.stop.disabled = not (alive or goes_on)
        if self._stopping:
            self._stopping = bool(alive or goes_on)
            with suppress(StoreError):  # of a run that was removed in this moment
                # one may have begun since
                each_of([one.path for one in alive if requested(one.path) != STOPPED], "stop")
        said = (
            "No run of these settings yet."
            if policy().read_only
            else "No run of these settings yet. Press Start."
        )
        progress = self.progress_made(values) if runs else None
        if self._wrong:
            said = "The form does not describe runs yet."
        elif progress is not None:
            said = told(progress, goes_on)
        self.progress.object = message(said)
        all_there = (
            progress is not None
            and progress.n_alive > 0
            and progress.n_alive + progress.n_ended == progress.n_wanted
        )
        self.start.disabled = self._busy or goes_on or all_there

    def _compute(self) -> None:
        """Has the numbers computed in a thread: at once for another form, every few seconds while the runs go on."""
        asked, form = self._asked, self._seen[1]
        known = self._shown == (form, asked) or (
            self._shown[0] == form and time.monotonic() < self._next
        )
        if self._computing or known:
            return
        self._shown, self._computing = (form, asked), True
        self.await_numbers(asked)

        def then(found, error) -> None:
            self._computing, self._next = False, time.monotonic() + LIVE_EVERY
            if self._seen[1] == form:  # else the next tick asks for those of the form as it is now
                self.show(found, error)

        in_background(self._document, partial(self.numbers, asked), then, LOOKS)

    # ------------------------------------------------------------------ what the visitor does

    def _changed(self, name: str) -> None:
        self._show_fields()
        found = self._placed(self.mistakes(self.values()))
        self.form.wrong = {
            field: said
            for field, said in found.items()
            if field == name or field in self.form.wrong
        }
        self._take(self._listing)
        self._compute()
        write_address(self.parts)

    def _start(self) -> None:
        """Starts the runs of the form; the page goes on while the corpus is read."""
        values = self.values()
        self.form.wrong = self._placed(self.mistakes(values))
        if self.form.wrong:
            self._say(NOT_STARTED, "bad")
            return
        try:
            policy().limits.check("session", self._n_started + self.n_started_by(values))
        except PolicyError as error:
            self._say(sentence_of(error), "bad")
            return
        self._stopping = False
        self._say("Reading the corpus and making the runs …", busy=True)

        def then(result, error) -> None:
            if isinstance(error, CorpusError):
                self.form.wrong = self._placed(mistake_of(error, values["corpus"]))
                self._say(NOT_STARTED, "bad")
            elif error is not None:
                self._say(sentence_of(error), "bad")
            else:
                self._n_started += result[0]
                self._say(result[1], "good" if result[0] else "muted")
                self._monitor.look_soon()

        in_background(self._document, partial(self.make_runs, values), then)

    def _stop(self) -> None:
        """Asks all runs of the form to stop after their present steps; nothing that is there is lost."""
        if policy().read_only:
            return
        self._stopping = True
        paths = [one.path for one in self.stoppable(self.values())]

        def then(result, error) -> None:
            said = f"{counted(len(paths))} asked to stop; Start resumes them."
            self._say(*((said, "muted") if error is None else (sentence_of(error), "bad")))
            self._monitor.look_soon()

        in_background(self._document, partial(each_of, paths, "stop"), then)

    # ------------------------------------------------------------------ the form

    def _say(self, sentence: str, kind: str = "muted", busy: bool = False) -> None:
        self._busy = busy
        self.start.param.update(disabled=busy, label="Preparing …" if busy else "Start")
        self.said.say(sentence, kind)

    def _placed(self, found: dict[str, str]) -> dict[str, str]:
        """The mistakes by the field under which each is shown; of what the page has no field for, under the corpus."""
        corpus = "path" if self.fields["corpus"].value == FILE else "corpus"
        own = self.placed_at | {"corpus": corpus}
        placed = {own.get(field, field): said for field, said in reversed(found.items())}
        return {field if field in self.fields else corpus: said for field, said in placed.items()}

    def _show_fields(self) -> None:
        file = self.fields["corpus"].value == FILE
        self.form.show(
            [name for name in self.fields if file or name not in ("path", *ALWAYS)], {}, []
        )

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """The whole page; ties it to the session."""
        change = not policy().read_only
        limits = (
            [text(message(policy().limits.told()), sizing_mode="stretch_width")] if change else []
        )
        buttons = (
            [self.ahead, column(self.start, self.stop, kind="wb-bar"), self.said]
            if change
            else [self.said]
        )
        form = column(
            text(f"<h2>{self.heading if change else 'Runs to look at'}</h2>"),
            self.form,
            column(*buttons, kind="wb-start"),
            *limits,
            kind="wb-card wb-form",
            width=316,
            sizing_mode=None,
        )
        main = column(*self.cards(), self.handover, kind="wb-main")
        begin_session(self, f"workbench · {PAGES[self.name]}", [], self.tick)
        return lay_out(
            "workbench",
            f"{self.said_of}{'' if change else f' {LOOK}'}",
            [form, main],
            [],
            self.name,
        )
