"""The targets, each beside what was measured: at least, aim, and met or missed."""

from __future__ import annotations

import math

import beside_peers
import first_use
import load
import pandas as pd
import recording
import time_to_perplexity
import two_threads
from records import markdown

CGS_BESIDE = {
    "tomotopy": {10: (1.2, 1.6), 40: (1.2, 1.6), 100: (1.6, 2.0), 500: (3.0, 4.0)},
    "lda": {10: (2.5, 4.0), 40: (4.0, 6.0), 100: (7.0, 10.0), 500: (15.0, 22.0)},
}
SVB_BESIDE = {"scikit-learn": (25.0, 45.0), "gensim": (30.0, 50.0)}


def judged(least: float, aim: float, values: list[float], low: bool = False) -> str:
    """Whether all of the values reach the aim, or the least that is wanted; where they must not be larger, with ``low``."""
    values = [value for value in values if not math.isnan(value)]
    if not values:
        return "not measured"
    reaches = (
        (lambda wanted: [value <= wanted for value in values])
        if low
        else (lambda wanted: [v >= wanted for v in values])
    )
    if all(reaches(aim)):
        return "aim reached"
    if all(reaches(least)):
        return "met"
    return f"met in {sum(reaches(least))} of {len(values)}" if any(reaches(least)) else "missed"


def table(found: dict[str, pd.DataFrame]) -> str:
    """The table of targets from the rows of each question that was measured."""
    lines = []

    def say(
        what: str, least: float, aim: float, values: dict[str, float], form: str, low: bool = False
    ) -> None:
        there = {label: value for label, value in values.items() if not math.isnan(value)}
        shown = (
            ", ".join(f"{form.format(value)} {label}".strip() for label, value in there.items())
            or "–"
        )
        wanted = [
            ("≤ " if low else "") + form.format(value) if not math.isnan(value) else ""
            for value in (least, aim)
        ]
        lines.append([what, *wanted, shown, judged(least, aim, list(values.values()), low)])

    if (rows := found.get(beside_peers.NAME)) is not None:
        rows = rows.dropna(subset=["cpu"])
        for peer, wanted in CGS_BESIDE.items():
            values = beside_peers.ratios(rows, "cgs", peer)
            for n_topics, (least, aim) in wanted.items():
                say(f"CGS vs {peer}, K={n_topics}", least, aim, at(values, n_topics), "{:.3g}")
        for peer, (least, aim) in SVB_BESIDE.items():
            values = beside_peers.ratios(rows, "svb", peer)
            for n_topics in sorted({k for _, k in values}):
                say(
                    f"SVB sweep vs {peer}, one inner step, K={n_topics}",
                    least,
                    aim,
                    at(values, n_topics),
                    "{:.3g}",
                )
        for what, to, cell, least, aim in (
            ("CVB0 sweep / own CGS sweep, KOS K=10", "cvb0", ("kos", 10), 1.0, 0.7),
            ("SVB/CGS sweep / own CGS sweep, NIPS K=40", "svb-cgs", ("nips", 40), 0.5, 0.35),
        ):
            value = beside_peers.ratios(rows, "cgs", to).get(cell, math.nan)
            say(what, least, aim, {"": value}, "{:.3g}", low=True)
    if (rows := found.get(time_to_perplexity.NAME)) is not None:
        against = time_to_perplexity.to_the_mark(rows)
        if len(against):
            family = (
                against.median()
                .reindex(list(time_to_perplexity.VB_FAMILY))
                .dropna()
                .sort_values(ascending=False)
            )
            say(
                "VB family: time to scikit-learn's 20-iteration perplexity on KOS",
                40,
                100,
                dict(family.head(1)),
                "{:.3g}",
            )
    if (rows := found.get(recording.NAME)) is not None and (rows["corpus"] == "kos").any():
        rows = rows[rows["corpus"] == "kos"]
        shares = recording.shares(rows)
        shares = shares[(shares["engine"] == "cgs") & (shares["n_topics"] <= 100)]
        values = {f"K={row['n_topics']}": row["test perplexity"] for _, row in shares.iterrows()}
        say(
            "test perplexity each iteration / CGS sweep, K ≤ 100",
            0.03,
            0.02,
            values,
            "{:.1%}",
            low=True,
        )
        values = {"": recording.cost_of_storing(rows)[0]}
        say(
            "storing each iteration, wall, of a KOS K=10 run",
            0.03,
            0.01,
            values,
            "{:.1%}",
            low=True,
        )
    if (rows := found.get(first_use.NAME)) is not None:
        seconds = first_use.medians(rows)["cpu"]
        say("all kernels compiled, cold, CPU s", 8, 4, {"": seconds["cold"]}, "{:.3g}", low=True)
        say("all kernels from cache, CPU s", 2, 1.3, {"": seconds["warm"]}, "{:.3g}", low=True)
    if (rows := found.get(two_threads.NAME)) is not None:
        for (corpus, n_topics), part in rows.dropna(subset=["cpu"]).groupby(
            ["corpus", "n_topics"], sort=False
        ):
            ours = [name for name in two_threads.contenders(part) if name != "tomotopy"]
            values = {name: two_threads.extra(part, name) for name in ours}
            say(
                f"two threads: extra CPU, {corpus} K={n_topics}",
                0.10,
                0.05,
                values,
                "{:.1%}",
                low=True,
            )
    if (rows := found.get(load.NAME)) is not None:
        clicks = rows[rows["contender"] == "clicks"]
        for name, (what, most) in load.WANTED.items():
            if most:
                say(
                    f"pages: {what}",
                    most,
                    math.nan,
                    dict(zip(clicks["page"], clicks[name], strict=True)),
                    "{:.3g}",
                    low=True,
                )
    return (
        markdown(["target", "at least", "aim", "measured", ""], lines)
        if lines
        else "Nothing with a target was measured."
    )


def at(values: dict, n_topics: int) -> dict[str, float]:
    """Of one K, by corpus."""
    return {corpus: value for (corpus, k), value in values.items() if k == n_topics}
