"""Held-out likelihood of records, by method of inference: does it pay to sample what is rare and to average what is frequent?

Latent classes of votes, of items of an ability test and of a personality test; hidden Markov models of the words of a text. Of
the records a share is held out, and scored by the log probability of each whole record, mean over the records (of words: over
the letters). Every method of a split begins from the same seed; samplers are scored by the running average after a third of
their iterations. "behind" is how much less than `bn-gibbs` it is, mean and standard error over the splits; "seconds" is the CPU
time of inference until the score stays within 0.01 nats of its own end.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from records import markdown

from workbench.engines import ENGINES
from workbench.records import DataError, load_records, prepare_records
from workbench.runs.execution.fit import fit

NAME = "record_likelihood"
TITLE = "Held-out likelihood of records"


class Task(NamedTuple):
    """A network on some data: its options, what share of the records is held out, and what is scored."""

    options: dict
    share: float
    score: str = "test_log_likelihood_record"
    n_splits: int = 5
    n_iterations: int = 300


TASKS = {
    "votes": Task({"n_states": 4}, 0.2),
    "ability": Task({"n_states": 6}, 0.2),
    "bfi-n": Task({"n_states": 6}, 0.2),
    "words": Task({"network": "hmm", "n_states": 8}, 0.1, "test_log_likelihood", n_iterations=600),
}
METHODS = {
    "EM": ("bn-em", {}),
    "VB": ("bn-vb", {}),
    "CVB0": ("bn-cvb0", {}),
    "hybrid r=1": ("bn-hybrid", {"r": 1}),
    "hybrid r=2": ("bn-hybrid", {"r": 2}),
    "Gibbs": ("bn-gibbs", {}),
}
CLOSE = 0.01
"""Nats within which a score has come to its end."""


def cells(plan):
    """(name, rough seconds, what measures it) of each data set and split."""
    for name, task in TASKS.items():
        for split in range(1 if plan.quick else task.n_splits):
            yield f"{name} split {split}", 60, partial(measure, name, task, split, plan)


def measure(name: str, task: Task, split: int, plan) -> list[dict]:
    """The score of each method at its end, and its time."""
    about = {"corpus": name, "split": split}
    try:
        train, test, _ = prepare_records(load_records(name), task.share, split, per="record")
    except DataError as why:
        return [about | {"contender": "all", "left_out": str(why)}]
    n, rows = task.n_iterations // (10 if plan.quick else 1), []
    for label, (engine, options) in METHODS.items():
        if engine not in ENGINES:
            rows.append(about | {"contender": label, "left_out": "no such engine"})
            continue
        run = fit(
            train,
            engine,
            test=test,
            options=task.options | options,
            n_iterations=n,
            burn_in=n // 3,
            seed=split,
            snapshot_every=n,
            progress=False,
        )
        scores, seconds = run[task.score].values, run["cpu_time"].values
        away = np.flatnonzero(np.abs(scores - scores[-1]) > CLOSE)
        settled = (
            float(seconds[min(away[-1] + 1, len(seconds) - 1)]) if len(away) else float(seconds[0])
        )
        rows.append(
            about
            | {
                "contender": label,
                "cpu": seconds[-1] / n,
                "score": float(scores[-1]),
                "seconds": settled,
            }
        )
    return rows


def told(rows: pd.DataFrame) -> str:
    """Of each data set and method: the score, how far it is behind Gibbs sampling, ms an iteration, seconds to its end."""
    table = []
    for corpus, part in rows.dropna(subset=["cpu"]).groupby("corpus", sort=False):
        scores = part.pivot_table(index="split", columns="contender", values="score")
        for label in (label for label in METHODS if label in scores):
            behind = (
                (scores["Gibbs"] - scores[label]).dropna()
                if "Gibbs" in scores
                else pd.Series(dtype=float)
            )
            error = behind.std() / np.sqrt(len(behind)) if len(behind) > 1 else np.nan
            own = part[part["contender"] == label]
            shown = (
                "–" if label == "Gibbs" or behind.empty else f"{behind.mean():.4f} ± {error:.4f}"
            )
            table.append(
                [
                    corpus,
                    label,
                    f"{scores[label].mean():.3f}",
                    shown,
                    f"{own['cpu'].median() * 1e3:.3g}",
                    f"{own['seconds'].median():.3g}",
                ]
            )
    return markdown(["data", "method", "nats", "behind Gibbs", "ms an iteration", "seconds"], table)
