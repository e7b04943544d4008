"""Draws the pictures of docs/explanation from the tables of docs/measured.md: python docs/explanation/draw.py."""

import re
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
MEASURED = (HERE.parent / "measured.md").read_text(encoding="utf-8")
STYLE = {
    "svg.hashsalt": "workbench",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}

PLACES = {"svb-cgs": (-20, 9), "cvb0-cgs": (-20, -16), "r=∞, cgs": (7, -10)}
"""Where names stand beside their points, in points, of those that would lie on each other."""


def section(title: str) -> str:
    """The text of measured.md below a heading that begins so."""
    return re.search(rf"^## {re.escape(title)}.*?(?=^## )", MEASURED, re.M | re.S).group()


def draw(points: list, name: str, label: str) -> None:
    """Writes a picture of (name, CPU seconds, value, standard error)."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
        for engine, seconds, value, error in points:
            axes.errorbar(seconds, value, error, fmt="o", ms=5, capsize=3, color="#1f6f8b")
            axes.annotate(
                engine, (seconds, value), PLACES.get(engine, (7, 3)), textcoords="offset points"
            )
        axes.set(xscale="log", xlabel="CPU seconds of inference", ylabel=label)
        axes.margins(x=0.12, y=0.12)
        ticks = [tick for tick in (0.2, 0.5, 1, 2, 5, 10, 20, 50) if points_within(tick, points)]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        figure.savefig(HERE / name, metadata={"Date": None})


def points_within(tick: float, points: list) -> bool:
    """Is a tick near to where points are?"""
    seconds = [each[1] for each in points]
    return min(seconds) / 1.6 <= tick <= max(seconds) * 1.6


def engines_on_kos() -> list:
    """Engines with the perplexity that is their headline: averaged for those that sample, of the state for the others."""
    text = section("KOS, K=10")
    seconds = re.search(r"of inference alone(.*?CPU s)", text, re.S).group(1)
    times = dict(re.findall(r"`([a-z0-9-]+)`\s+([\d.]+)(?=,| CPU)", seconds))
    points = []
    for line in re.findall(r"^\| `.*$", text, re.M):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = cells[0].split("`")[1]
        numbers = re.findall(r"([\d.]+) ± ([\d.]+)", cells[2] if "cgs" in name else cells[1])
        plain = "sequential" not in cells[0] and "restarted" not in cells[0]
        if numbers and plain and name in times:
            points.append((name, float(times[name]), *map(float, numbers[0])))
    return points


def settings_on_kos() -> list:
    """Settings of hybrids with their difference from long chains."""
    row = r"^\| (r=\S+?|r=∞, `cgs`) \| [\d.]+ \| ([\d.]+).*? \| ([\d.]+) ± ([\d.]+)"
    rows = re.findall(row, section("What settings cost"), re.M)
    return [(name.replace("`", ""), *map(float, numbers)) for name, *numbers in rows]


if __name__ == "__main__":
    draw(engines_on_kos(), "engines_kos.svg", "held-out perplexity")
    draw(settings_on_kos(), "settings_kos.svg", "nats above long Gibbs chains")
