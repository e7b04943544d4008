"""Runs that are computed up to an iteration, in this process."""

from workbench.runs.execution.worker import resume_position
from workbench.runs.loop import Control, iterate
from workbench.runs.parts.laying_out import InMemoryData
from workbench.runs.store.writer import RunWriter


class StopAt(Control):
    """Stops a run after an iteration."""

    def __init__(self, writer: RunWriter, iteration: int):
        self._writer, self._iteration = writer, iteration

    def wants_rest(self) -> bool:
        return self._writer.iteration >= self._iteration - 1

    stopping = wants_rest


def compute_until(path, halves, iteration, on_iteration=None) -> None:
    """Compute a run that nobody else computes up to an iteration, from its last checkpoint on."""
    with RunWriter(path) as writer:
        data = InMemoryData(writer.spec, *halves)
        position = resume_position(writer, data, Control())
        iterate(writer.spec, data, position, writer, StopAt(writer, iteration), on_iteration)
        writer.flush()
