"""The live figure: what up to eight runs, or means of runs, record, against iterations, steps, updates or seconds.

Every glyph, legend item and tooltip is made before the page is sent: adding one to a live figure can hang the tab. Afterwards
only data, names of columns, visibility and labels change, and a tick streams nothing but new rows.
"""

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bokeh.core.properties import value
from bokeh.events import Reset
from bokeh.models import ColumnDataSource, LegendItem, Scatter, Span

from workbench.dashboard.compare.charts import AXES, CHARTS, MEASURES
from workbench.dashboard.compare.grouping import NO_ROWS, Line, Mean, telling_labels
from workbench.dashboard.compare.slots import (
    DASHES,
    FADED,
    STRANDS,
    Look,
    Scales,
    Slot,
    add,
    add_legend,
    crossings,
    plot,
)
from workbench.dashboard.shared.link import Part
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import Reading
from workbench.measures.comparison import reached_by_each
from workbench.views.elements import GREY, look_of

N_SLOTS = len(DASHES)
NOTHING = Line("", "", ())
"""The line of an unused slot."""
FIRST = ("iteration", "test_perplexity")
"""The columns drawn at the start."""
SPANS = ("whole", "close-up")
HEADLINE = COLUMNS.index("test_perplexity")
DOTTED = DASHES.index("dotted")
"""The first dash of lines without known iterations."""
CLOSE_UP = 0.1
"""Share of a run's points, from its beginning, that the close-up leaves out of the vertical range."""


class Drawn(NamedTuple):
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
    """The live figure with its slots; a slot draws one line.

    `assign` gives runs their slots and `show` their data; ``axis``, ``measure``, ``span``, ``smoothing`` and ``until`` (a
    perplexity; None: the lowest that every run reaches, 0: none) choose what is visible; ``log`` holds "x" and "y" for the axes
    wanted logarithmic; an axis with values at or below 0 stays linear.
    """

    def __init__(self):
        self.axis, self.measure, self.span = "iterations", "headline", "whole"
        self.smoothing, self.until, self.mean, self.log = 0.0, None, False, []
        self.drawn = [NOTHING] * N_SLOTS
        self._means, self._readings, self._labels = [Mean() for _ in DASHES], {}, {}
        self._moved_by_hand = self._moving = False
        self._lifted = set()  # names of the runs that stand out
        self.figure = plot()
        self.scales = Scales(self.figure)
        self.slots = [Slot(self.figure, at, FIRST) for at in range(N_SLOTS)]
        self._colours = [GREY] * N_SLOTS
        self._across = Span(
            dimension="width",
            location=0,
            visible=False,
            line_dash=[2, 3],
            line_width=1.5,
            line_color=GREY,
            name="target",
        )
        self.figure.add_layout(self._across)
        self._levels = [
            Span(dimension="width", location=0, visible=False, line_width=2.2, name=f"level-{at}")
            for at in range(N_SLOTS)
        ]
        for level in self._levels:
            self.figure.add_layout(level)
        none = crossings([(NO_ROWS, GREY)], FIRST[1], 0.0)
        x, y = FIRST
        looks = {"fill_color": "colour", "line_color": None, "size": 10, "marker": "diamond"}
        source = ColumnDataSource(none, name="crossings")
        self._crossings = add(self.figure, source, Scatter(x=x, y=y, **looks))
        self._items = [
            LegendItem(label="–", renderers=[slot.strands[0].line], visible=False)
            for slot in self.slots
        ]
        add_legend(self.figure, self._items, [slot.points for slot in self.slots])
        self.draw()
        for bounds in (self.figure.x_range, self.figure.y_range):
            bounds.on_change("end", self._moved)
        self.figure.on_event(Reset, lambda event: self.follow())

    # ------------------------------------------------------------------ what is seen

    def assign(self, names: list[str]) -> None:
        """Assign a slot to every run of ``names`` (at most eight); a run that has a slot keeps it."""
        self.assign_lines([Line(name, "", (name,)) for name in names], mean=False)

    def assign_lines(self, lines: list[Line], mean: bool = True) -> None:
        """Assign a slot to each of the lines (at most eight); a line that has a slot keeps it."""
        self.mean, wanted = mean, {line.key: line for line in lines[:N_SLOTS]}
        self.drawn = [wanted.pop(line.key, NOTHING) for line in self.drawn]
        for line in wanted.values():
            self.drawn[self.drawn.index(NOTHING)] = line

    def colours(self) -> dict[str, str]:
        """Return the colour of each drawn run by name: the colour of its engine, see `workbench.views.elements`."""
        return {
            name: colour
            for line, colour in zip(self.drawn, self._colours, strict=True)
            for name in line.names
        }

    def lift(self, names: Iterable[str]) -> None:
        """Fade all lines but those of the named runs, from now on; no line while none of them is drawn."""
        self._lifted = set(names)
        lifted = [not self._lifted.isdisjoint(line.names) for line in self.drawn]
        for slot, level, own in zip(self.slots, self._levels, lifted, strict=True):
            slot.fade(any(lifted) and not own)
            level.update(line_alpha=FADED if any(lifted) and not own else 1.0)

    def show(self, readings: dict[str, Reading]) -> None:
        """Draw the readings of the runs: stream new rows, and fill a slot anew if its run has changed."""
        self._readings = {
            name: readings[name] for line in self.drawn for name in line.names if name in readings
        }
        labels = {} if self.mean else telling_labels(list(self._readings.values()))
        self._labels = {
            line.key: line.label or labels.get(line.key, line.key) for line in self.drawn
        }
        for line, mean in zip(self.drawn, self._means, strict=True):
            mean.follow(self._of(line))
        self._paint()
        self.lift(self._lifted)
        self.draw()

    def _paint(self) -> None:
        """Give each line the colour of its engine, and lines of one colour different dashes."""
        labels = [next((reading.label for reading in self._of(line)), "") for line in self.drawn]
        self._colours = [look.colour if (look := look_of(label)) else GREY for label in labels]
        n_before = Counter()
        for slot, level, line, colour in zip(
            self.slots, self._levels, self.drawn, self._colours, strict=True
        ):
            if line.names:
                dash = DASHES[(n_before[colour] + DOTTED * self._has_no_course(line)) % len(DASHES)]
                slot.paint(colour, dash)
                level.update(line_color=colour, line_dash=dash)
                n_before[colour] += 1

    def _of(self, line: Line) -> list[Reading]:
        return [self._readings[name] for name in line.names if name in self._readings]

    def _has_no_course(self, line: Line) -> bool:
        """Return whether the line is of imported models; without known iterations they are drawn as horizontal lines."""
        return not all(reading.has_course for reading in self._of(line))

    def has_levels(self) -> bool:
        """Return whether a horizontal line of an imported model is drawn."""
        return any(level.visible for level in self._levels)

    def seen(self) -> Drawn:
        """Return the content of the figure, without the runs that have no record yet."""
        runs = tuple(
            (one.path, self._labels[line.key], colour)
            for line, colour in zip(self.drawn, self._colours, strict=True)
            for one in self._of(line)
            if len(one.numbers)
        )
        return Drawn(
            runs,
            self.axis,
            self.measure,
            (self.figure.x_range.start, self.figure.x_range.end),
            (self.figure.y_range.start, self.figure.y_range.end),
            self.mean,
            self.smoothing,
            self.target(),
            tuple(axis for axis, logarithmic in self.scales.logarithmic.items() if logarithmic),
        )

    def target(self) -> float | None:
        """Return the perplexity of the horizontal target line; None if there is no target."""
        if self.measure not in CHARTS["Perplexity"] or self.until == 0:
            return None
        if self.until is not None:
            return self.until
        timed = [reading for reading in self._readings.values() if reading.has_course]
        found = [reading.numbers[:, HEADLINE] for reading in timed]
        best = [values[np.isfinite(values)].min() for values in found if np.isfinite(values).any()]
        return reached_by_each(best) if best else None

    def has_measure(self) -> bool:
        """Return whether any drawn run has the chosen measure; True if no run is drawn."""
        return any(map(self._has, self._readings.values())) or not self._readings

    def refused(self) -> list[str]:
        """Return the axes that stay linear although logarithmic was chosen, since not all their values are above 0."""
        return [axis for axis in self.log if not self.scales.logarithmic[axis]]

    def _has(self, reading: Reading) -> bool:
        """Return whether the run has the chosen measure; True before its first record."""
        if not len(reading.numbers):
            return True
        columns = [COLUMNS.index(name) for name in MEASURES[self.measure][0]]
        return bool(np.isfinite(reading.numbers[:, columns]).any())

    def draw(self) -> None:
        """Draw the chosen columns, with ranges that fit them."""
        x, x_label = AXES[self.axis]
        columns, y_label = MEASURES[self.measure]
        look = Look(columns, self.smoothing)
        for slot, line, mean, item in zip(
            self.slots, self.drawn, self._means, self._items, strict=True
        ):
            slot.fill(mean.of, mean.numbers, mean.errors, look)
            n_seen = len(look.columns) if line.names else 0
            several = self.mean and len(line.names) > 1
            for at, (strand, names) in enumerate(zip(slot.strands, STRANDS, strict=True)):
                seen = at < n_seen
                if seen:
                    strand.line.glyph.update(x=x, y=names[0] if self.smoothing else columns[at])
                    strand.raw.glyph.update(x=x, y=columns[at])
                    strand.band.glyph.update(x=x)
                strand.line.update(visible=seen)
                strand.raw.update(visible=seen and self.smoothing > 0)
                strand.band.update(visible=seen and several)
            if n_seen:
                slot.points.glyph.update(x=x, y=columns[0])
            slot.points.update(visible=n_seen > 0 and not self._has_no_course(line))
            if own := self._of(line):
                slot.points.update(name=self._labels[line.key])
                item.update(label=value(self._labels[line.key]))
            item.update(visible=any(map(self._has, own)))
        self._draw_levels(columns)
        self._draw_target(x, columns[0])
        self.figure.xaxis[0].update(axis_label=x_label)
        self.figure.yaxis[0].update(axis_label=y_label)
        self._fit(x, columns)

    def _draw_levels(self, columns: tuple[str, ...]) -> None:
        """Draw a horizontal line for each imported model, at its value."""
        for level, line, mean in zip(self._levels, self.drawn, self._means, strict=True):
            own = mean.numbers[-1, COLUMNS.index(columns[0])] if len(mean.numbers) else np.nan
            seen = bool(np.isfinite(own)) and self._has_no_course(line)
            level.update(visible=seen, **({"location": float(own)} if seen else {}))

    def _draw_target(self, x: str, y: str) -> None:
        """Draw the horizontal line at the target, and a mark where each curve is first at or below it."""
        target = self.target()
        self._across.update(visible=target is not None)
        self._crossings.update(visible=target is not None)
        if target is None:
            return
        self._across.update(location=target)
        self._crossings.glyph.update(x=x, y=y)
        lines = [
            (mean.numbers, colour)
            for line, mean, colour in zip(self.drawn, self._means, self._colours, strict=True)
            if not self._has_no_course(line)
        ]
        known, data = self._crossings.data_source, crossings(lines, y, target)
        if not all(
            np.array_equal(data[name], known.data[name]) for name in ("iteration", y, "colour")
        ):
            known.data = data

    def _fit(self, x: str, columns: tuple[str, ...]) -> None:
        """Choose the scales of the axes, and fit the ranges to the curves unless the visitor has moved them."""
        across, seen = [], []
        bands = (
            [name for names in STRANDS[: len(columns)] for name in names[1:]] if self.mean else []
        )
        lines = [
            slot.source for line, slot in zip(self.drawn, self.slots, strict=True) if line.names
        ]
        levels = [
            slot.source
            for line, slot in zip(self.drawn, self.slots, strict=True)
            if self._has_no_course(line)
        ]
        for source in lines:
            n_points = len(source.data[x])
            first = int(CLOSE_UP * n_points) if self.span == "close-up" else 0
            for column in (*columns, *bands):
                values = np.asarray(source.data[column][first:], float)
                seen.append(values[np.isfinite(values)])
                across += (
                    [np.asarray(source.data[x], float)]
                    if len(seen[-1]) and source not in levels
                    else []
                )
        xs, ys = (np.concatenate(each) if each else np.empty(0) for each in (across, seen))
        log = {
            axis: axis in self.log and bool((values > 0).all())
            for axis, values in (("x", xs), ("y", ys))
        }
        self.scales.choose(**log)
        starts = {"x": self.figure.x_range.start, "y": self.figure.y_range.start}
        if self._moved_by_hand and all(starts[axis] > 0 for axis in log if log[axis]):
            return
        self._moving = True
        right = xs.max() if len(xs) else 0.0
        left = xs.min() / 1.02 if log["x"] and len(xs) else 0.0
        self.figure.x_range.update(
            start=float(left or log["x"]), end=float(right * 1.02 or 10.0 ** log["x"])
        )
        self.figure.y_range.update(
            **dict(zip(("start", "end"), _with_room(ys, log["y"]), strict=True))
        )
        self._moving = False

    def _moved(self, attribute, old, new) -> None:
        """Note that the visitor has changed a range, which then stays until it is reset."""
        self._moved_by_hand = self._moved_by_hand or not self._moving

    def follow(self) -> None:
        """Let the ranges fit the curves again, and draw."""
        self.release()
        self.draw()

    def release(self) -> None:
        """Let the ranges fit the curves from the next `draw` on."""
        self._moved_by_hand = False

    def part(self) -> Part:
        """Return the part of the link for the ranges that the visitor set: left, right, bottom and top."""

        def now() -> str:
            across, up = self.figure.x_range, self.figure.y_range
            ranges = (across.start, across.end, up.start, up.end) if self._moved_by_hand else ()
            return ",".join(f"{number:.6g}" for number in ranges)

        def take(text: str) -> bool:
            try:
                left, right, bottom, top = map(float, text.split(","))
            except ValueError:
                return False
            fits = -math.inf < left < right < math.inf and -math.inf < bottom < top < math.inf
            if fits:
                self._moved_by_hand = True
                self.figure.x_range.update(start=left, end=right)
                self.figure.y_range.update(start=bottom, end=top)
            return fits

        return Part(now, "", take)


def _with_room(values: np.ndarray, logarithmic: bool) -> tuple[float, float]:
    """Return a range around the values with a small margin; the range of a logarithmic axis stays above 0."""
    if not len(values):
        return (1.0, 10.0) if logarithmic else (-0.04, 1.04)
    low, high = (np.log(end) if logarithmic else end for end in (values.min(), values.max()))
    room = 0.04 * (high - low or abs(high) or 1.0)
    return tuple(float(np.exp(end) if logarithmic else end) for end in (low - room, high + room))
