"""The Compare page: a form for runs beside the live figure, the table of all runs in the store, and comparisons."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import panel as pn

from workbench.dashboard.compare.columns import columns_of
from workbench.dashboard.compare.comparison import Comparison
from workbench.dashboard.compare.curve import N_SLOTS
from workbench.dashboard.compare.figure_card import FigureCard
from workbench.dashboard.compare.files import FORMS, runs_file
from workbench.dashboard.compare.live_strip import LiveStrip
from workbench.dashboard.compare.preview import Preview
from workbench.dashboard.compare.results import Results
from workbench.dashboard.compare.run_cards import (
    RunsCard,
    consensus_of,
    convergence_of,
    family_of,
    gap_of,
    lineage_of,
    moves_of,
    priors_of,
    run_iterations,
)
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.compare.starting import Starts, data_and_losses, start_runs
from workbench.dashboard.compare.steering import Steering
from workbench.dashboard.compare.table import RunTable
from workbench.dashboard.compare.welcome import welcome_card
from workbench.dashboard.shared.background import LatestTask, in_background
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.drawn import SightMark
from workbench.dashboard.shared.link import (
    attribute_parameter,
    follow_address,
    write_address,
)
from workbench.dashboard.shared.notes import NotesCard
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import (
    FIRST_LOOK,
    UNREADABLE,
    Listing,
    Reading,
    monitor_of,
)
from workbench.dashboard.shared.shell import (
    button,
    column,
    lay_out,
    message,
    page_or_sentence,
    styled,
    text,
)
from workbench.dashboard.shared.ui_events import with_lock
from workbench.runs.execution.run import default_store
from workbench.runs.request import RunRequest

RUNS, READING = "<h2>Runs</h2>", "The runs are being read …"


class ComparePage:
    """The page of one visitor, updated from the store every second."""

    def __init__(self, store: Path):
        self.store, self._monitor, self._document = Path(store), monitor_of(store), pn.state.curdoc
        self.handover, self._columns = Handover(), LatestTask()
        self.settings, self.preview = (
            Settings(self.start, self.look_at_data, self.look_at_columns, self._write_link),
            Preview(self._leave_out),
        )
        self.figure = FigureCard(
            self.handover, LiveStrip(self._on_branches, self._monitor.look_now)
        )
        self.table = RunTable(on_draw=self.draw, empty=READING, topics="topics?run=")
        self.results = Results(self.handover)
        self.welcome = welcome_card(
            self.store, self.settings.begin_example, self.settings.choose_file
        )
        self.heading = text(RUNS, css_classes=["wb-mid"])
        self.steering = Steering(self.table, self._monitor.look_soon)
        self.notes = NotesCard(self._monitor.look_soon)
        self.newest, self.ticked, self.use = (
            button(label, disabled=True)
            for label in ("Show latest 8", "Show selected", "Use these settings")
        )
        self.form = styled(
            pn.widgets.Select(
                label="Format", options=FORMS, width=130, css_classes=["wb-unlabelled"]
            )
        )
        self.run_files = Downloads(self.handover, {"Download as": self._make_runs})
        self.comparison = Comparison(self.handover)
        self.gap, self.chains, self.consensus, self.priors, self.lineage, self.moves = (
            RunsCard(heading, self.handover, shown_of)
            for heading, shown_of in (
                ("Gap to Gibbs sampling", gap_of),
                ("Convergence of chains", convergence_of),
                ("Topics on which runs agree", consensus_of),
                ("Priors of topics", priors_of),
                ("Warm starts", lineage_of),
                ("Splits and merges", moves_of),
            )
        )
        # takes back the gap between two cards
        self.below = SightMark(seen=self._document is None, styles={"margin-bottom": "-16px"})
        self._version, self._has_followed = -1, False
        self._starts = Starts(self._monitor)
        self._readings: dict[str, Reading] = {}  # every run of the store, newest first
        self._ticked_last = ""  # the run whose splits and merges are shown; empty: the newest
        self.newest.on_click(lambda event: self._pick(None))
        self.ticked.on_click(
            lambda event: self._pick([name for name in self._readings if name in self.table.chosen])
        )
        self.use.on_click(lambda event: self.settings.use(self._single_choice().spec))
        self.parameters = (
            self.figure.parameters()
            | self.settings.parameters()
            | self.table.parameters()
            | self.results.parameters()
            | {
                "against": self.comparison.reference.parameter(),
                "topics_of": attribute_parameter(self, "_ticked_last"),
            }
        )
        listing = self._monitor.latest(FIRST_LOOK)
        self._offer(listing)
        if link_error := follow_address(self.parameters):
            self.settings.say(link_error)
        self._has_followed = True
        self.figure.look()
        self._take(listing)
        self._show_progress()
        self.figure.watch(self._redraw)
        for choice in (self.figure.lines, self.figure.data):
            choice.param.watch(lambda event: self._pick(self.figure.picked), "value")
        self.table.param.watch(self._on_choice, "chosen")
        self.table.param.watch(self._write_link, ["query", "sort", "group", "columns"])
        for menu in (self.comparison.reference, self.results.setting, self.results.result):
            menu.param.watch(self._write_link, "value")

    # ------------------------------------------------------------------ every second

    def tick(self) -> None:
        """Update the page to the latest listing of the store."""
        self._take(self._monitor.latest())
        self._show_progress()
        names = [path.name for path, *_ in self.figure.compared_runs().runs]
        runs = run_iterations(self._readings[name] for name in names if name in self._readings)
        self.comparison.follow(runs, self.figure.curve.until)
        for card in (self.gap, self.chains, self.consensus, self.priors) if self.below.seen else ():
            card.follow(runs)
        readings_found = self._readings if self.table.found is None else self.table.found
        names = self.figure.of_one_data(readings_found)
        self.results.follow(
            [self._readings[name] for name in names],
            self.table.settings,
            self.figure.name_data(names[0]) if names else "",
        )
        self._write_link()  # the visitor may have changed ranges

    def _show_progress(self) -> None:
        """While the store is first read, show how many runs were read; then, if it has no run, show ways to begin."""
        progress = self._monitor.progress
        self.heading.object = RUNS + message(
            f"{progress[0]:,} of {progress[1]:,} runs read" if progress else ""
        )
        if self.table.empty == READING and self._monitor.has_looked():
            self.table.empty = "No run yet."
        self.welcome.visible = self._monitor.has_looked() and not self._readings

    def _take(self, listing: Listing) -> None:
        """Update everything but the comparison to a listing, unless the page already shows the listing."""
        if listing.version == self._version:
            return
        self._version = listing.version
        self.table.show(listing.readings)
        self.steering.show(listing.readings)
        self._readings = {reading.name: reading for reading in listing.readings}
        self.notes.show(self._readings, self.table.chosen)
        self._offer(listing)
        self._show_curves()
        self._show_chosen()

    def _offer(self, listing: Listing) -> None:
        readings = [reading for reading in listing.readings if reading.state != UNREADABLE]
        self.settings.offer([reading.name for reading in readings])
        self.settings.keep_pace(readings)

    def _show_curves(self) -> None:
        self.figure.show(
            {
                name: reading
                for name, reading in self._readings.items()
                if reading.state != UNREADABLE
            }
        )
        self.table.colours = self.figure.curve.colours()
        self.newest.disabled = self.figure.picked is None
        self.lineage.follow(family_of(self._readings.values()))

    def _show_chosen(self) -> None:
        """Show the splits and merges of the run ticked last, or of the newest run."""
        readable_names = [
            name for name, reading in self._readings.items() if reading.spec is not None
        ]
        name_of_run = (
            [self._ticked_last] if self._ticked_last in readable_names else readable_names[:1]
        )
        readings = [self._readings[name] for name in name_of_run if self._readings[name].moves]
        self.moves.follow(run_iterations(readings))

    # ------------------------------------------------------------------ what the visitor does

    def start(self, request: RunRequest) -> None:
        """Start the runs of the form; add them to the figure if the visitor has chosen the figure's runs."""

        self._starts.begin(
            request.n_runs(),
            lambda: start_runs(self.store, request),
            self.settings.say,
            self.settings.refuse,
            lambda runs: self._draw_too([run.path for run in runs]),
        )

    def _draw_too(self, paths: list[Path]) -> None:
        """Add runs that were just started to the figure, if the visitor has chosen the figure's runs."""
        if paths and self.figure.picked is not None:
            self._pick([*(path.name for path in paths), *self.figure.picked][:N_SLOTS])

    def _on_branches(self, paths: list[Path]) -> None:
        """Show the iterations computed since settings were changed, and the branches that were started."""
        self._draw_too(paths)
        self._take(self._monitor.latest())

    def look_at_data(self, request: RunRequest) -> None:
        """Show a preview of the corpus of the form; the page stays usable while the corpus is read."""
        self.settings.say("Reading the corpus …", busy=True)

        def on_result(result, error) -> None:
            if error is not None:
                self.preview.clear()
                self.settings.refuse(error)
                return
            self.settings.say("")
            self.preview.show(*result, request.read)

        in_background(
            self._document,
            lambda: data_and_losses(request.corpus, request.read, request.engines[0]),
            on_result,
        )

    def _leave_out(self, option: str, value: str) -> None:
        """Leave a word, or the repeated texts, out of the data, as chosen by a click in the preview."""
        if option in ("more_stop_words", "repeated"):
            self.settings.leave_out(option, value)

    def look_at_columns(self, request: tuple) -> None:
        """Offer the columns of the file in the form; choose the obvious ones unless the page's address sets the columns."""
        guess = self._has_followed

        def on_result(columns, error) -> None:
            self.settings.offer_columns(request, columns, guess, error)

        self._columns.submit(request, partial(columns_of, *request), on_result)

    def draw(self, name: str) -> None:
        """Draw the run, or remove it from the figure if it is drawn."""
        self._pick(self.figure.names_after_toggle(name))

    def _on_choice(self, event) -> None:
        self.ticked.disabled = not event.new
        self.use.disabled = self._single_choice() is None
        self.notes.show(self._readings, event.new)
        if added_names := [name for name in event.new if name not in event.old]:
            self._ticked_last = added_names[-1]  # two quick clicks may come as one event
        self._show_chosen()
        self._redraw(lambda: self.figure.curve.lift(self.table.chosen))

    def _single_choice(self) -> Reading | None:
        """Return the chosen run; None if none or several are chosen, or if it cannot be read."""
        readings = [self._readings[name] for name in self.table.chosen if name in self._readings]
        return readings[0] if len(readings) == 1 and readings[0].spec is not None else None

    def _make_runs(self):
        paths = [self._readings[name].path for name in self.table.chosen if name in self._readings]
        return partial(runs_file, paths, self.form.value)

    def _pick(self, names: list[str] | None) -> None:
        self.figure.picked = names
        self._redraw(self._show_curves)

    def _redraw(self, draw: Callable[[], None]) -> None:
        """Draw at the session's next event, and update the page's address in the same message."""

        def work() -> None:
            draw()
            self._write_link()

        with_lock(self._document, work)

    def _write_link(self, *events) -> None:
        if self._has_followed:
            write_address(self.parameters)

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """Return the page, after setting up its session."""
        figures = [self.figure.curve.figure]
        file_buttons = column(
            *self.run_files.buttons.values(), self.form, kind="wb-pair", sizing_mode=None
        )
        change = not policy().read_only
        steering = (*self.steering.buttons.values(), self.use) if change else ()
        runs = column(
            column(self.heading, *steering, self.ticked, self.newest, file_buttons, kind="wb-bar"),
            self.steering.status,
            self.run_files.status,
            self.table.tools,
            self.table,
            kind="wb-card",
        )
        cards = (
            self.preview.card,
            column(
                column(self.figure.view(), kind="wb-main"),
                column(self.comparison.view, self.results.view, kind="wb-main"),
                kind="wb-body",
            ),
            runs,
            self.below,
            self.gap.view,
            self.chains.view,
            self.consensus.view,
            self.priors.view,
            self.lineage.view,
            self.moves.view,
            *([self.notes.card] if change else []),
        )
        main = column(*cards, self.handover, kind="wb-main")
        components = [self.welcome, self.settings.view(), main] if change else [main]
        return lay_out(self, "compare", "compare engines, live", *components, figures=figures)


def page() -> pn.Column:
    """Return the page for one visitor, for the store that WORKBENCH_STORE names."""
    return page_or_sentence(lambda: ComparePage(default_store()).view())
