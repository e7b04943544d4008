"""A live view of runs in a notebook cell: curve, progress, time left, and the buttons that steer them.

It is made of the parts of the Compare page. The kernel's own loop brings it up to date once a second, between cells,
so that the kernel stays free and nothing is left behind: docs/decisions/notebook_views.md.
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
from workbench.dashboard.compare.steering import Steering
from workbench.dashboard.compare.table import RunTable
from workbench.dashboard.notebooks.setup import Cell
from workbench.dashboard.shared.background import in_notebook
from workbench.dashboard.shared.run_monitor import UNREADABLE, Follower, Reading, unreadable
from workbench.dashboard.shared.shell import TICK, Choice, column, labelled, styled, text
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
"""State → what a run in it waits for before its first iteration."""
LOOK_EVERY = 0.2
"""Seconds between two updates of the bars in a terminal."""


def watch(
    runs=None, store=None, axis: str = "iterations", measure: str | None = None
) -> LiveView | None:
    """A live view of one run or several for a notebook cell; in a terminal, bars of text until the runs have ended.

    Parameters
    ----------
    runs : Run, path or name, or several of them; optional
        Default: the runs of the store that have not ended, or the newest where all have. Eight are drawn at a time.
    store : path, optional
        Where names are looked up; default ``WORKBENCH_STORE`` or ``./runs``.
    axis : "iterations", "steps", "updates" or "seconds"
    measure : str, optional
        What is drawn first, a key of `workbench.dashboard.compare.charts.MEASURES`; by default "headline", which is the test
        perplexity, or "training" where no run has test tokens.

    Returns
    -------
    LiveView
        The last line of a cell shows it. It follows the runs until they have ended or it is gone from the notebook. None
        in a terminal: the bars were shown; Ctrl-C leaves them, and the runs go on.

    Raises
    ------
    StoreError, SpecError
    """
    for name, given, choices in (("axis", axis, AXES), ("measure", measure, (*MEASURES, None))):
        if given not in choices:
            raise SpecError(
                f"no {name} {given!r}; choose one of {', '.join(filter(None, choices))}"
            )
    paths = _paths(runs, store)
    if in_notebook():
        return LiveView(paths, axis, measure)
    _follow_as_text([Run(path) for path in paths])
    return None


def _paths(runs, store) -> list[Path]:
    """The folders of the runs, each once."""
    if runs is None:
        home = default_store() if store is None else Path(store)
        known = run_paths(home)
        if not known:
            raise SpecError(
                f"{home} holds no run to watch; start one with wb.start(corpus), or name another store"
            )
        return [path for path in known if Run(path).state not in ENDED] or known[-1:]
    several = runs if isinstance(runs, Iterable) and not isinstance(runs, (str, Path)) else [runs]
    found = list(dict.fromkeys(find_run(run, store) for run in several))
    if not found:
        raise SpecError("watch wants at least one run; got none")
    if len({path.name for path in found}) < len(found):
        raise SpecError(
            "watch wants runs with different names, and two of these have the same; watch them in two cells"
        )
    return found


class LiveView:
    """The live view of runs. It follows them from when it is displayed; displayed again, it moves there."""

    def __init__(self, paths: list[Path], axis: str = "iterations", measure: str | None = None):
        self._followers = {path: Follower(path) for path in paths}
        self._picked = [path.name for path in paths]
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
                css_classes=["wb-unlabelled"],
            )
        )
        for widget in (self.axis, self.measure):
            widget.param.watch(self._look, "value")
        self.make()

    @property
    def names(self) -> list[str]:
        """The runs that are followed."""
        return [path.name for path in self._followers]

    def add(self, path: Path) -> None:
        """Follows this run too, and draws it; the buttons act on it alone."""
        if path not in self._followers:
            self._followers[path] = Follower(path)
        self._picked = [*(name for name in self.curve.colours() if name != path.name), path.name][
            -N_SLOTS:
        ]
        self.tick()
        self.table.chosen = [path.name]
        self.follow()

    def make(self) -> None:
        """The figure, the table and the buttons, filled; a figure of Bokeh is at one place only."""
        self.curve, self.table = Curve(), RunTable(on_draw=self.draw, chosen=list(self._picked))
        self.steering = Steering(self.table, self.follow)
        self.awaited = text(sizing_mode="stretch_width", visible=False)
        self.tick()
        self._look()
        buttons = [self.steering.buttons[action] for action in STEERS]
        self.card = Cell(
            column(*buttons, labelled(self.measure), labelled(self.axis), kind="wb-bar"),
            self.steering.said,
            self.awaited,
            pn.pane.Bokeh(self.curve.figure, sizing_mode="stretch_width", margin=0),
            self.table,
            kind="wb-card",
        )

    def tick(self) -> None:
        """Shows what the runs have committed, for the last time when they have ended or the view is gone."""
        self._readings = {path.name: self._read(path) for path in self._followers}
        readings = tuple(self._readings.values())
        self._show_curves()
        self.table.show(readings)
        self.steering.show(readings)
        self.awaited.say(awaited(readings))
        gone = self._ticks.is_running() and not self.card.is_shown
        if gone or not any(reading.state in ALIVE for reading in readings):
            self._ticks.stop()

    def _read(self, path: Path) -> Reading:
        try:
            return self._followers[find_run(path)].look()  # which says so when it was removed
        except Exception as error:  # whatever is wrong with one run, the others are to be seen
            return unreadable(path, error)

    def _show_curves(self) -> None:
        readable = {
            name: reading for name, reading in self._readings.items() if reading.state != UNREADABLE
        }
        self.curve.assign([name for name in self._picked if name in readable])
        self.curve.show(readable)
        self._send()
        self.table.colours = self.curve.colours()

    def _look(self, event=None) -> None:
        """Shows the chosen axis and measure."""
        self.curve.axis, self.curve.measure = self.axis.value, self.measure.value
        self.curve.follow()
        self._send()

    def draw(self, name: str) -> None:
        """Draws the run in the place of the oldest choice, or removes it from the figure."""
        drawn = list(self.curve.colours())
        self._picked = (
            [other for other in drawn if other != name]
            if name in drawn
            else [*drawn, name][-N_SLOTS:]
        )
        self._show_curves()

    def follow(self) -> None:
        """Updates the view once a second from now on."""
        self._ticks.start()

    def _send(self) -> None:
        """Sends what has changed in the figure."""
        if hasattr(self, "card"):
            self.card.send_changes()

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.card.is_shown:
            self.make()
        shown = self.card._repr_mimebundle_(include, exclude)
        self.follow()
        return shown


def awaited(readings: Iterable[Reading]) -> str:
    """What the runs wait for that have no iteration yet; empty where all have."""
    waiting: dict[str, list[str]] = {}
    for reading in readings:
        if reading.state in AWAITED and not reading.status["iteration"]:
            waiting.setdefault(AWAITED[reading.state], []).append(reading.name)
    return " ".join(
        f"No iteration yet of {', '.join(names)}: {why}." for why, names in waiting.items()
    )


def _follow_as_text(runs: list[Run]) -> None:
    """Bars that move with the runs until all have ended, or until Ctrl-C."""
    try:
        with bars(runs) as move:
            while any(run.state not in ENDED for run in runs):
                move(runs)
                time.sleep(LOOK_EVERY)
            move(runs)
    except KeyboardInterrupt:
        print("the runs continue; watch them again, or stop them with run.stop()", file=sys.stderr)
