"""How large the topics of a run were over its iterations."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import param

from workbench.dashboard.shared.drawn import code, style
from workbench.dashboard.shared.snapshots import topic_colour
from workbench.dashboard.topics.filled import Filled, changes
from workbench.measures.selection import has_course
from workbench.runs.execution.run import Run

MOST_POINTS = 120
MOST_TOPICS = 40
"""Points along the iterations, and topics that have a series of their own; the smallest are one together."""
OTHERS = -2
NO_TOPICS = "topics, and so no sizes"
SAID = "Shares of the training tokens; the largest topic at the bottom. Point at a topic for its name, click to choose it."
KINDS = {"Stacked shares": "stacked", "Lines": "lines"}


class Sizes(Filled):
    """The picture; a click on a topic chooses it."""

    content = param.Dict(
        default={}, doc="iterations, series and caption; empty before the first iteration."
    )
    kind = param.Selector(default="stacked", objects=list(KINDS.values()))

    _esm = code("sizes")
    _stylesheets = style("sizes")

    def show(self, path: Path, hash: str, n_rows: int, labels: dict[int, str]) -> None:
        """Brings the picture to the rows of a run; while it is live only when the picture would change."""
        self.fill(size_series, path, hash, changes(n_rows, MOST_POINTS), tuple(labels.items()))

    @property
    def without_topics(self) -> bool:
        """Whether the run that is shown has none at all."""
        return NO_TOPICS in self.said


@lru_cache(maxsize=8)
def size_series(path: Path, hash: str, n_changes: int, labels: tuple) -> dict:
    """Iterations (thinned; first and last are kept) and a series for each topic that ever had a token; or why there are none.

    The same for every session that shows this run now; hash and n_changes identify the state of the run.
    """
    run = Run(path).progress()
    n = run.sizes["iteration"]
    if not n or "n_k" not in run:
        missing = "iteration yet; sizes appear with the first" if "n_k" in run else NO_TOPICS
        return {"content": {}, "said": f"{path.name} has no {missing}."}
    if not has_course(run):
        return {
            "content": {},
            "said": f"{path.name} was imported: its iterations are not known. Sizes are beside the map.",
        }
    at = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    n_k, topics, names = run["n_k"].values[at], run["topic"].values.tolist(), dict(labels)
    shares = n_k / np.maximum(n_k.sum(axis=1, keepdims=True), 1e-300)
    order = [k for k in np.argsort(-n_k[-1], kind="stable") if (n_k[:, k] >= 0.5).any()]
    rest = order[MOST_TOPICS:]
    series = [
        {
            "topic": topics[k],
            "colour": topic_colour(topics[k]),
            "shares": _written(shares[:, k]),
            "name": f"topic {topics[k]}: {names[topics[k]]}"
            if topics[k] in names
            else f"topic {topics[k]}",
        }
        for k in order[:MOST_TOPICS]
    ]
    if rest:
        together = _written(shares[:, rest].sum(axis=1))
        series.append(
            {
                "topic": OTHERS,
                "colour": "#888888",
                "shares": together,
                "name": f"the {len(rest)} smallest topics",
            }
        )
    caption = (
        f"sizes of {len(order)} topics of {path.name} over {int(run['iteration'][-1])} iterations"
    )
    return {
        "content": {
            "iterations": run["iteration"].values[at].tolist(),
            "series": series,
            "caption": caption,
        },
        "said": SAID,
    }


def _written(shares: np.ndarray) -> str:
    """Numbers as one text: lists are looked through for Bokeh's models, number by number, at each change in each session."""
    return " ".join(f"{share:.5g}" for share in shares)
