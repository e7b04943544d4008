"""Lay out a grid of settings as cells: every combination of its values, with the spec and the corpora of its run."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.options import named_options, split_options, takes
from workbench.errors import shown
from workbench.runs.execution.compare import is_option, plan
from workbench.runs.execution.memory_check import Planned
from workbench.runs.settings import DEFAULT_HYBRID, LARGEST_SEED, SplitSettings, names
from workbench.runs.spec import SpecError, meant_or_all, whole

SETTINGS = (
    "engine",
    "n_topics",
    "alpha",
    "beta",
    "n_iterations",
    "seed",
    "burn_in",
    *names(SplitSettings),
)
"""Keys of a grid that every engine has; the others are options of an engine."""
SHORT = {"topics": "n_topics", "iterations": "n_iterations"}
"""Short names of keys, as on the command line."""


def lay_out(
    corpus: Corpus,
    grid: dict,
    engine: str = DEFAULT_HYBRID,
    seeds: int = 1,
    options: dict | None = None,
    **settings,
) -> list[Planned]:
    """Return the cells of a grid, the last key varying fastest; arguments and errors are those of `workbench.sweep`."""
    axes = grid_axes(grid, engine)
    if whole("seeds", seeds, 1) > 1:
        _refuse_twice(axes, {"seed": seeds})
        first = whole("seed", settings.pop("seed", 0), 0, LARGEST_SEED)
        axes["seed"] = list(range(first, first + seeds))
    _refuse_twice(axes, settings | (options or {}))
    outer = {key: values for key, values in axes.items() if key in SETTINGS and key != "engine"}
    inner = {key: values for key, values in axes.items() if key not in outer}
    cells: dict[tuple, Planned] = {}
    for values in product(*outer.values()):  # one plan, so one split, for all engines and options
        chosen, places = dict(zip(outer, values, strict=True)), {}
        for inner_values in product(*inner.values()):
            key_values = dict(zip(inner, inner_values, strict=True))
            name = key_values.get("engine", engine)
            chosen_engine = get_engine(name)
            shared, own_options = (
                {key: value for key, value in choice.items() if takes(chosen_engine, key, value)}
                for choice in (options or {}, key_values)
            )
            # two spellings of a value are one run
            run = name, repr(split_options(chosen_engine, shared | own_options))
            places.setdefault(run, (name, own_options, []))[2].append(chosen | key_values)
        pairs = [(name, own_options) for name, own_options, _ in places.values()]
        specs, train, test = plan(corpus, pairs, options=options, **settings | chosen)
        for spec, (*_, cells_of_run) in zip(specs, places.values(), strict=True):
            for key_values in cells_of_run:
                key_values = {key: key_values[key] for key in axes}
                cells[tuple(key_values.values())] = Planned(spec, train, test, key_values)
    return [cells[values] for values in product(*axes.values())]


def grid_axes(grid: dict, engine: str) -> dict[str, list]:
    """Return the distinct values of each key, in order, by its full name; raise SpecError or OptionError."""
    if not isinstance(grid, dict) or not grid:
        raise SpecError(f"a grid is a dict of lists, as {{'n_topics': [10, 20]}}; got {grid!r}")
    axes = {}
    for key, values in grid.items():
        name = str(key).replace("-", "_")
        name = SHORT.get(name, name)
        if name in axes:
            raise SpecError(f"the grid has '{name}' twice; put its values into one list")
        several = isinstance(values, Iterable) and not isinstance(values, (str, dict))
        axes[name] = list(
            dict.fromkeys(_plain(value) for value in (values if several else [values]))
        )
        if not axes[name]:
            raise SpecError(f"'{name}' has no value in the grid; give it at least one")
    engines = [get_engine(name) for name in axes.get("engine", [engine])]
    named = {name: field.name for each in engines for name, field in named_options(each).items()}
    axes = {named.get(key, key): values for key, values in axes.items()}
    known = [*SETTINGS, *dict.fromkeys(named.values())]
    for key, values in axes.items():
        if key not in SETTINGS and not is_option(key, values, engines):
            hint = meant_or_all(key, known, also=SHORT)
            raise SpecError(
                f"no key '{shown(key)}' for a grid of {', '.join(each.name for each in engines)}; {hint}"
            )
    return axes


def _refuse_twice(axes: dict, beside: dict) -> None:
    """Raise SpecError where a key of the grid is also a separate argument."""
    for key in axes:
        if key in beside:
            raise SpecError(f"'{key}' is both in the grid and a separate argument; leave one out")


def _plain(value):
    """Return a number for "10", ".1" or "inf", None for "none", a tuple for a list; any other value unchanged."""
    if isinstance(value, (list, np.ndarray)):
        return tuple(_plain(one) for one in value)
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, str):
        return value
    if value == "none":
        return None
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
