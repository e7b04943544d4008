"""The Sweep page: a form describes many runs, Start begins them in the background, and a tab shows their joint results."""

import time
from contextlib import suppress
from functools import partial
from html import escape
from itertools import zip_longest
from pathlib import Path

import panel as pn

from workbench.corpus import CorpusError
from workbench.dashboard.compare.fields import ALWAYS, corpus_field, field_of, path_field
from workbench.dashboard.compare.mistakes import mistake_of
from workbench.dashboard.compare.settings import NOT_STARTED
from workbench.dashboard.compare.starting import Starts, mark_busy
from workbench.dashboard.compare.steering import each_of
from workbench.dashboard.compare.wording import counted
from workbench.dashboard.shared.background import in_background, sentence_of
from workbench.dashboard.shared.card import Card, Shown
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Form
from workbench.dashboard.shared.link import (
    QueryParameter,
    follow_address,
    widget_parameter,
    write_address,
)
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import FIRST_LOOK, Listing, monitor_of
from workbench.dashboard.shared.shell import (
    Choice,
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
from workbench.dashboard.sweep.request import Found, progress_of
from workbench.runs.execution.run import default_store
from workbench.runs.request import FILE, written
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import ALIVE, STOPPED, requested

TABS = {kind.name: kind for kind in (ChooseK, Frontier)}
"""Name → the requests of each tab."""
REFRESH_SECONDS = 4.0
"""Seconds between two computations of the results of active runs."""
SEEDS = 3
"""Default number of seeds, enough for a standard error."""


class SweepPage:
    """The page of one visitor: shared fields, the fields of each tab, the runs of the form, and the cards of the tab."""

    def __init__(self, store: Path):
        self.store, self._monitor, self._document = Path(store), monitor_of(store), pn.state.curdoc
        self.handover, self._starts = Handover(), Starts(self._monitor)
        titles = {kind.title: name for name, kind in TABS.items()}
        self.choice = styled(Choice(label="Tab", options=titles, value=ChooseK.name))
        data = {"corpus": corpus_field(), "path": path_field()}
        data |= {name: field_of(name) for name in ALWAYS}
        numbers = {"seeds": field_of("seeds", default=SEEDS)}
        numbers |= {name: field_of(name) for name in ("holdout", "jobs")}
        own = {name: kind.fields() for name, kind in TABS.items()}
        self._fields = {name: data | own[name] | numbers for name in TABS}
        self.forms = {name: Form(fields) for name, fields in self._fields.items()}
        self._cards = {
            name: [Card(heading, self.handover) for heading in kind.cards]
            for name, kind in TABS.items()
        }
        self.stacks = {
            name: column(*(card.view for card in cards), kind="wb-stack")
            for name, cards in self._cards.items()
        }
        self.start, self.stop = button("Start", color="primary"), button("Stop", disabled=True)
        self.heading, self.ahead, self.progress, self.said = (
            text(sizing_mode="stretch_width") for _ in range(4)
        )
        self._listing, self._found, self._wrong = Listing(0, ()), Found([]), False
        self._seen = None  # the listing and the form from which `_found` was made
        self._results = ()  # functions of the last results, with their arguments
        self._computed_form, self._next = None, 0.0
        self._busy = self._stopping = False
        tab_parameter = widget_parameter(self.choice)
        self._parameters = {
            tab: {"tab": tab_parameter}
            | {name: widget_parameter(field) for name, field in fields.items()}
            for tab, fields in self._fields.items()
        }
        follow_address({"tab": tab_parameter})
        self.said.say(follow_address(self.parameters), "bad")
        for fields in (data, numbers, *own.values(), {"tab": self.choice}):
            for name, field in fields.items():
                field.param.watch(partial(self._changed, name), "value")
        self.start.on_click(lambda event: with_lock(self._document, self._start))
        self.stop.on_click(lambda event: with_lock(self._document, self._stop))
        self._show_fields()
        self.form.wrong = self._placed(self.request().sentences())  # from the link
        self._take(self._monitor.latest(FIRST_LOOK))

    @property
    def fields(self) -> dict[str, pn.widgets.Widget]:
        """Return the fields of the tab by their names in the page's address."""
        return self._fields[self.choice.value]

    @property
    def form(self) -> Form:
        """Return the form of the tab."""
        return self.forms[self.choice.value]

    @property
    def cards(self) -> list[Card]:
        """Return the cards of the tab."""
        return self._cards[self.choice.value]

    @property
    def parameters(self) -> dict[str, QueryParameter]:
        """Return a dict name -> query parameter in the page's address, for the choice of the tab and the tab's fields."""
        return self._parameters[self.choice.value]

    def request(self) -> ChooseK | Frontier:
        """Return the request that the form describes."""
        texts = {name: written(field.value) for name, field in self.fields.items()}
        return TABS[self.choice.value].from_query(texts)

    # ------------------------------------------------------------------ every second

    def tick(self) -> None:
        """Update the page to the latest listing of the store."""
        self._take(self._monitor.latest())
        self._compute()  # not before the page is drawn, or the result would be lost
        write_address(self.parameters)

    def _take(self, listing: Listing) -> None:
        """Show which runs of the form a listing contains, and their progress."""
        self._listing, request, readings = listing, self.request(), listing.readings
        if (seen := (listing.version, request)) != self._seen:
            self._seen, self._wrong = seen, bool(request.sentences())
            self._found, self._results, ahead = Found([]), (), ""
            if not self._wrong:
                self._found = request.find(readings)
                self._results = request.results(readings, self._found)
                ahead = request.describe(readings)
            self.ahead.object = message(ahead)
        self._show_progress(request)

    def _show_progress(self, request: ChooseK | Frontier) -> None:
        runs = self._found.all
        alive = [one for one in runs if one.state in ALIVE]
        goes_on = not self._wrong and request.goes_on(self.store, self._found)
        self.stop.disabled = not (alive or goes_on)
        if self._stopping:
            self._stopping = not self.stop.disabled
            with suppress(StoreError):  # a run may just have been removed
                # a run may have started since
                each_of([one.path for one in alive if requested(one.path) != STOPPED], "stop")
        all_there = False
        if self._wrong:
            said = "The form does not describe runs yet."
        elif runs:
            progress = progress_of(runs, request.wanted(self._found), request.jobs)
            said = progress.sentence(goes_on)
            all_there = 0 < progress.n_alive == progress.n_wanted - progress.n_ended
        else:
            said = f"No run of these settings yet.{' Press Start.' * (not policy().read_only)}"
        self.progress.object = message(said)
        self.start.disabled = self._busy or goes_on or all_there

    def _compute(self) -> None:
        """Compute the results in threads: at once for a changed form, every few seconds while its runs are active."""
        form = self._seen[1]
        waits = any(card.pending for card in self.cards) or time.monotonic() < self._next
        if form == self._computed_form and waits:
            return
        self._computed_form, self._next = form, time.monotonic() + REFRESH_SECONDS
        waiting = "The results of the runs are being computed …" * bool(self._found.all)
        for card, (make, *given) in zip_longest(self.cards, self._results, fillvalue=(Shown,)):
            card.bring((form, make, given), partial(make, *given), waiting)

    # ------------------------------------------------------------------ what the visitor does

    def _changed(self, name: str, event) -> None:
        self._stopping = False  # the form now describes other runs
        self._show_fields()
        mistakes = self._placed(self.request().sentences())
        shown = {name, *self.form.wrong}
        self.form.wrong = {field: said for field, said in mistakes.items() if field in shown}
        self._take(self._listing)
        self._compute()
        write_address(self.parameters)

    def _start(self) -> None:
        """Start the runs of the form."""
        request = self.request()
        self.form.wrong = self._placed(request.sentences())
        if self.form.wrong:
            self._say(NOT_STARTED, "bad")
            return
        self._stopping = False

        def refuse(error: Exception) -> None:
            if isinstance(error, CorpusError):
                self.form.wrong = self._placed(mistake_of(error, request))
            self._say(NOT_STARTED if isinstance(error, CorpusError) else sentence_of(error), "bad")

        work = partial(request.begin, self.store, self._found)
        self._starts.begin(request.n_runs(), work, self._say, refuse)

    def _stop(self) -> None:
        """Ask all runs of the form to stop after their present steps; their results are kept."""
        if policy().read_only:
            return
        self._stopping = True
        goes_on = self.request().goes_on(self.store, self._found)
        paths = [one.path for one in self._found.all if goes_on or one.state in ALIVE]

        def then(result, error: Exception | None) -> None:
            done = f"{counted(len(paths))} asked to stop; Start resumes them."
            self._say(*((sentence_of(error), "bad") if error else (done,)))
            self._monitor.look_soon()

        in_background(self._document, partial(each_of, paths, "stop"), then)

    # ------------------------------------------------------------------ the form

    def _say(self, sentence: str, kind: str = "muted", busy: bool = False) -> None:
        self._busy = busy
        mark_busy(self.start, busy)
        self.said.say(sentence, kind)

    def _placed(self, mistakes: dict[str, str]) -> dict[str, str]:
        """Return a dict field that shows the mistake -> error sentence; the corpus shows mistakes that have no field."""
        corpus = "path" if self.fields["corpus"].value == FILE else "corpus"
        places = TABS[self.choice.value].placed_at | {"corpus": corpus}
        placed = {places.get(name, name): said for name, said in reversed(mistakes.items())}
        return {name if name in self.fields else corpus: said for name, said in placed.items()}

    def _show_fields(self) -> None:
        is_file, tab = self.fields["corpus"].value == FILE, self.choice.value
        shown = [name for name in self.fields if is_file or name not in ("path", *ALWAYS)]
        self.heading.object = f"<h2>{escape(TABS[tab].question)}</h2>"
        # the other tabs first, since a shared field can be in one form only
        for name in sorted(TABS, key=tab.__eq__):
            self.forms[name].show(shown if name == tab else [])
            self.stacks[name].visible = name == tab

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
        main = column(*self.stacks.values(), self.handover, kind="wb-main")
        return lay_out(self, "sweep", "many runs, one question", form, main)


def page() -> pn.Column:
    """Return the page for one visitor, for the store that WORKBENCH_STORE names."""
    return page_or_sentence(lambda: SweepPage(default_store()).view())
