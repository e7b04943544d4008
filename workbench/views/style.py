"""Colours, lines and markers of all pictures, distinct for colour-blind people and on a grey copy.

An engine has one colour, that of all its runs, on every page and in every figure, and no two engines share one; each
colour has a contrast of 3 or more with white paper and with a dark page, those of the engines that are compared by default
3.5 (none has more than 4.1 with both). Engines of a family also differ in line and marker: of LDA, variational ones are
dashed, the hybrid of each is solid with the marker of its parent. Several labels of an engine differ in line and marker
alone. Whatever else is compared gets cycles of colours, lines and markers whose lengths differ, so that looks repeat only
after many labels.
"""

import re
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

COLOURS = ("#0a72e4", "#f35100", "#55a280", "#c377b2", "#cc4422", "#008fd8", "#966848", "#7356fc")
LINES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
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


OF_ENGINE = {
    "svb": Look("#cc4422", "--", "o"),
    "svb-cgs": Look("#f35100", "-", "o"),
    "cvb": Look("#0a72e4", "--", "s"),
    "cvb-cgs": Look("#008fd8", "-", "s"),
    "cvb0": Look("#55a280", "--", "^"),
    "cvb0-cgs": Look("#c377b2", "-", "^"),
    "adaptive-cgs": Look("#777722", "-.", "v"),
    "vb": Look("#966848", "--", "X"),
    "online-vb": Look("#227788", LINES[4], "p"),
    "cgs": Look("#777777", "-", "D"),
    "cv-hdp": Look("#7356fc", "-.", "P"),
    "g-hdp": Look("#9955aa", ":", "*"),
} | {
    engine: Look(colour, LINES[at % len(LINES)], MARKERS[at])
    for family in (
        {
            "sb-ctm": "#4c8000",
            "ln-ctm": "#bb33b2",
            "ctm-em": "#e666b2",
            "sb-ctm-vb": "#bb4c80",
            "sb-dtm": "#ff1166",
            "sb-ctm-lds": "#5e88ff",
        },
        {"sbm-gp": "#b28880", "lnm-gp": "#3c5eff", "raw-gp": "#a244d4", "static": "#f6081a"},
        {"sbm-lds": "#bb3c99", "lnm-lds": "#bb8844", "raw-lds": "#5e774c", "hmm": "#8888dd"},
        {
            "network-vb": "#f6555e",
            "network-vb-ml": "#f60890",
            "network-gibbs": "#ff3cdd",
            "network-hybrid": "#c38808",
            "network-cvb0": "#a22aff",
        },
        {
            "tomotopy-lda": "#7098b8",
            "gensim-lda": "#c03060",
            "sklearn-lda": "#40a040",
            "mallet-lda": "#a06090",
            "tables": "#b08098",
            "tomotopy-hdp": "#20a868",
            "tomotopy-ct": "#7890c8",
            "tomotopy-pa": "#1888e8",
        },
        {
            "bn-vb": "#228844",
            "bn-cvb0": "#9980ff",
            "bn-em": "#2a77a2",
            "bn-gibbs": "#22aa00",
            "bn-hybrid": "#559999",
        },
    )
    for at, (engine, colour) in enumerate(family.items())
}
"""The looks of engines, and of programs whose models are imported; one that is not here has a spare colour in figures and grey
on the Compare page."""


def look_of(label: str) -> Look | None:
    """The look of the engine that a label begins with; None where it begins with none."""
    return OF_ENGINE.get(re.split("[ ,]", label, maxsplit=1)[0])


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
