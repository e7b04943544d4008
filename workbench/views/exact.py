"""A toy that can be enumerated: its exact posterior, and the bounds and errors of each engine beside it."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from workbench.views.elements import ROW, axis, element, fitting, panel
from workbench.views.picture import Picture
from workbench.views.style import INK, RC, look_of

SMALL = RC | {"ytick.labelsize": 6.5, "xtick.labelsize": 6.5}
KINDS = {"jensen": "F", "collapsed": "collapsed", "exact": "exact F", "hybrid": "B"}
"""Bound → what pictures and tables call it."""
DISTANCES = {"predictive_distance": "of p(w|d)", "co_assignment_distance": "of one topic"}
HEADER = ["engine", *KINDS.values(), "log_evidence", *DISTANCES, "n_attractors", "n_starts"]
ABOVE = 0.6
"""Inches of a panel beside its rows."""
LETTERS = 24


def co_assignment_view(found: xr.Dataset, title: str = ""):
    """The probability that two tokens have one topic, as `holoviews.Overlay` of a `QuadMesh`; full colour: 1."""
    names, values = token_names(found), found["co_assignment"].values
    n = len(names)
    edges = np.arange(n + 1) - 0.5, np.arange(-n, 1) + 0.5
    mesh = element(
        "QuadMesh",
        (*edges, values[::-1]),
        [axis("other_token", "token"), axis("token", " ")],
        vdims=axis("co_assignment", "probability of one topic"),
        cmap="Blues",
        clim=(0.0, 1.0),
        edgecolors="face",
        linewidths=0.4,  # else the page shows through between the cells
    )
    return panel(
        [mesh],
        title=title,
        aspect="auto",
        show_grid=False,
        fig_inches=(3.4, ABOVE + max(ROW * n, 1.0)),
        xrotation=90,
        fig_rcparams=SMALL,
        xticks=[(at, fitting(str(word), 10)) for at, word in enumerate(found["token_word"].values)],
        yticks=[(-at, name) for at, name in enumerate(names)],
    )


def posterior_picture(found: xr.Dataset) -> Picture:
    """The exact co-assignment of `workbench.measures.exact`."""
    names, values = token_names(found), found["co_assignment"].values
    hover = [
        f"{names[row]}\n{names[column]}\none topic with probability {values[row, column]:.4f}"
        for row in range(len(names))[::-1]
        for column in range(len(names))
    ]
    rows = [
        [names[row], names[column], values[row, column]] for row, column in np.ndindex(values.shape)
    ]
    caption = (
        f"The exact posterior of {len(names)} tokens under LDA, over all {found.attrs['n_states']:,} assignments of topics to "
        "tokens: the probability that two tokens have one topic. Tokens in their order, by document and word."
    )
    return Picture(
        "exact-posterior",
        "Exact probability of one topic",
        caption,
        [co_assignment_view(found)],
        ["token", "other_token", "co_assignment"],
        rows,
        legend=False,
        height=ABOVE + max(ROW * len(names), 1.0),
        hover={"QuadMesh": [hover]},
    )


def gaps_view(engines: Sequence[xr.Dataset], title: str = ""):
    """Each bound of each engine as a bar from the log evidence down to it, nats below; `holoviews.Overlay` of `Rectangles`.

    ``engines`` are what `workbench.measures.against_exact` finds. A bound above the evidence, as the collapsed one can be,
    lies left of 0.
    """
    bars = [
        (
            each.attrs["engine"],
            f"{each.attrs['engine']} {name}",
            float(each["log_evidence"] - each["bound"].sel(kind=kind)),
        )
        for each in engines
        for kind, name in KINDS.items()
        if np.isfinite(each["bound"].sel(kind=kind))
    ]
    return _bars(bars, axis("gap", "below the log evidence", "nats"), title)


def distances_view(engines: Sequence[xr.Dataset], name: str, title: str = ""):
    """One of `DISTANCES` of each engine as bars, `holoviews.Overlay` of `Rectangles`."""
    bars = [
        (each.attrs["engine"], each.attrs["engine"], float(each[name]))
        for each in engines
        if np.isfinite(each[name])
    ]
    return _bars(bars, axis(name, "total variation distance"), title)


def bounds_picture(engines: Sequence[xr.Dataset]) -> Picture:
    """Bounds below the evidence and distances to the exact posterior of all engines; ``engines`` as for `gaps_view`."""
    first = engines[0]
    errors = [
        distances_view(engines, name, f"Error {said}")
        for name, said in DISTANCES.items()
        if any(np.isfinite(each[name]) for each in engines)  # of one token no two have one topic
    ]
    rows = [
        [
            each.attrs["engine"],
            *each["bound"].values.tolist(),
            float(each["log_evidence"]),
            *(float(each[name]) for name in DISTANCES),
            int(each["n_attractors"]),
            each.attrs["n_starts"],
        ]
        for each in engines
    ]
    caption = (
        f"Engines of LDA on a toy whose log evidence is {float(first['log_evidence']):.6f} nats, by enumeration. Left: how far "
        "each bound lies below it: F by Jensen's inequality, exact F with exact expectations of counts, the collapsed one "
        "with expansions of these, which makes it no sure bound, B of what is averaged and sampled together. Then the total "
        "variation distance of p(w|d), mean over documents, and of whether two tokens have one topic, mean over pairs. Of "
        f"{first.attrs['n_starts']} starts the one with the highest bound; what samples has its mean over starts."
    )
    return Picture(
        "toy-bounds",
        "Bounds and errors on a toy",
        caption,
        [gaps_view(engines, "Bounds"), *errors],
        HEADER,
        rows,
        legend=False,
        height=ABOVE + ROW * max(_n_bars(engines), 6),
    )


def token_names(found: xr.Dataset) -> list[str]:
    """Document and word of each token."""
    both = zip(
        found["token_document"].values.tolist(), found["token_word"].values.tolist(), strict=True
    )
    return [fitting(f"{document}, {word}", LETTERS) for document, word in both]


def _n_bars(engines) -> int:
    return sum(int(np.isfinite(each["bound"]).sum()) for each in engines)


def _bars(bars: list[tuple[str, str, float]], x, title: str):
    """A horizontal bar for each (engine, name, length), in the colour of its engine, the first on top."""
    drawn = [
        element(
            "Rectangles",
            [(0.0, -at - 0.36, length, -at + 0.36)],
            [x, axis("place", " "), "end", "top"],
            facecolor=look_of(engine).colour,
            edgecolor="none",
            linewidth=0,
        )
        for at, (engine, _, length) in enumerate(bars)
    ]
    return panel(
        [*drawn, element("VLine", 0.0, color=INK, linewidth=0.8)],
        title=title,
        aspect="auto",
        show_grid=True,
        padding=0.05,
        yticks=[(-at, name) for at, (_, name, _) in enumerate(bars)],
        ylim=(0.6 - max(len(bars), 1), 0.6),
        fig_inches=(3.4, ABOVE + ROW * max(len(bars), 6)),
        fig_rcparams=SMALL,
    )
