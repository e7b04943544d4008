"""Measures our engines beside their peers, question by question, and writes tables and figures: ``make bench``.

python benchmarks/run.py                       # everything, into docs/benchmarks; goes on where it was stopped
python benchmarks/run.py --quick               # a look in minutes, into out/benchmarks
python benchmarks/run.py growth recording      # these questions alone
python benchmarks/run.py --again beside_peers  # measures anew what was measured before
python benchmarks/run.py --tables              # measures nothing, writes tables and figures from the CSV files
"""

from __future__ import annotations

import os

for limit in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    # one thread for the peers' linear algebra; read when numpy is imported
    os.environ.setdefault(limit, "1")

import json  # noqa: E402
import logging  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from datetime import datetime  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Annotated, NamedTuple  # noqa: E402

import adaptive_split  # noqa: E402
import bayes_nets  # noqa: E402
import beside_peers  # noqa: E402
import correlated_topics  # noqa: E402
import documents  # noqa: E402
import first_use  # noqa: E402
import growth  # noqa: E402
import load  # noqa: E402
import machine  # noqa: E402
import many_documents  # noqa: E402
import mixed_split  # noqa: E402
import networks  # noqa: E402
import online  # noqa: E402
import priors  # noqa: E402
import reading  # noqa: E402
import record_likelihood  # noqa: E402
import recording  # noqa: E402
import scale  # noqa: E402
import scikit_learn  # noqa: E402
import starts  # noqa: E402
import targets  # noqa: E402
import time_to_perplexity  # noqa: E402
import two_threads  # noqa: E402
import typer  # noqa: E402
from records import Records, conditions  # noqa: E402

QUESTIONS = {
    module.NAME: module
    for module in (
        beside_peers,
        online,
        time_to_perplexity,
        starts,
        priors,
        adaptive_split,
        mixed_split,
        growth,
        two_threads,
        networks,
        correlated_topics,
        bayes_nets,
        record_likelihood,
        recording,
        first_use,
        load,
        documents,
        many_documents,
        reading,
        scale,
        scikit_learn,
    )
}
ROOT = Path(__file__).parent.parent
CORPORA = ("reuters395", "kos", "nips", "zipf10m")
TOPICS = (10, 40, 100, 500)


class Plan(NamedTuple):
    """What is to be measured, and how thoroughly."""

    corpora: tuple[str, ...]
    topics: tuple[int, ...]
    rounds: int
    seconds: float  # CPU seconds after which a contender sits out the further rounds of a cell
    seeds: int
    quick: bool


def main(
    questions: Annotated[
        list[str] | None, typer.Argument(help=f"Of {', '.join(QUESTIONS)}; all by default.")
    ] = None,
    corpora: Annotated[
        str, typer.Option(help="Of the catalog, or zipf10m; for beside_peers.")
    ] = ",".join(CORPORA),
    topics: Annotated[str, typer.Option(help="Numbers of topics, for beside_peers.")] = ",".join(
        map(str, TOPICS)
    ),
    rounds: Annotated[
        int, typer.Option(help="Rounds in which every contender takes its turn.", min=1)
    ] = 7,
    seconds: Annotated[
        float,
        typer.Option(help="CPU seconds a contender may use in a cell; then it sits out rounds."),
    ] = 10.0,
    seeds: Annotated[
        int, typer.Option(help="Splits and starts, for time_to_perplexity.", min=1)
    ] = 3,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few rounds of small cells, into out/benchmarks.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Measure cells anew that were measured before.")
    ] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="Measure nothing; write tables and figures again.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the results.")] = None,
) -> None:
    """Measure our engines beside their peers."""
    if unknown := [name for name in questions or [] if name not in QUESTIONS]:
        raise typer.BadParameter(
            f"there is no question {unknown[0]!r}; there are {', '.join(QUESTIONS)}"
        )
    plan = Plan(
        tuple(corpora.split(",")), tuple(map(int, topics.split(","))), rounds, seconds, seeds, quick
    )
    if quick:
        plan = plan._replace(rounds=min(rounds, 3), seconds=1.0, seeds=1)
        if corpora == ",".join(CORPORA):
            plan = plan._replace(corpora=("reuters395",), topics=plan.topics[:2])
    out = out or ROOT / ("out" if quick else "docs") / "benchmarks"
    logging.disable(logging.WARNING)  # gensim and lda tell much
    # that two threads do not repeat themselves
    warnings.filterwarnings("ignore", module="tomotopy")
    if not tables:
        measure(questions or list(QUESTIONS), plan, out, again)
    write(out)
    print(f"tables and figures in {out / 'README.md'}")


def measure(questions: list[str], plan: Plan, out: Path, again: bool) -> None:
    """Every cell that is wanted; each is on disk, and in the tables, before the next begins."""
    kept = {name: Records(out / f"{name}.csv") for name in questions}
    wanted = [
        (name, cell, guess, work)
        for name in questions
        for cell, guess, work in QUESTIONS[name].cells(plan)
        if again or not kept[name].has(cell)
    ]
    left, guessed, used = sum(guess for _, _, guess, _ in wanted), 0.0, 0.0
    for at, (name, cell, guess, work) in enumerate(wanted, 1):
        pace = used / guessed if guessed else 1.0
        print(
            f"[{at}/{len(wanted)}] {name}, {cell}; about {pace * left / 60:.1f} min left",
            flush=True,
        )
        began = time.perf_counter()
        if not kept[name].put(cell, work()):
            print(
                f"{cell} stays as it was measured before: its corpus is not on this machine; set WORKBENCH_DATA",
                flush=True,
            )
        used, guessed, left = used + time.perf_counter() - began, guessed + guess, left - guess
    about = machines(out) | dict.fromkeys(questions, machine.described())
    (out / "machine.json").write_text(json.dumps(about, indent=1) + "\n")


def machines(out: Path) -> dict[str, dict]:
    """Question → what its numbers come from."""
    return json.loads(file.read_text()) if (file := out / "machine.json").exists() else {}


def write(out: Path) -> None:
    """README.md and the figures, from what is in the folder."""
    found = {
        name: records.rows
        for name in QUESTIONS
        if len((records := Records(out / f"{name}.csv")).rows)
    }
    about = machines(out)
    parts = [
        "# Benchmarks",
        f"Written by `make bench` (`python benchmarks/run.py`) on {datetime.now():%d %B %Y}; the numbers behind each table "
        "are in the CSV files beside this page. Contenders take turns, a few sweeps each, in one process on one thread. Times "
        "are CPU times, medians over the rounds; ratios are medians of the ratios within a round.",
        "## Targets",
        targets.table(found),
    ]
    for name, rows in found.items():
        question = QUESTIONS[name]
        parts += [f"## {question.TITLE}", question.told(rows)]
        if hasattr(question, "draw"):
            parts += [f"![{question.TITLE}]({file})" for file in question.draw(rows, out)]
        parts += [
            conditions(rows),
            "\n".join(f"* {what}: {value}" for what, value in about.get(name, {}).items()),
        ]
    (out / "README.md").write_text("\n\n".join(part for part in parts if part) + "\n")


if __name__ == "__main__":
    typer.run(main)
