"""The Choose K page: runs that differ in K and seed, started from here, and the K that is recommended."""

import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import panel as pn

from workbench.corpus import CorpusError
from workbench.corpus.catalog import DEFAULT
from workbench.dashboard.choose_k.results import NOTHING, Point, Shown, points_of, results_file, shown_of
from workbench.dashboard.choose_k.sweeping import (
    engines,
    mistakes,
    progress_of,
    runs_of,
    start_sweep,
    told,
    values_of,
)
from workbench.dashboard.compare.fields import FILE, corpora, defaults, number_field, reading_fields
from workbench.dashboard.compare.form import Form
from workbench.dashboard.compare.mistakes import mistake_of
from workbench.dashboard.compare.settings import ALWAYS, NOT_STARTED
from workbench.dashboard.compare.starting import describe_sweep, n_runs, paces
from workbench.dashboard.compare.steering import each_of
from workbench.dashboard.compare.values import Field, Menu, Values
from workbench.dashboard.compare.wording import LABELS, counted
from workbench.dashboard.shared.background import LOOKS, in_background, sentence_of
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.link import follow_address, widget_part, write_address
from workbench.dashboard.shared.policy import PolicyError, policy
from workbench.dashboard.shared.run_monitor import FIRST_LOOK, Listing, Reading, monitor_of
from workbench.dashboard.shared.shell import LOOK, begin_session, button, column, lay_out, message, page_or_sentence, text
from workbench.dashboard.shared.ui_events import with_lock
from workbench.runs.execution import warm_sweep
from workbench.runs.execution.run import default_store
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import ALIVE, STOPPED, requested

TITLE = "workbench · Choose K"
NUMBERS = ("n_iterations", "seeds", "holdout", "jobs")
SEEDS, TOPICS = 3, "5, 10, 20, 40"
"""As many seeds as give an error, and numbers of topics to begin with."""
LIVE_EVERY = 4.0
"""Seconds between two looks at what runs that go on came to."""
WARM = (
    "begin each number of topics from the runs of the next smaller one: fewer iterations are needed, but a bad start is handed "
    "on, and one number waits for the other"
)


class ChooseKPage:
    """The page of one visitor: its form says which runs it is about, whoever started them."""

    def __init__(self, store: Path):
        self.store, self._monitor, self._document = Path(store), monitor_of(store), pn.state.curdoc
        self.handover, self._asked, self._computing, self._next = Handover(), ("", ()), False, 0.0   # of `_compute`
        self.fields = _fields()
        self.form = Form(self.fields, lambda fold: None)
        self.start, self.stop = button("Start", color="primary"), button("Stop", disabled=True)
        self.said, self.ahead = text(sizing_mode="stretch_width", visible=False), text(sizing_mode="stretch_width")
        self.progress, self.advice = text(sizing_mode="stretch_width"), text(sizing_mode="stretch_width")
        self.figure, self.table = text(sizing_mode="stretch_width"), text("", "comparison.css", sizing_mode="stretch_width")
        self.files = Downloads(
            self.handover, {"CSV": partial(self._make, "csv")},
            {form.upper(): partial(self._make, form) for form in ("svg", "pdf", "png")},
        )
        download = self.files.row("Download", "download the numbers by K")
        self.results = column(self.figure, self.table, *download, kind="wb-stack", visible=False)
        self._listing, self._seen = Listing(0, ()), None   # the last listing; what of it and of the form is shown
        self.runs: list[Reading] = []                      # those of the form, by K and seed
        self._wanted: tuple[tuple[Point, ...], str, tuple[int, ...]] = (), "", ()   # of `shown_of`
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

    def values(self) -> dict:
        """What the form says."""
        read = {name: field.read() for name, field in self.fields.items()}
        file = read["corpus"] == FILE
        return values_of(read | {
            "corpus": read["path"].strip() if file else read["corpus"],
            "read": {name: read[name] for name in ALWAYS if file and read[name]},
        })

    # ------------------------------------------------------------------ every second

    def tick(self) -> None:
        """Brings the page to the latest listing of the store."""
        self._take(self._monitor.latest())
        self._compute()  # not before the page is drawn: what came at once would be lost
        write_address(self.parts)

    def _take(self, listing: Listing) -> None:
        """Shows the runs of the form that are listed."""
        self._listing, values = listing, self.values()
        if (seen := (listing.version, repr(values))) != self._seen:
            wrong, self._seen = mistakes(values), seen
            self.runs = [] if wrong else runs_of(listing.readings, values)
            ks = () if wrong else tuple(values["n_topics"])
            self._wrong, self._wanted = bool(wrong), (points_of(self.runs), values["engine"] + " warm" * values["warm"], ks)
            self.ahead.object = "" if wrong else message(describe_sweep(values, paces(listing.readings)))
        self._show_progress(values)

    def _show_progress(self, values: dict) -> None:
        goes_on = values["warm"] and bool({one.name for one in self.runs} & warm_sweep.at_work(self.store))
        alive = [one for one in self.runs if one.state in ALIVE]
        self.stop.disabled = not (alive or goes_on)
        if self._stopping:
            self._stopping = bool(alive or goes_on)
            with suppress(StoreError):  # of a run that was removed in this moment
                each_of([one.path for one in alive if requested(one.path) != STOPPED], "stop")  # one may have begun since
        said = "No run of these settings yet." if policy().read_only else "No run of these settings yet. Press Start."
        progress = progress_of(self.runs, values, self._listing.readings) if self.runs else None
        if self._wrong:
            said = "The form does not describe runs yet."
        elif progress is not None:
            said = told(progress, goes_on)
        self.progress.object = message(said)
        all_there = progress is not None and progress.n_alive > 0 and progress.n_alive + progress.n_ended == progress.n_wanted
        self.start.disabled = self._busy or goes_on or all_there

    def _compute(self) -> None:
        """Has the numbers computed in a thread: at once for another form, every few seconds while the runs go on."""
        asked, form = self._wanted, self._seen[1]
        known = self._asked == (form, asked) or (self._asked[0] == form and time.monotonic() < self._next)
        if self._computing or known:
            return
        self._asked, self._computing = (form, asked), True
        if asked[0] and not self.table.object:
            self.advice.object = message("The numbers of the runs are being computed …")

        def then(found, error) -> None:
            self._computing, self._next = False, time.monotonic() + LIVE_EVERY
            if self._seen[1] == form:  # else the next tick asks for those of the form as it is now
                self._show(found, error)

        in_background(self._document, partial(shown_of, *asked), then, LOOKS)

    def _show(self, found: Shown | None, error: Exception | None) -> None:
        found = found or NOTHING
        self.advice.object = found.advice if error is None else message(sentence_of(error), "bad")
        self.figure.object, self.table.object, self.results.visible = found.figure, found.table, bool(found.table)

    # ------------------------------------------------------------------ what the visitor does

    def _changed(self, name: str) -> None:
        self._show_fields()
        found = self._placed(mistakes(self.values()))
        self.form.wrong = {field: said for field, said in found.items() if field == name or field in self.form.wrong}
        self._take(self._listing)
        self._compute()
        write_address(self.parts)

    def _start(self) -> None:
        """Starts the runs of the form; the page goes on while the corpus is read."""
        values = self.values()
        self.form.wrong = self._placed(mistakes(values))
        if self.form.wrong:
            self._say(NOT_STARTED, "bad")
            return
        try:
            policy().limits.check("session", self._n_started + n_runs(values))
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

        in_background(self._document, partial(start_sweep, self.store, values), then)

    def _stop(self) -> None:
        """Asks all runs of the form to stop after their present steps; nothing that is there is lost."""
        if policy().read_only:
            return
        self._stopping = True
        paths = [one.path for one in self.runs if one.state in ALIVE or self.values()["warm"]]

        def then(result, error) -> None:
            said = f"{counted(len(paths))} asked to stop; Start goes on from where they are."
            self._say(*((said, "muted") if error is None else (sentence_of(error), "bad")))
            self._monitor.look_soon()

        in_background(self._document, partial(each_of, paths, "stop"), then)

    def _make(self, form: str, columns: int = 1):
        return partial(results_file, *self._wanted, form, columns)

    # ------------------------------------------------------------------ the form

    def _say(self, sentence: str, kind: str = "muted", busy: bool = False) -> None:
        self._busy = busy
        self.start.param.update(disabled=busy, label="Preparing …" if busy else "Start")
        self.said.say(sentence, kind)

    def _placed(self, found: dict[str, str]) -> dict[str, str]:
        """The mistakes by the field under which each is shown; of what the page has no field for, under the corpus."""
        file = self.fields["corpus"].value == FILE
        own = {"corpus": "path" if file else "corpus", "engines": "engine"}
        placed = {own.get(field, field): said for field, said in found.items()}
        return {field if field in self.fields else own["corpus"]: said for field, said in placed.items()}

    def _show_fields(self) -> None:
        file = self.fields["corpus"].value == FILE
        self.form.show([name for name in self.fields if file or name not in ("path", *ALWAYS)], {}, [])

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """The whole page; ties it to the session."""
        change = not policy().read_only
        limits = [text(message(policy().limits.told()), sizing_mode="stretch_width")] if change else []
        buttons = [self.ahead, column(self.start, self.stop, kind="wb-bar"), self.said] if change else [self.said]
        form = column(
            text(f"<h2>{'Runs to choose from' if change else 'Runs to look at'}</h2>"), self.form,
            column(*buttons, kind="wb-start"), *limits,
            kind="wb-card wb-form", width=316, sizing_mode=None,
        )
        results = column(text("<h2>Recommended K</h2>"), self.advice, self.progress, self.results, kind="wb-card choose-k")
        main = column(results, self.handover, kind="wb-main")
        begin_session(self, TITLE, [], self.tick)
        said = f"how many topics{'' if change else f' {LOOK}'}"
        return lay_out("workbench", said, [form, main], [], "choose-k")


def page() -> pn.Column:
    """The page for one visitor, of the store that WORKBENCH_STORE names."""
    return page_or_sentence(lambda: ChooseKPage(default_store()).view())


def _fields() -> dict[str, Field]:
    """The fields of the form by their names in a link."""
    numbers = {name: number_field(name, value) for name, value in (defaults() | {"seeds": SEEDS}).items() if name in NUMBERS}
    reading = reading_fields()
    return {
        "corpus": Menu("Corpus", corpora(), DEFAULT, wide=True),
        "path": Field("Path of the corpus", placeholder="docword.….txt.gz, .csv, .jsonl, folder of .txt", wide=True),
        **{name: reading[name] for name in ALWAYS},
        "engine": Menu("Engine", {name: name for name in engines()}, "cgs", "the engine of all runs; cgs, a Gibbs sampler, is "
                       "a good first choice"),
        "n_topics": Values(LABELS["n_topics"], TOPICS, "numbers of topics to choose from, with commas", whole=True, wide=True),
        **numbers,
        "warm": Menu("Warm starts", {"no": False, "yes": True}, False, WARM),
    }
