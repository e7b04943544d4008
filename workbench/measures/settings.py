"""Settings of runs by name, and those in which runs differ."""

import math
from collections.abc import Iterable
from functools import lru_cache

from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.runs.spec import RunSpec

REPEATED = ("seed", "split")
"""Settings in which replicates differ."""
GENERAL = ("engine", "corpus", "K", "seed", "split", "alpha", "beta", "iterations")
"""Settings that are not options of an engine; split is the seed of the held-out split."""


def settings_of(spec: RunSpec) -> dict[str, float | str]:
    """Return setting → value of a run, a number or a text: those of GENERAL, and each option of its engine."""
    options = options_of(get_engine(spec.engine)) if spec.engine in ENGINES else {}
    model, values = (
        spec.model,
        {name: spec.options.get(name, field.default) for name, field in options.items()},
    )
    general = {
        "engine": spec.engine,
        "corpus": spec.corpus,
        "K": model.get("n_topics"),
        "seed": spec.seed,
        "split": (spec.split or {}).get("seed"),
        "alpha": model.get("alpha"),
        "beta": model.get("beta"),
        "iterations": spec.length,
    }
    return {name: _plain(value) for name, value in (values | general).items() if value is not None}


def differing(settings: Iterable[dict]) -> list[str]:
    """Return the settings in which the runs that have them differ: those of GENERAL first, then the options."""
    values_of: dict[str, set] = {}
    for run_settings in settings:
        for name, value in run_settings.items():
            values_of.setdefault(name, set()).add(value)
    differing_names = [name for name, values in values_of.items() if len(values) > 1]
    return sorted(
        differing_names, key=lambda name: GENERAL.index(name) if name in GENERAL else len(GENERAL)
    )


@lru_cache
def every_setting() -> frozenset[str]:
    """Return the names of all settings that a run of any engine can have."""
    return frozenset(GENERAL).union(*(options_of(get_engine(engine)) for engine in ENGINES))


def _plain(value: object) -> float | str:
    """Return a number as it is (a whole one as int), all else as text: infinity as inf."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return int(value) if value == int(value) else value
