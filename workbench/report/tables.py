"""The numbers of a report as text: rounded, with standard errors, a dash where there is none."""

from __future__ import annotations

import json
import math

import numpy as np

from workbench.measures import MeasureError, final, reached_by_all, summary, time_to, topic_words
from workbench.report.gathering import Gathered
from workbench.runs.dataset import versions

NONE = "–"
DIGITS = {
    "test_perplexity": 1, "test_perplexity_state": 1, "test_perplexity_average": 1, "elapsed": 2, "cpu_time": 2, "updates": 0,
    "iteration": 0,
}
N_WORDS = 12


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
    """A row for each label, the reference's label, and the perplexity whose time is told ("" where there is none)."""
    runs = [each.dataset for each in found]
    table = summary(runs, reference)
    target = reached_by_all(runs)
    spent = time_to(runs, target)
    rows = []
    for at, label in enumerate(table["label"].values):
        row = {"label": label, "n_runs": int(table["n_runs"].values[at])}
        for name, digits in DIGITS.items():
            mean, error = float(table[name].values[at]), float(table[f"{name}_se"].values[at])
            exact = name in ("iteration", "updates") and not error > 0
            row[name] = with_error(mean, math.nan if exact else error, digits)
        mean, error = (float(table[name].values[at]) for name in ("difference", "difference_se"))
        row["difference"] = "reference" if label == table.attrs["reference"] else with_error(mean, error, 1, sign=True)
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
        rows.append(row | {"label": last["label"].values[at], "seed": each.spec.seed, "name": each.dataset.attrs["name"]})
    return rows


def topic_tables(found: list[Gathered], labels: list[str]) -> list[dict]:
    """The words of the topics of each run that has them; the first run of a label is open."""
    tables, opened = [], set()
    for each, label in zip(found, labels, strict=True):
        try:
            lines = topic_words(each.dataset, N_WORDS)
        except MeasureError:
            continue
        topics = [
            {"number": int(topic), "share": f"{100 * share:.1f} %", "words": str(words)}
            for topic, share, words in zip(lines["topic"].values, lines["share"].values, lines.values, strict=True)
        ]
        tables.append({"label": label, "seed": each.spec.seed, "name": each.dataset.attrs["name"], "topics": topics,
                       "open": label not in opened})
        opened.add(label)
    return tables


def version_rows(found: list[Gathered]) -> list[tuple[str, str]]:
    """(package, version) of what made the runs, as they say, and of what wrote the page."""
    made: dict[str, dict[str, None]] = {}
    for each in found:
        for package, version in json.loads(each.dataset.attrs.get("versions", "{}")).items():
            made.setdefault(package, {})[str(version)] = None
    rows = [(f"{package} (runs)", ", ".join(seen)) for package, seen in made.items()]
    return rows or [(f"{package} (this page)", version) for package, version in versions().items()]
