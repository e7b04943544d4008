"""One count: its distribution, the errors of each approximation of its expectations, and where these are large."""

import numpy as np
import xarray as xr

from workbench.measures.count_expectations import APPROXIMATIONS, error_map
from workbench.views.elements import axis, element, panel
from workbench.views.picture import Picture
from workbench.views.style import INK, RC, looks

NAMES = {
    "exact": "exact",
    "gaussian": "Gaussian",
    "zeroth": "zeroth order",
    "second": "second order",
    "improved": "improved second order",
}
"""Approximation → its name in figures and tables."""
FORMULAS = {
    "log": "log(a + n)",
    "digamma": "ψ(a + n)",
    "exp_digamma": "exp ψ(a + n)",
    "log_gamma": "log Γ(a + n)",
}
SMALLEST, LARGEST = 1e-5, 10.0
"""Errors from which on a cell has a colour, and those of the full colour."""
N_CELLS, PRIORS = 16, (0.01, 10.0)
"""Cells of the map along each axis; the least and the largest prior of it."""
COLUMNS = ["approximation", "prior", "mean", "error"]
POWERS = [(10.0**power, f"{10.0**power:g}") for power in range(-4, 5)]
SMALL = RC | {"xtick.labelsize": 6.5, "ytick.labelsize": 6.5}
PANEL = {"aspect": 1.2, "fig_inches": 2.3, "fig_rcparams": SMALL}


def distribution_view(found: xr.Dataset):
    """The probability of each value of a count: `Segments` exactly, `Points` by the normal distribution.

    ``found`` is what `workbench.measures.count_expectations` finds. Values that neither has are left out.
    """
    exact, normal = found["probability"].values, found["gaussian"].values
    seen = np.flatnonzero(np.maximum(exact, normal) > SMALLEST)
    n, part = found["count"].values[seen[0] : seen[-1] + 1], slice(seen[0], seen[-1] + 1)
    x, y = axis("count", "count n"), axis("probability", "probability")
    lines = element(
        "Segments",
        (n, 0.0 * n, n, exact[part]),
        [x, y, "same count", "top"],
        color=INK,
        linewidth=2.0,
    )
    marks = element(
        "Points", (n, normal[part]), [x, y], color=looks(["cvb"])["cvb"].colour, marker="D", s=14
    )
    ticks = n[:: len(n) // 8 + 1].tolist()
    return panel(
        [lines, marks], title="line: exact, mark: Gaussian", padding=0.1, xticks=ticks, **PANEL
    )


def errors_view(found: xr.Dataset, function: str):
    """The size of the error of each approximation of one function, as `Points` on a logarithmic axis.

    An error below 1e-5 is drawn there.
    """
    methods = list(APPROXIMATIONS)[1:]
    sizes = np.maximum(
        np.abs(found["error"].sel(function=function, approximation=methods).values), SMALLEST
    )
    rows = -np.arange(float(len(methods)))
    marks = element(
        "Points",
        (sizes, rows),
        [axis("size", "size of the error"), axis("row", " ")],
        color=INK,
        s=16,
    )
    ticks = [(at, NAMES[name]) for at, name in zip(rows.tolist(), methods, strict=True)]
    edges = SMALLEST / 2, max(LARGEST, 2 * sizes.max())
    return panel(
        [marks],
        title=FORMULAS[function],
        logx=True,
        xlim=edges,
        ylim=(-len(methods) + 0.4, 0.6),
        yticks=ticks,
        xticks=[(10.0**power, f"{10.0**power:g}") for power in (-5, -3, -1, 1)],
        hooks=[_no_minor_ticks],
        **PANEL,
    )


def error_map_view(errors: xr.DataArray, mean: float | None = None, prior: float | None = None):
    """A `QuadMesh` of the size of an approximation's error over the mean of a count and its prior, with a mark at one of them.

    ``errors`` is what `workbench.measures.error_map` finds; the colour is that of the logarithm of the error.
    """
    means, priors = errors["mean"].values, errors["prior"].values
    size = np.log10(np.clip(np.abs(errors.values), SMALLEST, LARGEST))
    mesh = element(
        "QuadMesh",
        (_edges(means), _edges(priors), size),
        [axis("mean", "expected count"), axis("prior", "prior a")],
        vdims=axis("size", "error"),
        cmap="Blues",
        clim=(np.log10(SMALLEST), np.log10(LARGEST)),
        edgecolors="face",
        linewidths=0.4,  # else the page shows through between the cells
    )
    here = (
        []
        if mean is None or prior is None
        else [
            element(
                "Points",
                ([np.clip(mean, means[0], means[-1])], [np.clip(prior, priors[0], priors[-1])]),
                ["mean", "prior"],
                color="#f35100",
                marker="o",
                s=20,
            )
        ]
    )
    return panel(
        [mesh, *here],
        title=NAMES[errors.attrs["approximation"]],
        logx=True,
        logy=True,
        show_grid=False,
        xticks=POWERS,
        yticks=POWERS,
        xlim=_ends(means),
        ylim=_ends(priors),
        hooks=[_no_minor_ticks],
        **PANEL,
    )


def microscope_picture(found: xr.Dataset, function: str) -> Picture:
    """The distribution of a count, the errors of one function, and for each approximation the map of its errors.

    ``found`` is what `workbench.measures.count_expectations` finds.
    """
    n_draws, mean, prior = found.sizes["count"] - 1, found.attrs["mean"], found.attrs["a"]
    means, priors = (
        np.geomspace(min(0.01, n_draws / 100), n_draws, N_CELLS),
        np.geomspace(*PRIORS, N_CELLS),
    )
    maps = {
        name: error_map(function, name, n_draws, means, priors) for name in list(APPROXIMATIONS)[1:]
    }
    cells = {
        name: [
            (row, at, float(errors[i, j]))
            for i, row in enumerate(priors.tolist())
            for j, at in enumerate(means.tolist())
        ]
        for name, errors in maps.items()
    }
    caption = (
        f"A count n of {n_draws} tokens, each in the topic with a probability of its own (mean {mean:.4g}, variance "
        f"{found.attrs['variance']:.4g}), beside a prior a = {prior:g}: its distribution, which is Poisson-binomial, and the "
        f"normal one of the same mean and variance on whole counts; the error of each approximation of the expectation of "
        f"{FORMULAS[function]}; and the size of that error where {n_draws} tokens are equally probable, from {SMALLEST:g} or "
        f"less (white) to {LARGEST:g} or more (full colour). The mark is at the mean and the prior of this count."
    )
    drawn = [error_map_view(each, mean, prior) for each in maps.values()]
    panels = [distribution_view(found), errors_view(found, function), *drawn]
    return Picture(
        "count-expectations",
        f"Approximations of the expectation of {FORMULAS[function]}",
        caption,
        panels,
        COLUMNS,
        [[name, *cell] for name, own in cells.items() for cell in own],
        legend=False,
        height=1.75,
        hover={
            "QuadMesh": [
                [f"prior {a:.2g}, mean {at:.2g}: error {value:+.3g}" for a, at, value in own]
                for own in cells.values()
            ]
        },
    )


def _edges(values: np.ndarray) -> np.ndarray:
    """Borders of cells around values that stand at equal distances on a logarithmic axis."""
    step = np.sqrt(values[1] / values[0])
    return np.append(values / step, values[-1] * step)


def _ends(values: np.ndarray) -> tuple[float, float]:
    """Where the cells of `_edges` begin and end."""
    edges = _edges(values)
    return float(edges[0]), float(edges[-1])


def _no_minor_ticks(plot, drawn) -> None:
    """A logarithmic axis has ticks of its own between those that are given."""
    from matplotlib.ticker import NullLocator

    for each in (plot.handles["axis"].xaxis, plot.handles["axis"].yaxis):
        each.set_minor_locator(NullLocator())
