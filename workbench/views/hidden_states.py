"""Hidden states along a sequence: paths of linear dynamical systems, state probabilities of hidden Markov models."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import spec_of
from workbench.measures.rows import sequences_of
from workbench.views.elements import (
    COLOURS,
    GREY,
    RC,
    ROW,
    axis,
    band,
    element,
    panel,
    short_text,
)
from workbench.views.picture import (
    RUN_COLUMNS,
    Picture,
    RunsOfLabels,
    RunsToDraw,
    View,
    fitting_panels,
    menu_of,
    rows_of,
)

PATHS = ("sequence", "position", "state_dim", "mean", "deviation")
CHANCES = ("sequence", "position", "hidden_state", "state_probability")
PANEL = (3.4, 1.3)
"""Width and height of a path, inches."""
MOST_CELLS = 300
"""Maximum of cells across a picture; in longer sequences each cell is the mean of several positions."""
BAND = 2.0
"""Half-width of a band, in standard deviations."""


def path_view(
    positions: np.ndarray,
    mean: np.ndarray,
    deviation: np.ndarray,
    name: str,
    colour: str = COLOURS[0],
    forecast: float | None = None,
    title: str = "",
):
    """Draw one dimension of the states along a sequence: mean (`Curve`), band (`Area`), and where forecasts begin."""
    x, y = axis("position", "position"), axis("state", name)
    edges = (positions, mean - BAND * deviation, mean + BAND * deviation)
    elements = [
        band(edges, x, y, colour),
        element("Curve", (positions, mean), x, y, color=colour, linewidth=0.9),
    ]
    if forecast is not None:
        elements.append(element("VLine", forecast, color=GREY, linewidth=0.7, linestyle="--"))
    return panel(
        elements,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        xlim=(positions[0], positions[-1]),
        fig_rcparams=RC,
    )


def state_probability_view(
    positions: np.ndarray, chances: np.ndarray, names: list[str], title: str = ""
):
    """Draw state probabilities (position, state), a row per state, coloured from 0 to 1."""
    n_per_cell = -(-len(positions) // MOST_CELLS)
    first_positions = np.arange(0, len(positions), n_per_cell)
    means = (
        np.add.reduceat(chances, first_positions, axis=0)
        / np.diff(np.append(first_positions, len(positions)))[:, None]
    )
    centres = positions[first_positions] + (n_per_cell - 1) / 2
    if len(centres) == 1:
        edges = np.array([centres[0] - 0.5, centres[0] + 0.5])
    else:
        borders = (centres[1:] + centres[:-1]) / 2
        edges = np.concatenate(
            [[2 * centres[0] - borders[0]], borders, [2 * centres[-1] - borders[-1]]]
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
        yticks=[(-position, names[state]) for position, state in enumerate(order.tolist())],
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


sequence_controls = menu_of("sequence", "Sequence", sequences_of)


def sequence_named(run: xr.Dataset, name: str | None) -> tuple[str, np.ndarray]:
    """Return (name, documents in order) of a sequence; for an unknown name, of the first sequence."""
    sequences = sequences_of(run)
    name = name if name in sequences else next(iter(sequences))
    return name, sequences[name]


def draw_paths(view: View, selection: RunsToDraw, sequence: str | None = None) -> Iterator[Picture]:
    """Draw the states along one sequence (by default the first) for one run per label."""
    runs, rows, arguments_of_panels = (
        selection.first("states_mean", "states_deviation", "sequence"),
        [],
        {},
    )
    for label, run in runs.items():
        name, documents = sequence_named(run, sequence)
        positions, mean, deviation = (
            run[variable].values[documents]
            for variable in ("position", "states_mean", "states_deviation")
        )
        forecast = _start_of_forecasts(run, documents, positions, selection)
        for dim in np.argsort(-mean.var(axis=0), kind="stable").tolist():
            numbers = zip(
                positions.tolist(), mean[:, dim].tolist(), deviation[:, dim].tolist(), strict=True
            )
            rows += rows_of(label, run, [[name, position, dim, m, d] for position, m, d in numbers])
            arguments_of_panels[label, dim] = (
                positions,
                mean[:, dim],
                deviation[:, dim],
                f"state {dim}",
                selection.looks[label].colour,
                forecast,
                label,
            )
    first_panels, left_out = fitting_panels(arguments_of_panels, "paths")
    yield view.picture(
        f"Each dimension of the hidden states along the sequence {name}: mean over iterations ± {BAND:g} standard deviations "
        "of the draws. After a dashed line the rows are held out and the states are forecasts. Dimensions are sorted by "
        "variance. States are identified only up to a linear transformation, so only their joint path is meaningful. One run "
        f"of each label.{left_out}",
        [path_view(*arguments) for arguments in first_panels.values()],
        [*RUN_COLUMNS, *PATHS],
        rows,
        legend=False,
        height=PANEL[1],
        runs=list(runs.values()),
    )


def _start_of_forecasts(
    run: xr.Dataset, documents: np.ndarray, positions: np.ndarray, selection: RunsToDraw
) -> float | None:
    """Return the position at which the held-out end of a sequence begins; None without one, or if unknown."""
    train = selection.corpora.get(spec_of(run).train)
    if (
        train is None
        or train.document_tokens[documents[-1]] > 0
        or not train.document_tokens[documents].any()
    ):
        return None
    return float(positions[np.flatnonzero(train.document_tokens[documents])[-1]]) + 0.5


def draw_state_probabilities(
    view: View, selection: RunsToDraw, sequence: str | None = None
) -> Iterator[Picture]:
    """Draw the state probabilities of hidden Markov models along one sequence."""
    collection = RunsOfLabels(selection.first("state_probability", "emissions", "sequence"))
    cell_note = ""
    for label, run in collection.runs.items():
        name, documents = sequence_named(run, sequence)
        positions = run["position"].values[documents]
        chances = (
            run["state_probability"]
            .isel(snapshot=-1)
            .transpose("document", "hidden_state")
            .values[documents]
        )
        rows = [
            [name, position, state, float(chances[index, state])]
            for index, position in enumerate(positions.tolist())
            for state in range(chances.shape[1])
        ]
        if len(documents) > MOST_CELLS:
            cell_note = f" Each cell is the mean of {-(-len(documents) // MOST_CELLS)} positions."
        panel = state_probability_view(positions, chances, names_of_states(run), label)
        collection.add(label, rows, [panel])
    yield from collection.pictures(
        view,
        f"Probability of each hidden state along the sequence {name}, given all training words and the last parameter draw; "
        "full colour: 1. States are named by the words with the largest excess over the mean of all states; the most frequent "
        f"state is on top.{cell_note} One run of each label.",
        CHANCES,
    )


def names_of_states(run: xr.Dataset, n: int = 3, letters: int = 26) -> list[str]:
    """Return a name per hidden state: its number, and the words that distinguish it most from other states."""
    emissions = run["emissions"].isel(snapshot=-1).transpose("hidden_state", "word").values
    excess = emissions * np.log(
        np.maximum(emissions, 1e-300) / np.maximum(emissions.mean(axis=0), 1e-300)
    )
    words = run["word"].values[np.argsort(-excess, axis=1, kind="stable")[:, :n]]
    return [
        short_text(f"{state}: {' '.join(map(str, state_words))}", letters)
        for state, state_words in enumerate(words)
    ]
