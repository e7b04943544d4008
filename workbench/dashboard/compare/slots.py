"""One line of the live figure: its data, and every glyph that it may need, made beforehand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import CDSView, ColumnDataSource, GlyphRenderer, Line, Scatter, VArea
from bokeh.plotting import figure

from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.plot import add
from workbench.measures.smoothing import smoothed

STRANDS = (("line", "low", "high"), ("line_2", "low_2", "high_2"))
"""Columns of what is drawn of the first and of the second quantity: smoothed, and a standard error to either side."""
DASHES = ("solid", [6, 4])
FEW = 20
"""New rows up to which they are sent as text."""
FAINT, BAND = 0.28, 0.16
"""Opacity of the raw curve under a smoothed one, and of a band."""


class Look(NamedTuple):
    """Which columns are drawn, and how smooth."""

    columns: tuple[str, ...]   # of COLUMNS: solid, dashed
    smoothing: float


class Strand(NamedTuple):
    """The glyphs of one quantity."""

    band: GlyphRenderer
    raw: GlyphRenderer
    line: GlyphRenderer


class Slot:
    """Data and glyphs of one line. `fill` streams rows that are new; nothing else is sent again."""

    def __init__(self, plot: figure, at: int, colour: str, first: tuple[str, str]):
        nothing = np.empty((0, len(COLUMNS)))
        self.source = ColumnDataSource(_raw(nothing) | _drawn(nothing, nothing, Look((), 0.0)), name=f"slot-{at}")
        view = CDSView()  # of all rows; one for all glyphs of the slot

        def strand(names: tuple[str, ...], dash) -> Strand:
            x, y = first
            stroke = {"x": x, "y": y, "line_color": colour, "line_dash": dash, "line_join": "round"}
            glyphs = {
                "band": VArea(x=x, y1=names[1], y2=names[2], fill_color=colour, fill_alpha=BAND),
                "raw": Line(line_width=1.4, line_alpha=FAINT, **stroke),
                "line": Line(line_width=2.2, **stroke),
            }
            tagged = ((part, glyph, [f"{part}-{at}"]) for part, glyph in glyphs.items())  # by which highlight.js finds it
            return Strand(**{part: add(plot, self.source, glyph, view=view, tags=tags) for part, glyph, tags in tagged})

        self.strands = tuple(strand(*each) for each in zip(STRANDS, DASHES, strict=True))
        self.points = add(plot, self.source, Scatter(x=first[0], y=first[1], size=16, fill_alpha=0, line_alpha=0), view=view)
        self._of, self._look = (), Look((), 0.0)

    def fill(self, of: tuple, numbers: np.ndarray, errors: np.ndarray, look: Look) -> None:
        """Sets the data to these rows of these runs; ``errors`` are empty where there are none."""
        known = len(self.source.data["iteration"])
        anew = self._of != of or known > len(numbers)
        if not anew and known == len(numbers) and look == self._look:
            return
        drawn = _drawn(numbers, errors, look)
        if anew:
            self._of = of
            if known or len(numbers):
                self.source.data = _raw(numbers) | drawn
        else:
            if known < len(numbers):
                news = _raw(numbers[known:]) | {name: values[known:] for name, values in drawn.items()}
                self.source.stream({name: _sent(values) for name, values in news.items()})
            if look != self._look and known:  # after the rows that are new: what is sent of it are whole columns
                self.source.data.update({
                    name: values for name, values in drawn.items()
                    if not np.array_equal(values, np.asarray(self.source.data[name], float), equal_nan=True)
                })
            # Streaming has copied each column: hold the numbers that all sessions share. They are the same, so nothing is sent.
            dict.update(self.source.data, _raw(numbers) | drawn)
        self._look = look


def _sent(values: np.ndarray) -> np.ndarray | list[float]:
    """New rows in the form in which they are sent: an array takes two messages of its own, a list none."""
    return values if len(values) > FEW else values.tolist()


def _raw(numbers: np.ndarray) -> dict[str, np.ndarray]:
    return {name: numbers[:, at] for at, name in enumerate(COLUMNS)}


def _drawn(numbers: np.ndarray, errors: np.ndarray, look: Look) -> dict[str, np.ndarray]:
    """The columns of STRANDS; NaN where there is nothing of them."""
    nothing, found = np.full(len(numbers), np.nan), {}
    for at, names in enumerate(STRANDS):
        column = COLUMNS.index(look.columns[at]) if at < len(look.columns) else None
        line = nothing if column is None else smoothed(numbers[:, column], look.smoothing)
        low = high = nothing
        if column is not None and len(errors):
            error = smoothed(errors[:, column], look.smoothing)
            low, high = line - error, line + error
        found |= dict(zip(names, (line, low, high), strict=True))
    return found
