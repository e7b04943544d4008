"""The sizes of the topics of a run over its iterations."""

from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from workbench.dashboard.shared.card import Card, Live, Shown
from workbench.dashboard.shared.shell import message
from workbench.dashboard.shared.snapshots import topic_colour
from workbench.dashboard.topics.filled import changes
from workbench.measures.selection import has_course
from workbench.runs.execution.run import Run
from workbench.views.picture import Picture
from workbench.views.progress import topic_shares_view

MOST_POINTS = 120
"""Maximum number of iterations drawn."""
NO_TOPICS = "topics, and so no sizes"
CAPTION = "Shares of the training tokens over the iterations, {}; one run. Point at a topic for its name, tap it to choose it."
KINDS = {"Stacked shares": "stacked", "Lines": "lines"}


class Sizes(Card):
    """The picture of topic sizes; ``without_topics``: whether the run is known to have no topics."""

    without_topics = False

    def follow(self, path: Path, hash: str, n_rows: int, labels: dict[int, str], kind: str) -> None:
        """Draw the topic sizes of a run; while the run is active, only when the picture would change."""
        n_changes = changes(n_rows, MOST_POINTS)
        asked = path, hash, n_changes, tuple(labels.items()), kind
        self.bring(asked, partial(sizes_of, *asked))

    def show(self, found: Live | None, error: Exception | None = None) -> None:
        """Show the picture, or a sentence instead."""
        super().show(found, error)
        self.without_topics = NO_TOPICS in self.shown.said


@lru_cache(maxsize=8)
def sizes_of(path: Path, hash: str, n_changes: int, labels: tuple, kind: str) -> Shown:
    """Return the picture at evenly spaced iterations, including first and last, or a sentence why there is none.

    Cached for all sessions; ``hash`` and ``n_changes`` are the key for the state of the run.
    """
    run = Run(path).progress()
    n = run.sizes["iteration"]
    if "n_k" not in run:
        return Shown(message(f"{path.name} has no {NO_TOPICS}."))
    if not n:
        return Shown(message(f"{path.name} has no iteration yet; sizes appear with the first."))
    if not has_course(run):
        known = "its iterations are not known. Sizes are beside the map"
        return Shown(message(f"{path.name} was imported: {known}."))
    thinned = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    panel = topic_shares_view(
        run.isel(iteration=thinned), topic_colour, dict(labels), kind == "stacked"
    )
    order = "the finally largest topic at the bottom" if kind == "stacked" else "a line each"
    title = f"Topic sizes, {path.name}"
    name, caption = f"{path.name}-sizes", CAPTION.format(order)
    picture = Picture(name, title, caption, [panel], legend=False, height=2.9)
    return Shown("", picture, paths=(path,))
