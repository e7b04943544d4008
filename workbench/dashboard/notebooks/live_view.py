"""A live view of runs in a notebook cell: curve, progress, time left, and buttons to pause, resume and stop them.

It is made of the parts of the Compare page. The kernel's own loop updates it once a second, between cells, so that the
kernel stays free and no thread remains: docs/decisions/notebook_views.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

import panel as pn
from tornado.ioloop import PeriodicCallback

from workbench.dashboard.compare.charts import AXES, MEASURES, names_by_label
from workbench.dashboard.compare.curve import N_SLOTS, Curve
from workbench.dashboard.compare.live_strip import LiveStrip
from workbench.dashboard.compare.steering import Steering
from workbench.dashboard.compare.table import RunTable
from workbench.dashboard.notebooks.setup import Cell
from workbench.dashboard.shared.background import in_notebook
from workbench.dashboard.shared.run_monitor import UNREADABLE, Follower, Reading, unreadable_reading
from workbench.dashboard.shared.shell import TICK, Choice, column, styled, text, with_label
from workbench.runs.execution.run import ENDED, Run, default_store, find_run
from workbench.runs.progress import bars
from workbench.runs.spec import SpecError
from workbench.runs.store.places import run_paths
from workbench.runs.store.status import ALIVE, PAUSED, RUNNING, WAITING

STEERS = ("pause", "resume", "stop")
AWAITED = {
    WAITING: "its worker is starting, or queued behind others",
    RUNNING: "the corpus is read, and kernels are compiled unless the cache has them",
    PAUSED: "paused before the first",
}
"""State → what a run in this state waits for before its first iteration."""
LOOK_EVERY = 0.2
"""Seconds between two updates of the bars in a terminal."""


def watch(
    runs: Run | str | Path | Iterable | None = None,
    store: str | Path | None = None,
    axis: str = "iterations",
    measure: str | None = None,
) -> LiveView | None:
    """Return a live view of one or several runs for a notebook cell; in a terminal, show progress bars until the runs end.

    Parameters
    ----------
    runs : Run, path or name, or several of them; optional
        Default: the active runs of the store, or the newest if all have ended. At most eight are drawn at once.
    store : path, optional
        Store in which names are looked up; default ``WORKBENCH_STORE`` or ``./runs``.
    axis : "iterations", "steps", "updates" or "seconds"
    measure : str, optional
        Measure to draw first, a key of `workbench.dashboard.compare.charts.MEASURES`; by default "headline" (the test
        perplexity), or "training" if no run has test tokens.

    Returns
    -------
    LiveView
        Displayed if it is the last line of a cell. It is updated until the runs end or it is removed from the notebook. None
        in a terminal, after showing the bars; Ctrl-C leaves them, and the runs continue.

    Raises
    ------
    StoreError, SpecError
    """
    for name, value, choices in (("axis", axis, AXES), ("measure", measure, (*MEASURES, None))):
        if value not in choices:
            raise SpecError(
                f"no {name} {value!r}; choose one of {', '.join(filter(None, choices))}"
            )
    paths = _paths(runs, store)
    if in_notebook():
        return LiveView(paths, axis, measure)
    _follow_as_text([Run(path) for path in paths])
    return None


def _paths(runs, store) -> list[Path]:
    """Return the folders of the runs, without duplicates."""
    if runs is None:
        home = default_store() if store is None else Path(store)
        all_paths = run_paths(home)
        if not all_paths:
            raise SpecError(
                f"{home} holds no run to watch; start one with wb.start(corpus), or name another store"
            )
        return [path for path in all_paths if Run(path).state not in ENDED] or all_paths[-1:]
    several = runs if isinstance(runs, Iterable) and not isinstance(runs, (str, Path)) else [runs]
    paths = list(dict.fromkeys(find_run(run, store) for run in several))
    if not paths:
        raise SpecError("watch wants at least one run; got none")
    if len({path.name for path in paths}) < len(paths):
        raise SpecError(
            "watch wants runs with different names, and two of these have the same; watch them in two cells"
        )
    return paths


class LiveView:
    """The live view of runs, updated while it is displayed; if it is displayed in another cell, it moves there."""

    def __init__(self, paths: list[Path], axis: str = "iterations", measure: str | None = None):
        self._followers = {path: Follower(path) for path in paths}
        self._picked_names = [path.name for path in paths]
        measure = measure or (
            "headline" if not paths or any(Run(path).spec.test for path in paths) else "training"
        )
        self._ticks = PeriodicCallback(self.tick, TICK)
        self.axis = styled(Choice(label="Axis", options=names_by_label(AXES), value=axis))
        self.measure = styled(
            pn.widgets.Select(
                label="Show",
                options=names_by_label(MEASURES),
                value=measure,
                width=120,
            )
        )
        for widget in (self.axis, self.measure):
            widget.param.watch(self._look, "value")
        self.make()

    @property
    def names(self) -> list[str]:
        """Return the names of the runs in the view."""
        return [path.name for path in self._followers]

    def add(self, path: Path) -> None:
        """Add a run to the view, draw it, and choose only this run for the buttons."""
        if path not in self._followers:
            self._followers[path] = Follower(path)
        self._picked_names = [
            *(name for name in self.curve.colours() if name != path.name),
            path.name,
        ][-N_SLOTS:]
        self.tick()
        self.table.chosen = [path.name]
        self.follow()

    def make(self) -> None:
        """Make the figure, the table and the buttons anew, since a Bokeh figure can be displayed only once."""
        self.curve, self.table = (
            Curve(),
            RunTable(on_draw=self.draw, chosen=list(self._picked_names)),
        )
        self.steering, self.live = (
            Steering(self.table, self.follow),
            LiveStrip(self._on_branches, author="a notebook"),
        )
        self.awaited = text(sizing_mode="stretch_width", visible=False)
        self.tick()
        self._look()
        buttons = [self.steering.buttons[action] for action in STEERS]
        self.card = Cell(
            column(*buttons, with_label(self.measure), with_label(self.axis), kind="wb-bar"),
            self.steering.status,
            self.awaited,
            self.live.view,
            pn.pane.Bokeh(self.curve.figure, sizing_mode="stretch_width", margin=0),
            self.table.tools,
            self.table,
            kind="wb-card",
        )

    def tick(self) -> None:
        """Show what the runs have committed; stop updating when all have ended or the view is no longer displayed."""
        self._readings = {path.name: self._reading_of(path) for path in self._followers}
        readings = tuple(self._readings.values())
        self._show_curves()
        self.table.show(readings)
        self.steering.show(readings)
        self.awaited.say(waiting_text(readings))
        is_gone = self._ticks.is_running() and not self.card.is_shown
        if is_gone or not any(reading.state in ALIVE for reading in readings):
            self._ticks.stop()

    def _on_branches(self, paths: list[Path]) -> None:
        """Add the branches that were started, and show the iterations computed since settings were changed."""
        for path in paths:
            self.add(path)
        self.tick()

    def _reading_of(self, path: Path) -> Reading:
        try:
            return self._followers[find_run(path)].look()  # raises an error if the run was removed
        except Exception as error:  # an error of one run must not hide the others
            return unreadable_reading(path, error)

    def _show_curves(self) -> None:
        readings = {
            name: reading for name, reading in self._readings.items() if reading.state != UNREADABLE
        }
        self.curve.assign([name for name in self._picked_names if name in readings])
        self.curve.show(readings)
        self.live.show(readings[name] for name in self.curve.colours())
        self._send()
        self.table.colours = self.curve.colours()

    def _look(self, event=None) -> None:
        """Show the chosen axis and measure."""
        self.curve.axis, self.curve.measure = self.axis.value, self.measure.value
        self.curve.follow()
        self._send()

    def draw(self, name: str) -> None:
        """Draw a run, which replaces the oldest one in a full figure; if the run is drawn already, remove it."""
        drawn_names = list(self.curve.colours())
        self._picked_names = (
            [other for other in drawn_names if other != name]
            if name in drawn_names
            else [*drawn_names, name][-N_SLOTS:]
        )
        self._show_curves()

    def follow(self) -> None:
        """Update the view once a second from now on."""
        self._ticks.start()

    def _send(self) -> None:
        """Send the changes of the figure to the browser."""
        if hasattr(self, "card"):
            self.card.send_changes()

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.card.is_shown:
            self.make()
        bundle = self.card._repr_mimebundle_(include, exclude)
        self.follow()
        return bundle


def waiting_text(readings: Iterable[Reading]) -> str:
    """Return why runs without an iteration are still waiting, in sentences; empty if all have begun."""
    names_by_reason: dict[str, list[str]] = {}
    for reading in readings:
        if reading.state in AWAITED and not reading.status["iteration"]:
            names_by_reason.setdefault(AWAITED[reading.state], []).append(reading.name)
    return " ".join(
        f"No iteration yet of {', '.join(names)}: {reason}."
        for reason, names in names_by_reason.items()
    )


def _follow_as_text(runs: list[Run]) -> None:
    """Show progress bars in the terminal until all runs have ended or Ctrl-C is pressed."""
    try:
        with bars(runs) as move:
            while any(run.state not in ENDED for run in runs):
                move(runs)
                time.sleep(LOOK_EVERY)
            move(runs)
    except KeyboardInterrupt:
        print("the runs continue; watch them again, or stop them with run.stop()", file=sys.stderr)
