"""The numbers of a report as text: rounded, with standard errors, a dash where there is none."""

from __future__ import annotations

import json
import math

import numpy as np

from workbench.measures import MeasureError, data_of, final, reached_by_all, summary, time_to, top_words, topic_sizes
from workbench.report.captions import lineage
from workbench.report.commands import command_of
from workbench.report.gathering import Gathered
from workbench.runs.dataset import versions

NONE = "–"
DIGITS = {
    "test_perplexity": 1, "test_perplexity_state": 1, "test_perplexity_average": 1, "elapsed": 2, "cpu_time": 2, "updates": 0,
    "iteration": 0, "time_per_update": 1,
}
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


def label_rows(found: list[Gathered], reference: str | None) -> tuple[list[dict], str, str]:
    """A row for each label, the reference's label, and the perplexity whose time is told ("" where there is none).

    Perplexities of different data cannot be compared, so there none is told.
    """
    runs = [each.dataset for each in found]
    table = summary(runs, reference)
    target = reached_by_all(runs) if len(set(data_of(runs))) == 1 else math.nan
    spent = time_to(runs, target)
    rows = []
    for at, label in enumerate(table["label"].values):
        row = {"label": label, "n_runs": int(table["n_runs"].values[at]), "n_pairs": int(table["n_pairs"].values[at])}
        for name, digits in DIGITS.items():
            mean, error = float(table[name].values[at]), float(table[f"{name}_se"].values[at])
            exact = name in ("iteration", "updates") and not error > 0
            row[name] = with_error(mean, math.nan if exact else error, digits)
        mean, error = (float(table[name].values[at]) for name in ("difference", "difference_se"))
        itself = label == table["reference"].values[at]
        row["difference"] = "reference" if itself else with_error(mean, error, 1, sign=True)
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
            "early": each.dataset.attrs.get("stopped_early", ""),
        })
    return rows


def topic_tables(found: list[Gathered], labels: list[str]) -> list[dict]:
    """The topics of the first run of each label that has its counts, largest first: number, size and words.

    ``bar`` is the length (em) of a topic's bar and of a word's line; the longest of a run stands for its largest number.
    """
    tables = {}
    for each, label in zip(found, labels, strict=True):
        if label in tables:
            continue
        try:
            words, sizes = top_words(each.dataset, N_WORDS), topic_sizes(each.dataset)
        except MeasureError:
            continue
        shares, highest = sizes["share"].values, float(words["phi"].max())
        topics = [
            {
                "number": int(words["topic"].values[at]), "share": f"{100 * shares[at]:.1f} %",
                "bar": f"{SIZE_BAR * shares[at] / shares.max():.2f}",
                "words": [
                    {"word": str(word), "phi": f"{phi:.4f}", "bar": f"{WORD_BAR * phi / highest:.2f}"}
                    for word, phi in zip(words["word"].values[at], words["phi"].values[at], strict=True)
                ],
            }
            for at in np.argsort(-shares, kind="stable")
        ]
        tables[label] = {"label": label, "seed": each.spec.seed, "name": each.dataset.attrs["name"], "topics": topics,
                         "iteration": int(each.dataset["snapshot_iteration"].values[-1]),
                         "open": sum(len(table["topics"]) for table in tables.values()) < MOST_OPEN}
    return list(tables.values())


def version_rows(found: list[Gathered]) -> list[tuple[str, str]]:
    """(package, version) of what made the runs, as they say, and of what wrote the page."""
    made: dict[str, dict[str, None]] = {}
    for each in found:
        for package, version in json.loads(each.dataset.attrs.get("versions", "{}")).items():
            made.setdefault(package, {})[str(version)] = None
    rows = [(f"{package} (runs)", ", ".join(seen)) for package, seen in made.items()]
    return rows or [(f"{package} (this page)", version) for package, version in versions().items()]
