"""The figures 1, 5 and 6 of Linderman, Johnson & Adams (2015) on the stick-breaking map, which need no run.

Densities are evaluated on grids, and claims about them are checked by quadrature, or from many chains.
"""

import numpy as np
from scipy.special import gammaln

from workbench.kernels.polya_gamma import polya_gammas
from workbench.kernels.stick_breaking import sticks as kernel
from workbench.kernels.stick_breaking.correlated_topics import draw_sticks
from workbench.kernels.uniforms import STICK_WEIGHTS, STICKS_GAUSSIAN, draw_key
from workbench.views.elements import (
    COLOURS,
    GRID,
    INK,
    MARKERS,
    axis,
    bare_panel,
    element,
    panel,
    text_labels,
)
from workbench.views.picture import Picture

N_STEPS = 4
"""Steps of the sampler with ellipses, as in the paper."""
CORRELATIONS = (-0.8, 0.0, 0.8)
N_STICKS, STICKS_SHOWN = 8, (1, 4, 8)
"""Number of sticks of the paper's nine categories, and the sticks that have a panel."""
COUNTS = np.array([2, 5, 3])
"""Counts of the three categories whose posterior is sampled."""
LEVELS = np.array([0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
"""Edges of the shades, relative to the highest density."""
BLUES, REDS = "Blues", "Reds"
TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
"""Corners of the simplex, (category, x and y)."""


def _shades(x: np.ndarray, y: np.ndarray, density: np.ndarray, names: list, cmap: str) -> list:
    """Draw a density (y, x) as shaded levels with lines between them."""
    from holoviews.operation import contours

    image = element(
        "Image", (x, y, density / density.max()), names, vdims=axis("density", "density")
    )
    levels = LEVELS.tolist()
    filled = contours(image, filled=True, levels=levels).opts(
        cmap=cmap, clim=(0.0, 1.5), linewidth=0, edgecolor="none", backend="matplotlib"
    )
    lines = contours(image, filled=False, levels=levels[:-1:2]).opts(
        cmap=["#404040"], linewidth=0.35, alpha=0.6, backend="matplotlib"
    )
    return [filled, lines]


def _curve(x, y, x_axis, y_axis, colour: str, label: str = "", **look):

    return element("Curve", (x, y), x_axis, y_axis, label=label, color=colour, **look)


# ---- Figure 1


def draw_pushed(quick: bool):
    """Draw three Gaussians of two sticks and their densities on the simplex; check that these integrate to 1."""

    mean, n = kernel.dirichlet_moments(np.ones(3))[0], 121 if quick else 161
    first, second = (np.linspace(centre - 3.4, centre + 3.4, n) for centre in mean)
    grid = np.stack(np.meshgrid(first, second), axis=-1)
    x, y = np.linspace(0, 1, n), np.linspace(0, TRIANGLE[2, 1], n)
    third = np.meshgrid(x, y / TRIANGLE[2, 1])
    simplex = np.stack([1 - third[0] - third[1] / 2, third[0] - third[1] / 2, third[1]], axis=-1)
    is_inside = simplex.min(axis=-1) > 1e-9
    parts = (np.arange(2 * n) + 0.5) / (2 * n)  # of the stick, and of the rest of it: midpoints
    sticks = np.stack(np.meshgrid(parts, parts), axis=-1).reshape(-1, 2)
    weights = (1 - sticks[..., 0]) / len(parts) ** 2
    logs = kernel.log_probabilities(np.log(sticks) - np.log1p(-sticks))
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(40)
    white = np.stack(np.meshgrid(nodes, nodes), axis=-1)
    stick_panels, simplex_panels, rows, masses, means, expected = [], [], [], [], [], []
    for correlation in CORRELATIONS:
        covariance = np.array([[1.0, correlation], [correlation, 1.0]])
        deviation = grid - mean
        stick_density = np.exp(-0.5 * (deviation @ np.linalg.inv(covariance) * deviation).sum(-1))
        stick_density /= 2 * np.pi * np.sqrt(np.linalg.det(covariance))
        stick_panels.append(
            panel(
                _shades(
                    first, second, stick_density, [axis("psi_1", "ψ₁"), axis("psi_2", "ψ₂")], BLUES
                ),
                title=f"correlation {correlation:+.1f}".replace("-", "−").replace("+0.0", "0"),
                aspect="equal",
                show_grid=False,
            )
        )
        density = np.zeros(is_inside.shape)
        density[is_inside] = np.exp(
            kernel.log_density_of_probabilities(np.log(simplex[is_inside]), mean, covariance)
        )
        edge = _curve(*TRIANGLE[[0, 1, 2, 0]].T, "x", "y", INK, linewidth=0.8)
        corners = text_labels(
            [(-0.02, -0.07, "π₁ = 1"), (1.02, -0.07, "π₂ = 1"), (0.5, 0.93, "π₃ = 1")],
            "corner",
            7.5,
        )
        simplex_panels.append(
            bare_panel(
                [*_shades(x, y, density, ["x", "y"], BLUES), edge, corners],
                (2.3, 2.1),
                (-0.14, 1.14),
                (-0.12, 0.98),
                aspect="equal",
            )
        )
        stick_mass = np.exp(kernel.log_density_of_probabilities(logs, mean, covariance)) * weights
        masses.append(stick_mass.sum())
        means.append(stick_mass @ np.exp(logs))
        samples = kernel.probabilities(mean + white @ np.linalg.cholesky(covariance).T)
        expected.append(
            np.einsum("i,j,ijk->k", node_weights, node_weights, samples) / node_weights.sum() ** 2
        )
        table = np.column_stack([simplex[is_inside], density[is_inside]])
        rows += [[correlation, *row] for row in table.tolist()]
    deviation = float(np.abs(np.array(means) - expected).max())
    picture = Picture(
        "sb-fig1",
        "",
        "",
        [*stick_panels, *simplex_panels],
        ["correlation", "pi_1", "pi_2", "pi_3", "density"],
        rows,
        legend=False,
        height=2.25,
    )
    return picture, [
        (
            "the densities on the simplex integrate to 1",
            bool((np.abs(np.array(masses) - 1) < 1e-3).all()),
            ", ".join(f"{mass:.6f}" for mass in masses),
        ),
        (
            "the mean of π under them is the mean of π(ψ) under the Gaussians",
            deviation < 1e-3,
            f"{deviation:.1e} apart at most",
        ),
    ]


# ---- Figure 5


def draw_marginals(quick: bool):
    """Draw the density of sticks under a Dirichlet, its logarithm, and the Gaussian with the same moments."""

    alpha = np.ones(N_STICKS + 1)
    rest = alpha[::-1].cumsum()[::-1][1:]
    psi = np.linspace(-60, 60, 12_001 if quick else 48_001)
    step, in_range = psi[1] - psi[0], (psi >= -8) & (psi <= 8)
    logs = np.array(
        [
            kernel.log_density_of_sticks(psi[:, None], np.array(pair))
            for pair in zip(alpha, rest, strict=False)
        ]
    )
    exact = np.exp(logs)
    mean, variance = kernel.dirichlet_moments(alpha)
    distance = psi - mean[:, None]
    log_matched = -0.5 * (distance**2 / variance[:, None] + np.log(2 * np.pi * variance[:, None]))
    masses = exact.sum(axis=1) * step
    means = (exact * psi).sum(axis=1) * step
    central = [(exact * (psi - means[:, None]) ** power).sum(axis=1) * step for power in (2, 3)]
    skewness = central[1] / central[0] ** 1.5
    total_variation = 0.5 * np.abs(exact - np.exp(log_matched)).sum(axis=1) * step
    error = max(np.abs(means - mean).max(), np.abs(central[0] - variance).max())
    # different points for each stick
    points = mean + np.sqrt(variance) * np.linspace(-3, 3, 100)[:, None] * np.cos(
        np.arange(N_STICKS)
    )
    dirichlet = (
        gammaln(alpha.sum()) - gammaln(alpha).sum() + kernel.log_probabilities(points) @ (alpha - 1)
    )
    product = np.abs(
        kernel.log_density_of_sticks(points, alpha) - dirichlet - kernel.log_jacobian(points)
    ).max()
    panels = []
    for curves_of_stick, matched, quantity, lowest, highest in (
        (exact, np.exp(log_matched), "density", 0.0, 0.38),
        (logs, log_matched, "log density", -12.0, 0.0),
    ):
        axes = axis("psi", "ψ"), axis("value", quantity)
        for stick in STICKS_SHOWN:
            styles = [
                *(
                    (curves_of_stick[k], GRID, "the other sticks", {"linewidth": 0.6})
                    for k in range(N_STICKS)
                    if k != stick - 1
                ),
                (curves_of_stick[stick - 1], INK, "under the Dirichlet", {"linewidth": 1.4}),
                (
                    matched[stick - 1],
                    COLOURS[1],
                    "Gaussian of its moments",
                    {"linewidth": 1.2, "linestyle": "--"},
                ),
            ]
            curves = [
                _curve(psi[in_range], values[in_range], *axes, colour, label, **look)
                for values, colour, label, look in styles
            ]
            title = (
                f"stick {stick}" + ", the first" * (stick == 1) + ", the last" * (stick == N_STICKS)
            )
            panels.append(
                panel(
                    curves,
                    title=title if quantity == "density" else "",
                    xlim=(-8, 8),
                    xticks=[-8, -4, 0, 4, 8],
                    ylim=(lowest, highest),
                )
            )
    header = [
        "stick",
        "psi",
        "density",
        "log_density",
        "density_of_gaussian",
        "log_density_of_gaussian",
    ]
    points_written = np.flatnonzero(in_range)[:: 5 if quick else 20]
    rows = [
        [
            k + 1,
            *map(
                float,
                (psi[i], exact[k, i], logs[k, i], np.exp(log_matched[k, i]), log_matched[k, i]),
            ),
        ]
        for k in range(N_STICKS)
        for i in points_written
    ]
    return Picture("sb-fig5", "", "", panels, header, rows), [
        (
            "each density integrates to 1",
            bool((np.abs(masses - 1) < 1e-6).all()),
            f"{np.abs(masses - 1).max():.1e} off at most",
        ),
        (
            "mean and variance of each stick, by quadrature as in the paper, are those of the closed form",
            bool(error < 1e-6),
            f"{error:.1e} apart at most",
        ),
        (
            "their product is the density of the Dirichlet times the Jacobian of the map",
            bool(product < 1e-9),
            f"logarithms {product:.1e} apart at most",
        ),
        (
            "densities are the more skewed the earlier the stick",
            bool((np.diff(np.abs(skewness)) < 0).all()),
            "skewness " + ", ".join(f"{value:+.3f}" for value in skewness.round(3) + 0.0),
        ),
        (
            "but still well approximated by a Gaussian, whose mass differs by less than a tenth",
            bool((total_variation < 0.1).all()),
            "total variation " + ", ".join(f"{value:.3f}" for value in total_variation),
        ),
    ]


# ---- Figure 6


def sampled(mean: np.ndarray, precision: np.ndarray, n_chains: int, n_sweeps: int):
    """Yield each Gibbs sweep of sticks given `COUNTS`: Polya-gamma omega, the Gaussian's centre and precision, sticks."""

    counts = np.repeat(COUNTS[None].astype(np.int32), n_chains, axis=0)
    weighted = precision @ mean
    sticks = np.repeat(mean[None], n_chains, axis=0)
    for sweep in range(n_sweeps):
        keys = [
            np.uint64(draw_key(0, stream, 0, sweep)) for stream in (STICK_WEIGHTS, STICKS_GAUSSIAN)
        ]
        # the same numbers that `draw_sticks` draws
        omega = polya_gammas(kernel.remaining(counts), sticks, keys[0])
        draw_sticks(0, n_chains, counts, precision, weighted, sticks, *keys)
        matrix = precision + omega[..., None] * np.eye(len(mean))
        centre = np.linalg.solve(matrix, (weighted + kernel.kappa(counts))[..., None])[..., 0]
        yield omega, centre, matrix, sticks.copy()


def draw_steps(quick: bool):
    """Draw the posterior of two sticks, and at four Gibbs sweeps the Gaussian given the Polya-gamma variables."""

    mean, variance = kernel.dirichlet_moments(np.ones(len(COUNTS)))
    precision, n = np.diag(1 / variance), 401 if quick else 801
    lines = [
        np.linspace(m - 8 * v**0.5, m + 8 * v**0.5, n) for m, v in zip(mean, variance, strict=True)
    ]
    grid = np.stack(np.meshgrid(*lines), axis=-1)
    distance_to_mean, cell = grid - mean, np.prod([line[1] - line[0] for line in lines])
    log_posterior = kernel.log_multinomial(COUNTS, grid) - 0.5 * (
        distance_to_mean @ precision * distance_to_mean
    ).sum(-1)
    posterior = np.exp(log_posterior - log_posterior.max())
    posterior /= posterior.sum() * cell
    true_mean = (posterior[..., None] * grid).sum(axis=(0, 1)) * cell
    true_variance = (posterior[..., None] * (grid - true_mean) ** 2).sum(axis=(0, 1)) * cell

    burn_in, n_sweeps = 20, 120 if quick else 420
    steps = list(sampled(mean, precision, 200, n_sweeps))
    centres, samples = (np.array([step[part] for step in steps[burn_in:]]) for part in (1, 3))
    white = np.array(
        [
            np.einsum("ci,cij,cj->c", psi - centre, matrix, psi - centre)
            for _, centre, matrix, psi in steps[burn_in:]
        ]
    )

    horizontal, vertical = axis("psi_1", "ψ₁"), axis("psi_2", "ψ₂")
    angle, elements, overlaps, rows = np.linspace(0, 2 * np.pi, 121), [], [], []
    for step in range(N_STEPS):
        omega, centre, matrix, psi = (of_chains[0] for of_chains in steps[burn_in + step])
        root = np.linalg.cholesky(np.linalg.inv(matrix))
        ellipse = centre + 1.5 * np.stack([np.cos(angle), np.sin(angle)], axis=-1) @ root.T
        elements.append(
            _curve(
                *ellipse.T,
                horizontal,
                vertical,
                COLOURS[(0, 2, 4, 7)[step]],
                f"step {step + 1}",
                linewidth=1.5,
                linestyle=("-", "--", "-.", ":")[step],
            )
        )
        elements.append(
            element(
                "Points",
                [centre],
                [horizontal, vertical],
                color=COLOURS[(0, 2, 4, 7)[step]],
                marker=MARKERS[step],
                s=22,
            )
        )
        distance = np.einsum("...i,ij,...j->...", grid - centre, matrix, grid - centre)
        gaussian = np.exp(-0.5 * distance) * np.sqrt(np.linalg.det(matrix)) / (2 * np.pi)
        overlaps.append(float(np.minimum(gaussian, posterior).sum() * cell))
        rows.append(
            [
                step + 1,
                *map(float, (*omega, *centre, *np.linalg.inv(matrix)[np.triu_indices(2)], *psi)),
            ]
        )
    box = [
        (true_mean[k] - 3.1 * true_variance[k] ** 0.5, true_mean[k] + 3.1 * true_variance[k] ** 0.5)
        for k in (0, 1)
    ]
    inside_box = [
        np.flatnonzero((line >= low) & (line <= high))
        for line, (low, high) in zip(lines, box, strict=True)
    ]
    shades = _shades(
        lines[0][inside_box[0]],
        lines[1][inside_box[1]],
        posterior[np.ix_(inside_box[1], inside_box[0])],
        [horizontal, vertical],
        REDS,
    )
    picture = Picture(
        "sb-fig6",
        "",
        "",
        [panel([*shades, *elements], aspect="equal", show_grid=False, xlim=box[0], ylim=box[1])],
        [
            "step",
            "omega_1",
            "omega_2",
            "centre_1",
            "centre_2",
            "variance_1",
            "covariance",
            "variance_2",
            "psi_1",
            "psi_2",
        ],
        rows,
        height=4.2,
    )

    def agrees(values: np.ndarray, expected: np.ndarray | float) -> tuple[bool, str]:
        """Return whether all z scores of means over independent chains are within ±4, and the scores as text."""
        means = values.mean(axis=0)
        error = means.std(axis=0, ddof=1) / len(means) ** 0.5
        z = np.atleast_1d((means.mean(axis=0) - expected) / error)
        return bool((np.abs(z) < 4).all()), "z " + ", ".join(f"{value:+.1f}" for value in z)

    return picture, [
        (
            "over many steps the mean of ψ is that of the posterior by quadrature",
            *agrees(samples, true_mean),
        ),
        ("its variance too", *agrees((samples - true_mean) ** 2, true_variance)),
        (
            "and so is the mean of the centres of the ellipses, which the paper predicts with",
            *agrees(centres, true_mean),
        ),
        (
            "each step is a draw from its ellipse: (ψ − m)ᵀ J (ψ − m) is 2 on average",
            *agrees(white, 2.0),
        ),
        (
            "the Gaussians overlap substantially with the posterior, by more than half of their mass",
            min(overlaps) > 0.5,
            ", ".join(f"{share:.2f}" for share in overlaps),
        ),
    ]
