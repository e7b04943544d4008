"""Run every combination of a grid of settings, each distinct run once, side by side in the store.

The runs are those of `workbench.runs.execution.compare`, in worker processes; nothing is kept but what they write.
So a sweep that was interrupted, or is requested again with a larger grid, continues with the runs that are there.
"""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.runs.execution.compare import at_work_on, failures, side_by_side, work_through
from workbench.runs.execution.forecast import forecast
from workbench.runs.execution.grid import grid_axes, lay_out
from workbench.runs.execution.memory_check import Planned, check_room, unfinished
from workbench.runs.execution.run import Run, longest_of_each, make_runs
from workbench.runs.execution.warm_start import warm_start_from
from workbench.runs.input_data import data_from, taken
from workbench.runs.progress import bar
from workbench.runs.settings import DEFAULT_HYBRID, RunSettings, of
from workbench.runs.spec import RunSpec, SpecError, make_spec, whole
from workbench.runs.store.places import default_store
from workbench.runs.store.status import FINISHED


def sweep(
    corpus,
    grid: dict,
    engine: str = DEFAULT_HYBRID,
    seeds: int = 1,
    store=None,
    jobs: int = 1,
    progress: bool = True,
    warm: bool = False,
    client=None,
    **settings,
) -> xr.Dataset:
    """Run an engine with every combination of the values of a grid.

    Parameters
    ----------
    corpus : Corpus, or what `workbench.fit` takes
        Each run holds out a part of it, as in `workbench.compare`.
    grid : dict
        Lists of values: ``{"r": [0, 1, 2, "inf"], "n_topics": [10, 20]}``. A key is a setting (see
        `workbench.runs.execution.grid.SETTINGS`) or an option of an engine; an engine that lacks the option has one
        run, which stands in all those cells.
    engine : str
        Of every run, unless the grid has a key ``engine``.
    seeds : int
        So many inference seeds, counting up; the same as a key ``seed``.
    store : path, optional
        Where the runs are kept and found again; ``WORKBENCH_STORE`` or ``./runs`` by default.
    jobs : int
        Runs side by side.
    warm : bool
        Begin each run from the last counts of the run that differs in having the next smaller number of topics of the
        grid, padded with empty ones; the smallest begin as they would otherwise.
    client : distributed.Client, address of a scheduler, or "local", optional
        The workers of this cluster compute the runs, one on each of their threads ("local": one process for each processor of
        this machine); they must share the store. ``jobs`` is then left out.
    **settings
        What the grid does not vary; see `workbench.compare`.

    Returns
    -------
    xarray.Dataset
        As `workbench.compare` gives it, with a place along ``run`` for each cell (its run up to the cell's
        iterations). The keys of the grid and ``state`` are coordinates along it, and the grid is complete:
        ``ds.set_index(run=[*grid]).unstack("run")`` gives each key a dim of its own. Of a run that failed
        there is what it had committed, and a warning.

    Raises
    ------
    SpecError, OptionError, ModelError, CorpusError, StoreError, ClusterError
    """
    whole("jobs", jobs, 1)
    corpus = data_from(
        corpus, grid.get("engine", engine) if isinstance(grid, dict) else engine, **taken(settings)
    )
    home = default_store() if store is None else Path(store)
    cells, runs = [], []
    with at_work_on(client, home, jobs) as workers:
        for rung in rungs(corpus, grid, engine, seeds, home, warm, workers.jobs_here, **settings):
            opened = make_runs(home, rung, workers.jobs_here)
            cells, runs = [*cells, *rung], [*runs, *opened]
            if progress:
                print(forecast(rung, opened, workers.jobs, workers.n_processors), file=sys.stderr)
            run_cells(opened, workers.jobs, progress, workers.client)
    for why in failures(runs):
        warnings.warn(why, stacklevel=2)
    return tabulate(cells, runs)


def rungs(
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
    """Yield the cells of a grid that can run side by side: all at once, or in a warm sweep those of each number of topics.

    In a warm sweep, smallest number first, the cells of a number begin from the runs of the number before, which must have
    ended when the next are taken. No cell begins from a run that did not finish. Where ``jobs`` runs do not fit into memory,
    none is started.
    """
    if not warm:
        yield lay_out(corpus, grid, engine, seeds, store=store, start=start, **settings)
        return
    cold = cold_rungs(corpus, grid, engine, seeds, store=store, start=start, **settings)
    check_room(unfinished(store, longest_of_each([cell for cells in cold for cell in cells])), jobs)
    yield from warm_rungs(cold, store)


def cold_rungs(
    corpus: Corpus, grid: dict, engine: str, seeds: int, **settings
) -> list[list[Planned]]:
    """Return the cells of a warm sweep by number of topics, smallest first, before they begin from each other."""
    axes = grid_axes(grid, engine)
    if "n_topics" not in axes:
        raise SpecError(
            "a warm sweep goes from few topics to many; give topics in the grid, as topics=10,20,40"
        )
    if "n_iterations" in axes:
        raise SpecError(
            "a warm sweep has one number of iterations; take iterations out of the grid"
        )
    numbers = sorted(whole("topics", n_topics, 1) for n_topics in axes["n_topics"])
    cold = [lay_out(corpus, axes | {"n_topics": [n]}, engine, seeds, **settings) for n in numbers]
    if not all(cell.spec.parts()[1].warm_starts for cells in cold for cell in cells):
        raise SpecError("a run of a network cannot begin from another run; leave warm out")
    return cold


def warm_rungs(cold: list[list[Planned]], store: Path) -> Iterator[list[Planned]]:
    """Yield the cells of `cold_rungs`, each with the warm start from the run with the next smaller number of topics."""
    ended: dict[tuple, Run] = {}
    for number, cells in enumerate(cold):
        cell_at = {
            tuple(value for key, value in cell.key_values.items() if key != "n_topics"): cell
            for cell in cells
        }
        if number:
            cell_at = {
                place: cell._replace(spec=warmed(cell.spec, ended[place], cell.train, cell.test))
                for place, cell in cell_at.items()
                if place in ended and ended[place].state == FINISHED
            }
        if cell_at:
            yield list(cell_at.values())
        ended = {place: Run(store / cell.spec.name) for place, cell in cell_at.items()}


def warmed(spec: RunSpec, run, train: Corpus, test: Corpus | None) -> RunSpec:
    """Return the spec of the same run with a warm start from the last counts of another."""
    warm_start = warm_start_from(run, train, spec.n_topics)
    settings = of(RunSettings, vars(spec)) | {"split": spec.split}
    return make_spec(
        train,
        spec.engine,
        test=test,
        options=spec.options,
        start=warm_start,
        **settings,
        **spec.model,
    )


def run_cells(runs: list[Run], jobs: int, progress: bool = True, client=None) -> None:
    """Compute the runs to their ends, with one bar for all; a failure does not stop the others.

    Ctrl-C stops them cleanly and is raised again; `run_cells` then resumes them.
    """
    distinct = list(dict.fromkeys(runs))
    reached, ends = (
        {run: run.status()[what] for run in distinct} for what in ("iteration", "n_iterations")
    )
    finished = {run for run in distinct if run.state == FINISHED}
    # engines differ in pace: the mean over all, without smoothing, says more about the time left than the last second
    with bar(None, sum(ends.values()), progress, sum(reached.values()), smoothing=0) as line:

        def on_progress(moved: list[Run]) -> None:
            before = sum(reached.values())
            for run in moved:
                status = run.status()
                reached[run] = max(reached[run], status["iteration"])
                if status["state"] == FINISHED:
                    finished.add(run)
                    line.total -= ends[run] - reached[run]  # of a run that has settled early
                    ends[run] = reached[run]
            line.set_description_str(f"{len(finished)} of {len(distinct)} runs", refresh=False)
            line.update(sum(reached.values()) - before)

        work_through(distinct, jobs, on_progress, client)


def tabulate(cells: list[Planned], runs: list[Run]) -> xr.Dataset:
    """Join the cells along ``run``, with the keys of the grid and ``state`` as coordinates."""
    parts = []
    for cell, run in zip(cells, runs, strict=True):
        rows = run.progress()
        rows = rows.isel(iteration=rows["iteration"].values <= cell.spec.n_iterations)
        spec = run.spec  # its end may have come early, by its rule
        parts.append(
            rows.assign_attrs(
                spec=spec.lasting(
                    min(spec.n_iterations, cell.spec.n_iterations), spec.rule
                ).to_json()
            )
        )
    states = np.array([run.state for run in runs], dtype=object)
    keys = {
        key: ("run", _column([cell.key_values[key] for cell in cells]))
        for key in cells[0].key_values
    }
    return side_by_side(parts).assign_coords(state=("run", states), **keys)


def _column(values: list) -> np.ndarray:
    """Return a column of numbers as numbers, of other values as text."""
    if all(isinstance(value, (int, float)) for value in values):
        return np.array(values)
    return np.array(
        [",".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in values],
        dtype=object,
    )
