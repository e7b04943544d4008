"""Colours, lines and markers of all pictures, distinct for colour-blind people and on a grey copy.

An engine has one colour, that of all its runs, on every page and in every figure. It is its own, which no other engine has, or
one of a palette, chosen by its name. Each colour has a contrast of 3 or more with white paper and with a dark page, those of
the engines that are compared by default 3.5 (none has more than 4.1 with both). Engines of a family also differ in line and
marker: of LDA, variational ones are dashed, the hybrid of each is solid with the marker of its parent. Several labels of an
engine differ in line and marker alone. Whatever else is compared gets cycles of colours, lines and markers whose lengths
differ, so that looks repeat only after many labels.
"""

import re
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple
from zlib import crc32

from workbench.engines import get_engine
from workbench.models.options import OptionError

COLOURS = ("#0a72e4", "#f35100", "#55a280", "#c377b2", "#cc4422", "#008fd8", "#966848", "#7356fc")
LONG_DASHES = (0, (6, 1, 1, 1, 1, 1))
LINES = ("-", "--", "-.", ":", LONG_DASHES)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "p")
INK = "#000000"
GRID = "#b0b0b0"
GREY = "#707070"
ONE_COLUMN, TWO_COLUMNS = 3.4, 7.0
"""Widths of figures, inches."""

RC = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so it is the same everywhere
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.color": GRID,
    "grid.linewidth": 0.4,
    "grid.alpha": 0.5,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "text.parse_math": False,  # a corpus may be called $x$
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "svg.fonttype": "path",  # letters as outlines: looks the same where the font is not installed
    "svg.hashsalt": "workbench",
    "pdf.fonttype": 42,  # TrueType, as journals ask
    "ps.fonttype": 42,
    "savefig.dpi": 300,
}


class Look(NamedTuple):
    """Colour, line style and marker of one label."""

    colour: str
    line: str | tuple
    marker: str
    width: float = 1.3  # points


def look_of(label: str) -> Look | None:
    """Return the look of the engine that a label begins with; None where it begins with none.

    It is the engine's own, and where it has none one of the palette, which its name chooses.
    """
    name = re.split("[ ,]", label, maxsplit=1)[0]
    try:
        engine = get_engine(name)
    except OptionError:
        return None
    at = crc32(name.encode())
    line = LONG_DASHES if engine.line == "-.." else engine.line
    return Look(
        engine.colour or COLOURS[at % len(COLOURS)],
        line or LINES[at // 8 % len(LINES)],
        engine.marker or MARKERS[at // 64 % len(MARKERS)],
    )


def looks(labels) -> dict[str, Look]:
    """A look for each different label: the first of an engine has its look, others its colour with another line and marker."""
    engines, found = {label: look_of(label) for label in labels}, {}
    spare = _spare({own for own in engines.values() if own})
    for label, own in engines.items():
        found[label] = _in_colour(own, found.values()) if own else next(spare)
    return found


def _in_colour(own: Look, taken) -> Look:
    """The look, or one in its colour that is not taken; the look again where there is none."""
    line, marker = LINES.index(own.line), MARKERS.index(own.marker)
    every = (
        own._replace(
            line=LINES[(line + at) % len(LINES)], marker=MARKERS[(marker + at) % len(MARKERS)]
        )
        for at in range(len(LINES) * len(MARKERS))
    )
    return next((look for look in every if look not in taken), own)


def _spare(taken: set[Look]) -> Iterator[Look]:
    """Looks in colours that are not taken first."""
    colours = [colour for colour in COLOURS if colour not in {look.colour for look in taken}]
    for at in count():
        colour = colours[at] if at < len(colours) else COLOURS[at % len(COLOURS)]
        look = Look(colour, LINES[at % len(LINES)], MARKERS[at % len(MARKERS)])
        if look not in taken:
            yield look
