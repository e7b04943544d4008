"""Colours, lines and markers of all pictures, distinct for colour-blind people and on a grey copy.

Colours are those of Okabe & Ito (2008) with a brown for their yellow, which is too pale on paper. An engine
looks the same in every figure: of LDA, variational ones are dashed, the hybrid of each is solid with the
marker of its parent, Gibbs sampling is black; those of the HDP have the colours of CVB and of Gibbs sampling,
with a dash and dots. Whatever else is compared gets the colours that are left, then
cycles of colours, lines and markers whose lengths differ, so that looks repeat only after many labels.
"""

import re
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

BROWN = "#7A3E00"  # the one colour that a dark page has to lighten
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", BROWN, "#000000")
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
    "svg.fonttype": "path",    # letters as outlines: looks the same where the font is not installed
    "svg.hashsalt": "workbench",
    "pdf.fonttype": 42,        # TrueType, as journals ask
    "ps.fonttype": 42,
    "savefig.dpi": 300,
}


class Look(NamedTuple):
    """Colour, line style and marker of one label."""

    colour: str
    line: str | tuple
    marker: str


OF_ENGINE = {
    "svb": Look("#D55E00", "--", "o"), "svb-cgs": Look("#E69F00", "-", "o"),
    "cvb": Look("#0072B2", "--", "s"), "cvb-cgs": Look("#56B4E9", "-", "s"),
    "cvb0": Look("#009E73", "--", "^"), "cvb0-cgs": Look("#CC79A7", "-", "^"),
    "vb": Look(BROWN, "--", "X"), "cgs": Look("#000000", "-", "D"),
    "cv-hdp": Look("#0072B2", "-.", "P"), "g-hdp": Look("#000000", ":", "*"),
}


def looks(labels) -> dict[str, Look]:
    """A look for each different label, in order of appearance; the first label of an engine has the engine's own."""
    different = list(dict.fromkeys(labels))
    found: dict[str, Look] = {}
    for label in different:
        own = OF_ENGINE.get(re.split("[ ,]", label, maxsplit=1)[0])
        if own is not None and own not in found.values():
            found[label] = own
    spare = _spare(set(found.values()))
    return {label: found.get(label) or next(spare) for label in different}


def _spare(taken: set[Look]) -> Iterator[Look]:
    """Looks that are not taken, those in colours that are not taken first."""
    colours = [colour for colour in COLOURS if colour not in {look.colour for look in taken}]
    for at in count():
        colour = colours[at] if at < len(colours) else COLOURS[at % len(COLOURS)]
        look = Look(colour, LINES[at % len(LINES)], MARKERS[at % len(MARKERS)])
        if look not in taken:
            yield look
