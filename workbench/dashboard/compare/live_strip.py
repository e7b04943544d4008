"""Sliders that change settings of the drawn runs while these are active: r, priors, and others of their engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import Field
from functools import lru_cache, partial
from pathlib import Path

import panel as pn

from workbench.dashboard.compare.starting import check_waiting
from workbench.dashboard.compare.steering import results_and_errors
from workbench.dashboard.compare.wording import label_of
from workbench.dashboard.shared.background import in_background, sentence_of
from workbench.dashboard.shared.form import Fields, Fold, Steps
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import Toggles, button, column, in_form, message, styled, text
from workbench.engines.options import named_options
from workbench.runs.execution.run import Run
from workbench.runs.interventions import turnable
from workbench.runs.spec import RunSpec
from workbench.runs.store.status import ALIVE, RUNNING

SPLITS = {"0": 0.0, "1": 1.0, "2": 2.0, "3": 3.0, "5": 5.0, "10": 10.0, "∞": float("inf")}
"""Values of r on its slider: the largest count in a document of words that are sampled."""
FIRST = ("r", "alpha", "beta")
"""The settings whose sliders are not folded."""
IN_BRANCH = "In a branch"
LOG = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Values of priors and other positive settings on their sliders: two in each decade."""
N_EVEN = 11
"""Number of values of a setting with two bounds."""
PATIENCE, LOOK_EVERY = 2.0, 0.02
"""Seconds to wait for the first iteration with a new value, and between two looks for it."""


class LiveStrip:
    """A slider for each live setting of the active drawn runs; releasing it changes all of them that have the setting.

    ``author`` is written in the log of the runs. When the first iteration with a new value is there, ``look()`` is called in a
    thread, then ``on_branches(paths)`` in the session, with the folders of the branches that were started.
    """

    def __init__(
        self,
        on_branches: Callable[[list[Path]], None],
        look: Callable[[], None] = lambda: None,
        author: str = "a page",
    ):
        self._on_branches, self._look, self._author, self._document = (
            on_branches,
            look,
            author,
            pn.state.curdoc,
        )
        self._sliders = Fields(self._make)
        self._active_readings: list[Reading] = []  # the drawn runs that are at work
        self._runs: dict[str, list[Reading]] = {}  # setting → those of them that have it
        self._sliders_state: tuple = ()
        self.status = text(sizing_mode="stretch_width", visible=False)
        self._first_sliders, self._further_sliders = (
            column(kind="wb-fields wb-sliders") for _ in range(2)
        )
        self._fold = Fold("More live settings", self._unfold)
        self._hint = text()
        self.in_branch = styled(Toggles(label="Where the sliders act", options=[IN_BRANCH]))
        self.undo = button("Undo", disabled=True)
        self.undo.on_click(
            lambda event: self._act(
                [reading for reading in self._active_readings if reading.spec.interventions],
                Run.undo,
            )
        )
        # a hidden grid would be seen: its style sets how it is displayed
        self._further_column = column(self._further_sliders, kind="wb-stack", visible=False)
        self.view = column(
            column(self._hint, self.in_branch, self.undo, kind="wb-bar"),
            self._first_sliders,
            self._fold,
            self._further_column,
            self.status,
            kind="wb-stack",
            visible=False,
        )

    def show(self, readings: Iterable[Reading]) -> None:
        """Show a slider for each setting of the active runs, at the value that the first run with this setting has."""
        if policy().read_only:
            return
        self._active_readings = at_work = [
            reading for reading in readings if reading.spec is not None and reading.state in ALIVE
        ]
        self.undo.disabled = not any(reading.spec.interventions for reading in at_work)
        settings = {reading.name: sliders_of(reading.spec.to_json()) for reading in at_work}
        names = dict.fromkeys([*FIRST, *(name for each in settings.values() for name in each)])
        runs_by_name = {
            name: [reading for reading in at_work if name in settings[reading.name]]
            for name in names
        }
        self._runs = {name: runs for name, runs in runs_by_name.items() if runs}
        sliders_state = tuple(
            (name, tuple(reading.name for reading in runs), settings[runs[0].name][name]["value"])
            for name, runs in self._runs.items()
        )
        if sliders_state == self._sliders_state:
            return
        self._sliders_state = sliders_state
        for name, runs in self._runs.items():
            self._sliders[name].param.update(**settings[runs[0].name][name])
        for container, is_first in ((self._first_sliders, True), (self._further_sliders, False)):
            sliders = [self._sliders[name] for name in self._runs if (name in FIRST) == is_first]
            # where they are set, Bokeh looks through all models of the page
            if sliders != container.objects:
                container.objects = sliders
        self.view.visible, self._fold.visible = (
            bool(self._runs),
            bool(self._further_sliders.objects),
        )
        self._hint.object = message(self._engines_text())
        self._unfold()

    def _unfold(self, event=None) -> None:
        self._further_column.visible = self._fold.is_open and bool(self._further_sliders.objects)

    def _engines_text(self) -> str:
        """Return a sentence that names the engines whose runs each slider changes."""
        settings: dict[tuple, list[str]] = {}
        for name, runs in self._runs.items():
            engines = tuple(dict.fromkeys(reading.spec.engine for reading in runs))
            settings.setdefault(engines, []).append(label_of(name))
        clauses = [
            f"{', '.join(names)} of {', '.join(engine_names)}"
            for engine_names, names in settings.items()
        ]
        return f"Live, while they run: {'; '.join(clauses)}."

    def _make(self, name: str) -> Steps:
        """Return a new slider for a setting."""
        slider = in_form(Steps(label=label_of(name)))
        slider.param.watch(partial(self._turn, name), "value_throttled")
        return slider

    def _turn(self, name: str, event) -> None:
        runs, changes = self._runs.get(name, []), {name: event.new}
        if self.in_branch.value:
            self._act(runs, lambda run: run.branch(**changes))
        else:
            self._do(partial(turn, [reading.path for reading in runs], changes, self._author))

    def _act(self, runs: list[Reading], act: Callable[[Run], Run]) -> None:
        """Start a branch of each run: a new run that ``act`` makes from the present state of the run."""
        self._do(partial(branches, [reading.path for reading in runs], act))

    def _do(self, work: Callable[[], tuple[list[Path], list[Exception]]]) -> None:
        """Do ``work`` in a thread; then show the errors of runs that refused, and the branches that were started."""

        def on_result(paths_and_errors: tuple | None, error: Exception | None) -> None:
            paths, errors = paths_and_errors or ([], [error])
            self.status.say(" ".join(map(sentence_of, errors)), "bad")
            self._on_branches(paths)

        def task() -> tuple:
            paths_and_errors = work()
            self._look()
            return paths_and_errors

        in_background(self._document, task, on_result)


def branches(paths: list[Path], act: Callable[[Run], Run]) -> tuple[list[Path], list[Exception]]:
    """Start a branch of each run; return the folders of the branches, and the errors of the runs that refused."""
    policy().check_change()

    def start(run: Run) -> Path:
        check_waiting(run.path.parent, 1)
        return act(run).path

    return results_and_errors(paths, start)


def turn(
    paths: list[Path], changes: dict[str, float], author: str = ""
) -> tuple[list[Path], list[Exception]]:
    """Change settings of runs, and wait briefly until one of the runs has an iteration with the new values.

    Returns [], the folders of branches, and the errors of the runs that refused.
    """
    policy().check_change()

    def ask(run: Run) -> tuple[Run, int, int]:
        numbers_before = len(run.spec.interventions), len(run.rows())
        run.retune(who=author, **changes)
        return run, *numbers_before

    runs_and_numbers, errors = results_and_errors(paths, ask)
    deadline = time.monotonic() + PATIENCE
    while (
        runs_and_numbers
        and time.monotonic() < deadline
        and not any(_has_begun(*each) for each in runs_and_numbers)
    ):
        time.sleep(LOOK_EVERY)
    return [], errors


def _has_begun(run: Run, n_made: int, n_rows: int) -> bool:
    """Return whether the run has an iteration after a new intervention; True also if the run is not running.

    n_made, n_rows : numbers of the interventions and of the rows that were there before
    """
    if run.state != RUNNING:
        return True
    new_interventions = run.spec.interventions[n_made:]
    rows = run.rows(n_rows) if new_interventions else ()
    return len(rows) > 0 and rows[-1, 0] >= new_interventions[0].iteration


@lru_cache(maxsize=64)
def sliders_of(spec: str) -> dict[str, dict[str, object]]:
    """Return a dict live setting -> ``value`` and ``options`` (by name) of its slider, for the run whose spec is given as JSON.

    The present value is one of the options.
    """
    run = RunSpec.from_json(spec)
    options = named_options(run.parts()[0])
    return {
        name: {"options": _steps(name, options.get(name), value), "value": value}
        for name, value in turnable(run).items()
    }


def _steps(name: str, field: Field | None, value: float) -> dict[str, float]:
    steps = SPLITS
    if name != "r":
        low, high = (field.metadata[end] for end in ("low", "high")) if field else (None, None)
        even = high is not None and high <= 1.0
        values = [low + (high - low) * i / (N_EVEN - 1) for i in range(N_EVEN)] if even else LOG
        steps = {f"{step:g}": step for step in values}
    if value in steps.values():
        return steps
    return dict(sorted([*steps.items(), (f"{value:g}", value)], key=lambda item: item[1]))
