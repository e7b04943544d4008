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
    text: str | None,
    total: int | None,
    is_shown: bool = True,
    done: int = 0,
    unit: str = "it",
    **arguments,
) -> tqdm:
    """Return a progress bar on stderr that begins at ``done`` of ``total`` units; hidden if ``is_shown`` is False.

    It is redrawn every ten seconds if stderr is not a terminal.
    """
    return tqdm(
        total=total,
        initial=done,
        desc=text,
        unit=unit,
        file=sys.stderr,
        dynamic_ncols=True,
        disable=not is_shown,
        mininterval=0.2 if sys.stderr.isatty() else REPORTED_EVERY,
        **arguments,
    )


def decimals(perplexity: float) -> int:
    """Return the number of decimals for printing a perplexity: more for values near 1."""
    return 1 if not perplexity < 100 else 2 if perplexity >= 10 else 4


@contextlib.contextmanager
def progress_bar(spec: RunSpec, is_shown: bool = True, done: int = 0):
    """Yield an `on_iteration` callback for the loop that advances a progress bar; None if no bar is shown."""
    with bar(spec.caption, spec.n_iterations, is_shown, done) as progress:

        def on_iteration(position: Position, scores: dict) -> None:
            if "test_perplexity" in scores:
                perplexity = scores["test_perplexity"]
                progress.set_postfix_str(
                    f"perplexity {perplexity:.{decimals(perplexity)}f}", refresh=False
                )
            progress.update(max(position.iteration - progress.n, 0))

        yield on_iteration if is_shown else None


def _report(runs: list):
    """Return a function to call with runs that may have advanced; it prints a line when one ends and every ten seconds."""
    shares, ended_runs, last_report = dict.fromkeys(runs, 0), set(), [time.monotonic()]

    def move(changed_runs: list) -> None:
        for run in changed_runs:
            status = run.status()
            shares[run] = status["iteration"] / max(status["n_iterations"], 1)
            if run not in ended_runs and status["iteration"] >= status["n_iterations"]:
                ended_runs.add(run)
                last_report[0] = time.monotonic()
                print(
                    f"{run.spec.caption}: {status['iteration']:,} iterations; {len(ended_runs)} of {len(runs)} runs done",
                    file=sys.stderr,
                    flush=True,
                )
        if time.monotonic() - last_report[0] >= REPORTED_EVERY:
            last_report[0] = time.monotonic()
            share = sum(shares.values()) / len(runs)
            print(
                f"{share:.0%} of all iterations; {len(ended_runs)} of {len(runs)} runs done",
                file=sys.stderr,
                flush=True,
            )

    return move


@contextlib.contextmanager
def bars(runs: list, is_shown: bool = True):
    """Show a progress bar for each `Run`; yield a function that updates the bars of the runs passed to it.

    If stderr is not a terminal, and so cannot show several bars, a line is printed when a run ends, and every ten seconds.
    """
    if is_shown and not sys.stderr.isatty():
        yield _report(runs)
        return
    with contextlib.ExitStack() as stack:
        bar_of = {}
        for position, run in enumerate(runs):
            spec, n_done = run.spec, run.status()["iteration"]
            bar_of[run] = stack.enter_context(
                bar(spec.caption, spec.n_iterations, is_shown, n_done, position=position)
            )

        def move(changed_runs: list) -> None:
            for run in changed_runs:
                bar_of[run].update(max(run.status()["iteration"] - bar_of[run].n, 0))

        yield move
