"""Progress bars with the time left, for terminal and notebook."""

import contextlib
import sys
import time

from tqdm import tqdm

from workbench.runs.recorded import Position
from workbench.runs.spec import RunSpec

REPORTED_EVERY = 10.0
"""Seconds between two progress lines if stderr is not a terminal."""


def bar(
    text: str | None, total: int | None, shown: bool = True, done: int = 0, unit: str = "it", **more
) -> tqdm:
    """Return a progress bar on stderr that begins at ``done`` of ``total`` units; hidden if ``shown`` is False.

    It is redrawn every ten seconds if stderr is not a terminal.
    """
    return tqdm(
        total=total,
        initial=done,
        desc=text,
        unit=unit,
        file=sys.stderr,
        dynamic_ncols=True,
        disable=not shown,
        mininterval=0.2 if sys.stderr.isatty() else REPORTED_EVERY,
        **more,
    )


def decimals(perplexity: float) -> int:
    """Return the number of decimals for printing a perplexity: more for values near 1."""
    return 1 if not perplexity < 100 else 2 if perplexity >= 10 else 4


@contextlib.contextmanager
def progress_bar(spec: RunSpec, shown: bool = True, done: int = 0):
    """Yield an `on_iteration` callback for the loop that advances a progress bar; None if no bar is shown."""
    with bar(spec.caption, spec.n_iterations, shown, done) as line:

        def on_iteration(position: Position, scores: dict) -> None:
            if "test_perplexity" in scores:
                perplexity = scores["test_perplexity"]
                line.set_postfix_str(
                    f"perplexity {perplexity:.{decimals(perplexity)}f}", refresh=False
                )
            line.update(max(position.iteration - line.n, 0))

        yield on_iteration if shown else None


def _report(runs: list):
    """Return a function to call with runs that may have advanced; it prints a line when one ends and every ten seconds."""
    reached, ended, reported = dict.fromkeys(runs, 0), set(), [time.monotonic()]

    def move(moved: list) -> None:
        for run in moved:
            status = run.status()
            reached[run] = status["iteration"] / max(status["n_iterations"], 1)
            if run not in ended and status["iteration"] >= status["n_iterations"]:
                ended.add(run)
                reported[0] = time.monotonic()
                print(
                    f"{run.spec.caption}: {status['iteration']:,} iterations; {len(ended)} of {len(runs)} runs done",
                    file=sys.stderr,
                    flush=True,
                )
        if time.monotonic() - reported[0] >= REPORTED_EVERY:
            reported[0] = time.monotonic()
            share = sum(reached.values()) / len(runs)
            print(
                f"{share:.0%} of all iterations; {len(ended)} of {len(runs)} runs done",
                file=sys.stderr,
                flush=True,
            )

    return move


@contextlib.contextmanager
def bars(runs: list, shown: bool = True):
    """Show a progress bar for each `Run`; yield a function that updates the bars of the runs passed to it.

    If stderr is not a terminal, and so cannot show several bars, a line is printed when a run ends, and every ten seconds.
    """
    if shown and not sys.stderr.isatty():
        yield _report(runs)
        return
    with contextlib.ExitStack() as stack:
        lines = {}
        for position, run in enumerate(runs):
            spec, done = run.spec, run.status()["iteration"]
            lines[run] = stack.enter_context(
                bar(spec.caption, spec.n_iterations, shown, done, position=position)
            )

        def move(moved: list) -> None:
            for run in moved:
                lines[run].update(max(run.status()["iteration"] - lines[run].n, 0))

        yield move
