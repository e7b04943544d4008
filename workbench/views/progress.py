"""Curves of what inference records: bound, log joint or objective, learnt priors, numbers and sizes of topics, all else."""

from collections.abc import Iterable, Iterator

import numpy as np

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
from workbench.models import VARIABLES
from workbench.views.comparison import MEASURES
from workbench.views.curves import SHORT, dimension, overlay
from workbench.views.elements import element, panel
from workbench.views.picture import (
    WHOSE,
    Picture,
    SideBySide,
    View,
    capital,
    fitting_panels,
    rows_of,
)
from workbench.views.style import COLOURS, INK, looks

CONCENTRATIONS = ("alpha_total", "beta_total", "top_concentration", "beta")
"""Hyperparameters that are one number."""
OBJECTIVES = ("bound", "log_joint", "objective")
SHOWN = {
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
"""Variables of each iteration that other pictures show, or that are about the progress of an engine alone."""


def objectives_of(runs) -> list[str]:
    """Which of bound, log_joint and objective the runs record; they are different quantities, so never on one axis."""
    runs = each_run(runs)
    return [name for name in OBJECTIVES if any(name in run for run in runs)]


def concentrations_of(runs) -> list[str]:
    """Which hyperparameters that are one number any of the runs learns."""
    learnt = {name for run in each_run(runs) for name in learnt_by(run)}
    return [name for name in CONCENTRATIONS if name in learnt]


def number_curves(runs, name: str, against: str = "iteration"):
    """A number of each iteration over the course of the runs that have it: `holoviews.Overlay`, a `Curve` for each label."""
    runs = each_run(runs)
    about = next((run[name].attrs for run in runs if name in run), None)
    return overlay(
        mean_curves(runs, name, against), name, against, looks(labels_of(runs)), about=about
    )


def objective_curves(runs, which: str = "bound", against: str = "iteration"):
    """The bound, the log joint or the objective of the runs that record it; see `number_curves`."""
    return number_curves(runs, _one_of(OBJECTIVES, which, "no objective '{}'"), against)


def topic_number_curves(runs, which: str = "n_active_topics", against: str = "iteration"):
    """How many topics there are over the course of the runs; see `number_curves`."""
    return number_curves(runs, _one_of(TOPIC_NUMBERS, which, "no number of topics '{}'"), against)


def concentration_curves(runs, which: str, against: str = "iteration"):
    """A hyperparameter that is one number, of the runs that learn it; see `number_curves`."""
    _one_of(CONCENTRATIONS, which, "no hyperparameter '{}' that is one number")
    runs = each_run(runs)
    learning = {
        label for run, label in zip(runs, labels_of(runs), strict=True) if which in learnt_by(run)
    }
    curves = [curve for curve in mean_curves(runs, which, against) if curve.group in learning]
    return overlay(curves, which, against, looks(labels_of(runs)))


def _one_of(known: tuple[str, ...], name: str, otherwise: str) -> str:
    if name not in known:
        raise MeasureError(f"{otherwise.format(name)}; there are {', '.join(known)}")
    return name


def bound_curves(runs, against: str = "iteration"):
    """The bounds for each training token, nats, of whatever engines have one; see `number_curves`.

    Of engines that integrate theta and phi out it is the bound of the collapsed model, and the label says so.
    """
    runs = each_run(runs)
    labels = labels_of(runs)
    collapsed = {
        label for run, label in zip(runs, labels, strict=True) if bound_of(run) == "collapsed_bound"
    }
    curves = [
        curve._replace(label=curve.label + ", collapsed bound" * (curve.group in collapsed))
        for curve in mean_curves(runs, "bound_per_token", against)
    ]
    return overlay(curves, "bound_per_token", against, looks(labels))


def move_curve(run, colour: str = COLOURS[0], title: str = ""):
    """The bound for each token of one run with the splits and merges that it tried.

    A `Curve`, and three `Scatter` of the iterations after which something was tried: splits that were kept (triangles up),
    merges that were kept (triangles down), and whatever was taken back (crosses).
    """
    run = one_run(run)
    x, y, bound = (
        dimension("iteration"),
        dimension("bound_per_token"),
        quantity(run, "bound_per_token"),
    )
    drawn = [
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
        "taken back": ("X", 14, INK, 0.35),
    }
    for kind, (marker, size, ink, alpha) in kinds.items():
        at = [
            move.iteration
            for move in moves(run)
            if kind == (f"{move.kind}, kept" if move.accepted else "taken back")
        ]
        drawn.append(
            element(
                "Scatter",
                (at, bound.sel(iteration=at).values),
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
    return panel(drawn, title=title, padding=0.04)


def topic_size_curves(run, colour: str = COLOURS[0], title: str = "", which: str = "n_k"):
    """(Expected) tokens of each topic over the iterations of one run: `holoviews.Overlay`, a `Curve` for each topic.

    The topic that ends up largest is drawn darkest; topics that never have a token are left out where others have.
    ``which`` is another vector of each iteration, as ``alpha``, drawn the same.
    """
    run = one_run(run)
    dim = run[which].dims[1]
    x, y = dimension("iteration"), dimension(which, run[which].attrs)
    of_topics = dim == "topic" and "n_k" in run
    sizes = run["n_k" if of_topics else which].values
    rank = np.argsort(np.argsort(-sizes[-1], kind="stable"))
    strength = 1 - 0.75 * rank / max(len(rank) - 1, 1)
    seen = np.flatnonzero((sizes >= 1 - 1e-9).any(axis=0)) if of_topics else ()
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
        for k in (seen if len(seen) else range(len(rank)))
    ]
    return panel(curves, title=title, padding=0.02)


# ---------------------------------------------------------------------- pictures of what was recorded


def _meanings(names) -> str:
    return " ".join(
        f"{name}: {VARIABLES[name].meaning} ({VARIABLES[name].unit})." for name in names
    )


def draw_bounds(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Bounds, for each token where runs have topics, against iterations and seconds."""
    names = [
        name for name in ("bound", "collapsed_bound") if any(name in run for run in shown.runs)
    ]
    collapsed = (
        " Of engines that have both, the collapsed bound is drawn, which is the one to compare with other collapsed "
        "engines, and the legend says so."
        if any(bound_of(run) == "collapsed_bound" for run in shown.runs)
        else ""
    )
    of_tokens = any("n_k" in run for run in shown.runs)
    divided, curves = (
        (" divided by the number of training tokens", bound_curves)
        if of_tokens
        else ("", objective_curves)
    )
    yield view.picture(
        f"Bounds{divided}, against iterations and against seconds of inference; engines without a bound are not drawn."
        f"{collapsed} {_meanings(names)}{shown.bands}",
        [curves(shown.runs, against=clock) for clock in ("iteration", "elapsed")],
        *shown.records(*names, *(["bound_per_token"] if of_tokens else [])),
    )


def _numbers(
    view: View, shown: SideBySide, names: Iterable[str], caption: str, curves=number_curves
) -> Picture:
    """A panel for each number of each iteration."""
    panels = [curves(shown.runs, name) for name in names]
    return view.picture(f"{caption}{shown.bands}", panels, *shown.records(*names))


def draw_objectives(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Log joint and objective."""
    names = [name for name in objectives_of(shown.runs) if name != "bound"]
    yield _numbers(
        view,
        shown,
        names,
        f"What the engines that sample climb, one quantity a panel; they are not comparable across panels. {_meanings(names)}",
    )


def draw_topic_numbers(view: View, shown: SideBySide) -> Iterator[Picture]:
    """How many topics there are, by each definition by which their number changes."""
    changing = [
        name for name in TOPIC_NUMBERS if any(_changes(run, name) for run in shown.runs)
    ] or TOPIC_NUMBERS[:1]
    meanings = [VARIABLES[name].meaning for name in changing]
    definitions = (
        f"by {len(meanings)} definitions, in this order"
        if len(meanings) > 1
        else "by one definition"
    )
    still = [VARIABLES[name].meaning for name in TOPIC_NUMBERS if name not in changing]
    yield _numbers(
        view,
        shown,
        changing,
        f"How many topics there are over the iterations, {definitions}: {'; '.join(meanings)}."
        + (f" Always the same, and not drawn: {'; '.join(still)}." if still else ""),
    )


def _changes(run, name: str) -> bool:
    """Has a number of the run more than one value over the iterations?"""
    values = quantity(run, name)
    return values is not None and len(np.unique(values.values)) > 1


def draw_concentrations(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Hyperparameters that are one number, of the runs that learn them."""
    if names := concentrations_of(shown.runs):
        yield _numbers(
            view,
            shown,
            names,
            "Over the iterations, of the runs that learn them: the mean of the posterior, the maximum, or the sample. "
            f"{capital('; '.join(f'{SHORT[name]}: {VARIABLES[name].meaning}' for name in names))}.",
            concentration_curves,
        )


def draw_moves(view: View, shown: SideBySide) -> Iterator[Picture]:
    """The bound with what was tried, a panel for each label; nothing where no run tried a move."""
    moving = {
        label: tried
        for label, own in shown.by_label().items()
        if (tried := [run for run in own if moves(run)])
    }
    panels, left_out = fitting_panels(moving)
    rows = [
        row
        for label, own in moving.items()
        for run in own
        for row in rows_of(label, run, [(*move[:5], int(move.accepted)) for move in moves(run)])
    ]
    if moving:
        yield view.picture(
            "The bound for each training token (nats) of one run of each label, with what was tried after an iteration: "
            "triangles up are splits that were kept, triangles down merges that were kept, crosses moves that were taken "
            f"back.{left_out}",
            [move_curve(own[0], shown.looks[label].colour, label) for label, own in panels.items()],
            [*WHOSE, "iteration", "move", "from", "to", "gain", "kept"],
            rows,
            legend=False,
            runs=[run for label in moving for run in shown.by_label()[label]],
        )


def draw_topic_sizes(view: View, shown: SideBySide) -> Iterator[Picture]:
    which = (
        "one run of each label"
        if len(shown.runs) > 1
        else f"one run (seed {spec_of(shown.runs[0]).seed})"
    )
    yield _vectors(
        view.name,
        view.title,
        shown,
        "n_k",
        "(Expected) training tokens of each topic over the iterations, a line for each topic, the finally largest strongest; "
        f"{which}.",
    )


def draw_alphas(view: View, shown: SideBySide) -> Iterator[Picture]:
    yield _vectors(
        view.name,
        view.title,
        shown,
        "alpha",
        "The learnt prior alpha of each topic in a document over the iterations, a line for each topic, the finally largest "
        "topic strongest; one run of each label.",
    )


def _vectors(name: str, title: str, shown: SideBySide, which: str, caption: str) -> Picture:
    """A vector of each iteration, a panel for the first run of each label that records it."""
    first = shown.first(which)
    panels, left_out = fitting_panels(first)
    dim = next(iter(first.values()))[which].dims[1]
    rows = [
        row
        for label, run in first.items()
        for row in rows_of(
            label, run, run[which].to_dataframe().reset_index()[["iteration", dim, which]]
        )
    ]
    return Picture(
        name,
        title,
        f"{caption}{left_out}",
        [
            topic_size_curves(run, shown.looks[label].colour, label, which)
            for label, run in panels.items()
        ],
        [*WHOSE, "iteration", dim, which],
        rows,
        legend=False,
        runs=list(first.values()),
    )


def draw_recorded(view: View, shown: SideBySide) -> Iterator[Picture]:
    """All that no other view shows: numbers of each iteration, a panel each, and a picture for each vector.

    Numbers that a run has of a single iteration, as one that goes on from another by a stream, make no line and have no panel.
    """
    numbers, vectors = (
        {
            name: values.attrs.get("long_name", name)
            for run in shown.runs
            for name, values in run.data_vars.items()
            if values.dims[:1] == ("iteration",)
            and values.ndim == ndim
            and name not in SHOWN
            and values.dtype.kind in "fiub"
            and (ndim > 1 or np.isfinite(values.values).sum() > 1)
        }
        for ndim in (1, 2)
    )
    if numbers:
        yield _numbers(view, shown, numbers, f"{capital('; '.join(numbers.values()))}.")
    for name, meaning in vectors.items():
        yield _vectors(
            f"{view.name}-{name}",
            capital(name.replace("_", " ")),
            shown,
            name,
            f"{capital(meaning)}, over the iterations, the finally largest strongest; one run of each label.",
        )
