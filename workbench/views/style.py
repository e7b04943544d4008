"""One look for every picture: colours that the colour-blind tell apart, lines that a grey copier tells apart.

Colours are those of Okabe & Ito (2008), black last and yellow left out (too pale on paper). The n-th
label has the n-th colour, line style and marker; the three cycles have different lengths, so that looks
repeat only after many labels.
"""

from __future__ import annotations

from typing import NamedTuple

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK = "#000000"
GRID = "#b0b0b0"
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


def looks(labels) -> dict[str, Look]:
    """A look for each different label, in order of appearance."""
    different = list(dict.fromkeys(labels))
    return {
        label: Look(COLOURS[at % len(COLOURS)], LINES[at % len(LINES)], MARKERS[at % len(MARKERS)])
        for at, label in enumerate(different)
    }
