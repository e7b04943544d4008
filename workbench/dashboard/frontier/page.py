"""The Frontier page: settings of the hybrids by cost and distance from long Gibbs chains, all of them started from here."""

import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import panel as pn

from workbench.corpus import CorpusError
from workbench.corpus.catalog import DEFAULT
from workbench.dashboard.choose_k.sweeping import told
from workbench.dashboard.compare.fields import FILE, corpora, defaults, number_field, reading_fields, single_fields
from workbench.dashboard.compare.form import Form
from workbench.dashboard.compare.mistakes import mistake_of
from workbench.dashboard.compare.settings import ALWAYS, NOT_STARTED
from workbench.dashboard.compare.steering import each_of
from workbench.dashboard.compare.values import Field, Menu, Number, Values
from workbench.dashboard.compare.wording import counted
from workbench.dashboard.frontier.results import Asked, Shown, frontier_of, overtaking_of, points_of, results_file
from workbench.dashboard.frontier.sweeping import (
    Found,
    found_in,
    hybrids,
    mistakes,
    n_reference,
    n_wanted,
    of_corpus,
    progress_of,
    start,
    values_of,
)
from workbench.dashboard.shared.background import LOOKS, in_background, sentence_of
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.link import follow_address, widget_part, write_address
from workbench.dashboard.shared.policy import PolicyError, policy
from workbench.dashboard.shared.run_monitor import FIRST_LOOK, Listing, monitor_of
from workbench.dashboard.shared.shell import (
    LOOK,
    begin_session,
    button,
    column,
    lay_out,
    message,
    page_or_sentence,
    text,
)
from workbench.dashboard.shared.ui_events import with_lock
from workbench.measures.frontier import CHAINS, LONGER
from workbench.runs.execution.run import default_store
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import ALIVE, STOPPED, requested

TITLE = "workbench · Frontier"
USUAL = {"r": "0, 1, 2, 5, inf", "n_chains": "1, 5", "n_iterations": 100, "seeds": 3}
"""What stands in the form at first."""
SPLITS = {"by counts alone": "", "also where averaging harms most": "gap", "also at random": "random"}
LIVE_EVERY = 4.0
"""Seconds between two looks at what runs that go on came to."""
NAMES = {"CPU seconds": "cpu_time", "updates": "updates"}
"""What the menu calls the costs."""


class FrontierPage:
    """The page of one visitor: its form says which runs it is about, whoever started them."""

    def __init__(self, store: Path):
        self.store, self._monitor, self._document = Path(store), monitor_of(store), pn.state.curdoc
        self.handover, self._shown, self._computing, self._next = Handover(), None, False, 0.0   # of `_compute`
        self.fields = _fields()
        self.form = Form(self.fields, lambda fold: None)
        self.start, self.stop = button("Start", color="primary"), button("Stop", disabled=True)
        self.said, self.ahead = text(sizing_mode="stretch_width", visible=False), text(sizing_mode="stretch_width")
        self.progress = text(sizing_mode="stretch_width")
        self.cards = {"frontier": Card(self.handover, self._make), "overtaking": Card(self.handover, self._make)}
        self._listing, self._seen = Listing(0, ()), None   # the last listing; what of it and of the form is shown
        self.found = Found([], [])                         # the runs of the form
        self._asked: Asked | None = None
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
            self._seen, self._wrong = seen, bool(mistakes(values))
            self.found = Found([], []) if self._wrong else found_in(listing.readings, values)
            others = [] if self._wrong else of_corpus(listing.readings, values)
            self._asked = Asked(
                points_of(self.found.settings), points_of(self.found.reference[:CHAINS]), points_of(others),
                values["n_iterations"], 0 if self._wrong else n_reference(values), values["cost"])
            said = "" if self._wrong else f"{counted(n_wanted(values))} with the {CHAINS} chains of the reference."
            self.ahead.object = said and message(said)
        self._show_progress(values)

    def _show_progress(self, values: dict) -> None:
        alive = [one for one in self._runs() if one.state in ALIVE]
        self.stop.disabled = not alive
        if self._stopping:
            self._stopping = bool(alive)
            with suppress(StoreError):  # of a run that was removed in this moment
                each_of([one.path for one in alive if requested(one.path) != STOPPED], "stop")  # one may have begun since
        progress = progress_of(self.found, values) if self._runs() else None
        said = "No run of these settings yet." if policy().read_only else "No run of these settings yet. Press Start."
        if self._wrong:
            said = "The form does not describe runs yet."
        elif progress is not None:
            said = told(progress, False)
        self.progress.object = message(said)
        all_there = progress is not None and progress.n_alive > 0 and progress.n_alive + progress.n_ended == progress.n_wanted
        self.start.disabled = self._busy or all_there

    def _runs(self) -> list:
        """All runs of the form that are there."""
        return list({one.name: one for one in (*self.found.reference[:CHAINS], *self.found.settings)}.values())

    def _compute(self) -> None:
        """Has the numbers computed in a thread: at once for another form, every few seconds while the runs go on."""
        asked, form = self._asked, self._seen[1]
        known = self._shown is not None and (
            self._shown == (form, asked) or (self._shown[0] == form and time.monotonic() < self._next))
        if self._computing or known:
            return
        self._shown, self._computing = (form, asked), True

        def then(found, error) -> None:
            self._computing, self._next = False, time.monotonic() + LIVE_EVERY
            if self._seen[1] == form:  # else the next tick asks for those of the form as it is now
                for at, card in enumerate(self.cards.values()):
                    card.show(found[at] if found else None, error)

        in_background(self._document, lambda: (frontier_of(asked), overtaking_of(asked)), then, LOOKS)

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
            policy().limits.check("session", self._n_started + n_wanted(values))
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

        in_background(self._document, partial(start, self.store, values, self.found), then)

    def _stop(self) -> None:
        """Asks all runs of the form to stop after their present steps; nothing that is there is lost."""
        if policy().read_only:
            return
        self._stopping = True
        paths = [one.path for one in self._runs() if one.state in ALIVE]

        def then(result, error) -> None:
            said = f"{counted(len(paths))} asked to stop; Start goes on from where they are."
            self._say(*((said, "muted") if error is None else (sentence_of(error), "bad")))
            self._monitor.look_soon()

        in_background(self._document, partial(each_of, paths, "stop"), then)

    def _make(self, card: "Card", form: str, columns: int = 1):
        return partial(results_file, self._asked, card is self.cards["overtaking"], form, columns)

    # ------------------------------------------------------------------ the form

    def _say(self, sentence: str, kind: str = "muted", busy: bool = False) -> None:
        self._busy = busy
        self.start.param.update(disabled=busy, label="Preparing …" if busy else "Start")
        self.said.say(sentence, kind)

    def _placed(self, found: dict[str, str]) -> dict[str, str]:
        """The mistakes by the field under which each is shown; of what the page has no field for, under the corpus."""
        file = self.fields["corpus"].value == FILE
        own = {"corpus": "path" if file else "corpus", "engines": "engine", "budget_r": "r"}
        placed = {own.get(field, field): said for field, said in reversed(found.items())}
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
            text(f"<h2>{'Runs to compare' if change else 'Runs to look at'}</h2>"), self.form,
            column(*buttons, kind="wb-start"), *limits,
            kind="wb-card wb-form", width=316, sizing_mode=None,
        )
        first, second = self.cards.values()
        main = column(
            column(text("<h2>Cost and distance</h2>"), first.said, self.progress, first.results, kind="wb-card"),
            column(text("<h2>Where hybrids overtake</h2>"), second.said, second.results, kind="wb-card"),
            self.handover, kind="wb-main",
        )
        begin_session(self, TITLE, [], self.tick)
        said = f"cost and distance from long Gibbs chains{'' if change else f' {LOOK}'}"
        return lay_out("workbench", said, [form, main], [], "frontier")


class Card:
    """What is said, the figure, the table and the downloads of one card."""

    def __init__(self, handover: Handover, make):
        self.said, self.figure = text(sizing_mode="stretch_width"), text(sizing_mode="stretch_width")
        self.table = text("", "comparison.css", sizing_mode="stretch_width")
        files = Downloads(handover, {"CSV": lambda: make(self, "csv")},
                          {form.upper(): partial(make, self, form) for form in ("svg", "pdf", "png")})
        self.results = column(self.figure, self.table, *files.row("Download", "download the numbers"), kind="wb-stack",
                              visible=False)

    def show(self, found: Shown | None, error: Exception | None) -> None:
        """Shows what was found, or why nothing was."""
        found = found or Shown("", "", "", None)
        self.said.object = found.said if error is None else message(sentence_of(error), "bad")
        self.figure.object, self.table.object, self.results.visible = found.figure, found.table, bool(found.figure)


def page() -> pn.Column:
    """The page for one visitor, of the store that WORKBENCH_STORE names."""
    return page_or_sentence(lambda: FrontierPage(default_store()).view())


def _fields() -> dict[str, Field]:
    """The fields of the form by their names in a link."""
    usual, reading, single = defaults() | USUAL, reading_fields(), single_fields()
    numbers = {name: number_field(name, usual[name]) for name in ("n_iterations", "seeds", "holdout", "jobs")}
    model = {name: number_field(name, usual[name]) for name in ("n_topics", "alpha", "beta")}
    return {
        "corpus": Menu("Corpus", corpora(), DEFAULT, wide=True),
        "path": Field("Path of the corpus", placeholder="docword.….txt.gz, .csv, .jsonl, folder of .txt", wide=True),
        **{name: reading[name] for name in ALWAYS},
        "engine": Menu("Hybrid", {name: name for name in hybrids()}, hybrids()[0], "the engine whose r is varied; cgs runs "
                       "beside it with the same seeds"),
        "r": Values("r", USUAL["r"], "the tokens of a word that a document has at most so often are sampled, those of others "
                    "averaged; 0: none is sampled, inf: all are", infinite=True, wide=True),
        "n_chains": Values("Chains S", USUAL["n_chains"], "so many samples of the tokens in every iteration; with commas",
                           whole=True),
        "split": Menu("Split", SPLITS, "", "adaptive-cgs with as many updates chooses by itself what is sampled", wide=True),
        **model, **numbers,
        "cost": Menu("Cost", NAMES, "cpu_time", "what settings are compared by: CPU seconds of inference on this machine, or "
                     "updates of single tokens and pairs"),
        "reference": Number(
            "Iterations of the reference", None, f"of each of the {CHAINS} chains of cgs that all others are set against; "
            f"empty: {LONGER} times as many as of the runs", placeholder=f"{LONGER} × iterations", wide=True),
        **{name: single[name] for name in ("top_words", "singletons", "repeat", "merge")},
    }
