"""The runs that the form of the page describes: their start, those of them that the store has, and how far they are."""

import os
from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path

from workbench.corpus import Corpus
from workbench.dashboard.compare.fields import MODEL
from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.starting import (
    STARTING,
    cells_of,
    check_memory,
    check_waiting,
    data_of,
    n_runs,
    paces,
    shared,
    start_runs,
    summary_of_start,
)
from workbench.dashboard.compare.wording import counted
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.values import as_list
from workbench.dashboard.sweeps.progress import Progress, names_of
from workbench.engines import ENGINES, get_engine
from workbench.runs.execution import warm_sweep
from workbench.runs.execution.memory_check import memory_forecast, unfinished
from workbench.runs.spec import PRIORS, RunSpec, SpecError, make_model
from workbench.runs.store.status import ALIVE, FAILED, FINISHED, LOST

USUAL = {
    "top_words": None,
    "merge": 1,
    "repeat": 1,
    "singletons": "keep",
    "holdout_per": "corpus",
    "holdout_rows": None,
    "start": None,
    "model": "lda",
    "sizes": None,
    "seed": 0,
    **{name: MODEL[name] for name in PRIORS},
}
"""Settings of the Compare page that this one has no fields for."""


@lru_cache
def engines() -> dict[str, bool]:
    """The engines of a corpus whose number of topics is chosen beforehand → whether their runs can begin from others."""
    models = {name: get_engine(name).model for name in ENGINES}
    return {
        name: model.warm_starts
        for name, model in models.items()
        if model.data is Corpus
        and not model.nonparametric
        and "n_topics" in model.takes
        and not model.is_network
    }


def values_of(form: dict) -> dict:
    """The values of the form as the Compare page has them, which starts and checks runs by these."""
    return USUAL | form | {"engines": [form["engine"]], "options": {form["engine"]: {}}}


def mistakes(values: dict) -> dict[str, str]:
    """Field → sentence about what is wrong with it."""
    found = mistakes_in(values)
    if "n_topics" not in found and len(as_list(values["n_topics"])) < 2:
        found["n_topics"] = "Topics K must be several numbers to choose from, as 5, 10, 20."
    if values["warm"] and not engines()[values["engine"]]:
        found.setdefault("warm", f"Runs of {values['engine']} cannot begin from others; choose no.")
    return found


def start_sweep(store: Path, values: dict) -> tuple[int, str]:
    """Starts the runs of the form that have not ended; returns how many and a sentence.

    A warm sweep goes on in a process of its own, whatever becomes of the page. Raises what `start_runs` raises.
    """
    if not values["warm"]:
        started, *others = start_runs(store, values)
        return len(started), summary_of_start(started, *others)
    policy().check_change()
    store, jobs, corpus = (
        Path(store),
        values["jobs"],
        data_of(values["corpus"], values["read"], values["engine"]),
    )
    cells = shared(cells_of(corpus, values["engine"], values, store))
    cold = [
        [cell for cell in cells if cell.key_values["n_topics"] == k]
        for k in sorted(values["n_topics"])
    ]
    with STARTING:
        check_memory(store, unfinished(store, cells), jobs)
        if {cell.spec.name for cell in cold[0]} & warm_sweep.at_work(store):
            raise SpecError("these runs are active already")
        check_waiting(store, len(cells))
        warm_sweep.begin(store, cold, jobs)
    fewest, memory = min(values["n_topics"]), memory_forecast(cells, jobs)
    return len(
        cells
    ), f"{counted(len(cells))}, {memory}: first those with {fewest} topics, then others from these."


def runs_of(readings: Iterable[Reading], values: dict) -> list[Reading]:
    """The runs of the store that are those of the form, by K and seed, however they were started.

    Of a warm sweep all but those with the fewest topics began from the run of the same seed with the next smaller number. Where
    runs with one name of the corpus have different tokens, those with the tokens of the newest.
    """
    ks, seeds = (
        sorted(as_list(values["n_topics"])),
        range(values["seed"], values["seed"] + values["seeds"]),
    )
    fits = partial(_fits, values=values, names=names_of(values["corpus"]))
    alike = [one for one in readings if one.spec is not None and fits(one.spec)]
    alike = [
        one
        for one in alike
        if (one.spec.train, one.spec.test) == (alike[0].spec.train, alike[0].spec.test)
    ]
    found: dict[tuple[int, int], Reading] = {}
    for at, k in enumerate(ks):
        for seed in seeds:
            parent = found.get((ks[at - 1], seed)) if values["warm"] and at else None
            if values["warm"] and at and parent is None:
                continue
            wanted = parent and parent.spec.hash
            own = (one for one in alike if (one.spec.n_topics, one.spec.seed) == (k, seed))
            if (
                one := next(
                    (one for one in own if (one.spec.start or {}).get("hash") == wanted), None
                )
            ) is not None:
                found[k, seed] = one
    return list(found.values())


def progress_of(runs: list[Reading], values: dict, readings: Iterable[Reading]) -> Progress:
    """How far the runs are that the form describes; the time left is that of the pace of the newest run of their kind."""
    ks, n_iterations = sorted(as_list(values["n_topics"])), values["n_iterations"]
    to_come = {
        (k, seed): n_iterations
        for k in ks
        for seed in range(values["seed"], values["seed"] + values["seeds"])
    }
    for one in runs:
        status = one.status
        to_come[one.spec.n_topics, one.spec.seed] = status["n_iterations"] - status["iteration"]
    pace = next(iter(paces(one for one in readings if one in runs).values()), None)
    steps = sum(k * left for (k, _), left in to_come.items())
    at_once = min(
        values["jobs"], os.cpu_count() or 1, max(1, sum(left > 0 for left in to_come.values()))
    )
    failed = tuple(one.status["message"] for one in runs if one.state in (FAILED, LOST))
    ended, alive = (
        sum(one.state == FINISHED for one in runs),
        sum(one.state in ALIVE for one in runs),
    )
    short = sum(one.state == FINISHED and one.status["iteration"] < n_iterations for one in runs)
    return Progress(
        n_runs(values),
        ended,
        short,
        alive,
        None if pace is None else pace * steps / at_once,
        failed,
    )


def _fits(spec: RunSpec, values: dict, names: set[str]) -> bool:
    """Is this the spec of a run of the form, but for K, seed and what it began from?"""
    if (
        spec.corpus not in names
        or spec.engine != values["engine"]
        or (spec.test is None) != (values["holdout"] == 0)
    ):
        return False
    usual = make_model(get_engine(spec.engine)).settings()
    bare = RunSpec(spec.corpus, spec.train, spec.test, spec.engine, spec.model)
    if spec.label().removesuffix(" warm") != bare.label() or any(
        spec.model.get(one) != usual.get(one) for one in PRIORS
    ):
        return False
    split = spec.split or {}
    return set(split) == {"rows"} or split == (
        {}
        if spec.test is None
        else {"fraction": values["holdout"], "seed": 0, "per": values["holdout_per"]}
    )
