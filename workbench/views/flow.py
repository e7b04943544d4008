"""The tokens that the topics of two runs share: two columns of bars, and ribbons between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr

from workbench.views.style import COLOURS, INK, RC

LEAST = 0.01
"""Of the tokens of a topic: what two topics share from which a ribbon is drawn."""
GAP = 0.25
"""Of the height: what the room between all bars of a side takes together."""
BAR, WIDTH = 0.03, 1.0
N_STEPS = 40


def topic_flow_view(
    flow: xr.DataArray, matched: xr.Dataset, names=("", ""), colour: Callable[[int], str] | None = None, told=None,
    title: str = "",
):
    """What `topic_flow` and `match_topics` find, drawn: topics of a on the left, largest first; of b on the right, in the
    order of those that they match.

    Parameters
    ----------
    flow : DataArray (topic, other)
    matched : Dataset
        Dim ``topic``: ``matched``.
    names : of the two runs
    colour : function of a topic of a; by default the colours of the figures in turn
    told : two functions of a topic, for the words beside each bar; by default its number

    Returns
    -------
    holoviews.Overlay
        `Polygons` (ribbons), `Rectangles` (bars) and `Labels`.
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    colour = colour or (lambda topic: COLOURS[topic % len(COLOURS)])
    told = told or (str, str)
    sizes = flow.sum("other")
    first = [int(topic) for topic in flow["topic"].values[np.argsort(-sizes.values, kind="stable")]]
    partner = {int(one["topic"]): int(one["matched"]) for one in (matched.sel(topic=topic) for topic in first)}
    second = [partner[topic] for topic in first if partner[topic] != -1]
    by_size = flow["other"].values[np.argsort(-flow.sum("topic").values, kind="stable")]
    second += [int(topic) for topic in by_size if int(topic) not in second]
    back = {other: topic for topic, other in partner.items()}
    shared = flow.sel(topic=first, other=second).values
    left, right = _places(shared.sum(axis=1)), _places(shared.sum(axis=0))
    ribbons = []
    used = [left[:, 1].copy(), right[:, 1].copy()]
    for at, to in np.argwhere(shared >= LEAST * np.maximum(shared.sum(axis=1, keepdims=True), 1e-12)):
        tall = shared[at, to] / shared.sum() * (1 - GAP)
        ribbons.append(_ribbon(used[0][at], used[1][to], tall) | {"colour": colour(first[at])})
        used[0][at] -= tall
        used[1][to] -= tall
    grey = "#8a919b"
    bars = [(0, low, BAR, high, colour(topic)) for topic, (low, high) in zip(first, left, strict=True)]
    bars += [
        (WIDTH - BAR, low, WIDTH, high, colour(back[topic]) if topic in back else grey)
        for topic, (low, high) in zip(second, right, strict=True)
    ]
    texts = [
        [(-0.02, (low + high) / 2, told[0](topic)) for topic, (low, high) in zip(first, left, strict=True)],
        [(WIDTH + 0.02, (low + high) / 2, told[1](topic)) for topic, (low, high) in zip(second, right, strict=True)],
    ]
    heads = [(-0.02, 1.05, names[0]), (WIDTH + 0.02, 1.05, names[1])]
    small = 6.5 if max(len(first), len(second)) <= 40 else 5
    drawn = [
        hv.Polygons(ribbons, vdims="colour").opts(color="colour", alpha=0.45, linewidth=0, backend="matplotlib"),
        hv.Rectangles(bars, vdims="colour").opts(color="colour", linewidth=0, backend="matplotlib"),
    ]
    for side, align in ((0, "right"), (1, "left")):
        drawn.append(hv.Labels(texts[side], ["x", "y"], "topic").opts(
            size=small, color=INK, horizontalalignment=align, backend="matplotlib"))
        drawn.append(hv.Labels(heads[side : side + 1], ["x", "y"], "run").opts(
            size=7, color=INK, horizontalalignment=align, weight="bold", backend="matplotlib"))
    return hv.Overlay(drawn).opts(
        xlim=(-0.62, WIDTH + 0.62), ylim=(-0.02, 1.1), xaxis=None, yaxis=None, show_frame=False, show_grid=False,
        show_legend=False, title=title, fig_inches=7, aspect="auto", fig_rcparams=RC, backend="matplotlib",
    )


def flow_height(flow: xr.DataArray) -> float:
    """Inches that `topic_flow_view` needs for its words to stand apart."""
    return max(2.4, 0.13 * max(flow.shape) + 0.5)


def _places(tokens: np.ndarray) -> np.ndarray:
    """(topic, 2) where each bar ends and begins, from 1 down to 0."""
    room = GAP / max(len(tokens) - 1, 1)
    tall = tokens / max(tokens.sum(), 1e-12) * (1 - GAP)
    tops = 1 - np.concatenate([[0.0], np.cumsum(tall + room)[:-1]])
    return np.column_stack([tops - tall, tops])


def _ribbon(top: float, other: float, tall: float) -> dict:
    """Its outline: smooth from the left bar to the right one."""
    along = np.linspace(0, 1, N_STEPS)
    bend = along * along * (3 - 2 * along)
    x, y = BAR + (WIDTH - 2 * BAR) * along, top + (other - top) * bend
    return {"x": np.concatenate([x, x[::-1]]), "y": np.concatenate([y, (y - tall)[::-1]])}
