"""The runs that the form describes: long chains of the reference and settings to set against them; which of them are there."""

import math
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from workbench.corpus import Corpus
from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.starting import (
    ELAPSED,
    combinations,
    data_of,
    start_cells,
    summary_of_start,
)
from workbench.dashboard.shared.policy import figures, policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.values import as_list
from workbench.dashboard.sweeps.progress import Progress, names_of
from workbench.engines import ENGINES, REFERENCE, get_engine
from workbench.engines.lda import adaptive
from workbench.engines.options import named_options
from workbench.errors import InputError
from workbench.measures.frontier import CHAINS, LONGER, is_plain_gibbs
from workbench.runs.execution.compare import plan
from workbench.runs.execution.memory_check import Planned
from workbench.runs.execution.sweep import lay_out
from workbench.runs.settings import LARGEST_SEED, SplitSettings, names
from workbench.runs.spec import RunSpec, model_fields, whole
from workbench.runs.store.status import ALIVE, FAILED, FINISHED, LOST

GIBBS, ADAPTIVE = REFERENCE, adaptive.NAME
"""The engine of the reference, which is a setting too, and that of splits that adapt."""


class Found(NamedTuple):
    """The runs of a form that the store has."""

    settings: list[Reading]
    reference: list[Reading]


@lru_cache
def hybrids() -> tuple[str, ...]:
    """The engines of documents that have an r and so many chains."""
    return tuple(
        name
        for name in ENGINES
        if (one := get_engine(name)).model.data is Corpus
        and {"r", "n_chains"} <= {field.name for field in named_options(one).values()}
    )


def values_of(form: dict) -> dict:
    """The values of the form as the Compare page has them: those of the hybrids, of what adapts, and of cgs."""
    engine, rs = form["engine"], as_list(form["r"])
    options = {engine: {"r": form["r"], "n_chains": form["n_chains"]}, GIBBS: {}}
    # what else has nothing to adapt
    between = [r for r in rs if isinstance(r, int | float) and 0 < r < math.inf]
    if form["split"] and between:
        options[ADAPTIVE] = {
            "split": form["split"],
            "budget_r": _one_or_all(between),
            "n_chains": form["n_chains"],
        }
    usual = {
        "holdout_per": "corpus",
        "holdout_rows": None,
        "start": None,
        "model": "lda",
        "sizes": None,
        "seed": 0,
    }
    return usual | form | {"engines": list(options), "options": options}


def n_reference(values: dict) -> int:
    """Iterations of a chain of the reference: those of the form, or as few as may be."""
    return values["reference"] or LONGER * values["n_iterations"]


def mistakes(values: dict) -> dict[str, str]:
    """Field → sentence about what is wrong with it."""
    found = mistakes_in(values)
    for name in ("n_topics", "alpha", "beta"):
        if name not in found and isinstance(values[name], list):
            found[name] = "Frontier compares engines on one model; give one number."
    if "holdout" not in found and not values["holdout"]:
        found["holdout"] = "A distance needs held-out tokens; hold out some, as 0.1."
    if values["reference"] is not None and "n_iterations" not in found:
        try:
            whole("reference", values["reference"], LONGER * values["n_iterations"])
        except InputError:
            fewest = LONGER * values["n_iterations"]
            found["reference"] = (
                f"The reference needs at least {fewest} iterations, {LONGER} times those of the runs."
            )
    if not found and n_wanted(values) > (most := policy().limits.start):
        found["r"] = (
            f"These are {n_wanted(values):,} runs where {figures(most)} may be started at once; take values out."
        )
    if (
        "reference" not in found
        and not found
        and n_reference(values) > (most := policy().limits.iterations)
    ):
        found["n_iterations"] = (
            f"The reference has {n_reference(values):,} iterations where {figures(most)} may be."
        )
    return found


def n_wanted(values: dict) -> int:
    """How many runs the form describes, with those of the reference."""
    return CHAINS + values["seeds"] * len(labels(values))


def labels(values: dict) -> list[str]:
    """Engine and options of each setting, each once, those that have nothing to sample with one chain alone."""
    return [
        RunSpec("", "", None, engine, _model(values), options).label()
        for engine, options in _settings(values)
    ]


def start(store: Path, values: dict, found: Found) -> tuple[int, str]:
    """Starts the runs of the form that have not ended, those of the reference first; returns how many and a sentence.

    They go on in processes of their own, whatever becomes of the page. Raises what `start_runs` raises.
    """
    policy().check_change()
    store, corpus = Path(store), data_of(values["corpus"], values["read"], GIBBS)
    started, *others = start_cells(store, _cells(corpus, values, found), values["jobs"])
    return len(started), summary_of_start(started, *others)


def found_in(readings: Iterable[Reading], values: dict) -> Found:
    """The runs of the store that are those of the form, whoever started them: settings by label and seed, then the reference.

    A chain of cgs of any seed is one of the reference if it is to have, or has, enough iterations. Where runs with one name of
    the corpus have different tokens, those with the tokens of the newest.
    """
    called, wanted = names_of(values["corpus"]), labels(values)
    alike = [one for one in readings if one.spec is not None and _fits(one.spec, values, called)]
    alike = [
        one
        for one in alike
        if (one.spec.train, one.spec.test) == (alike[0].spec.train, alike[0].spec.test)
    ]
    settings: dict[tuple, Reading] = {}
    for one in alike:
        if one.spec.label() in wanted and one.spec.seed in _seeds(values):
            settings.setdefault(_place(one), one)
    chains = [
        one for one in alike if is_plain_gibbs(one.spec) and _is_long(one, n_reference(values))
    ]
    ordered = sorted(settings, key=lambda place: (wanted.index(place[0]), place[1]))
    return Found(
        [settings[place] for place in ordered],
        sorted(chains, key=lambda one: one.state != FINISHED),
    )


def of_corpus(readings: Iterable[Reading], values: dict) -> list[Reading]:
    """The runs of the store on the same corpus, however it was changed first, that are of the settings of the form."""
    called, wanted = names_of(values["corpus"]), labels(values)
    return [
        one
        for one in readings
        if one.spec is not None
        and one.spec.corpus in called
        and one.spec.label() in wanted
        and one.spec.test is not None
    ]


def progress_of(found: Found, values: dict) -> Progress:
    """How far the runs of the form are; the time left is that of the paces of those of their label that have one."""
    there = {_place(one): one for one in (*found.settings, *found.reference[:CHAINS])}
    wanted = {
        (label, seed): values["n_iterations"] for label in labels(values) for seed in _seeds(values)
    }
    wanted |= {(GIBBS, seed): n_reference(values) for seed in _seeds_of_reference(values, found)}
    runs = list(there.values())
    paces = {
        one.spec.label(): one.latest[ELAPSED] / one.latest[0] for one in runs if one.latest[0] > 0
    }
    usual = sum(paces.values()) / len(paces) if paces else 0.0
    reached = {place: one.status["iteration"] for place, one in there.items()}
    left = sum(
        paces.get(place[0], usual) * max(0, end - reached.get(place, 0))
        for place, end in wanted.items()
    )
    at_once = min(values["jobs"], os.cpu_count() or 1)
    ended = [one for one in runs if one.state == FINISHED]
    return Progress(
        len(wanted),
        len(ended),
        sum(reached[_place(one)] < wanted[_place(one)] for one in ended),
        sum(one.state in ALIVE for one in runs),
        left / at_once if paces else None,
        tuple(one.status["message"] for one in runs if one.state in (FAILED, LOST)),
    )


def _place(one: Reading) -> tuple[str, int]:
    return one.spec.label(), one.spec.seed


def _seeds(values: dict) -> range:
    """The seeds of each setting."""
    return range(values["seed"], values["seed"] + values["seeds"])


def _seeds_of_reference(values: dict, found: Found) -> list[int]:
    """The seeds of the chains of the reference: of those that are there, and others that no setting has."""
    taken = [one.spec.seed for one in found.reference[:CHAINS]]
    free = (seed for seed in range(_seeds(values).stop, LARGEST_SEED) if seed not in taken)
    return taken + [next(free) for _ in range(CHAINS - len(taken))]


def _settings(values: dict) -> Iterator[tuple[str, dict]]:
    """(engine, options) of each setting; nothing twice."""
    seen = set()
    for engine, given in values["options"].items():
        for own in combinations(given):
            if own.get("r") == 0:
                own = own | {"n_chains": 1}  # nothing is sampled
            if (key := (engine, repr(own))) not in seen:
                seen.add(key)
                yield engine, own


def _cells(corpus: Corpus, values: dict, found: Found) -> list[Planned]:
    """The chains of the reference, then the settings, seed by seed."""
    shared = {
        name: values[name]
        for name in (*names(SplitSettings), *model_fields(get_engine(GIBBS)))
        if name in values
    }
    reference = lay_out(
        corpus,
        {"seed": _seeds_of_reference(values, found)},
        GIBBS,
        n_iterations=n_reference(values),
        **shared,
    )
    specs, train, test = plan(
        corpus,
        list(_settings(values)),
        values["seeds"],
        seed=values["seed"],
        n_iterations=values["n_iterations"],
        **shared,
    )
    return reference + [
        Planned(spec, train, test) for spec in sorted(specs, key=lambda spec: spec.seed)
    ]


def _fits(spec: RunSpec, values: dict, called: set[str]) -> bool:
    """Is it a run on the data of the form, of its model, without a warm start?"""
    if (
        spec.corpus not in called
        or spec.test is None
        or spec.start
        or any(spec.model.get(name) != value for name, value in _model(values).items())
    ):
        return False
    changes = {
        name: values[name]
        for name, usual in (
            ("top_words", None),
            ("merge", 1),
            ("repeat", 1),
            ("singletons", "keep"),
        )
        if values[name] != usual
    }
    split = spec.split or {}
    return ("rows" in split and split == {"rows": split["rows"], **changes}) or split == {
        "fraction": values["holdout"],
        "seed": 0,
        "per": values["holdout_per"],
        **changes,
    }


def _is_long(one: Reading, n_iterations: int) -> bool:
    """Has the chain so many iterations, or will it have them?"""
    return one.status["iteration"] >= n_iterations or (
        one.state not in (FINISHED, FAILED, LOST) and one.status["n_iterations"] >= n_iterations
    )


def _model(values: dict) -> dict:
    """The model of all runs, as their specs have it."""
    return {name: values[name] for name in model_fields(get_engine(GIBBS))}


def _one_or_all(values: list):
    return values[0] if len(values) == 1 else values
