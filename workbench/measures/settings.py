"""The settings of runs by name, and those in which runs differ."""

import math
from collections.abc import Iterable
from functools import lru_cache

from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.runs.spec import RunSpec

REPEATED = ("seed", "split")
"""Settings in which runs differ that are repetitions of each other."""
GENERAL = ("engine", "corpus", "K", "seed", "split", "alpha", "beta", "iterations")
"""Settings that are no options of an engine; split is the seed of the held-out split."""


def settings_of(spec: RunSpec) -> dict[str, float | str]:
    """Setting → the value that a run has, a number or a text: those of GENERAL, and each option of its engine by name."""
    about = options_of(get_engine(spec.engine)) if spec.engine in ENGINES else {}
    model, values = (
        spec.model,
        {name: spec.options.get(name, field.default) for name, field in about.items()},
    )
    given = {
        "engine": spec.engine,
        "corpus": spec.corpus,
        "K": model.get("n_topics"),
        "seed": spec.seed,
        "split": (spec.split or {}).get("seed"),
        "alpha": model.get("alpha"),
        "beta": model.get("beta"),
        "iterations": spec.length,
    }
    return {name: _plain(value) for name, value in (values | given).items() if value is not None}


def differing(settings: Iterable[dict]) -> list[str]:
    """The settings in which runs that have them differ: those of GENERAL first, then the options."""
    found: dict[str, set] = {}
    for own in settings:
        for name, value in own.items():
            found.setdefault(name, set()).add(value)
    several = [name for name, values in found.items() if len(values) > 1]
    return sorted(
        several, key=lambda name: GENERAL.index(name) if name in GENERAL else len(GENERAL)
    )


@lru_cache
def every_setting() -> frozenset[str]:
    """The name of every setting that a run of any engine can have."""
    return frozenset(GENERAL).union(*(options_of(get_engine(engine)) for engine in ENGINES))


def _plain(value) -> float | str:
    """A number as it is, a whole one as int, all else as text: infinity as inf."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return int(value) if value == int(value) else value
