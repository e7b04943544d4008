"""Curves of recorded numbers: bound, log joint, objective, learnt priors, numbers and sizes of topics, and others."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import (
    CLOCKS,
    TOPIC_NUMBERS,
    MeasureError,
    bound_of,
    each_run,
    labels_of,
    learnt_by,
    mean_curves,
    moves,
    one_run,
    quantity,
    spec_of,
)
from workbench.measures.selection import Runs
from workbench.models import VARIABLES
from workbench.numbers import capital
from workbench.views.comparison import MEASURES
from workbench.views.elements import (
    COLOURS,
    INK,
    SHORT,
    TOPIC,
    axis,
    coloured_outlines,
    dimension,
    element,
    looks,
    overlay,
    panel,
    topic_colours,
)
from workbench.views.picture import (
    RUN_COLUMNS,
    Menu,
    Picture,
    RunsToDraw,
    View,
    fitting_panels,
    rows_of,
)

CONCENTRATIONS = ("alpha_total", "beta_total", "top_concentration", "beta")
"""Scalar hyperparameters."""
OBJECTIVES = ("bound", "log_joint", "objective")
SHOWN_ELSEWHERE = {
    *CLOCKS,
    *CONCENTRATIONS,
    *OBJECTIVES,
    *TOPIC_NUMBERS,
    *MEASURES.values(),
    "collapsed_bound",
    "change",
    "moved",
    "scan",
    "n_k",
    "alpha",
    "move",
    "move_accepted",
    "move_gain",
    "move_from",
    "move_to",
}
"""Variables of each iteration in other pictures, and those that only describe the progress of an engine."""


def objectives_of(runs: Runs) -> list[str]:
    """Return which of bound, log_joint and objective any run records."""
    runs = each_run(runs)
    return [name for name in OBJECTIVES if any(name in run for run in runs)]


def concentrations_of(runs: Runs) -> list[str]:
    """Return the names of scalar hyperparameters that any run learns."""
    learnt_names = {name for run in each_run(runs) for name in learnt_by(run)}
    return [name for name in CONCENTRATIONS if name in learnt_names]


def number_curves(runs: Runs, name: str, against: str = "iteration"):
    """Draw a quantity recorded at each iteration as a `Curve` per label, leaving out runs without it."""
    runs = each_run(runs)
    attrs = next((run[name].attrs for run in runs if name in run), None)
    return overlay(
        mean_curves(runs, name, against), name, against, looks(labels_of(runs)), attrs=attrs
    )


def objective_curves(runs: Runs, which: str = "bound", against: str = "iteration"):
    """Draw the bound, the log joint or the objective of the runs that record it; see `number_curves`."""
    return number_curves(runs, MeasureError.one_of("objective", which, OBJECTIVES), against)


def topic_number_curves(runs: Runs, which: str = "n_active_topics", against: str = "iteration"):
    """Draw the number of topics by one definition over the iterations; see `number_curves`."""
    return number_curves(
        runs, MeasureError.one_of("number of topics", which, TOPIC_NUMBERS), against
    )


def concentration_curves(runs: Runs, which: str, against: str = "iteration"):
    """Draw a scalar hyperparameter for the runs that learn it; see `number_curves`."""
    MeasureError.one_of("scalar hyperparameter", which, CONCENTRATIONS)
    runs = each_run(runs)
    learning = {
        label for run, label in zip(runs, labels_of(runs), strict=True) if which in learnt_by(run)
    }
    curves = [curve for curve in mean_curves(runs, which, against) if curve.group in learning]
    return overlay(curves, which, against, looks(labels_of(runs)))


def bound_curves(runs: Runs, against: str = "iteration"):
    """Draw the bound per training token, in nats, of each run that records one; see `number_curves`.

    For collapsed engines it is the bound of the collapsed model, which the label names.
    """
    runs = each_run(runs)
    labels = labels_of(runs)
    collapsed_labels = {
        label for run, label in zip(runs, labels, strict=True) if bound_of(run) == "collapsed_bound"
    }
    curves = [
        curve._replace(label=curve.label + ", collapsed bound" * (curve.group in collapsed_labels))
        for curve in mean_curves(runs, "bound_per_token", against)
    ]
    return overlay(curves, "bound_per_token", against, looks(labels))


def move_curve(run: xr.Dataset, colour: str = COLOURS[0], title: str = ""):
    """Draw one run's bound per token, with marks at the splits and merges that the run tried.

    Returns a `Curve`, and three `Scatter` of the iterations after which a move was tried: kept splits (triangles up), kept
    merges (triangles down), and undone moves (crosses).
    """
    run = one_run(run)
    x, y, bound = (
        dimension("iteration"),
        dimension("bound_per_token"),
        quantity(run, "bound_per_token"),
    )
    elements = [
        element(
            "Curve",
            (run["iteration"].values, bound.values),
            x,
            y,
            label="bound",
            color=colour,
            linewidth=1.0,
            show_grid=True,
        )
    ]
    kinds = {
        "split, kept": ("^", 34, colour, 1),
        "merge, kept": ("v", 34, colour, 1),
        "undone": ("X", 14, INK, 0.35),
    }
    for kind, (marker, size, ink, alpha) in kinds.items():
        iterations = [
            move.iteration
            for move in moves(run)
            if kind == (f"{move.kind}, kept" if move.accepted else "undone")
        ]
        elements.append(
            element(
                "Scatter",
                (iterations, bound.sel(iteration=iterations).values),
                x,
                y,
                label=kind,
                marker=marker,
                s=size,
                color=ink,
                alpha=alpha,
                linewidth=0,
                show_grid=True,
            )
        )
    return panel(elements, title=title, padding=0.04)


def topic_size_curves(
    run: xr.Dataset, colour: str = COLOURS[0], title: str = "", which: str = "n_k"
):
    """Draw the (expected) tokens of each topic over the iterations of one run, as one `Curve` per topic.

    The finally largest topic is darkest; topics that never have a token are left out if others have. ``which`` can be another
    vector recorded at each iteration, such as ``alpha``.
    """
    run = one_run(run)
    dim = run[which].dims[1]
    x, y = dimension("iteration"), dimension(which, run[which].attrs)
    of_topics = dim == "topic" and "n_k" in run
    sizes = run["n_k" if of_topics else which].values
    rank = np.argsort(np.argsort(-sizes[-1], kind="stable"))
    strength = 1 - 0.75 * rank / max(len(rank) - 1, 1)
    non_empty = np.flatnonzero((sizes >= 1 - 1e-9).any(axis=0)) if of_topics else ()
    curves = [
        element(
            "Curve",
            (run["iteration"].values, run[which].values[:, k]),
            x,
            y,
            label=f"{dim} {run[dim].values[k]}",
            color=colour,
            alpha=float(strength[k]),
            linewidth=1.0,
            show_grid=True,
        )
        for k in (non_empty if len(non_empty) else range(len(rank)))
    ]
    return panel(curves, title=title, padding=0.02)


def _meanings(names: Iterable[str]) -> str:
    return " ".join(
        f"{name}: {VARIABLES[name].meaning} ({VARIABLES[name].unit})." for name in names
    )


def draw_bounds(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw bounds against iterations and against seconds; per token if runs have topics."""
    names = [
        name for name in ("bound", "collapsed_bound") if any(name in run for run in selection.runs)
    ]
    collapsed_note = (
        " For engines with both bounds the collapsed one is drawn, which is comparable with other collapsed engines; the "
        "legend names it."
        if any(bound_of(run) == "collapsed_bound" for run in selection.runs)
        else ""
    )
    of_tokens = any("n_k" in run for run in selection.runs)
    per_token, curves = (
        (" divided by the number of training tokens", bound_curves)
        if of_tokens
        else ("", objective_curves)
    )
    yield view.picture(
        f"Bounds{per_token}, against iterations and against seconds of inference, for engines with a bound."
        f"{collapsed_note} {_meanings(names)}{selection.bands}",
        [curves(selection.runs, against=clock) for clock in ("iteration", "elapsed")],
        *selection.records(*names, *(["bound_per_token"] if of_tokens else [])),
    )


def _numbers(
    view: View, selection: RunsToDraw, names: Iterable[str], caption: str, curves=number_curves
) -> Picture:
    """Return a picture with a panel for each of the recorded quantities ``names``."""
    return view.picture(
        f"{caption}{selection.bands}",
        [curves(selection.runs, name) for name in names],
        *selection.records(*names),
    )


def draw_objectives(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the log joint and the objective of the runs over iterations."""
    names = [name for name in objectives_of(selection.runs) if name != "bound"]
    yield _numbers(
        view,
        selection,
        names,
        f"Objectives of the samplers, a panel for each quantity; panels are not comparable. {_meanings(names)}",
    )


def draw_topic_numbers(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the number of topics by each definition under which any run's number changes."""
    changing = [
        name for name in TOPIC_NUMBERS if any(_changes(run, name) for run in selection.runs)
    ] or TOPIC_NUMBERS[:1]
    meanings = [VARIABLES[name].meaning for name in changing]
    definitions = (
        f"by {len(meanings)} definitions, in this order"
        if len(meanings) > 1
        else "by one definition"
    )
    constant = [VARIABLES[name].meaning for name in TOPIC_NUMBERS if name not in changing]
    yield _numbers(
        view,
        selection,
        changing,
        f"Number of topics over the iterations, {definitions}: {'; '.join(meanings)}."
        + (f" Constant, and not drawn: {'; '.join(constant)}." if constant else ""),
    )


def _changes(run: xr.Dataset, name: str) -> bool:
    """Return whether a recorded quantity of the run takes more than one value."""
    values = quantity(run, name)
    return values is not None and len(np.unique(values.values)) > 1


def draw_concentrations(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the learnt scalar hyperparameters against iterations, for runs that learn them."""
    if names := concentrations_of(selection.runs):
        yield _numbers(
            view,
            selection,
            names,
            "Learnt hyperparameters over the iterations: the posterior mean, the maximum, or the sample. "
            f"{capital('; '.join(f'{SHORT[name]}: {VARIABLES[name].meaning}' for name in names))}.",
            concentration_curves,
        )


def draw_moves(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the bound with the splits and merges that were tried, one panel per label that has any."""
    runs_by_label = {
        label: runs_with_moves
        for label, members in selection.by_label().items()
        if (runs_with_moves := [run for run in members if moves(run)])
    }
    panels, left_out = fitting_panels(runs_by_label)
    rows = [
        row
        for label, members in runs_by_label.items()
        for run in members
        for row in rows_of(label, run, [(*move[:5], int(move.accepted)) for move in moves(run)])
    ]
    if runs_by_label:
        yield view.picture(
            "The bound per training token (nats) of one run of each label, with the moves that were tried after an iteration: "
            "triangles up are kept splits, triangles down kept merges, crosses undone moves."
            f"{left_out}",
            [
                move_curve(members[0], selection.looks[label].colour, label)
                for label, members in panels.items()
            ],
            [*RUN_COLUMNS, "iteration", "move", "from", "to", "gain", "kept"],
            rows,
            legend=False,
            runs=[run for label in runs_by_label for run in selection.by_label()[label]],
        )


def size_controls(run: xr.Dataset | None = None, first: str = "tokens") -> tuple[Menu, ...]:
    """Return the menu of `draw_topic_sizes`: shares that are stacked, shares as lines, or tokens."""
    return (Menu("kind", "Sizes as", ("stacked", "lines", "tokens"), first),)


def draw_topic_sizes(
    view: View,
    selection: RunsToDraw,
    kind: str = "tokens",
    labels: Mapping[int, str] | None = None,
) -> Iterator[Picture]:
    """Draw the sizes of the topics; of a single run as shares in the colours of topics for ``kind`` "stacked" or "lines"."""
    if kind != "tokens" and len(selection.runs) == 1:
        run = selection.runs[0]
        order = "the finally largest topic at the bottom" if kind == "stacked" else "a line each"
        shares = topic_shares_view(run, topic_colours(run), labels, kind == "stacked")
        caption = f"Shares of the training tokens over the iterations, {order}; one run."
        yield view.picture(caption, [shares], legend=False, height=2.9)
        return
    runs_text = (
        "one run of each label"
        if len(selection.runs) > 1
        else f"one run (seed {spec_of(selection.runs[0]).seed})"
    )
    yield _vectors(
        view.name,
        view.title,
        selection,
        "n_k",
        "(Expected) training tokens of each topic over the iterations, a curve for each topic, the finally largest darkest; "
        f"{runs_text}.",
    )


def topic_shares_view(
    run: xr.Dataset,
    colour: Callable[[int], str],
    labels: Mapping[int, str] | None = None,
    stacked: bool = True,
    title: str = "",
):
    """Draw each topic's share of the tokens over iterations, stacked with the finally largest topic at the bottom.

    ``labels`` are the names that people gave topics. Returns `Polygons` of stacked shares, or `Contours`, a line each, with
    the dimensions topic, name, last share and colour. Topics that never had a token are left out.
    """
    n_k, x, outlines = run["n_k"].values, run["iteration"].values, []
    shares = n_k / np.maximum(n_k.sum(axis=1, keepdims=True), 1e-300)
    lower = np.zeros(len(x))
    for k in np.argsort(-n_k[-1], kind="stable"):
        if not (n_k[:, k] >= 0.5).any():
            continue
        topic, top = int(run["topic"].values[k]), shares[:, k] + lower * stacked
        last = f"{100 * shares[-1, k]:.1f} %"
        name = f"topic {topic}: {labels[topic]}" if topic in (labels or {}) else f"topic {topic}"
        sides = (np.append(x, x[::-1]), np.append(top, lower[::-1])) if stacked else (x, top)
        hover = {TOPIC: topic, "name": name, "last": last, "colour": colour(topic)}
        outlines.append({"x": sides[0], "y": sides[1], **hover})
        lower = top
    look = {"linewidth": 0.3, "edgecolor": INK} if stacked else {"linewidth": 1.3}
    dims = [axis(TOPIC, "topic"), axis("name", "name"), axis("last", "last share")]
    axes = [axis("x", "iteration"), axis("y", "share of the tokens")]
    kind = "Polygons" if stacked else "Contours"
    return panel(
        [coloured_outlines(kind, outlines, axes, dims, show_grid=True, **look)],
        title=title,
        padding=0,
        aspect=2.4,
    )


def draw_alphas(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    yield _vectors(
        view.name,
        view.title,
        selection,
        "alpha",
        "The learnt prior alpha of each topic in a document over the iterations, a curve for each topic, the finally largest "
        "darkest; one run of each label.",
    )


def _vectors(name: str, title: str, selection: RunsToDraw, variable: str, caption: str) -> Picture:
    """Return a picture of a recorded vector, with one panel for the first run of each label."""
    first = selection.first(variable)
    panels, left_out = fitting_panels(first)
    dim = next(iter(first.values()))[variable].dims[1]
    rows = [
        row
        for label, run in first.items()
        for row in rows_of(
            label, run, run[variable].to_dataframe().reset_index()[["iteration", dim, variable]]
        )
    ]
    return Picture(
        name,
        title,
        f"{caption}{left_out}",
        [
            topic_size_curves(run, selection.looks[label].colour, label, variable)
            for label, run in panels.items()
        ],
        [*RUN_COLUMNS, "iteration", dim, variable],
        rows,
        legend=False,
        runs=list(first.values()),
    )


def draw_recorded(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw all recorded quantities that no other view shows: a panel per scalar, a picture per vector.

    Numbers recorded at a single iteration, as in a run that continues a stream, have no panel.
    """
    numbers, vectors = (
        {
            name: values.attrs.get("long_name", name)
            for run in selection.runs
            for name, values in run.data_vars.items()
            if values.dims[:1] == ("iteration",)
            and values.ndim == ndim
            and name not in SHOWN_ELSEWHERE
            and values.dtype.kind in "fiub"
            and (ndim > 1 or np.isfinite(values.values).sum() > 1)
        }
        for ndim in (1, 2)
    )
    if numbers:
        yield _numbers(view, selection, numbers, f"{capital('; '.join(numbers.values()))}.")
    for name, meaning in vectors.items():
        yield _vectors(
            f"{view.name}-{name}",
            capital(name.replace("_", " ")),
            selection,
            name,
            f"{capital(meaning)}, over the iterations, the finally largest darkest; one run of each label.",
        )
