"""The Compare page: settings beside the live curves and the table of every run of the store."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import panel as pn

from workbench.dashboard.compare.charts import AXES, BY_TOPIC, CHARTS, MEASURES
from workbench.dashboard.compare.comparison import Comparison
from workbench.dashboard.compare.curve import N_SLOTS, SPANS, Curve, Drawn
from workbench.dashboard.compare.files import FORMS, figure_file, report_file, runs_file, table_file
from workbench.dashboard.compare.grouping import GROUPINGS, MOST_RUNS, mean_lines
from workbench.dashboard.compare.history import Lineage, Moves
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.compare.starting import start_runs, told
from workbench.dashboard.compare.steering import Steering
from workbench.dashboard.compare.table import RunTable
from workbench.dashboard.compare.topic_table import Topics
from workbench.dashboard.shared.background import in_background
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.highlight import Highlight
from workbench.dashboard.shared.light_components import Given
from workbench.dashboard.shared.link import Part, follow_address, widget_part, write_address
from workbench.dashboard.shared.notes import NotesCard
from workbench.dashboard.shared.run_monitor import UNREADABLE, Reading, monitor_of
from workbench.dashboard.shared.shell import Choice, begin_session, column, dressed, labelled, lay_out, message, text
from workbench.dashboard.shared.ui_events import with_lock
from workbench.measures import DERIVED
from workbench.models import VARIABLES
from workbench.runs.execution.run import default_store

TITLE = "workbench · Compare"
FIRST_LOOK = 0.5
"""Seconds that the first visitor waits for the first look at the store."""
MEANINGS = {name: about.meaning for name, about in (VARIABLES | DERIVED).items()} | {"prior": VARIABLES["alpha"].meaning}
RUNS, READING = "<h2>Runs</h2>", "The runs are being read …"
FIGURES = {"SVG": "svg", "PDF": "pdf", "PNG": "png"}


class ComparePage:
    """One visitor's desk: settings, curve, table and topics, brought to what the store says every second."""

    def __init__(self, store: Path):
        self.store, self._readings = Path(store), monitor_of(store)
        self.settings = Settings(on_start=self.start)
        self.curve = Curve()
        self.table = RunTable(on_draw=self.draw, empty=READING)
        self.heading = text(RUNS, css_classes=["wb-mid"])
        self.steering = Steering(self.table, self._readings.look_soon)
        self.notes = NotesCard(self._readings.look_soon)
        self.axis = _choice("Axis", AXES, self.curve.axis)
        self.chart = dressed(pn.widgets.Select(label="Show", options=list(CHARTS), value="Perplexity", width=170,
                                               css_classes=["wb-unlabelled"]))
        self.measure = _choice("Measure", CHARTS[self.chart.value], self.curve.measure)
        self.span = _choice("Range", SPANS, self.curve.span)
        self.lines = _choice("Lines", GROUPINGS, GROUPINGS[0])
        self.smoothing = dressed(pn.widgets.FloatSlider(
            label="Smoothing", start=0.0, end=0.99, step=0.01, value=0.0, width=190, format="0.00"
        ))
        self.until = dressed(pn.widgets.FloatInput(
            label="Until perplexity", value=None, start=0.0, width=150, css_classes=["wb-unlabelled"],
            placeholder="what all reach",
        ))
        self.highlight = Highlight()
        self.newest = dressed(pn.widgets.Button(label="Newest eight", disabled=True))
        self.ticked = dressed(pn.widgets.Button(label="Draw chosen", disabled=True))
        self.meaning = text(sizing_mode="stretch_width")
        self.handover = Handover()
        self.topics, self.moves, self.lineage = Topics(), Moves(self.handover), Lineage(self.handover)
        self.form = dressed(pn.widgets.Select(label="Format", options=FORMS, width=130, css_classes=["wb-unlabelled"]))
        self.view_files = Downloads(self.handover, *self._makers())
        self.comparison = Comparison(self.handover, pn.state.curdoc)
        self.run_files = Downloads(self.handover, {"Download as": self._make_runs})
        self._picked: list[str] | None = None     # drawn by hand; None: the newest eight
        self._beyond: list[str] = []              # runs that are wanted and have no room in the figure
        self._version, self._document = -1, pn.state.curdoc
        self._known: dict[str, Reading] = {}      # every run of the store, newest first
        self.newest.on_click(self._follow_newest)
        self.ticked.on_click(self._draw_chosen)
        self._parts = {"axis": widget_part(self.axis), "range": widget_part(self.span), "lines": widget_part(self.lines)}
        self._parts |= {"smoothing": widget_part(self.smoothing), "until": widget_part(self.until)}
        self._parts["measure"] = Part(lambda: self.measure.value, self.measure.value, self._take_measure)
        self._parts |= {name: widget_part(field) for name, field in self.settings.fields().items()}
        self._parts |= {"words": widget_part(self.topics.n_words), "relevance": widget_part(self.topics.relevance)}
        self._parts |= self.table.parts()
        self._parts["against"] = Part(lambda: self.comparison.reference.value, "", self.comparison.set_against)
        self._parts["runs"] = Part(lambda: ",".join(self._picked or ()), "", self._take_runs)
        self._parts["zoom"] = self.curve.part()
        self._parts["topics_of"] = Part(lambda: self.topics.picked, "", self._take_topics)
        listing = self._readings.latest(FIRST_LOOK)
        self._offer(listing)
        if refused := follow_address(self._parts):
            self.settings.say(refused)
        self._look()
        self._take(listing)
        self._tell_progress()
        self.chart.param.watch(self._chart_changed, "value")
        self.topics.run.param.watch(self._show_moves, "value")
        for widget in (self.axis, self.measure, self.span, self.smoothing, self.until):
            widget.param.watch(self._look_changed, "value")
        self.lines.param.watch(lambda event: self._pick(self._picked), "value")
        told = (self.comparison.reference, self.topics.run, self.topics.n_words, self.topics.relevance)
        for field in self.settings.fields().values():
            field.watch(self._write_link)
        for widget in told:
            widget.param.watch(self._write_link, "value")
        self.table.param.watch(self._chosen, "chosen")
        self.table.param.watch(lambda *events: self._write_link(), ["query", "sort", "group"])

    # ------------------------------------------------------------------ every second

    def tick(self) -> None:
        """Brings the page to the latest listing of the store."""
        self._take(self._readings.latest())
        self._tell_progress()
        self.topics.refresh()
        self._compare()
        self._write_link()  # which tells of ranges that were moved meanwhile

    def _tell_progress(self) -> None:
        """Says how many runs have been read while they are read for the first time, and what to do where there is none."""
        progress = self._readings.progress
        heading = RUNS + message(f"{progress[0]:,} of {progress[1]:,} runs read" if progress else "")
        if heading != self.heading.object:
            self.heading.object = heading
        if self.table.empty == READING and self._readings.looked():
            self.table.empty = _empty(self.store)

    def _take(self, listing) -> None:
        """Brings everything but the words of the topics to a listing, unless it is known."""
        if listing.version == self._version:
            return
        self._version = listing.version
        self.table.show(listing.readings)
        self.steering.show(listing.readings)
        self._known = {reading.name: reading for reading in listing.readings}
        self.notes.show(self._known, self.table.chosen)
        self._offer(listing)
        self._show_curves(listing)
        self.topics.show(listing.readings)
        self._show_moves()

    def _compare(self) -> None:
        self.comparison.show(self._wanted(), self._known, self.curve.until)

    def _wanted(self) -> Drawn:
        """What is to be seen, and without a colour the runs beyond it: for a table or a report, which have room for all."""
        seen, beyond = self.curve.seen(), [self._known[name] for name in self._beyond if name in self._known]
        return seen._replace(runs=(*seen.runs, *((one.path, one.label, "") for one in beyond if len(one.numbers))))

    @property
    def _means(self) -> bool:
        return self.lines.value != GROUPINGS[0]

    def _offer(self, listing) -> None:
        readable = [reading for reading in listing.readings if reading.state != UNREADABLE]
        self.settings.offer([reading.name for reading in readable])
        self.settings.keep_pace(readable)

    def _show_curves(self, listing) -> None:
        readable = {reading.name: reading for reading in listing.readings if reading.state != UNREADABLE}
        wanted = list(readable) if self._picked is None else [name for name in self._picked if name in readable]
        if self._means:
            lines = mean_lines([readable[name] for name in wanted[:MOST_RUNS]])
            self.curve.assign_lines(lines)
            self._beyond = [name for line in lines[N_SLOTS:] for name in line.names]
        else:
            self.curve.assign(wanted[:N_SLOTS])
            self._beyond = wanted[N_SLOTS:] if self._picked is not None else []
        self.curve.show(readable)
        self.highlight.show(self.curve.members(), self.curve.labels())
        colours = self.curve.colours()
        if colours != self.table.colours:
            self.table.colours = colours
        if self.newest.disabled != (self._picked is None):
            self.newest.disabled = self._picked is None
        self.lineage.show(listing.readings, colours)
        self._say_meaning()

    def _show_moves(self, event=None) -> None:
        """Shows the moves of the run whose topics are shown."""
        readable = (name for name, reading in self._known.items() if reading.spec is not None)
        self.moves.show(self._known.get(self.topics.run.value or next(readable, "")))

    # ------------------------------------------------------------------ what the visitor does

    def start(self, values: dict) -> None:
        """Starts the runs of the form; the page goes on while the corpus is read."""
        self.settings.busy("Reading the corpus and making the runs …")

        def then(result, error) -> None:
            if error is not None:
                self.settings.refuse(error)
                return
            started = result[0]
            self.settings.ready(told(*result), "good" if started else "muted")
            if self._picked is not None:
                self._pick([*(run.name for run in started), *self._picked][:N_SLOTS])
            self._readings.look_soon()

        in_background(self._document, lambda: start_runs(self.store, values), then)

    def draw(self, name: str) -> None:
        """Draws the run, or draws it no more; the oldest choice makes room."""
        drawn = list(self.curve.colours())
        most = MOST_RUNS if self._means else N_SLOTS
        self._pick([other for other in drawn if other != name] if name in drawn else [*drawn, name][-most:])

    def _draw_chosen(self, event) -> None:
        """Draws the chosen runs, in the order of the table's listing."""
        self._pick([name for name in self._known if name in set(self.table.chosen)][:MOST_RUNS])

    def _chosen(self, event) -> None:
        """A row was ticked: its topics are shown, and what is written of those that are ticked."""
        self.ticked.disabled = not event.new
        self.notes.show(self._known, event.new)
        added = [name for name in event.new if name not in event.old]
        if len(added) == 1:
            self.topics.pick(added[0])

    def _makers(self) -> tuple[dict, dict]:
        """What a button of the figure says → what makes its file of what is seen at the click; figures behind the others."""
        return {
            "CSV": lambda: partial(table_file, self.curve.seen()), "Report": lambda: partial(report_file, self._wanted()),
        }, {
            name: lambda columns, form=form: partial(figure_file, self.curve.seen(), form, columns)
            for name, form in FIGURES.items()
        }

    def _make_runs(self):
        paths = [self._known[name].path for name in self.table.chosen if name in self._known]
        return partial(runs_file, paths, self.form.value)

    def _follow_newest(self, event) -> None:
        self._pick(None)

    def _pick(self, names: list[str] | None) -> None:
        self._picked = names
        self._redraw(lambda: self._show_curves(self._readings.latest()))

    def _redraw(self, draw: Callable[[], None]) -> None:
        """Draws at the session's next turn, and brings the link to it in the same message."""

        def work() -> None:
            draw()
            self._write_link()

        with_lock(self._document, work)

    def _chart_changed(self, event=None) -> None:
        """Another chart was chosen: it is seen by its first measure, unless it has the one that is seen already."""
        measures = CHARTS[self.chart.value]
        if self.measure.value not in measures:
            self.measure.param.update(options=list(measures), value=measures[0])

    def _look_changed(self, event=None) -> None:
        self._redraw(self._look_anew)

    def _look_anew(self) -> None:
        """Another look is seen whole, whatever part of the last one was."""
        self.curve.release()
        self._look()

    def _look(self) -> None:
        """Shows the chosen axis, measure and range, and says what the measure means."""
        self.curve.axis, self.curve.measure, self.curve.span = self.axis.value, self.measure.value, self.span.value
        self.curve.smoothing, self.curve.until = self.smoothing.value, self.until.value
        self.axis.disabled = self.measure.value == BY_TOPIC
        self.measure.visible = len(self.measure.options) > 1
        self.curve.draw()
        self._say_meaning()

    def _say_meaning(self) -> None:
        """Says what is to be seen, what the marks are, and if there is nothing of it."""
        meanings = "; ".join(MEANINGS[name] for name in MEASURES[self.curve.measure][0])
        said = f"{meanings[0].upper()}{meanings[1:]}."
        if self.curve.marked():
            said += " Triangles are moves that were kept: a split points up, a merge down."
        if self.curve.smoothing:
            said += " What was recorded is faint under what is smoothed."
        if (target := self.curve.target()) is not None:
            said += f" Diamonds are where a curve is first at or below {target:,.7g}."
        if not self.curve.tells():
            said += " No run that is drawn has it."
        if self._beyond:
            said += f" The figure has room for {N_SLOTS}; {len(self._beyond)} more are in the comparison and the report."
        if not self._known:
            said = "Curves appear here with the first iteration of the first run."
        if message(said) != self.meaning.object:
            self.meaning.object = message(said)

    # ------------------------------------------------------------------ the link

    def _take_runs(self, names: str) -> bool:
        self._picked = [name for name in names.split(",") if name][:MOST_RUNS] or None
        return True

    def _take_measure(self, name: str) -> bool:
        chart = next((chart for chart, measures in CHARTS.items() if name in measures), None)
        if chart is not None:
            self.chart.value = chart
            self.measure.param.update(options=list(CHARTS[chart]), value=name)
        return chart is not None

    def _take_topics(self, name: str) -> bool:
        self.topics.pick(name)
        return True

    def _write_link(self, event=None) -> None:
        write_address(self._parts)

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """The whole page; ties it to the session."""
        figures = [self.curve.figure]
        controls = column(
            column(labelled(self.chart, self.measure), labelled(self.axis), kind="wb-bar"),
            column(labelled(self.span), labelled(self.lines), labelled(self.until), self.smoothing, kind="wb-bar"),
            Given(self.curve.figure), self.meaning,
            *self.view_files.row("Download", "download the figure"), kind="wb-card",
        )
        whole = column(*self.run_files.buttons.values(), self.form, kind="wb-pair", sizing_mode=None)
        runs = column(
            column(self.heading, *self.steering.parts, self.ticked, self.newest, whole, kind="wb-bar"),
            self.steering.said, self.run_files.said, self.table, kind="wb-card",
        )
        below = (self.notes.card, self.comparison.card, self.lineage.card, self.topics.view(), self.moves.card)
        main = column(controls, runs, *below, self.handover, self.highlight, kind="wb-main")
        begin_session(self, TITLE, figures, self.tick)
        return lay_out("workbench", "compare engines, live", [self.settings.view(), main], figures, "compare")


def page() -> pn.Column:
    """The page for one visitor, of the store that WORKBENCH_STORE names."""
    return ComparePage(default_store()).view()


def _choice(name: str, options, value: str):
    return dressed(Choice(label=name, options=list(options), value=value))


def _empty(store: Path) -> str:
    return (
        "No run yet.\nChoose a corpus and engines and press Start, or type in a terminal:\n"
        f"workbench compare docstrings --store {store}"
    )
