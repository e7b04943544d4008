"""The card of the live figure: the choices of what is drawn, an explanation, and downloads."""

from collections.abc import Callable, Iterable
from functools import partial

import panel as pn

from workbench.dashboard.compare.charts import (
    AXES,
    CHARTS,
    describe_measure,
    names_by_label,
)
from workbench.dashboard.compare.curve import N_SLOTS, SPANS, Curve, FigureState
from workbench.dashboard.compare.files import curve_picture, report_file
from workbench.dashboard.compare.grouping import (
    GROUPINGS,
    MOST,
    NEWEST,
    Line,
    fitting_lines,
    mean_lines,
)
from workbench.dashboard.compare.live_strip import LiveStrip
from workbench.dashboard.shared.downloads import Handover, picture_downloads
from workbench.dashboard.shared.form import Fold, Offers
from workbench.dashboard.shared.link import QueryParameter, widget_parameter
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import (
    Choice,
    Toggles,
    column,
    message,
    styled,
    text,
    with_label,
)
from workbench.measures.selection import data_of_specs
from workbench.report.page import READERS

LOG = {"Log x": "x", "Log y": "y"}


class FigureCard:
    """The live figure with the choices of what it shows, sliders that turn settings of its runs, and the download buttons."""

    def __init__(self, handover: Handover, live: LiveStrip):
        self.curve, self.live = Curve(), live
        self.axis = _choice("Axis", AXES, self.curve.axis)
        self.chart = styled(pn.widgets.Select(label="Show", options=list(CHARTS), width=170))
        self.measure = _choice("Measure", CHARTS[self.chart.value], self.curve.measure)
        self.span = _choice("Range", SPANS, self.curve.span)
        self.lines = _choice("Lines", GROUPINGS, GROUPINGS[0])
        self.data = Offers("Data", "That of the newest run")
        self._data = with_label(self.data)
        self.log = styled(Toggles(label="Logarithmic", options=LOG, value=[]))
        self.smoothing = styled(
            pn.widgets.FloatSlider(
                label="Smoothing",
                start=0.0,
                end=0.99,
                step=0.01,
                value=0.0,
                width=190,
                format="0.00",
            )
        )
        self.until = styled(
            pn.widgets.FloatInput(
                label="Target perplexity",
                value=None,
                start=0.0,
                width=150,
                placeholder="Reached by all",
            )
        )
        self.view_choices = column(
            with_label(self.span),
            with_label(self.lines),
            with_label(self.until),
            self.smoothing,
            self.log,
            kind="wb-bar",
            visible=False,
        )
        self.fold = Fold(
            "View", lambda event: self.view_choices.param.update(visible=bool(event.new))
        )
        self.meaning = text(sizing_mode="stretch_width")
        self.files = picture_downloads(
            handover,
            lambda: partial(curve_picture, self.curve.seen()),
            {
                "Report": lambda: partial(report_file, self.compared_runs()),
                "Report for readers": lambda: partial(report_file, self.compared_runs(), READERS),
            },
        )
        self.picked: list[str] | None = None  # chosen by the visitor; None: draw the newest eight
        self._data_of: dict[str, str] = {}  # the data of each run in words, see `data_of_specs`
        self._n_other = 0  # number of runs that were chosen and are of other data
        self._readings_beyond: list[Reading] = []  # compared, but without room in the figure
        self._n_left_out = 0  # number of runs that are not even compared

    def parameters(self) -> dict[str, QueryParameter]:
        """Return a dict name of a choice -> its query parameter in the page's address."""
        return {
            "axis": widget_parameter(self.axis),
            "range": widget_parameter(self.span),
            "lines": widget_parameter(self.lines),
            "data": self.data.parameter(),
            "smoothing": widget_parameter(self.smoothing),
            "until": widget_parameter(self.until),
            "log": widget_parameter(self.log),
            "measure": QueryParameter(
                lambda: self.measure.value, self.measure.value, self._take_measure
            ),
            "runs": QueryParameter(lambda: ",".join(self.picked or ()), "", self._take_runs),
            "zoom": self.curve.parameter(),
        }

    def watch(self, redraw: Callable[[Callable[[], None]], None]) -> None:
        """From now on, at each change of the view, call ``redraw`` with the function that draws the figure anew."""
        self.chart.param.watch(self._chart_changed, "value")
        for widget in (self.axis, self.measure, self.span, self.smoothing, self.until, self.log):
            widget.param.watch(lambda event: redraw(self._look_anew), "value")

    def show(self, readings: dict[str, Reading]) -> None:
        """Draw runs of one data set: those that were picked, or, if none was, the newest with a record."""
        self._data_of = dict(
            zip(readings, data_of_specs([each.spec for each in readings.values()]), strict=True)
        )
        self.data.offer(self._data_of.values())
        self._data.visible = len(self.data.options) > 2
        chosen_names = (
            [name for name, reading in readings.items() if len(reading.numbers)]
            if self.picked is None
            else [name for name in self.picked if name in readings]
        )
        names_on_data = self.of_one_data(chosen_names)
        self._n_other = 0 if self.picked is None else len(chosen_names) - len(names_on_data)
        compared_names, lines = names_on_data[:N_SLOTS], []
        if several := self.means or self.picked is not None:
            most = NEWEST if self.picked is None else MOST
            lines = fitting_lines(
                mean_lines([readings[name] for name in names_on_data[: 8 * most]]), most
            )
            among = {name for line in lines for name in line.names}
            compared_names = [name for name in names_on_data if name in among]
        if not self.means:
            lines = [Line(name, "", (name,)) for name in compared_names]
        self.curve.assign_lines(lines, self.means)
        self._n_left_out = len(names_on_data) - len(compared_names) if several else 0
        self._readings_beyond = [readings[name] for line in lines[N_SLOTS:] for name in line.names]
        self.curve.show(readings)
        self.live.show(readings[name] for name in self.curve.colours())
        self._describe()

    def names_after_toggle(self, name: str) -> list[str]:
        """Return the drawn runs' names plus ``name`` (a full figure drops its oldest), or minus ``name`` if drawn.

        A run of other data than those that are drawn replaces them.
        """
        drawn_names = list(self.curve.colours())
        if drawn_names and self._data_of.get(name) != self._data_of.get(drawn_names[0]):
            self.data.value = ""
            return [name]
        most = MOST if self.means else N_SLOTS
        return (
            [other for other in drawn_names if other != name]
            if name in drawn_names
            else [*drawn_names, name][-most:]
        )

    def of_one_data(self, names: Iterable[str]) -> list[str]:
        """Return the named runs on the chosen data set; if none is chosen, those on the data of the first run."""
        known_names = [name for name in names if name in self._data_of]
        data = self.data.value or next((self._data_of[name] for name in known_names), "")
        return [name for name in known_names if self._data_of[name] == data]

    def name_data(self, name: str) -> str:
        """Return the data of a run in words; "" if all runs of the store have the same data."""
        return self._data_of[name] if len(set(self._data_of.values())) > 1 else ""

    def compared_runs(self) -> FigureState:
        """Return, for a table or report, the drawn runs, and without colour those for which the figure has no room."""
        state = self.curve.seen()
        return state._replace(
            runs=(
                *state.runs,
                *(
                    (reading.path, reading.label, "")
                    for reading in self._readings_beyond
                    if len(reading.numbers)
                ),
            )
        )

    @property
    def means(self) -> bool:
        """Return whether lines show means of runs instead of single runs."""
        return self.lines.value != GROUPINGS[0]

    def look(self) -> None:
        """Show the chosen axis, measure and range, and the explanation of the measure."""
        self.curve.axis, self.curve.measure, self.curve.span = (
            self.axis.value,
            self.measure.value,
            self.span.value,
        )
        self.curve.smoothing, self.curve.until, self.curve.log = (
            self.smoothing.value,
            self.until.value,
            self.log.value,
        )
        self.measure.visible = len(self.measure.options) > 1
        self.curve.draw()
        self._describe()

    def _view_choices(self) -> list[str]:
        """Return as short texts those choices under *View* that differ from the defaults, such as: smoothing 0.5."""
        texts = [
            self.span.value if self.span.value != SPANS[0] else "",
            self.lines.value if self.means else "",
            f"target {self.until.value:g}" if self.until.value is not None else "",
            f"smoothing {self.smoothing.value:g}" if self.smoothing.value else "",
            *(f"log {axis}" for axis in self.log.value),
        ]
        return [each for each in texts if each]

    def _look_anew(self) -> None:
        """Show the chosen view with ranges that fit, whatever ranges the visitor had set."""
        self.curve.moved_by_hand = False
        self.look()

    def _chart_changed(self, event) -> None:
        """Show the first measure of the chosen chart, unless the chart has the present measure."""
        measures = CHARTS[self.chart.value]
        if self.measure.value not in measures:
            self.measure.param.update(options=names_by_label(measures), value=measures[0])

    def _describe(self) -> None:
        """Write below the figure what its measure and marks mean, and, if nothing is drawn, why."""
        self.fold.show(", ".join(self._view_choices()))
        curve, target, linear_axes = self.curve, self.curve.target(), self.curve.refused()
        sentences = [
            *(f"On {data}." for data in {self.name_data(name) for name in curve.colours()} - {""}),
            describe_measure(curve.measure),
            curve.smoothing and "The faint curves are as recorded, before smoothing.",
            target is not None
            and f"Diamonds are where a curve is first at or below {target:,.7g}.",
            curve.has_levels()
            and "Straight lines are models that were imported: nothing is known of their iterations.",
            linear_axes
            and f"Not all values are above 0, so the {' and the '.join(linear_axes)} axis is not logarithmic.",
            not curve.has_measure() and "No run that is drawn records this.",
            self._readings_beyond
            and f"The figure has room for {N_SLOTS}; {len(self._readings_beyond)} more are in the comparison and the report.",
            self._n_other
            and f"{self._n_other} of the chosen runs have other data and are not drawn; see Data.",
            self._n_left_out
            and f"{self._n_left_out:,} older ones are left out of all of these; choose fewer to compare those.",
        ]
        if not self._data_of:
            sentences = ["Curves appear here with the first iteration of the first run."]
        self.meaning.object = message(" ".join(filter(None, sentences)))

    def _take_runs(self, names: str) -> bool:
        self.picked = [name for name in names.split(",") if name] or None
        return True

    def _take_measure(self, name: str) -> bool:
        chart = next((chart for chart, measures in CHARTS.items() if name in measures), None)
        if chart is not None:
            self.chart.value = chart
            self.measure.param.update(options=names_by_label(CHARTS[chart]), value=name)
        return chart is not None

    def view(self) -> pn.Column:
        """Return the card."""
        return column(
            column(
                with_label(self.chart, self.measure),
                with_label(self.axis),
                self._data,
                kind="wb-bar",
            ),
            self.fold,
            self.view_choices,
            self.live.view,
            pn.pane.Bokeh(self.curve.figure, sizing_mode="stretch_width", margin=0),
            self.meaning,
            *self.files.row("Download", "download the figure"),
            kind="wb-card",
        )


def _choice(name: str, options, value: str):
    return styled(Choice(label=name, options=names_by_label(options), value=value))
