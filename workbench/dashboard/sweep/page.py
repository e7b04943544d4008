"""The Sweep page: a form describes many runs, Start begins them in the background, and a tab shows their joint results."""

import math
import time
from contextlib import suppress
from functools import partial
from html import escape
from itertools import zip_longest
from pathlib import Path

import panel as pn

from workbench.corpus import CorpusError
from workbench.dashboard.compare.fields import (
    ALWAYS,
    corpus_field,
    field_of,
    path_field,
)
from workbench.dashboard.compare.mistakes import mistake_of
from workbench.dashboard.compare.settings import NOT_STARTED
from workbench.dashboard.compare.steering import each_of
from workbench.dashboard.compare.wording import counted
from workbench.dashboard.shared.background import LatestTask, in_background, sentence_of
from workbench.dashboard.shared.card import Live, live
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Form
from workbench.dashboard.shared.link import Part, follow_address, widget_part, write_address
from workbench.dashboard.shared.policy import PolicyError, policy
from workbench.dashboard.shared.run_monitor import FIRST_LOOK, Listing, monitor_of
from workbench.dashboard.shared.shell import (
    LOOK,
    PAGES,
    Choice,
    begin_session,
    button,
    column,
    lay_out,
    message,
    page_or_sentence,
    styled,
    text,
)
from workbench.dashboard.shared.ui_events import with_lock
from workbench.dashboard.sweep.choose_k import ChooseK
from workbench.dashboard.sweep.frontier import Frontier
from workbench.dashboard.sweep.runs import Found, progress_of
from workbench.dashboard.sweep.tab import Tab
from workbench.runs.execution.run import default_store
from workbench.runs.request import FILE, RunRequest, written
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import ALIVE, STOPPED, requested

REFRESH_SECONDS = 4.0
"""Seconds between two computations of the results of active runs."""
SEEDS = 3
"""Default number of seeds, enough for a standard error."""


class SweepPage:
    """The page of one visitor: shared fields, the fields of each tab, the runs of the form, and the cards of the tab."""

    def __init__(self, store: Path):
        self.store, self._monitor, self._document = Path(store), monitor_of(store), pn.state.curdoc
        self.handover = Handover()
        tabs = [kind(self.handover) for kind in (ChooseK, Frontier)]
        self.tabs: dict[str, Tab] = {tab.name: tab for tab in tabs}
        self.choice = styled(
            Choice(label="Tab", options={tab.title: tab.name for tab in tabs}, value=tabs[0].name)
        )
        corpus, numbers = corpus_fields(), number_fields()
        self._fields = {tab.name: corpus | tab.fields | numbers for tab in tabs}
        self.forms = {name: Form(fields) for name, fields in self._fields.items()}
        self.cards = {
            tab.name: column(*(card.view for card in tab.cards), kind="wb-stack") for tab in tabs
        }
        self.start, self.stop = button("Start", color="primary"), button("Stop", disabled=True)
        self.heading, self.ahead, self.progress, self.said = (
            text(sizing_mode="stretch_width") for _ in range(4)
        )
        self._listing, self._found, self._wrong = Listing(0, ()), Found([]), False
        self._seen = None  # the listing and the form from which `_found` was made
        self._request = None  # the input of the last results
        self._latest, self._computed_form, self._next = LatestTask(), None, 0.0
        self._busy, self._stopping, self._n_started = False, False, 0
        tab_part = widget_part(self.choice)
        self._parts = {
            tab: {"tab": tab_part} | {name: widget_part(field) for name, field in fields.items()}
            for tab, fields in self._fields.items()
        }
        follow_address({"tab": tab_part})
        self.said.say(follow_address(self.parts), "bad")
        for fields in (corpus, numbers, *(tab.fields for tab in tabs)):
            for name, field in fields.items():
                field.param.watch(partial(self._changed, name), "value")
        self.choice.param.watch(partial(self._changed, "tab"), "value")
        self.start.on_click(lambda event: with_lock(self._document, self._start))
        self.stop.on_click(lambda event: with_lock(self._document, self._stop))
        self._show_fields()
        self.form.wrong = self._placed(self.tab.mistakes(self.asked()))  # from the link
        self._take(self._monitor.latest(FIRST_LOOK))

    @property
    def tab(self) -> Tab:
        """Return the open tab."""
        return self.tabs[self.choice.value]

    @property
    def fields(self) -> dict[str, pn.widgets.Widget]:
        """Return the fields of the tab by their names in the link."""
        return self._fields[self.tab.name]

    @property
    def form(self) -> Form:
        """Return the form of the tab."""
        return self.forms[self.tab.name]

    @property
    def parts(self) -> dict[str, Part]:
        """Return the parts of the link."""
        return self._parts[self.tab.name]

    def asked(self) -> RunRequest:
        """Return the request that the form describes."""
        return self.tab.asked({name: written(field.value) for name, field in self.fields.items()})

    # ------------------------------------------------------------------ every second

    def tick(self) -> None:
        """Update the page to the latest listing of the store."""
        self._take(self._monitor.latest())
        self._compute()  # not before the page is drawn, or the result would be lost
        write_address(self.parts)

    def _take(self, listing: Listing) -> None:
        """Show which runs of the form a listing contains, and their progress."""
        self._listing, asked = listing, self.asked()
        if (seen := (listing.version, self.tab.name, asked)) != self._seen:
            self._seen, self._wrong = seen, bool(self.tab.mistakes(asked))
            self._found, self._request, ahead = Found([]), None, ""
            if not self._wrong:
                self._found = self.tab.find(listing.readings, asked)
                self._request = self.tab.request(listing.readings, asked, self._found)
                ahead = self.tab.describe(listing.readings, asked)
            self.ahead.object = message(ahead)
        self._show_progress(asked)

    def _show_progress(self, asked: RunRequest) -> None:
        alive = [one for one in self._found.all if one.state in ALIVE]
        goes_on = not self._wrong and self.tab.goes_on(self.store, asked, self._found)
        self.stop.disabled = not (alive or goes_on)
        if self._stopping:
            self._stopping = not self.stop.disabled
            with suppress(StoreError):  # a run may just have been removed
                # a run may have started since
                each_of([one.path for one in alive if requested(one.path) != STOPPED], "stop")
        all_there = False
        if self._wrong:
            said = "The form does not describe runs yet."
        elif self._found.all:
            wanted = self.tab.wanted(asked, self._found)
            progress = progress_of(self._found.all, wanted, asked.jobs)
            said = progress.sentence(goes_on)
            n_left = progress.n_wanted - progress.n_ended
            all_there = bool(alive) and progress.n_alive == n_left
        else:
            said = f"No run of these settings yet.{' Press Start.' * (not policy().read_only)}"
        self.progress.object = message(said)
        self.start.disabled = self._busy or goes_on or all_there

    def _compute(self) -> None:
        """Compute the results in a thread: at once for a changed form, every few seconds while its runs are active."""
        form, request, tab = self._seen[1:], self._request, self.tab

        def first() -> None:
            self._computed_form, self._next = form, math.inf
            for card in tab.cards if self._found.all else ():
                card.wait()

        def work() -> list[Live]:
            return [] if request is None else list(map(live, tab.results(request)))

        def then(results: list[Live] | None, error: Exception | None) -> None:
            self._next = time.monotonic() + REFRESH_SECONDS
            for card, found in zip_longest(tab.cards, results or ()):
                card.show(found, error)

        if form != self._computed_form or time.monotonic() >= self._next:
            self._latest.submit((form, request), work, then, first)

    # ------------------------------------------------------------------ what the visitor does

    def _changed(self, name: str, event) -> None:
        self._stopping = False  # the form now describes other runs
        self._show_fields()
        mistakes = self._placed(self.tab.mistakes(self.asked()))
        shown = {name, *self.form.wrong}
        self.form.wrong = {field: said for field, said in mistakes.items() if field in shown}
        self._take(self._listing)
        self._compute()
        write_address(self.parts)

    def _start(self) -> None:
        """Start the runs of the form; the page stays usable while the corpus is read."""
        asked, tab = self.asked(), self.tab
        self.form.wrong = self._placed(tab.mistakes(asked))
        if self.form.wrong:
            self._say(NOT_STARTED, "bad")
            return
        n = len(tab.wanted(asked, Found([])))
        try:
            policy().limits.check("session", self._n_started + n)
        except PolicyError as error:
            self._say(sentence_of(error), "bad")
            return
        self._stopping = False
        self._say("Reading the corpus and making the runs …", busy=True)

        def then(result: tuple[int, str], error: Exception | None) -> None:
            if isinstance(error, CorpusError):
                self.form.wrong = self._placed(mistake_of(error, asked.corpus))
                self._say(NOT_STARTED, "bad")
            elif error is not None:
                self._say(sentence_of(error), "bad")
            else:
                self._n_started += result[0]
                self._say(result[1], "good" if result[0] else "muted")
                self._monitor.look_soon()

        in_background(self._document, partial(tab.start, self.store, asked, self._found), then)

    def _stop(self) -> None:
        """Ask all runs of the form to stop after their present steps; their results are kept."""
        if policy().read_only:
            return
        self._stopping = True
        goes_on = self.tab.goes_on(self.store, self.asked(), self._found)
        paths = [one.path for one in self._found.all if goes_on or one.state in ALIVE]

        def then(result, error: Exception | None) -> None:
            if error is None:
                self._say(f"{counted(len(paths))} asked to stop; Start resumes them.")
            else:
                self._say(sentence_of(error), "bad")
            self._monitor.look_soon()

        in_background(self._document, partial(each_of, paths, "stop"), then)

    # ------------------------------------------------------------------ the form

    def _say(self, sentence: str, kind: str = "muted", busy: bool = False) -> None:
        self._busy = busy
        self.start.param.update(disabled=busy, label="Preparing …" if busy else "Start")
        self.said.say(sentence, kind)

    def _placed(self, mistakes: dict[str, str]) -> dict[str, str]:
        """Return the mistakes by the field that shows them; those without a field stand under the corpus."""
        corpus = "path" if self.fields["corpus"].value == FILE else "corpus"
        places = self.tab.placed_at | {"corpus": corpus}
        placed = {places.get(name, name): said for name, said in reversed(mistakes.items())}
        return {name if name in self.fields else corpus: said for name, said in placed.items()}

    def _show_fields(self) -> None:
        is_file = self.fields["corpus"].value == FILE
        shown = [name for name in self.fields if is_file or name not in ("path", *ALWAYS)]
        self.heading.object = f"<h2>{escape(self.tab.heading)}</h2>"
        # the other tabs first, since a shared field can be in one form only
        for name, tab in sorted(self.tabs.items(), key=lambda one: one[1] is self.tab):
            self.forms[name].show(shown if tab is self.tab else [])
            self.cards[name].visible = tab is self.tab

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """Return the page, after setting up its session."""
        change = not policy().read_only
        buttons = [self.ahead, column(self.start, self.stop, kind="wb-bar")] if change else []
        limits = (
            [text(message(policy().limits.told()), sizing_mode="stretch_width")] if change else []
        )
        form = column(
            self.choice,
            self.heading,
            *self.forms.values(),
            column(*buttons, self.progress, self.said, kind="wb-start"),
            *limits,
            kind="wb-card wb-form",
            width=316,
            sizing_mode=None,
        )
        main = column(*self.cards.values(), self.handover, kind="wb-main")
        begin_session(self, f"workbench · {PAGES['sweep']}", [], self.tick)
        said = f"many runs, one question{'' if change else f' {LOOK}'}"
        return lay_out("workbench", said, [form, main], [], "sweep")


def page() -> pn.Column:
    """Return the page for one visitor, for the store that WORKBENCH_STORE names."""
    return page_or_sentence(lambda: SweepPage(default_store()).view())


def corpus_fields() -> dict[str, pn.widgets.Widget]:
    """Return the fields for the data, by name in the link."""
    reading = {name: field_of(name) for name in ALWAYS}
    return {"corpus": corpus_field(), "path": path_field(), **reading}


def number_fields() -> dict[str, pn.widgets.Widget]:
    """Return the numerical fields that all tabs share, by name in the link."""
    seeds = field_of("seeds", default=SEEDS)
    return {"seeds": seeds, "holdout": field_of("holdout"), "jobs": field_of("jobs")}
