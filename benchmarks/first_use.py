"""How long until the first result: everything compiled, and everything taken from the cache?

A fresh process loads each of the eight LDA engines, makes one step with it, and measures it, over a corpus of a few tokens,
with 2 and with 40 topics: every kernel that a run with the default options calls. Cold: with an empty cache of compiled
kernels; warm: the same again. CPU seconds are those of the whole process, Python's start and imports included; "import" is
such a process without the kernels.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the child is this file too, and pays for what it imports
    import pandas as pd

NAME = "first_use"
TITLE = "First use: cold and warm"
N_COLD, TOPICS = 3, (2, 40)
PARTS = ("import", "cold", "warm")


def cells(plan):
    """(name, rough seconds, what measures it)."""
    yield "all LDA engines", 60 if plan.quick else 150, lambda: measure(plan)


def measure(plan) -> list[dict]:
    rows = []
    for round_ in range(1 if plan.quick else N_COLD):
        with tempfile.TemporaryDirectory() as cache:
            for part in PARTS:
                cpu, wall = child(part, cache)
                rows.append({"contender": part, "round": round_, "cpu": cpu, "wall": wall})
    return rows


def child(part: str, cache: str) -> tuple[float, float]:
    """CPU and wall seconds of a process that uses every engine, or only imports them."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, __file__, part], check=True, env=os.environ | {"WORKBENCH_CACHE": cache}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - began


def use_every_engine(part: str) -> None:
    """What the child does."""
    from itertools import product

    from workbench.corpus import Corpus
    from workbench.engines import ENGINES, get_engine
    from workbench.engines.engine import StepContext
    from workbench.models import LDA
    from workbench.runs import loop
    from workbench.runs.parts.laying_out import InMemoryData
    from workbench.runs.spec import make_spec

    tiny = Corpus.from_pairs([0, 0, 1], [0, 1, 1], [1, 9, 2])
    engines = [
        engine for engine in map(get_engine, ENGINES) if engine.model is LDA and part != "import"
    ]
    for engine, n_topics in product(engines, TOPICS):
        data = InMemoryData(make_spec(tiny, engine.name, n_topics=n_topics, test=tiny), tiny, tiny)
        state, average = data.init(StepContext(0, 0))
        context = StepContext(0, 1)
        state, info = data.step(state, context)
        average, scores, _ = data.score(state, average, True, context)
        info.pop("updates")
        loop.measure(data, loop.Position(1, state, average, 0.0, 0.0, 0), scores, info, context)


def medians(rows: pd.DataFrame) -> pd.DataFrame:
    """CPU and wall seconds of each part."""
    return rows.groupby("contender", sort=False)[["cpu", "wall"]].median()


def told(rows: pd.DataFrame) -> str:
    from records import markdown

    table = [
        [part, f"{row['cpu']:.2f}", f"{row['wall']:.2f}"] for part, row in medians(rows).iterrows()
    ]
    return "\n\n".join(
        [__doc__.split("\n\n", 1)[1].strip(), markdown(["seconds", "CPU", "wall"], table)]
    )


if __name__ == "__main__":
    use_every_engine(sys.argv[1])
