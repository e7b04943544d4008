"""A bar with the time left, for terminal and notebook."""

from __future__ import annotations

import contextlib
import sys

from tqdm import tqdm

from workbench.runs.loop import Position
from workbench.runs.spec import RunSpec


@contextlib.contextmanager
def progress_bar(spec: RunSpec, shown: bool = True, done: int = 0):
    """Gives the loop somebody to tell of every iteration: a bar on stderr, or nobody."""
    if not shown:
        yield None
        return
    with tqdm(
        total=spec.n_iterations, initial=done, desc=spec.label(), unit="it", file=sys.stderr, dynamic_ncols=True,
        mininterval=0.2,
    ) as bar:

        def watch(position: Position, scores: dict) -> None:
            if "test_perplexity" in scores:
                bar.set_postfix_str(f"perplexity {scores['test_perplexity']:.1f}", refresh=False)
            bar.update(position.iteration - bar.n if position.iteration > bar.n else 0)

        yield watch

