"""Sweep a grid of settings: each combination is a cell, and each distinct cell is run once, in parallel, in the store.

Runs are computed in worker processes as by `workbench.runs.execution.compare`; nothing else is stored. So a sweep that was
interrupted, or is requested again with a larger grid, continues with the existing runs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.corpus.corpus import Documents
from workbench.engines import engine_called, get_engine
from workbench.engines.options import named_options, split_options, takes
from workbench.errors import nearest_or_all, shown
from workbench.numbers import parse_number
from workbench.runs.execution.compare import (
    Workers,
    at_work_on,
    compare,
    failures,
    is_option,
    plan,
    side_by_side,
    up_to,
    work_through,
)
from workbench.runs.execution.control import giving
from workbench.runs.execution.fit import warm_start_from
from workbench.runs.execution.forecast import forecast
from workbench.runs.execution.memory_check import Planned, check_room, unfinished
from workbench.runs.execution.run import Run, longest_of_each, make_runs
from workbench.runs.input_data import data_from, pop_reading_options, separate_options
from workbench.runs.progress import bar
from workbench.runs.settings import (
    DEFAULT_HYBRID,
    LARGEST_SEED,
    RunSettings,
    SplitSettings,
    names,
    select_settings,
    signature_with,
)
from workbench.runs.spec import RunSpec, SpecError, make_spec
from workbench.runs.store.places import default_store
from workbench.runs.store.status import FINISHED

if TYPE_CHECKING:
    from typing import Unpack

    from workbench.choices import DataName, EngineName, SweepSettings

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
"""Keys of a grid that are settings of every run; other keys are options of an engine."""
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
    """Return a planned run for each combination of a grid's values, the last key varying fastest; arguments as `sweep`."""
    axes = grid_axes(grid, engine)
    if SpecError.whole("seeds", seeds, 1) > 1:
        _refuse_twice(axes, {"seed": seeds})
        first = SpecError.whole("seed", settings.pop("seed", 0), 0, LARGEST_SEED)
        axes["seed"] = list(range(first, first + seeds))
    _refuse_twice(axes, settings | (options or {}))
    outer = {key: values for key, values in axes.items() if key in SETTINGS and key != "engine"}
    inner = {key: values for key, values in axes.items() if key not in outer}
    cells: dict[tuple, Planned] = {}
    for values in product(*outer.values()):  # one plan, so one split, for all engines and options
        outer_values, cells_by_run = dict(zip(outer, values, strict=True)), {}
        for inner_values in product(*inner.values()):
            key_values = dict(zip(inner, inner_values, strict=True))
            name = key_values.get("engine", engine)
            chosen_engine = get_engine(name)
            common_options, own_options = (
                {key: value for key, value in choice.items() if takes(chosen_engine, key, value)}
                for choice in (options or {}, key_values)
            )
            # two spellings of a value give the same run
            run_key = name, repr(split_options(chosen_engine, common_options | own_options))
            cells_by_run.setdefault(run_key, (name, own_options, []))[2].append(
                outer_values | key_values
            )
        pairs = [(name, own_options) for name, own_options, _ in cells_by_run.values()]
        specs, train, test = plan(corpus, pairs, options=options, **settings | outer_values)
        for spec, (*_, cells_of_run) in zip(specs, cells_by_run.values(), strict=True):
            for key_values in cells_of_run:
                key_values = {key: key_values[key] for key in axes}
                cells[tuple(key_values.values())] = Planned(spec, train, test, key_values)
    return [cells[values] for values in product(*axes.values())]


def grid_axes(grid: dict, engine: str) -> dict[str, list]:
    """Return the distinct values of each key of a grid, keyed by full name and in order.

    Raises SpecError or OptionError for an unknown key or an invalid value.
    """
    if not isinstance(grid, dict) or not grid:
        raise SpecError(f"a grid is a dict of lists, as {{'n_topics': [10, 20]}}; got {grid!r}")
    axes = {}
    for key, values in grid.items():
        name = str(key).replace("-", "_")
        name = SHORT.get(name, name)
        if name in axes:
            raise SpecError(f"the grid has '{name}' twice; put its values into one list")
        is_several = isinstance(values, Iterable) and not isinstance(values, (str, dict))
        axes[name] = list(
            dict.fromkeys(_plain(value) for value in (values if is_several else [values]))
        )
        if not axes[name]:
            raise SpecError(f"'{name}' has no value in the grid; give it at least one")
    if "engine" in axes:
        axes["engine"] = [*dict.fromkeys(map(engine_called, axes["engine"]))]
    engines = [get_engine(name) for name in axes.get("engine", [engine])]
    present = {
        name: field.name
        for model_engine in engines
        for name, field in named_options(model_engine).items()
    }
    axes = {present.get(key, key): values for key, values in axes.items()}
    keys = [*SETTINGS, *dict.fromkeys(present.values())]
    for key, values in axes.items():
        if key not in SETTINGS and not is_option(key, values, engines):
            hint = nearest_or_all(key, keys, extra_names=SHORT)
            raise SpecError(
                f"no key '{shown(key)}' for a grid of {', '.join(model_engine.name for model_engine in engines)}; {hint}"
            )
    return axes


def _refuse_twice(axes: dict, arguments: dict) -> None:
    """Raise SpecError if a key of the grid is also given as a separate argument."""
    for key in axes:
        if key in arguments:
            raise SpecError(f"'{key}' is both in the grid and a separate argument; leave one out")


def _plain(value: object):
    """Convert a grid's value: numeric text ("10", ".1", "inf") to a number, "none" to None, a list to a tuple."""
    if isinstance(value, (list, np.ndarray)):
        return tuple(_plain(item) for item in value)
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, str):
        return value
    return None if value == "none" else parse_number(value)


def sweep(
    corpus: DataName | Documents,
    grid: dict | None = None,
    engine: EngineName | str | tuple[str, dict] = DEFAULT_HYBRID,
    seeds: int = 1,
    store: str | Path | None = None,
    jobs: int = 1,
    progress: bool = True,
    warm: bool = False,
    client: object = None,
    **settings: Unpack[SweepSettings],
) -> xr.Dataset:
    """Run an engine with every combination of the values of a grid.

    Parameters
    ----------
    corpus : Corpus, or what `workbench.fit` takes
        Each run holds out a part of it, as in `workbench.compare`.
    grid : dict
        Key → list of values: ``{"r": [0, 1, 2, "inf"], "n_topics": [10, 20]}``. A key is a setting (see
        `workbench.runs.execution.sweep.SETTINGS`) or an option of an engine; an engine without the option has one
        run for all values.
    engine : str
        Engine of every run, unless the grid has a key ``engine``.
    seeds : int
        Number of inference seeds, counting up; the same as a key ``seed``.
    store : path, optional
        Store of the runs, in which existing ones are reopened; ``WORKBENCH_STORE`` or ``./runs`` by default.
    jobs : int
        Number of runs computed in parallel.
    warm : bool
        Start each run from the last counts of the run with the next smaller number of topics in the grid and otherwise the same
        settings, padded with empty topics; runs with the smallest number start at random.
    client : distributed.Client, address of a scheduler, or "local", optional
        The workers of this cluster compute the runs, one on each of their threads ("local": one process per processor of
        this machine); they must share the store. ``jobs`` must then be left out.
    **settings
        Settings that the grid does not vary; see `workbench.compare`.

    Returns
    -------
    xarray.Dataset
        As from `workbench.compare`, with one entry along ``run`` for each cell (its run up to the cell's
        iterations). The keys of the grid and ``state`` are coordinates along ``run``, and the grid is complete:
        ``ds.set_index(run=[*grid]).unstack("run")`` gives each key a dim of its own. For a run that failed, a warning is
        given, and the Dataset has its committed iterations.

    Raises
    ------
    SpecError, OptionError, ModelError, CorpusError, StoreError, ClusterError
    """
    SpecError.whole("jobs", jobs, 1)
    grid_engines = grid.get("engine", ()) if isinstance(grid, dict) else ()
    engine, own_settings = separate_options(sweep, engine, settings, grid_engines)
    corpus = data_from(corpus, grid_engines or engine, **pop_reading_options(own_settings))
    home = default_store() if store is None else Path(store)
    with at_work_on(client, home, jobs) as workers:
        groups = groups_by_n_topics(
            corpus, grid, engine, seeds, home, warm, workers.jobs_here, **own_settings
        )
        computed = []
        with giving(lambda _: tabulate(*zip(*computed, strict=True))):
            for cell_and_run in run_groups(groups, home, workers, progress, repr(corpus)):
                computed.append(cell_and_run)
        cells, runs = map(list, zip(*computed, strict=True))
    for failure in failures(runs):
        warnings.warn(failure, stacklevel=2)
    return tabulate(cells, runs)


sweep.__signature__ = signature_with(sweep, compare, apart_from=("engines",))


def groups_by_n_topics(
    corpus: Corpus,
    grid: dict,
    engine: str,
    seeds: int,
    store: Path,
    warm: bool,
    jobs: int,
    start=None,
    **settings,
) -> Iterator[list[Planned]]:
    """Yield groups of planned runs to compute in parallel: a single group, or in a warm sweep one for each number of topics.

    In a warm sweep the smallest number comes first, and each run starts from the run with the next smaller number, which must
    have ended when the next group is requested. A run whose predecessor did not finish is left out. Raises SpecError, before
    the first group, if ``jobs`` runs do not fit into memory.
    """
    if not warm:
        yield lay_out(corpus, grid, engine, seeds, store=store, start=start, **settings)
        return
    cold = cold_groups(corpus, grid, engine, seeds, store=store, start=start, **settings)
    check_room(unfinished(store, longest_of_each([cell for cells in cold for cell in cells])), jobs)
    yield from warm_groups(cold, store)


def cold_groups(
    corpus: Corpus, grid: dict, engine: str, seeds: int, **settings
) -> list[list[Planned]]:
    """Return the planned runs of a warm sweep grouped by number of topics, smallest first, none started from another."""
    axes = grid_axes(grid, engine)
    if "n_topics" not in axes:
        raise SpecError(
            "a warm sweep goes from few topics to many; give topics in the grid, as topics=10,20,40"
        )
    if "n_iterations" in axes:
        raise SpecError(
            "a warm sweep has one number of iterations; take iterations out of the grid"
        )
    numbers = sorted(SpecError.whole("topics", n_topics, 1) for n_topics in axes["n_topics"])
    groups = [lay_out(corpus, axes | {"n_topics": [n]}, engine, seeds, **settings) for n in numbers]
    if not all(cell.spec.parts()[1].warm_starts for cells in groups for cell in cells):
        raise SpecError("a run of a network cannot begin from another run; leave warm out")
    return groups


def warm_groups(groups: list[list[Planned]], store: Path) -> Iterator[list[Planned]]:
    """Yield the planned runs of each number of topics, smallest first; each starts from the run with the next smaller number.

    groups : the same runs before they start from each other, as `cold_groups` returns them
    """
    previous_runs: dict[tuple, Run] = {}
    for number, cells in enumerate(groups):
        cell_by_key = {
            tuple(value for key, value in cell.key_values.items() if key != "n_topics"): cell
            for cell in cells
        }
        if number:
            cell_by_key = {
                cell_key: cell._replace(
                    spec=warmed(cell.spec, previous_runs[cell_key], cell.train, cell.test)
                )
                for cell_key, cell in cell_by_key.items()
                if cell_key in previous_runs and previous_runs[cell_key].state == FINISHED
            }
        if cell_by_key:
            yield list(cell_by_key.values())
        previous_runs = {
            cell_key: Run(store / cell.spec.name) for cell_key, cell in cell_by_key.items()
        }


def warmed(spec: RunSpec, run, train: Corpus, test: Corpus | None) -> RunSpec:
    """Return the spec with a warm start from the last counts of ``run``."""
    warm_start = warm_start_from(run, train, spec.n_topics)
    settings = select_settings(RunSettings, vars(spec)) | {"split": spec.split}
    return make_spec(
        train,
        spec.engine,
        test=test,
        options=spec.options,
        start=warm_start,
        **settings,
        **spec.model,
    )


def run_groups(
    groups: Iterable[list[Planned]], store: Path, workers: Workers, progress: bool, description: str
) -> Iterator[tuple[Planned, Run]]:
    """Compute one group of planned runs after the other; yield (planned run, run) of all runs of a group before it is computed.

    groups : see `groups_by_n_topics`
    description : text before the forecast of each group
    """
    for cells in groups:
        runs = make_runs(store, cells, workers.jobs_here)
        yield from zip(cells, runs, strict=True)
        if progress:
            is_local = workers.client is None
            print(
                f"{description}: {forecast(cells, runs, workers.jobs, is_local)}", file=sys.stderr
            )
        run_cells(runs, workers.jobs, progress, workers.client)


def run_cells(runs: list[Run], jobs: int, progress: bool = True, client=None) -> None:
    """Compute the runs to their ends, with one progress bar for all; if one fails, the others continue.

    Ctrl-C stops the runs cleanly and is raised; calling `run_cells` again resumes them.
    """
    distinct = list(dict.fromkeys(runs))
    iterations, ends = (
        {run: run.status()[field] for run in distinct} for field in ("iteration", "n_iterations")
    )
    finished = {run for run in distinct if run.state == FINISHED}
    # engines differ in speed: the overall mean, without smoothing, predicts the time left better than the last second
    with bar(
        None, sum(ends.values()), progress, sum(iterations.values()), smoothing=0
    ) as progress_bar:

        def on_progress(changed_runs: list[Run]) -> None:
            n_before = sum(iterations.values())
            for run in changed_runs:
                status = run.status()
                iterations[run] = max(iterations[run], status["iteration"])
                if status["state"] == FINISHED:
                    finished.add(run)
                    progress_bar.total -= ends[run] - iterations[run]  # its stop rule ended the run
                    ends[run] = iterations[run]
            progress_bar.set_description_str(
                f"{len(finished)} of {len(distinct)} runs", refresh=False
            )
            progress_bar.update(sum(iterations.values()) - n_before)

        work_through(distinct, jobs, on_progress, client)


def tabulate(cells: list[Planned], runs: list[Run]) -> xr.Dataset:
    """Return one Dataset of all runs of a sweep along the dim ``run``, with the keys of the grid as coordinates."""
    parts = [up_to(run, cell.spec.n_iterations) for cell, run in zip(cells, runs, strict=True)]
    keys = {
        key: ("run", _column([cell.key_values[key] for cell in cells]))
        for key in cells[0].key_values
    }
    return side_by_side(parts).assign_coords(keys)


def _column(values: list) -> np.ndarray:
    """Return the values of a grid's key as an array, of numbers if all are numbers, else of texts."""
    if all(isinstance(value, (int, float)) for value in values):
        return np.array(values)
    return np.array(
        [",".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in values],
        dtype=object,
    )
