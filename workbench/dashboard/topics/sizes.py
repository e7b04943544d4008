"""How large the topics of a run were over its iterations."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np
import param

from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.snapshots import topic_colour
from workbench.dashboard.topics.filler import Filler
from workbench.runs.execution.run import Run

MOST_POINTS = 120
MOST_TOPICS = 40
"""Points along the iterations, and topics that have a series of their own; the smallest are one together."""
OTHERS = -2
SAID = "Shares of the training tokens; the largest topic at the bottom. Point at a topic for its name, click to choose it."
KINDS = {"stacked shares": "stacked", "lines": "lines"}


class Sizes(Drawn):
    """The picture; a click on a topic chooses it."""

    content = param.Dict(default={}, doc="What `size_series` makes of a run; empty before its first iteration.")
    kind = param.Selector(default="stacked", objects=list(KINDS.values()))
    chosen = param.Integer(default=-1)
    said = param.String()

    _esm = code("sizes")
    _stylesheets: ClassVar[list[str]] = style("sizes")

    def __init__(self):
        super().__init__()
        self._filler = Filler(self, "content")

    def show(self, path, hash: str, n_rows: int, labels: dict[int, str]) -> None:
        """Brings the picture to the rows of a run; while it is live only when the picture would change."""
        self._filler.fill(_sizes_now, path, hash, n_rows // max(1, n_rows // MOST_POINTS), tuple(labels.items()))

    def clear(self) -> None:
        """Nothing is shown."""
        self._filler.clear()


@lru_cache(maxsize=8)
def _sizes_now(path, hash: str, n_steps: int, labels: tuple) -> dict:
    """The same for every session that shows this run now; hash and n_steps identify the state of the run."""
    content = size_series(path, dict(labels))
    missing = "iteration yet; sizes appear with the first" if "n_k" in Run(path).progress() else "topics, and so no sizes"
    return {"content": content, "said": SAID if content else f"{path.name} has no {missing}."}


def size_series(path, labels: dict[int, str]) -> dict:
    """Iterations (thinned; first and last are kept) and a series for each topic that ever had a token; or nothing."""
    run = Run(path).progress()
    n = run.sizes["iteration"]
    if not n or "n_k" not in run:
        return {}
    at = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    n_k = run["n_k"].values[at]
    shares = n_k / np.maximum(n_k.sum(axis=1, keepdims=True), 1e-300)
    order = [k for k in np.argsort(-n_k[-1], kind="stable") if (n_k[:, k] >= 0.5).any()]
    own, rest = order[:MOST_TOPICS], order[MOST_TOPICS:]
    series = [
        {"topic": int(run["topic"].values[k]), "colour": topic_colour(int(run["topic"].values[k])),
         "name": _name(int(run["topic"].values[k]), labels), "shares": _written(shares[:, k])}
        for k in own
    ]
    if rest:
        series.append({
            "topic": OTHERS, "colour": "#888888", "name": f"the {len(rest)} smallest topics",
            "shares": _written(shares[:, rest].sum(axis=1)),
        })
    return {
        "iterations": run["iteration"].values[at].tolist(), "series": series,
        "caption": f"sizes of {len(order)} topics of {path.name} over {int(run['iteration'][-1])} iterations",
    }


def _written(shares: np.ndarray) -> str:
    """Numbers as one text: lists are looked through for Bokeh's models, number by number, at each change in each session."""
    return " ".join(f"{share:.5g}" for share in shares)


def _name(topic: int, labels: dict[int, str]) -> str:
    return f"topic {topic}: {labels[topic]}" if topic in labels else f"topic {topic}"
