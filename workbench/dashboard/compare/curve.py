"""The live figure: curves of up to eight runs, or means of runs, against iterations, steps, updates or seconds.

A slot and its glyphs are made when they are first seen, and stay. Afterwards only data, names of columns, visibility and labels
change, and a tick streams nothing but new rows.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bokeh.core.properties import value
from bokeh.events import Reset
from bokeh.models import ColumnDataSource, HoverTool, Scatter, Span

from workbench.dashboard.compare.charts import AXES, CHARTS, MEASURES
from workbench.dashboard.compare.grouping import NOTHING, Line, distinct_labels
from workbench.dashboard.compare.slots import (
    DASHES,
    FADED,
    GLYPHS,
    STRANDS,
    TURN_TOOLTIP,
    Look,
    Slot,
    crossings,
    plot,
    renderer_of,
    set_scale,
    turns,
)
from workbench.dashboard.shared.link import QueryParameter
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import Reading
from workbench.measures.comparison import reached_by_each
from workbench.measures.starts import starts_of
from workbench.views.elements import GREY, look_of, ramp

N_SLOTS = len(DASHES)
FIRST = ("iteration", "test_perplexity")
"""The columns drawn at the start."""
ORDER = list(GLYPHS)
"""The parts of lines, from the lowest to the uppermost."""
SPANS = ("whole", "close-up")
HEADLINE = COLUMNS.index("test_perplexity")
DOTTED = DASHES.index("dotted")
"""The first dash of lines without known iterations."""
CLOSE_UP = 0.1
"""Share of a run's points, from its beginning, that the close-up leaves out of the vertical range."""


class FigureState(NamedTuple):
    """The present content of the figure, enough to draw the figure again elsewhere."""

    # path, label, colour ("" for a run that is not in the figure)
    runs: tuple[tuple[Path, str, str], ...]
    axis: str  # of AXES
    measure: str  # of MEASURES
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    # one line for all runs of a label: their mean, and a standard error around it
    mean: bool = False
    smoothing: float = 0.0  # weight of `workbench.measures.curves.smoothed`
    target: float | None = None  # perplexity of the horizontal target line
    log: tuple[str, ...] = ()  # which of the axes x and y are logarithmic


class Curve:
    """The live figure of the runs' curves, which has slots that draw one line each.

    `assign` gives runs their slots and `show` their data; ``axis``, ``measure``, ``span``, ``smoothing`` and ``until`` (a
    perplexity; None: the lowest that every run reaches, 0: none) choose what is visible; ``log`` holds "x" and "y" for the axes
    wanted logarithmic; an axis with values at or below 0 stays linear.
    """

    def __init__(self):
        self.axis, self.measure, self.span = "iterations", "headline", "whole"
        self.smoothing, self.until, self.mean, self.log = 0.0, None, False, []
        self.slots: list[Slot] = []
        self._ordered_slots: list[Slot] = []  # as the legend has them
        self._readings, self._labels = {}, {}
        self.moved_by_hand = self._is_fitting = False  # whether the visitor has changed a range
        self._raised_names = set()  # names of the runs that stand out
        self.figure = plot()
        self._logarithmic = {"x": False, "y": False}
        self._target_line = Span(
            dimension="width",
            location=0,
            visible=False,
            line_dash=[2, 3],
            line_width=1.5,
            line_color=GREY,
            name="target",
        )
        self.figure.add_layout(self._target_line)
        x, y = FIRST
        self._crossings = renderer_of(
            ColumnDataSource(crossings([], y, 0.0), name="crossings"),
            Scatter(x=x, y=y, fill_color="colour", line_color=None, size=10, marker="diamond"),
        )
        self._turns = renderer_of(
            ColumnDataSource(turns([], y), name="turns"),
            Scatter(
                x=x,
                y=y,
                line_color="colour",
                line_width=1.5,
                marker="dash",
                angle=math.pi / 2,
                size=26,
            ),
        )
        self.figure.add_tools(HoverTool(renderers=[self._turns], tooltips=TURN_TOOLTIP))
        self.draw()
        for bounds in (self.figure.x_range, self.figure.y_range):
            bounds.on_change("end", self._on_range)
        self.figure.on_event(Reset, lambda event: self.follow())

    # ------------------------------------------------------------------ what is seen

    def assign(self, names: list[str]) -> None:
        """Assign a slot to every run of ``names`` (at most eight); a run that has a slot keeps it."""
        self.assign_lines([Line(name, "", (name,)) for name in names], mean=False)

    def assign_lines(self, lines: list[Line], mean: bool = True) -> None:
        """Assign a slot to each of the lines (at most eight); a line that has a slot keeps it."""
        self.mean, lines_by_key = mean, {line.key: line for line in lines[:N_SLOTS]}
        for slot in self.slots:
            slot.line = lines_by_key.pop(slot.line.key, NOTHING)
        for line in lines_by_key.values():
            self._free_slot().line = line

    def _free_slot(self) -> Slot:
        """Return the first slot without a line; make a new slot if all slots have one."""
        if all(slot.line is not NOTHING for slot in self.slots):
            self.slots.append(Slot(len(self.slots), FIRST))
        return next(slot for slot in self.slots if slot.line is NOTHING)

    def _add_new(self) -> None:
        """Add all new glyphs to the figure at once, since the browser redoes the layout at each change of glyphs."""
        keys_and_glyphs = [pair for slot in self.slots for pair in slot.parts.items()]
        keys_and_glyphs.sort(key=lambda pair: ORDER.index(pair[0][0]))
        self.figure.renderers = [
            *(glyph for _, glyph in keys_and_glyphs),
            self._turns,
            self._crossings,
        ]
        self.figure.hover[0].renderers = [slot.parts["points", 0] for slot in self.slots]
        self.figure.legend[0].items = [slot.item for slot in self._ordered_slots]

    def colours(self) -> dict[str, str]:
        """Return a dict name of a drawn run -> its colour, that of its engine; see `workbench.views.elements`."""
        return {name: slot.colour for slot in self.slots for name in slot.line.names}

    def lift(self, names: Iterable[str]) -> None:
        """Fade all lines but those of the named runs from now on; while none of these runs is drawn, fade no line."""
        self._raised_names = set(names)
        raised_slots = [
            slot for slot in self.slots if not self._raised_names.isdisjoint(slot.line.names)
        ]
        for slot in self.slots:
            slot.opacity = FADED if raised_slots and slot not in raised_slots else 1.0
            slot.paint()

    def show(self, readings: dict[str, Reading]) -> None:
        """Draw the readings of the runs: stream new rows, and fill a slot anew if its run has changed."""
        lines = [slot.line for slot in self.slots]
        self._readings = {
            name: readings[name] for line in lines for name in line.names if name in readings
        }
        labels = {} if self.mean else distinct_labels(list(self._readings.values()))
        self._labels = {line.key: line.label or labels.get(line.key, line.key) for line in lines}
        for slot in self.slots:
            slot.mean.follow(self._readings_of(slot.line))
        self._paint()
        self.lift(self._raised_names)
        self.draw()

    def _paint(self) -> None:
        """Give each line a dash pattern and its engine's colour, in shades where runs differ in one ordered setting."""
        n_before, used_slots = Counter(), [slot for slot in self.slots if slot.line.names]
        labels = [self._labels[slot.line.key] for slot in used_slots]
        shades = ramp(labels)
        for slot, label in zip(used_slots, labels, strict=True):
            look = look_of(label)
            slot.colour = shades.get(label, look.colour if look else GREY)
            shift = n_before[slot.colour] + DOTTED * self._has_no_course(slot.line)
            slot.dash = DASHES[shift % len(DASHES)]
            n_before[slot.colour] += 1
        order = {label: rank for rank, label in enumerate(shades)}
        self._ordered_slots = sorted(
            self.slots, key=lambda slot: order.get(self._labels.get(slot.line.key), len(order))
        )

    def _readings_of(self, line: Line) -> list[Reading]:
        return [self._readings[name] for name in line.names if name in self._readings]

    def _has_no_course(self, line: Line) -> bool:
        """Return whether the line has an imported model: its iterations are unknown, so the line is horizontal."""
        return not all(reading.has_course for reading in self._readings_of(line))

    def has_levels(self) -> bool:
        """Return whether a horizontal line of an imported model is drawn."""
        levels = (slot.parts.get(("level", 0)) for slot in self.slots)
        return any(level is not None and level.visible for level in levels)

    def seen(self) -> FigureState:
        """Return the content of the figure, without the runs that have no record yet."""
        runs = tuple(
            (reading.path, self._labels[slot.line.key], slot.colour)
            for slot in self.slots
            for reading in self._readings_of(slot.line)
            if len(reading.numbers)
        )
        return FigureState(
            runs,
            self.axis,
            self.measure,
            (self.figure.x_range.start, self.figure.x_range.end),
            (self.figure.y_range.start, self.figure.y_range.end),
            self.mean,
            self.smoothing,
            self.target(),
            tuple(axis for axis, logarithmic in self._logarithmic.items() if logarithmic),
        )

    def target(self) -> float | None:
        """Return the perplexity of the horizontal target line; None if there is no target."""
        if self.measure not in CHARTS["Perplexity"] or self.until == 0:
            return None
        if self.until is not None:
            return self.until
        timed_readings = [reading for reading in self._readings.values() if reading.has_course]
        perplexities = [reading.numbers[:, HEADLINE] for reading in timed_readings]
        best = [
            values[np.isfinite(values)].min()
            for values in perplexities
            if np.isfinite(values).any()
        ]
        return reached_by_each(best) if best else None

    def has_measure(self) -> bool:
        """Return whether any drawn run has the chosen measure; True if no run is drawn."""
        return any(map(self._has, self._readings.values())) or not self._readings

    def refused(self) -> list[str]:
        """Return the axes that stay linear although logarithmic was chosen, since not all their values are above 0."""
        return [axis for axis in self.log if not self._logarithmic[axis]]

    def _has(self, reading: Reading) -> bool:
        """Return whether the run has the chosen measure; True before its first record."""
        if not len(reading.numbers):
            return True
        columns = [COLUMNS.index(name) for name in MEASURES[self.measure][0]]
        return bool(np.isfinite(reading.numbers[:, columns]).any())

    def draw(self) -> None:
        """Draw the curves of the chosen measure, and fit the ranges of the axes to them."""
        x, x_label = AXES[self.axis]
        columns, y_label = MEASURES[self.measure]
        look = Look(columns, self.smoothing)
        for slot in self.slots:
            slot.fill(look)
            slot.draw(dict(self._glyphs_of(slot, x, columns)))
            if readings := self._readings_of(slot.line):
                label = self._labels[slot.line.key]
                start = starts_of(reading.spec for reading in readings if reading.spec)
                name = label if start in label else f"{label}, from {start}"
                slot.parts["points", 0].update(name=name)
                slot.item.update(label=value(label))
            slot.item.update(visible=any(map(self._has, readings)))
        self._add_new()
        self._draw_target(x, columns[0])
        self._draw_turns(x, columns[0])
        self.figure.xaxis[0].update(axis_label=x_label)
        self.figure.yaxis[0].update(axis_label=y_label)
        self._fit(x, columns)

    def _glyphs_of(
        self, slot: Slot, x: str, columns: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, int], dict[str, str]]]:
        """Yield a pair for each visible glyph of a slot: (its kind, the number of its quantity), and its columns.

        An imported model is a horizontal line at its value.
        """
        if slot.line is NOTHING:
            return
        for number, (y, (smooth, *_)) in enumerate(zip(columns, STRANDS, strict=False)):
            yield ("line", number), {"x": x, "y": smooth if self.smoothing else y}
            if self.smoothing:
                yield ("raw", number), {"x": x, "y": y}
            if self.mean and len(slot.line.names) > 1:
                yield ("band", number), {"x": x}
        if not self._has_no_course(slot.line):
            yield ("points", 0), {"x": x, "y": columns[0]}
        elif np.isfinite(slot.source.data[columns[0]]).any():
            yield ("level", 0), {"y": columns[0]}

    def _draw_turns(self, x: str, y: str) -> None:
        """Mark on the line of each run where its warm-up ended or its settings were changed."""
        lines = [
            (self._readings[slot.line.key], slot.colour)
            for slot in self.slots
            if len(slot.line.names) == 1 and slot.line.key in self._readings
        ]
        self._turns.glyph.update(x=x, y=y)
        _show(self._turns.data_source, turns(lines, y), ("iteration", y, "colour", "said"))

    def _draw_target(self, x: str, y: str) -> None:
        """Draw the horizontal line at the target, and a mark where each curve is first at or below it."""
        target = self.target()
        self._target_line.update(visible=target is not None)
        self._crossings.update(visible=target is not None)
        if target is None:
            return
        self._target_line.update(location=target)
        self._crossings.glyph.update(x=x, y=y)
        lines = [
            (slot.mean.numbers, slot.colour)
            for slot in self.slots
            if not self._has_no_course(slot.line)
        ]
        _show(self._crossings.data_source, crossings(lines, y, target), ("iteration", y, "colour"))

    def _fit(self, x: str, columns: tuple[str, ...]) -> None:
        """Choose the scales of the axes, and fit the ranges to the curves unless the visitor has moved them."""
        across, finite_values = [], []
        bands = (
            [name for names in STRANDS[: len(columns)] for name in names[1:]] if self.mean else []
        )
        for slot in self.slots:
            data = slot.source.data
            n_points = len(data[x]) if slot.line.names else 0
            first = int(CLOSE_UP * n_points) if self.span == "close-up" else 0
            for column in (*columns, *bands) if n_points else ():
                values = np.asarray(data[column][first:], float)
                finite_values.append(values[np.isfinite(values)])
                if len(finite_values[-1]) and not self._has_no_course(slot.line):
                    across.append(np.asarray(data[x], float))
        xs, ys = (np.concatenate(each) if each else np.empty(0) for each in (across, finite_values))
        log = {
            axis: axis in self.log and bool((values > 0).all())
            for axis, values in (("x", xs), ("y", ys))
        }
        for axis in log:
            if log[axis] != self._logarithmic[axis]:
                set_scale(self.figure, axis, log[axis])
        self._logarithmic = log
        starts = {"x": self.figure.x_range.start, "y": self.figure.y_range.start}
        if self.moved_by_hand and all(starts[axis] > 0 for axis in log if log[axis]):
            return
        self._is_fitting = True
        right = xs.max() if len(xs) else 0.0
        start = xs.min() / 1.02 if log["x"] and len(xs) else 0.0
        self.figure.x_range.update(
            start=float(start or log["x"]), end=float(right * 1.02 or 10.0 ** log["x"])
        )
        self.figure.y_range.update(
            **dict(zip(("start", "end"), _with_room(ys, log["y"]), strict=True))
        )
        self._is_fitting = False

    def _on_range(self, attribute, old, new) -> None:
        """Note that the visitor has changed a range; the ranges then stay until they are reset."""
        self.moved_by_hand = self.moved_by_hand or not self._is_fitting

    def follow(self) -> None:
        """Let the ranges fit the curves again, and draw."""
        self.moved_by_hand = False
        self.draw()

    def parameter(self) -> QueryParameter:
        """Return the query parameter of the page's address for the visitor's ranges: left, right, bottom and top."""

        def current() -> str:
            across, up = self.figure.x_range, self.figure.y_range
            ranges = (across.start, across.end, up.start, up.end) if self.moved_by_hand else ()
            return ",".join(f"{number:.6g}" for number in ranges)

        def take(text: str) -> bool:
            try:
                start, end, bottom, top = map(float, text.split(","))
            except ValueError:
                return False
            fits = -math.inf < start < end < math.inf and -math.inf < bottom < top < math.inf
            if fits:
                self.moved_by_hand = True
                self.figure.x_range.update(start=start, end=end)
                self.figure.y_range.update(start=bottom, end=top)
            return fits

        return QueryParameter(current, "", take)


def _show(source: ColumnDataSource, data: dict, telling: tuple[str, ...]) -> None:
    """Set the columns of a source, unless the columns named in ``telling`` are unchanged."""
    if not all(np.array_equal(data[name], source.data[name]) for name in telling):
        source.data = data


def _with_room(values: np.ndarray, logarithmic: bool) -> tuple[float, float]:
    """Return a range around the values with a small margin; the range of a logarithmic axis stays above 0."""
    if not len(values):
        return (1.0, 10.0) if logarithmic else (-0.04, 1.04)
    low, high = (np.log(end) if logarithmic else end for end in (values.min(), values.max()))
    room = 0.04 * (high - low or abs(high) or 1.0)
    return tuple(float(np.exp(end) if logarithmic else end) for end in (low - room, high + room))
