"""The sizes of the topics of a run over its iterations."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from workbench.dashboard.shared.card import Shown
from workbench.dashboard.shared.shell import message
from workbench.measures.selection import has_course
from workbench.runs.execution.run import Run
from workbench.views import draw_view
from workbench.views.progress import size_controls

MOST_POINTS = 120
"""Maximum number of iterations drawn."""
CONTROLS = size_controls(first="stacked")
NO_TOPICS = "topics, and so no sizes"
TAP = " Point at a topic for its name, tap it to choose it."


@lru_cache(maxsize=8)
def sizes_of(path: Path, hash: str, n_changes: int, labels: tuple, kind: str) -> Shown:
    """Return the picture of sizes at evenly spaced iterations, with first and last, or a sentence why there is none.

    Cached for all sessions; ``hash`` and ``n_changes`` are the key for the state of the run.
    """
    run = Run(path).progress()
    n = run.sizes["iteration"]
    if "n_k" not in run:
        return Shown(message(f"{path.name} has no {NO_TOPICS}."))
    if not n:
        return Shown(message(f"{path.name} has no iteration yet; sizes appear with the first."))
    if not has_course(run):
        known = "its iterations are not known. Sizes are in the table of topics"
        return Shown(message(f"{path.name} was imported: {known}."))
    thinned = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    some = run.isel(iteration=thinned)
    (picture,) = draw_view("topic-sizes", [some], 1, kind=kind, labels=dict(labels))
    title, caption = f"Topic sizes, {path.name}", picture.caption + TAP * (kind != "tokens")
    picture = replace(picture, name=f"{path.name}-sizes", title=title, caption=caption)
    return Shown("", picture, paths=(path,), controls=CONTROLS)
