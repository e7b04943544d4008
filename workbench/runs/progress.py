"""Progress bars with the time left, for terminal and notebook."""

from __future__ import annotations

import contextlib
import sys

from tqdm import tqdm

from workbench.runs.loop import Position
from workbench.runs.spec import RunSpec


def bar(spec: RunSpec, shown: bool = True, done: int = 0, line: int = 0) -> tqdm:
    """A bar on stderr that begins at ``done`` iterations; redrawn every ten seconds where stderr is no terminal."""
    return tqdm(
        total=spec.n_iterations, initial=done, desc=f"{spec.label()} seed {spec.seed}", unit="it", position=line,
        file=sys.stderr, dynamic_ncols=True, disable=not shown, mininterval=0.2 if sys.stderr.isatty() else 10.0,
    )


@contextlib.contextmanager
def progress_bar(spec: RunSpec, shown: bool = True, done: int = 0):
    """The callback `on_iteration` of the loop that moves a bar; None where no bar is shown."""
    if not shown:
        yield None
        return
    with bar(spec, done=done) as line:

        def on_iteration(position: Position, scores: dict) -> None:
            if "test_perplexity" in scores:
                line.set_postfix_str(f"perplexity {scores['test_perplexity']:.1f}", refresh=False)
            line.update(max(position.iteration - line.n, 0))

        yield on_iteration


@contextlib.contextmanager
def bars(runs: list, shown: bool = True):
    """A bar for each `Run`, and the function that moves the bars of the runs in a list to their present iteration."""
    with contextlib.ExitStack() as stack:
        lines = {run: stack.enter_context(bar(run.spec, shown, run.status()["iteration"], at)) for at, run in enumerate(runs)}

        def move(moved: list) -> None:
            for run in moved:
                lines[run].update(max(run.status()["iteration"] - lines[run].n, 0))

        yield move
