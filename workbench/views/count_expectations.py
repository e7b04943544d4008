"""Views of a topic count: its exact distribution, and the errors of approximations of its expectations."""

import numpy as np
import xarray as xr

from workbench.measures.count_expectations import APPROXIMATIONS, error_map
from workbench.views.elements import INK, RC, axis, element, looks, no_minor_ticks, panel
from workbench.views.picture import Picture

NAMES = {
    "exact": "exact",
    "gaussian": "Gaussian",
    "zeroth": "zeroth order",
    "second": "second order",
    "improved": "improved second order",
}
"""Approximation → name in figures and tables."""
FORMULAS = {
    "log": "log(a + n)",
    "digamma": "ψ(a + n)",
    "exp_digamma": "exp ψ(a + n)",
    "log_gamma": "log Γ(a + n)",
}
SMALLEST, LARGEST = 1e-5, 10.0
"""Errors at which the colour scale begins and ends."""
N_CELLS, PRIORS = 16, (0.01, 10.0)
"""Cells of the map along each axis; its smallest and largest prior."""
COLUMNS = ["approximation", "prior", "mean", "error"]
POWERS = [(10.0**power, f"{10.0**power:g}") for power in range(-4, 5)]
SMALL = RC | {"xtick.labelsize": 6.5, "ytick.labelsize": 6.5}
PANEL = {"aspect": 1.2, "fig_inches": 2.3, "fig_rcparams": SMALL}


def distribution_view(expectations: xr.Dataset):
    """Draw the exact distribution of a count as `Segments`, and its normal approximation as `Points`.

    ``expectations`` is the result of `workbench.measures.count_expectations`. Improbable counts are left out.
    """
    exact, normal = expectations["probability"].values, expectations["gaussian"].values
    probable = np.flatnonzero(np.maximum(exact, normal) > SMALLEST)
    n, indices = (
        expectations["count"].values[probable[0] : probable[-1] + 1],
        slice(probable[0], probable[-1] + 1),
    )
    x, y = axis("count", "count n"), axis("probability", "probability")
    lines = element(
        "Segments",
        (n, 0.0 * n, n, exact[indices]),
        [x, y, "same count", "top"],
        color=INK,
        linewidth=2.0,
    )
    marks = element(
        "Points", (n, normal[indices]), [x, y], color=looks(["cvb"])["cvb"].colour, marker="D", s=14
    )
    ticks = n[:: len(n) // 8 + 1].tolist()
    return panel(
        [lines, marks], title="line: exact, mark: Gaussian", padding=0.1, xticks=ticks, **PANEL
    )


def errors_view(expectations: xr.Dataset, function: str):
    """Draw the absolute error of each approximation of a function's expectation, as `Points` on a logarithmic axis.

    Errors below 1e-5 are drawn at 1e-5.
    """
    methods = list(APPROXIMATIONS)[1:]
    sizes = np.maximum(
        np.abs(expectations["error"].sel(function=function, approximation=methods).values), SMALLEST
    )
    rows = -np.arange(float(len(methods)))
    marks = element(
        "Points",
        (sizes, rows),
        [axis("size", "size of the error"), axis("row", " ")],
        color=INK,
        s=16,
    )
    ticks = [
        (row_place, NAMES[name]) for row_place, name in zip(rows.tolist(), methods, strict=True)
    ]
    edges = SMALLEST / 2, max(LARGEST, 2 * sizes.max())
    return panel(
        [marks],
        title=FORMULAS[function],
        logx=True,
        xlim=edges,
        ylim=(-len(methods) + 0.4, 0.6),
        yticks=ticks,
        xticks=[(10.0**power, f"{10.0**power:g}") for power in (-5, -3, -1, 1)],
        hooks=[no_minor_ticks],
        **PANEL,
    )


def error_map_view(errors: xr.DataArray, mean: float | None = None, prior: float | None = None):
    """Draw the absolute error of an approximation as a `QuadMesh` over the mean and the prior of a count.

    ``errors`` is the result of `workbench.measures.count_expectations.error_map`; the colour scale is logarithmic.
    A mark is drawn at ``mean`` and ``prior``.
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
    mark = (
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
        [mesh, *mark],
        title=NAMES[errors.attrs["approximation"]],
        logx=True,
        logy=True,
        show_grid=False,
        xticks=POWERS,
        yticks=POWERS,
        xlim=tuple(_edges(means)[[0, -1]].tolist()),
        ylim=tuple(_edges(priors)[[0, -1]].tolist()),
        hooks=[no_minor_ticks],
        **PANEL,
    )


def microscope_picture(expectations: xr.Dataset, function: str) -> Picture:
    """Return the picture of a topic count: distribution, errors of a function's expectation, maps of the errors.

    ``expectations`` is the result of `workbench.measures.count_expectations`.
    """
    n_draws, mean, prior = (
        expectations.sizes["count"] - 1,
        expectations.attrs["mean"],
        expectations.attrs["a"],
    )
    means, priors = (
        np.geomspace(min(0.01, n_draws / 100), n_draws, N_CELLS),
        np.geomspace(*PRIORS, N_CELLS),
    )
    maps = {
        name: error_map(function, name, n_draws, means, priors) for name in list(APPROXIMATIONS)[1:]
    }
    cells = {
        name: [
            (row, column, float(errors[i, j]))
            for i, row in enumerate(priors.tolist())
            for j, column in enumerate(means.tolist())
        ]
        for name, errors in maps.items()
    }
    caption = (
        f"A count n of {n_draws} tokens, each in the topic with its own probability (mean {mean:.4g}, variance "
        f"{expectations.attrs['variance']:.4g}), with prior a = {prior:g}: its Poisson-binomial distribution and the normal "
        "approximation on whole counts; the error of each approximation of the expectation of "
        f"{FORMULAS[function]}; and its absolute error for {n_draws} equally probable tokens, from {SMALLEST:g} or less "
        f"(white) to {LARGEST:g} or more (full colour). The mark is at the mean and the prior of this count."
    )
    panels = [
        distribution_view(expectations),
        errors_view(expectations, function),
        *(error_map_view(map_errors, mean, prior) for map_errors in maps.values()),
    ]
    return Picture(
        "count-expectations",
        f"Approximations of the expectation of {FORMULAS[function]}",
        caption,
        panels,
        COLUMNS,
        [[name, *cell] for name, cells_of_map in cells.items() for cell in cells_of_map],
        legend=False,
        height=1.75,
        hover={
            "QuadMesh": [
                [
                    f"prior {a:.2g}, mean {column:.2g}: error {value:+.3g}"
                    for a, column, value in cells_of_map
                ]
                for cells_of_map in cells.values()
            ]
        },
    )


def _edges(values: np.ndarray) -> np.ndarray:
    """Return the edges of cells centred at values that are evenly spaced on a logarithmic axis."""
    step = np.sqrt(values[1] / values[0])
    return np.append(values / step, values[-1] * step)
