"""The buttons that act on the chosen runs: pause, resume, stop, remove."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import panel as pn

from workbench.dashboard.compare.starting import check_memory, check_waiting, planned_run
from workbench.dashboard.compare.table import RunTable
from workbench.dashboard.compare.wording import number_of_runs
from workbench.dashboard.shared.background import in_background, sentence_of
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import button, text
from workbench.errors import InputError
from workbench.runs.execution.queue import enqueue
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import SLOTS
from workbench.runs.store.layout import StoreError
from workbench.runs.store.provenance import other_kernels_warning
from workbench.runs.store.status import FAILED, FINISHED, LOST, PAUSED, RUNNING, STOPPED, WAITING

T = TypeVar("T")
APPLIES = {
    "pause": (RUNNING, WAITING),
    "resume": (PAUSED, STOPPED, LOST, FAILED),
    "stop": (RUNNING, PAUSED, WAITING),
    "remove": (STOPPED, FINISHED, LOST, FAILED),
}
"""Action → the states of a run to which it applies."""


class Steering:
    """The buttons that pause, resume, stop and remove runs, and a sentence below; Remove asks for a second click."""

    def __init__(self, table: RunTable, on_change):
        self._table, self._on_change = table, on_change
        self._states: dict[str, tuple] = {}  # name → (state, path)
        self._document, self._names_to_remove = (
            pn.state.curdoc,
            (),
        )  # the runs that a second click removes
        self.buttons = {action: button(action.capitalize(), disabled=True) for action in APPLIES}
        self.status = text(sizing_mode="stretch_width", visible=False)
        for action, each in self.buttons.items():
            each.on_click(lambda event, action=action: self.press(action))
        table.param.watch(lambda event: self._update(), "chosen")

    def show(self, readings: tuple[Reading, ...]) -> None:
        """Take the present states of all runs, which decide which buttons are enabled."""
        self._states = {reading.name: (reading.state, reading.path) for reading in readings}
        self._update()

    def targets(self, action: str) -> tuple[str, ...]:
        """Return the names of the chosen runs to which the action applies."""
        return tuple(
            name
            for name in self._table.chosen
            if self._states.get(name, ("",))[0] in APPLIES[action]
        )

    def press(self, action: str) -> None:
        """Apply the action to the chosen runs; remove them only at the second click."""
        names = self.targets(action)
        if not names or policy().read_only:
            return
        if action == "remove" and self._names_to_remove != names:
            self._names_to_remove = names
            self._update()
            self.status.say(
                f"Removing deletes {number_of_runs(len(names))} from the store; press again to do it.",
                "bad",
            )
            return
        self._names_to_remove = ()
        targets = [self._states[name] for name in names]

        def work() -> str:
            began = [path for state, path in targets if action == "resume" and state != PAUSED]
            if began:
                check_waiting(began[0].parent, len(began))
                check_memory(began[0].parent, map(planned_run, began), SLOTS)
            others = other_kernels_warning(
                [path.name for path in began if Run(path).by_other_kernels()]
            )
            in_line = began if len(began) > SLOTS else []
            act_on_all([path for _, path in targets if path not in in_line], action)
            enqueue(in_line, SLOTS)
            return others

        def on_result(others, error) -> None:
            effect = "removed" if action == "remove" else f"asked to {action}"
            sentence = f"{number_of_runs(len(names))} {effect}{others and f'; {others}'}."
            self.status.say(*((sentence_of(error), "bad") if error else (sentence, "muted")))
            self._on_change()

        in_background(self._document, work, on_result)

    def _update(self) -> None:
        for action, each in self.buttons.items():
            names = self.targets(action)
            if action == "remove" and self._names_to_remove and self._names_to_remove != names:
                self._names_to_remove = ()
                self.status.say("")
            is_confirming = action == "remove" and bool(self._names_to_remove)
            label = "Really remove" if is_confirming else action.capitalize()
            label += f" {len(names)}" if len(names) > 1 else ""
            each.param.update(label=label, disabled=not names)


def act_on_all(paths: list[Path], action: str) -> None:
    """Apply the action to each run; raise StoreError at the end if some refused."""
    _, errors = results_and_errors(paths, lambda run: getattr(run, action)())
    if errors:
        further_note = (
            f"; {len(errors) - 1} more of {len(paths)} refused too" if len(errors) > 1 else ""
        )
        raise StoreError(f"{errors[0]}{further_note}") from errors[0]


def results_and_errors(
    paths: list[Path], act: Callable[[Run], T]
) -> tuple[list[T], list[Exception]]:
    """Call ``act`` on each run; return the results, and the errors of the runs that refused."""
    results, errors = [], []
    for path in paths:
        try:
            results.append(act(Run(path)))
        except (InputError, OSError) as error:
            errors.append(error)
    return results, errors
