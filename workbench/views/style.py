"""Colours, lines and markers of all pictures, distinguishable by colour-blind people and in greyscale.

An engine has the same colour on every page and in every figure. The colour is declared by the engine and unique, or
chosen from a palette by the engine's name. Each colour has a contrast of at least 3 with white paper and with a dark page;
colours of the engines that are compared by default have 3.5 (none can have more than 4.1 with both). Engines of a family
also differ in line and marker: variational engines of LDA are dashed, and their hybrids are solid with the marker of the
variational engine. Several labels of an engine differ only in line and marker. Other labels get cycles of colours, lines and
markers of different lengths, so that looks repeat only after many labels.
"""

import colorsys
import re
from collections.abc import Collection, Iterable, Iterator
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
    """Return the look of the engine that a label begins with; None if it begins with no engine.

    An engine that declares no look gets one of the palette, chosen by its name.
    """
    name = re.split("[ ,]", label, maxsplit=1)[0]
    try:
        engine = get_engine(name)
    except OptionError:
        return None
    code = crc32(name.encode())
    line = LONG_DASHES if engine.line == "-.." else engine.line
    return Look(
        engine.colour or COLOURS[code % len(COLOURS)],
        line or LINES[code // 8 % len(LINES)],
        engine.marker or MARKERS[code // 64 % len(MARKERS)],
    )


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Return label → look: an engine's first label has the engine's look, further ones another line style and marker."""
    engines, looks_of_labels = {label: look_of(label) for label in labels}, {}
    spare = _spare({look for look in engines.values() if look})
    for label, look in engines.items():
        looks_of_labels[label] = _in_colour(look, looks_of_labels.values()) if look else next(spare)
    return looks_of_labels


def _in_colour(look: Look, taken: Collection[Look]) -> Look:
    """Return the look if it is not taken, else a free one of the same colour, else the look itself."""
    line, marker = LINES.index(look.line), MARKERS.index(look.marker)
    candidates = (
        look._replace(
            line=LINES[(line + shift) % len(LINES)], marker=MARKERS[(marker + shift) % len(MARKERS)]
        )
        for shift in range(len(LINES) * len(MARKERS))
    )
    return next((look for look in candidates if look not in taken), look)


def _spare(taken: set[Look]) -> Iterator[Look]:
    """Yield looks that are not taken, those in unused colours first."""
    colours = [colour for colour in COLOURS if colour not in {look.colour for look in taken}]
    for number in count():
        colour = colours[number] if number < len(colours) else COLOURS[number % len(COLOURS)]
        look = Look(colour, LINES[number % len(LINES)], MARKERS[number % len(MARKERS)])
        if look not in taken:
            yield look


N_NAMED = 6
"""Number of topics with a colour-blind-safe colour of the figures; the others go around the colour wheel."""
GOLDEN = 0.618034


def topic_colour(topic: int) -> str:
    """Return the colour of a topic, which depends only on its number and so is the same on every page."""
    if topic < N_NAMED:
        return COLOURS[topic]
    rest, wheel = divmod(topic - N_NAMED, 12)
    red, green, blue = colorsys.hls_to_rgb(
        (topic * GOLDEN) % 1.0, (0.5, 0.64, 0.42)[rest % 3], 0.5 if wheel % 2 else 0.7
    )
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))
