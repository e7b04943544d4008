"""Views of a toy corpus that can be enumerated: its exact posterior, bounds and errors of each engine."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from workbench.views.elements import INK, RC, ROW, axis, element, look_of, panel, short_text
from workbench.views.picture import Picture

SMALL = RC | {"ytick.labelsize": 6.5, "xtick.labelsize": 6.5}
KINDS = {"jensen": "F", "collapsed": "collapsed", "exact": "exact F", "hybrid": "B"}
"""Bound → name in pictures and tables."""
DISTANCES = {"predictive_distance": "of p(w|d)", "co_assignment_distance": "of one topic"}
HEADER = ["engine", *KINDS.values(), "log_evidence", *DISTANCES, "n_attractors", "n_starts"]
ABOVE = 0.6
"""Inches of a panel in addition to its rows."""
LETTERS = 24


def co_assignment_view(posterior: xr.Dataset, title: str = ""):
    """Draw the probability that two tokens share a topic, coloured from 0 to 1, as a `holoviews.Overlay` of a `QuadMesh`."""
    names, values = token_names(posterior), posterior["co_assignment"].values
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
        linewidths=0.4,  # so that the page does not show through between the cells
    )
    return panel(
        [mesh],
        title=title,
        aspect="auto",
        show_grid=False,
        fig_inches=(3.4, ABOVE + max(ROW * n, 1.0)),
        xrotation=90,
        fig_rcparams=SMALL,
        xticks=[
            (position, short_text(str(word), 10))
            for position, word in enumerate(posterior["token_word"].values)
        ],
        yticks=[(-position, name) for position, name in enumerate(names)],
    )


def posterior_picture(posterior: xr.Dataset) -> Picture:
    """Return the picture of the exact probability that two tokens share a topic."""
    names, values = token_names(posterior), posterior["co_assignment"].values
    hover = [
        f"{names[row]}\n{names[column]}\none topic with probability {values[row, column]:.4f}"
        for row in range(len(names))[::-1]
        for column in range(len(names))
    ]
    rows = [
        [names[row], names[column], values[row, column]] for row, column in np.ndindex(values.shape)
    ]
    caption = (
        f"The exact posterior of {len(names)} tokens under LDA, over all {posterior.attrs['n_states']:,} assignments of "
        "topics to tokens: the probability that two tokens have one topic. Tokens in their order, by document and word."
    )
    return Picture(
        "exact-posterior",
        "Exact probability of one topic",
        caption,
        [co_assignment_view(posterior)],
        ["token", "other_token", "co_assignment"],
        rows,
        legend=False,
        height=ABOVE + max(ROW * len(names), 1.0),
        hover={"QuadMesh": [hover]},
    )


def gaps_view(engines: Sequence[xr.Dataset], title: str = ""):
    """Draw the log evidence minus each bound of each engine, in nats, as bars (`Rectangles`).

    ``engines`` are results of `workbench.measures.exact.against_exact`. A bound above the evidence, possible for the collapsed
    one, is left of 0.
    """
    bars = [
        (
            result.attrs["engine"],
            f"{result.attrs['engine']} {name}",
            float(result["log_evidence"] - result["bound"].sel(kind=kind)),
        )
        for result in engines
        for kind, name in KINDS.items()
        if np.isfinite(result["bound"].sel(kind=kind))
    ]
    return _bars(bars, axis("gap", "below the log evidence", "nats"), title)


def distances_view(engines: Sequence[xr.Dataset], name: str, title: str = ""):
    """Draw one of `DISTANCES` from the exact posterior for each engine, as bars (`Rectangles`)."""
    bars = [
        (result.attrs["engine"], result.attrs["engine"], float(result[name]))
        for result in engines
        if np.isfinite(result[name])
    ]
    return _bars(bars, axis(name, "total variation distance"), title)


def bounds_picture(engines: Sequence[xr.Dataset]) -> Picture:
    """Return the picture of every engine's bounds and distances from the exact posterior."""
    first = engines[0]
    errors = [
        distances_view(engines, name, f"Error {description}")
        for name, description in DISTANCES.items()
        if any(np.isfinite(result[name]) for result in engines)  # a single token has no pair
    ]
    rows = [
        [
            result.attrs["engine"],
            *result["bound"].values.tolist(),
            float(result["log_evidence"]),
            *(float(result[name]) for name in DISTANCES),
            int(result["n_attractors"]),
            result.attrs["n_starts"],
        ]
        for result in engines
    ]
    caption = (
        f"Engines of LDA on a toy whose log evidence is {float(first['log_evidence']):.6f} nats, by enumeration. Left: the "
        "gap of each bound: F by Jensen's inequality, exact F with exact expectations of counts, the collapsed one with "
        "expansions of these (not a strict bound), B of averaged and sampled tokens together. Right: the total variation "
        "distance of p(w|d), mean over documents, and of co-assignment, mean over pairs of tokens. Of "
        f"{first.attrs['n_starts']} starts the one with the highest bound; for samplers the mean over starts."
    )
    n_bars = sum(int(np.isfinite(result["bound"]).sum()) for result in engines)
    return Picture(
        "toy-bounds",
        "Bounds and errors on a toy",
        caption,
        [gaps_view(engines, "Bounds"), *errors],
        HEADER,
        rows,
        legend=False,
        height=ABOVE + ROW * max(n_bars, 6),
    )


def token_names(posterior: xr.Dataset) -> list[str]:
    """Return a name for each token: document and word."""
    both = zip(
        posterior["token_document"].values.tolist(),
        posterior["token_word"].values.tolist(),
        strict=True,
    )
    return [short_text(f"{document}, {word}", LETTERS) for document, word in both]


def _bars(bars: list[tuple[str, str, float]], x, title: str):
    """Draw horizontal bars (engine, name, length) from top to bottom, in the engines' colours."""
    elements = [
        element(
            "Rectangles",
            [(0.0, -row - 0.36, length, -row + 0.36)],
            [x, axis("place", " "), "end", "top"],
            facecolor=look_of(engine).colour,
            edgecolor="none",
            linewidth=0,
        )
        for row, (engine, _, length) in enumerate(bars)
    ]
    return panel(
        [*elements, element("VLine", 0.0, color=INK, linewidth=0.8)],
        title=title,
        aspect="auto",
        show_grid=True,
        padding=0.05,
        yticks=[(-row, name) for row, (_, name, _) in enumerate(bars)],
        ylim=(0.6 - max(len(bars), 1), 0.6),
        fig_inches=(3.4, ABOVE + ROW * max(len(bars), 6)),
        fig_rcparams=SMALL,
    )
