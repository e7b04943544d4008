"""The numbers of a report as text: rounded, with standard errors, a dash where there is none."""

from __future__ import annotations

import json
import math

import numpy as np

from workbench.measures import (
    data_of,
    describe_moves,
    final,
    hyperparameters,
    labels_of,
    learnt_by,
    moves,
    perplexity_errors,
    reached_by_all,
    summary,
    time_to,
    top_words,
    topic_sizes,
    topics_by_size,
)
from workbench.report.captions import lineage
from workbench.report.commands import command_of
from workbench.report.gathering import Gathered, first_of_labels, scores
from workbench.runs.dataset import versions
from workbench.views.curves import SHORT

NONE = "–"
DIGITS = {
    "test_perplexity": 1, "test_perplexity_state": 1, "test_perplexity_average": 1, "elapsed": 2, "cpu_time": 2, "updates": 0,
    "iteration": 0, "time_per_update": 1, "n_active_topics": 1,
}
LEARNT = {
    "posterior": "learnt, posterior mean", "sampled": "learnt, sampled", "maximised": "learnt, maximised", "fixed": "fixed",
}
MOST_MOVES = 200
"""Moves of a run in the page; the data of the figure have all."""
N_WORDS = 12
MOST_OPEN = 80
"""Topics that are shown without a click; paper shows all."""
SIZE_BAR, WORD_BAR = 5.0, 4.0
"""Lengths of the bar of the largest topic and of the line under the most probable word, em."""


def number(value: float, digits: int = 1, sign: bool = False) -> str:
    """With thousands separated and a true minus; a dash for NaN."""
    if math.isnan(value):
        return NONE
    return f"{value:{'+' if sign else ''},.{digits}f}".replace("-", "−")


def with_error(mean: float, error: float, digits: int = 1, sign: bool = False) -> str:
    """mean ± standard error, or the mean alone where there is no error."""
    told = number(mean, digits, sign)
    return told if math.isnan(error) else f"{told} ± {number(error, digits)}"


def between(low: float, high: float, digits: int = 1, sign: bool = False) -> str:
    """An interval, as in: 2,210.4 … 2,319.0; empty where there is none."""
    told = f"{number(low, digits, sign)} … {number(high, digits, sign)}"
    return "" if math.isnan(low) or math.isnan(high) else told


def label_rows(found: list[Gathered], reference: str | None) -> tuple[list[dict], str, str]:
    """A row for each label, the reference's label, and the perplexity that times are until ("" where there is none).

    Perplexities of different data cannot be compared, so there is none. ``documents`` and ``difference_documents`` are
    intervals over documents, "" without a store; the second where there is a single pair, so no standard error.
    """
    runs, scored = [each.dataset for each in found], scores(found)
    table, errors = summary(runs, reference, scored), perplexity_errors(runs, scored)
    target = reached_by_all(runs) if len(set(data_of(runs))) == 1 else math.nan
    spent = time_to(runs, target)
    rows = []
    for at, label in enumerate(table["label"].values):
        row = {"label": label, "n_runs": int(table["n_runs"].values[at]), "n_pairs": int(table["n_pairs"].values[at])}
        for name, digits in DIGITS.items():
            mean, error = float(table[name].values[at]), float(table[f"{name}_se"].values[at])
            exact = name in ("iteration", "updates", "n_active_topics") and not error > 0
            digits = digits if error > 0 or name != "n_active_topics" else 0
            row[name] = with_error(mean, math.nan if exact else error, digits)
        mean, error = (float(table[name].values[at]) for name in ("difference", "difference_se"))
        itself = label == table["reference"].values[at]
        row["difference"] = "reference" if itself else with_error(mean, error, 1, sign=True)
        row["documents"] = between(*(float(errors[end].values[at]) for end in ("low", "high")))
        ends = (float(table[f"difference_{end}"].values[at]) for end in ("low", "high"))
        row["difference_documents"] = "" if itself or row["n_pairs"] != 1 else between(*ends, sign=True)
        row["n_pairs"] = NONE if itself or not row["n_pairs"] else row["n_pairs"]
        own = spent.values[spent["label"].values == label]
        spread = own.std(ddof=1) / np.sqrt(len(own)) if len(own) > 1 else math.nan
        row["time_to"] = with_error(float(own.mean()), float(spread), 2)
        rows.append(row)
    return rows, table.attrs["reference"], "" if math.isnan(target) else number(target, 0 if target >= 100 else 2)


def run_rows(found: list[Gathered]) -> list[dict]:
    """A row for each run."""
    last = final([each.dataset for each in found])
    rows = []
    for at, each in enumerate(found):
        row = {name: number(float(last[name].values[at]), digits) for name, digits in DIGITS.items()}
        reached, end = int(last["iteration"].values[at]), int(last["n_iterations"].values[at])
        state = each.dataset.attrs.get("state", "")
        if reached < end:
            row["iteration"] = f"{reached:,} of {end:,}" + (f" ({state})" if state else "")
        rows.append(row | {
            "label": last["label"].values[at], "seed": each.spec.seed, "name": each.dataset.attrs["name"],
            "lineage": lineage(each), "command": command_of(each.spec),
            "early": each.dataset.attrs.get("stopped_early", ""), "taken_on": each.dataset.attrs.get("taken_on", ""),
        })
    return rows


def topic_tables(found: list[Gathered], labels: list[str]) -> list[dict]:
    """The topics of the first run of each label that has its counts, largest first: number, node, size and words.

    ``bar`` is the length (em) of a topic's bar and of a word's line; the longest of a run stands for its largest number.
    """
    tables = []
    for label, each in first_of_labels(found, labels, "phi", "n_kw").items():
        run, shown = each.dataset, topics_by_size(each.dataset)
        words = top_words(run, N_WORDS).sel(topic=shown)
        shares, highest = topic_sizes(run)["share"].sel(topic=shown).values, float(words["phi"].max())
        nodes = run["node"].sel(topic=shown).values.tolist() if "node" in run.coords else [""] * len(shown)
        topics = [
            {
                "number": topic, "node": node, "share": f"{100 * share:.1f} %", "bar": f"{SIZE_BAR * share / shares.max():.2f}",
                "words": [
                    {"word": str(word), "phi": f"{phi:.4f}", "bar": f"{WORD_BAR * phi / highest:.2f}"}
                    for word, phi in zip(words["word"].values[at], words["phi"].values[at], strict=True)
                ],
            }
            for at, (topic, node, share) in enumerate(zip(shown, nodes, shares, strict=True))
        ]
        tables.append({
            "label": label, "seed": each.spec.seed, "name": run.attrs["name"], "topics": topics,
            "iteration": int(run["snapshot_iteration"].values[-1]),
            "open": sum(len(one["topics"]) for one in tables) < MOST_OPEN,
        })
    return tables


def prior_rows(found: list[Gathered]) -> list[dict]:
    """A row for each label and hyperparameter, where any run learns its own: how, and the value at the end."""
    if not any(learnt_by(each.dataset) for each in found):
        return []
    by_label: dict[str, list] = {}
    for each, label in zip(found, labels_of([each.dataset for each in found]), strict=True):
        by_label.setdefault(label, []).append(hyperparameters(each.dataset))
    rows = []
    for label, of_runs in by_label.items():
        for at, name in enumerate([one.name for one in of_runs[0]]):
            own = [one for run in of_runs for one in run if one.name == name]
            rows.append({
                "label": label, "name": SHORT[name], "how": LEARNT[own[0].how], "value": _prior_text(own),
                "span": 0 if at else len(of_runs[0]),  # rows that stand beside the label
            })
    return rows


def _prior_text(alike: list) -> str:
    """One number, with its standard error over runs; of an alpha for each topic the sum and the range."""
    many = any(len(one.values) > 1 for one in alike)
    sums = np.array([one.values.sum() for one in alike])
    told = with_figures(sums)
    if not many:
        return told
    low, high = (limit(np.concatenate([one.values for one in alike])) for limit in (np.min, np.max))
    return f"{low:.3g} to {high:.3g}, sum {told}"


def with_figures(values: np.ndarray) -> str:
    """Mean ± standard error with three figures of the mean."""
    mean, n = float(values.mean()), len(values)
    error = float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    digits = max(2 - math.floor(math.log10(abs(mean))), 0) if mean else 2
    return with_error(mean, error if error > 0 else math.nan, digits)


def move_tables(found: list[Gathered]) -> list[dict]:
    """The splits and merges of each run that tried some: how many, and each in words."""
    tables = []
    for each, label in zip(found, labels_of([each.dataset for each in found]), strict=True):
        if tried := moves(each.dataset):
            tables.append({
                "label": label, "seed": each.spec.seed, "name": each.dataset.attrs["name"], "told": describe_moves(tried),
                "more": max(len(tried) - MOST_MOVES, 0),
                "moves": [
                    {"iteration": move.iteration, "told": move.text, "kept": move.accepted} for move in tried[:MOST_MOVES]
                ],
            })
    return tables


def version_rows(found: list[Gathered]) -> list[tuple[str, str]]:
    """(package, version) that made the runs, as recorded, or else that wrote the page."""
    made: dict[str, dict[str, None]] = {}
    for each in found:
        for package, version in json.loads(each.dataset.attrs.get("versions", "{}")).items():
            made.setdefault(package, {})[str(version)] = None
    rows = [(f"{package} (runs)", ", ".join(seen)) for package, seen in made.items()]
    return rows or [(f"{package} (this page)", version) for package, version in versions().items()]
