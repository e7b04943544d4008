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
from workbench.dashboard.compare.steering import act_on_all
from workbench.dashboard.compare.wording import number_of_runs
from workbench.dashboard.shared.background import in_background, sentence_of
from workbench.dashboard.shared.card import Card, CardContent
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Form
from workbench.dashboard.shared.link import (
    QueryParameter,
    follow_address,
    left_out_of_link,
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
from workbench.dashboard.sweep.request import FoundRuns, progress_of
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
        fields_of_tabs = {name: kind.fields() for name, kind in TABS.items()}
        self._fields = {name: data | fields_of_tabs[name] | numbers for name in TABS}
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
        self.heading, self.ahead, self.progress, self.status = (
            text(sizing_mode="stretch_width") for _ in range(4)
        )
        self._listing, self._found_runs, self._wrong = Listing(0, ()), FoundRuns([]), False
        self._key = None  # the listing and the form from which `_found_runs` was made
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
        sentences = follow_address(self.parameters), left_out_of_link(self.parameters)
        self.status.say(" ".join(filter(None, sentences)), "bad")
        for fields in (data, numbers, *fields_of_tabs.values(), {"tab": self.choice}):
            for name, field in fields.items():
                field.param.watch(partial(self._changed, name), "value")
        self.start.on_click(lambda event: with_lock(self._document, self._start))
        self.stop.on_click(lambda event: with_lock(self._document, self._stop))
        self._show_fields()
        self.form.wrong = self._mistakes_at_fields(self.request().sentences())  # from the link
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
        if (key := (listing.version, request)) != self._key:
            self._key, self._wrong = key, bool(request.sentences())
            self._found_runs, self._results, forecast = FoundRuns([]), (), ""
            if not self._wrong:
                self._found_runs = request.find(readings)
                self._results = request.results(readings, self._found_runs)
                forecast = request.describe(readings)
            self.ahead.object = message(forecast)
        self._show_progress(request)

    def _show_progress(self, request: ChooseK | Frontier) -> None:
        runs = self._found_runs.all
        alive = [run for run in runs if run.state in ALIVE]
        is_going_on = not self._wrong and request.goes_on(self.store, self._found_runs)
        self.stop.disabled = not (alive or is_going_on)
        if self._stopping:
            self._stopping = not self.stop.disabled
            with suppress(StoreError):  # a run may just have been removed
                # a run may have started since
                act_on_all([run.path for run in alive if requested(run.path) != STOPPED], "stop")
        all_there = False
        if self._wrong:
            sentence = "The form does not describe runs yet."
        elif runs:
            progress = progress_of(runs, request.wanted(self._found_runs), request.jobs)
            sentence = progress.sentence(is_going_on)
            all_there = 0 < progress.n_alive == progress.n_wanted - progress.n_ended
        else:
            sentence = f"No run of these settings yet.{' Press Start.' * (not policy().read_only)}"
        self.progress.object = message(sentence)
        self.start.disabled = self._busy or is_going_on or all_there

    def _compute(self) -> None:
        """Compute the results in threads: at once for a changed form, every few seconds while its runs are active."""
        form = self._key[1]
        waits = any(card.pending for card in self.cards) or time.monotonic() < self._next
        if form == self._computed_form and waits:
            return
        self._computed_form, self._next = form, time.monotonic() + REFRESH_SECONDS
        waiting_text = "The results of the runs are being computed …" * bool(self._found_runs.all)
        for card, (make, *arguments) in zip_longest(
            self.cards, self._results, fillvalue=(CardContent,)
        ):
            card.bring((form, make, arguments), partial(make, *arguments), waiting_text)

    # ------------------------------------------------------------------ what the visitor does

    def _changed(self, name: str, event) -> None:
        self._stopping = False  # the form now describes other runs
        self._show_fields()
        mistakes = self._mistakes_at_fields(self.request().sentences())
        field_names = {name, *self.form.wrong}
        self.form.wrong = {
            field: sentence for field, sentence in mistakes.items() if field in field_names
        }
        self._take(self._listing)
        self._compute()
        write_address(self.parameters)

    def _start(self) -> None:
        """Start the runs of the form."""
        request = self.request()
        self.form.wrong = self._mistakes_at_fields(request.sentences())
        if self.form.wrong:
            self._say(NOT_STARTED, "bad")
            return
        self._stopping = False

        def refuse(error: Exception) -> None:
            if isinstance(error, CorpusError):
                self.form.wrong = self._mistakes_at_fields(mistake_of(error, request))
            self._say(NOT_STARTED if isinstance(error, CorpusError) else sentence_of(error), "bad")

        work = partial(request.begin, self.store, self._found_runs)
        self._starts.begin(request.n_runs(), work, self._say, refuse)

    def _stop(self) -> None:
        """Ask all runs of the form to stop after their present steps; their results are kept."""
        if policy().read_only:
            return
        self._stopping = True
        is_going_on = self.request().goes_on(self.store, self._found_runs)
        paths = [run.path for run in self._found_runs.all if is_going_on or run.state in ALIVE]

        def on_result(result, error: Exception | None) -> None:
            sentence = f"{number_of_runs(len(paths))} asked to stop; Start resumes them."
            self._say(*((sentence_of(error), "bad") if error else (sentence,)))
            self._monitor.look_soon()

        in_background(self._document, partial(act_on_all, paths, "stop"), on_result)

    # ------------------------------------------------------------------ the form

    def _say(self, sentence: str, kind: str = "muted", busy: bool = False) -> None:
        self._busy = busy
        mark_busy(self.start, busy)
        self.status.say(sentence, kind)

    def _mistakes_at_fields(self, mistakes: dict[str, str]) -> dict[str, str]:
        """Return a dict field that shows the mistake -> error sentence; the corpus shows mistakes that have no field."""
        corpus = "path" if self.fields["corpus"].value == FILE else "corpus"
        fields_of_mistakes = TABS[self.choice.value].placed_at | {"corpus": corpus}
        mistakes_at_fields = {
            fields_of_mistakes.get(name, name): sentence
            for name, sentence in reversed(mistakes.items())
        }
        return {
            name if name in self.fields else corpus: sentence
            for name, sentence in mistakes_at_fields.items()
        }

    def _show_fields(self) -> None:
        is_file, tab = self.fields["corpus"].value == FILE, self.choice.value
        names = [name for name in self.fields if is_file or name not in ("path", *ALWAYS)]
        self.heading.object = f"<h2>{escape(TABS[tab].question)}</h2>"
        # the other tabs first, since a shared field can be in one form only
        for name in sorted(TABS, key=tab.__eq__):
            self.forms[name].show(names if name == tab else [])
            self.stacks[name].visible = name == tab

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """Return the page, after setting up its session."""
        change = not policy().read_only
        buttons = [self.ahead, column(self.start, self.stop, kind="wb-bar")] if change else []
        limits = (
            [text(message(policy().limits.sentence()), sizing_mode="stretch_width")]
            if change
            else []
        )
        form = column(
            self.choice,
            self.heading,
            *self.forms.values(),
            column(*buttons, self.progress, self.status, kind="wb-start"),
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
