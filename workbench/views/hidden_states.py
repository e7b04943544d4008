"""Hidden states along a sequence: paths of a linear dynamical system, probabilities of the states of a hidden Markov model."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import spec_of
from workbench.measures.next_words import sequences_of
from workbench.views.elements import ROW, axis, band, element, fitting, height_of, panel
from workbench.views.picture import (
    MOST_PANELS,
    WHOSE,
    Menu,
    Picture,
    SideBySide,
    View,
    fitting_panels,
    rows_of,
)
from workbench.views.style import COLOURS, GREY, RC

PATHS = ("sequence", "position", "state_dim", "mean", "deviation")
CHANCES = ("sequence", "position", "hidden_state", "state_probability")
PANEL = (3.4, 1.3)
"""Width and height of a path, inches."""
MOST_CELLS = 300
"""Positions across a picture of probabilities; of longer sequences each cell has the mean of several."""
BAND = 2.0
"""Half the width of a band, in standard deviations."""


def path_view(
    positions,
    mean,
    deviation,
    name: str,
    colour: str = COLOURS[0],
    forecast: float | None = None,
    title: str = "",
):
    """One number of the states along a sequence as `holoviews.Overlay`: its band (`Area`), `Curve`, where forecasts begin."""
    x, y = axis("position", "position"), axis("state", name)
    within = (positions, mean - BAND * deviation, mean + BAND * deviation)
    parts = [
        band(within, x, y, colour),
        element("Curve", (positions, mean), x, y, color=colour, linewidth=0.9),
    ]
    if forecast is not None:
        parts.append(element("VLine", forecast, color=GREY, linewidth=0.7, linestyle="--"))
    return panel(
        parts,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        xlim=(positions[0], positions[-1]),
        fig_rcparams=RC,
    )


def state_probability_view(positions, chances, names: list[str], title: str = ""):
    """Probabilities (position, state) as `holoviews.Overlay` of a `QuadMesh`, a row for each state; full colour: 1."""
    each = -(-len(positions) // MOST_CELLS)
    starts = np.arange(0, len(positions), each)
    means = (
        np.add.reduceat(chances, starts, axis=0)
        / np.diff(np.append(starts, len(positions)))[:, None]
    )
    centres = positions[starts] + (each - 1) / 2
    if len(centres) == 1:
        edges = np.array([centres[0] - 0.5, centres[0] + 0.5])
    else:
        between = (centres[1:] + centres[:-1]) / 2
        edges = np.concatenate(
            [[2 * centres[0] - between[0]], between, [2 * centres[-1] - between[-1]]]
        )
    order = np.argsort(-chances.sum(axis=0), kind="stable")
    rows = np.arange(len(order) + 1)
    mesh = element(
        "QuadMesh",
        (edges, -rows[::-1] + 0.5, means[:, order[::-1]].T),
        [axis("position", "position"), axis("state", " ")],
        vdims=axis("p", "probability"),
        cmap="Blues",
        clim=(0.0, 1.0),
    )
    return panel(
        [mesh],
        title=title,
        aspect="auto",
        show_grid=False,
        fig_inches=(3.4, 0.7 + max(1.4 * ROW * len(order), 0.8)),
        yticks=[(-place, names[state]) for place, state in enumerate(order.tolist())],
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def sequence_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """The sequence, where there are several."""
    names = tuple(sequences_of(run))
    return (Menu("sequence", "Sequence", names, names[0]),) if len(names) > 1 else ()


def sequence_named(run: xr.Dataset, name: str | None) -> tuple[str, np.ndarray]:
    """The sequence of this name and its documents in order; the first where there is none of this name."""
    known = sequences_of(run)
    name = name if name in known else next(iter(known))
    return name, known[name]


def draw_paths(view: View, shown: SideBySide, sequence: str | None = None) -> Iterator[Picture]:
    """The states of one run of each label along one sequence; ``sequence`` is by default the first."""
    runs, rows, chosen = shown.first("states_mean", "states_deviation", "sequence"), [], {}
    for label, run in runs.items():
        name, here = sequence_named(run, sequence)
        positions, mean, deviation = (
            run[each].values[here] for each in ("position", "states_mean", "states_deviation")
        )
        forecast = _begin_of_forecasts(run, here, positions, shown)
        for at in np.argsort(-mean.var(axis=0), kind="stable").tolist():
            numbers = zip(
                positions.tolist(), mean[:, at].tolist(), deviation[:, at].tolist(), strict=True
            )
            rows += rows_of(label, run, [[name, position, at, m, d] for position, m, d in numbers])
            own = positions, mean[:, at], deviation[:, at]
            chosen[label, at] = (*own, f"state {at}", shown.looks[label].colour, forecast, label)
    drawn, hidden = dict(list(chosen.items())[:MOST_PANELS]), len(chosen) - MOST_PANELS
    left_out = f" {hidden} further paths are in the table only." if hidden > 0 else ""
    panels = [path_view(*found) for found in drawn.values()]
    yield view.picture(
        f"Each number of the hidden states along the sequence {name}: mean over iterations, and {BAND:g} standard deviations "
        "of the draws to either side. Behind a dashed line the rows are held out, and states are forecast. Numbers stand in "
        "order of how much they vary; turned and scaled states would say the same of the words, so that only their joint "
        f"course has a meaning. One run of each label.{left_out}",
        panels,
        [*WHOSE, *PATHS],
        rows,
        legend=False,
        height=PANEL[1],
        runs=list(runs.values()),
    )


def _begin_of_forecasts(
    run: xr.Dataset, here: np.ndarray, positions: np.ndarray, shown: SideBySide
) -> float | None:
    """The position from which on all rows are empty in training; None where there is none, or nobody knows."""
    train = shown.corpora.get(spec_of(run).train)
    if (
        train is None
        or train.document_tokens[here[-1]] > 0
        or not train.document_tokens[here].any()
    ):
        return None
    return float(positions[np.flatnonzero(train.document_tokens[here])[-1]]) + 0.5


def draw_state_probabilities(
    view: View, shown: SideBySide, sequence: str | None = None
) -> Iterator[Picture]:
    """The same of hidden Markov models: which state a row is in."""
    runs, rows, panels, hidden = (
        shown.first("state_probability", "emissions", "sequence"),
        [],
        [],
        "",
    )
    drawn, left_out = fitting_panels(runs)
    for label, run in runs.items():
        name, here = sequence_named(run, sequence)
        positions = run["position"].values[here]
        chances = (
            run["state_probability"]
            .isel(snapshot=-1)
            .transpose("document", "hidden_state")
            .values[here]
        )
        rows += rows_of(
            label,
            run,
            [
                [name, position, state, float(chances[at, state])]
                for at, position in enumerate(positions.tolist())
                for state in range(chances.shape[1])
            ],
        )
        if len(here) > MOST_CELLS:
            hidden = f" Each cell is the mean of {-(-len(here) // MOST_CELLS)} positions."
        if label in drawn:
            panels.append(state_probability_view(positions, chances, names_of_states(run), label))
    yield view.picture(
        f"Probability of each hidden state along the sequence {name}, given all training words and the parameters drawn last; "
        "full colour: 1. A state is named by the words that it favours most beyond the mean of all states; those that most "
        f"rows are in stand above.{hidden} One run of each label.{left_out}",
        panels,
        [*WHOSE, *CHANCES],
        rows,
        legend=False,
        height=height_of(panels),
        runs=list(runs.values()),
    )


def names_of_states(run: xr.Dataset, n: int = 3, letters: int = 26) -> list[str]:
    """Number and words of each hidden state: those of the largest p log(p / mean over states)."""
    emissions = run["emissions"].isel(snapshot=-1).transpose("hidden_state", "word").values
    favoured = emissions * np.log(
        np.maximum(emissions, 1e-300) / np.maximum(emissions.mean(axis=0), 1e-300)
    )
    words = run["word"].values[np.argsort(-favoured, axis=1, kind="stable")[:, :n]]
    return [
        fitting(f"{state}: {' '.join(map(str, own))}", letters) for state, own in enumerate(words)
    ]
