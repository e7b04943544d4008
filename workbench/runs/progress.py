"""Progress bars with the time left, for terminal and notebook."""

import contextlib
import sys

from tqdm import tqdm

from workbench.runs.loop import Position
from workbench.runs.spec import RunSpec


def bar(text: str | None, total: int, shown: bool = True, done: int = 0, **more) -> tqdm:
    """A bar on stderr that begins at ``done`` iterations; redrawn every ten seconds where stderr is no terminal."""
    return tqdm(
        total=total, initial=done, desc=text, unit="it", file=sys.stderr, dynamic_ncols=True, disable=not shown,
        mininterval=0.2 if sys.stderr.isatty() else 10.0, **more,
    )


def decimals(perplexity: float) -> int:
    """With how many decimals a perplexity, and what is compared with it, is told: the nearer to 1, the more."""
    return 1 if not perplexity < 100 else 2 if perplexity >= 10 else 4


@contextlib.contextmanager
def progress_bar(spec: RunSpec, shown: bool = True, done: int = 0):
    """The callback `on_iteration` of the loop that moves a bar; None where no bar is shown."""
    with bar(spec.caption, spec.n_iterations, shown, done) as line:

        def on_iteration(position: Position, scores: dict) -> None:
            if "test_perplexity" in scores:
                perplexity = scores["test_perplexity"]
                line.set_postfix_str(f"perplexity {perplexity:.{decimals(perplexity)}f}", refresh=False)
            line.update(max(position.iteration - line.n, 0))

        yield on_iteration if shown else None


@contextlib.contextmanager
def bars(runs: list, shown: bool = True):
    """A bar for each `Run`, and the function that moves the bars of the runs in a list to their present iteration."""
    with contextlib.ExitStack() as stack:
        lines = {}
        for at, run in enumerate(runs):
            spec, done = run.spec, run.status()["iteration"]
            lines[run] = stack.enter_context(bar(spec.caption, spec.n_iterations, shown, done, position=at))

        def move(moved: list) -> None:
            for run in moved:
                lines[run].update(max(run.status()["iteration"] - lines[run].n, 0))

        yield move
