"""Figures of the benchmarks: the look of the reports, ours in the colours of their engines, the peers in grey."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from workbench.views.elements import RC, TWO_COLUMNS, Look, looks

PEER_LOOKS = {
    "tomotopy": Look("#6b6b6b", ":", "v"),
    "lda": Look("#9b9b9b", ":", "P"),
    "scikit-learn": Look("#6b6b6b", ":", "*"),
    "gensim": Look("#9b9b9b", ":", "X"),
}


def looks_of(labels) -> dict[str, Look]:
    """A look for each contender."""
    ours = looks([label for label in labels if label not in PEER_LOOKS])
    return {label: PEER_LOOKS.get(label) or ours[label] for label in labels}


@contextmanager
def figure(path: Path, across: int, down: int = 1, height: float = 2.4):
    """Panels to draw on, (down, across), saved as SVG; a row shares its y axis, all panels the legend above them."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(RC):
        drawn = Figure((TWO_COLUMNS, down * height + 0.4), layout="constrained", facecolor="white")
        FigureCanvasAgg(drawn)
        panels = drawn.subplots(down, across, squeeze=False, sharey="row")
        yield panels
        entries = {}
        for axes in panels.flat:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                entries.setdefault(label, handle)
        drawn.legend(
            list(entries.values()),
            list(entries),
            loc="outside upper center",
            ncols=min(len(entries), 5),
        )
        drawn.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def line(axes, x, y, label: str, look: Look, marked=None) -> None:
    """One contender, with a marker at each point, or at those that are ``marked``."""
    axes.plot(
        x,
        y,
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markersize=3.5,
        markevery=marked,
        linewidth=1.2,
        label=label,
    )


def log_axes(axes, ticks, x_name: str, y_name: str, title: str = "") -> None:
    """Both axes logarithmic, x with these ticks, as plain numbers."""
    from matplotlib.ticker import LogLocator

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(ticks, [plain(tick) for tick in ticks])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: plain(value))
    axes.minorticks_off()
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    axes.set_title(title)


def plain(value: float) -> str:
    """A number as people write it on an axis: 500, 0.2, 10k, 1.6M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size * (10 if size == 1e3 else 1):
            return f"{value / size:.3g}{letter}"
    return f"{value:.4g}"
