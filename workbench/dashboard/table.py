"""Every run of the store as text: which are drawn, which are chosen, how far they are.

The browser updates the cells in place (`table.js`) and takes every value as text.
"""

from __future__ import annotations

import math
from pathlib import Path

import panel as pn
import param

from workbench.dashboard.numbers import COLUMNS
from workbench.dashboard.readings import Reading, told_changes
from workbench.dashboard.shell import STYLE

HEADLINE, TRAINING, ELAPSED = (COLUMNS.index(name) for name in ("test_perplexity", "train_perplexity", "elapsed"))
ACTIVE = COLUMNS.index("n_active_topics")
LEARNT = {
    "alpha": ("alpha", COLUMNS.index("alpha_total"), "in all "), "beta": ("beta", COLUMNS.index("beta"), ""),
    "alpha_total": ("alpha", COLUMNS.index("alpha_total"), "in all "),
    "beta_total": ("beta", COLUMNS.index("beta_total"), "in all "),
    "top_concentration": ("gamma", COLUMNS.index("top_concentration"), ""),
}
"""What may be learnt → its name, the column of its value, and what that is."""
DASH = "–"


class RunTable(pn.custom.JSComponent):
    """The table. ``chosen`` are the runs that the buttons act on; a click on a swatch comes out at `on_draw`."""

    rows = param.List(doc="What `row` makes of each run, newest first.")
    chosen = param.List(doc="Names of the runs that are ticked.")
    colours = param.Dict(default={}, doc="Name → colour of the runs that are drawn.")
    empty = param.String(doc="What to do next, when there is no run.")

    _esm = Path(__file__).with_name("table.js")
    _stylesheets = [(STYLE / "table.css").read_text(encoding="utf-8")]  # noqa: RUF012 (Panel's own way)

    def __init__(self, on_draw=lambda name: None, **settings):
        super().__init__(sizing_mode="stretch_width", margin=0, **settings)
        self._on_draw = on_draw

    def _handle_msg(self, said) -> None:
        name = said.get("draw") if isinstance(said, dict) else None
        if isinstance(name, str):
            self._on_draw(name)

    def show(self, readings: tuple[Reading, ...]) -> None:
        """Brings the rows to what was read; nothing is sent when nothing has changed."""
        rows = [row(reading) for reading in readings]
        if rows != self.rows:
            self.rows = rows
        names = {reading.name for reading in readings}
        if not names.issuperset(self.chosen):
            self.chosen = [name for name in self.chosen if name in names]


def row(reading: Reading) -> dict:
    """The cells of a run, as text."""
    spec, status, latest = reading.spec, reading.status, reading.latest
    held_out = spec is None or spec.test is not None
    perplexity = latest[HEADLINE] if held_out else latest[TRAINING]
    n_iterations = status["n_iterations"]
    iteration = min(max(status["iteration"], int(latest[0]) if math.isfinite(latest[0]) else 0), n_iterations)
    return {
        "name": reading.name,
        "label": reading.label,
        "changes": told_changes(spec) if spec else "",
        "learns": learnt(reading) if spec else "",
        "K": n_topics(reading) if spec else DASH,
        "seed": str(spec.seed) if spec else DASH,
        "state": status["state"],
        "message": str(status["message"]),
        "share": round(100 * iteration / n_iterations, 1) if n_iterations else 0,
        "progress": f"{iteration} / {n_iterations}" if n_iterations else DASH,
        "perplexity": (f"{perplexity:,.1f}" + ("" if held_out else " (training)")) if math.isfinite(perplexity) else DASH,
        "time": duration(latest[ELAPSED]),
        "left": duration(status["time_left"]),
    }


def n_topics(reading: Reading) -> str:
    """K; of an HDP, whose number of topics is found, the topics that have a token, and those asked for in brackets."""
    asked, active = reading.spec.model["n_topics"], reading.latest[ACTIVE]
    return str(asked) if "alpha" in reading.spec.model or not math.isfinite(active) else f"{active:.0f} ({asked})"


def learnt(reading: Reading) -> str:
    """The priors that a run learns, with their last values: ``learns alpha (in all 0.84), gamma (2.1)``."""
    parts = [f"{LEARNT[name][0]} ({LEARNT[name][2]}{reading.latest[LEARNT[name][1]]:.3g})" for name in reading.learns]
    parts += ["tau"] if reading.spec.options.get("learn_tau") else []
    return f"learns {', '.join(parts)}" if parts else ""


def duration(seconds: float | None) -> str:
    """Seconds for people: 3.2 s, 1 min 05 s, 2 h 10 min."""
    if seconds is None or not math.isfinite(seconds):
        return DASH
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
