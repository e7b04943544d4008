"""Effective sample sizes of samplers, in total and per second."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.engines import get_engine
from workbench.measures.selection import (
    MeasureError,
    Runs,
    attributes,
    each_run,
    grouped,
    labels_of,
    spec_of,
)
from workbench.models import VARIABLES
from workbench.models.stick_breaking.scores import GAINS, HITS

AVERAGED = (
    "test_perplexity",
    "test_perplexity_average",
    "test_perplexity_by_document",
    "test_perplexity_joint",
)
"""Perplexities of running averages, which depend on all earlier iterations and so are no draws of a chain."""
NO_STATE = (
    *AVERAGED,
    "elapsed",
    "cpu_time",
    "updates",
    "steps",
    "scan",
    "change",
    "move",
    "move_accepted",
    "move_gain",
    "move_from",
    "move_to",
    *(variable.name for scores in (GAINS, HITS) for variable in scores.variables),
)
"""Recorded numbers that are no functions of the sampled state."""
STATE = tuple(
    name
    for name, variable in VARIABLES.items()
    if variable.dims == ("iteration",) and name not in NO_STATE
)
"""Recorded numbers that are functions of the sampled state alone."""
FEWEST = 4
"""Smallest number of draws of a chain, as estimates compare its halves."""


class Chains(NamedTuple):
    """Runs of one label on the same data, cut to common iterations after burn-in."""

    runs: list[xr.Dataset]
    between: int  # iterations from one record to the next
    # CPU time of all of them, from the end of burn-in to the last of these iterations
    seconds: float

    def effective(self, name: str) -> float:
        """Return the effective sample size of a recorded scalar; NaN if it was not recorded."""
        return (
            _effective(np.stack([run[name].values for run in self.runs]))
            if name in self.runs[0]
            else np.nan
        )


def effective_samples(runs: Runs) -> xr.Dataset:
    """Return effective sample sizes after burn-in, in total and per CPU second.

    Runs of one label with the same training and test tokens are chains of one estimate for quantities that do not depend on the
    numbering of topics. They are cut to the shortest chain; chains that disagree have fewer effective samples. A label with
    several splits has a row for each.

    Dims ``label`` and ``quantity`` (``log_joint``, ``test_perplexity_state`` and other recorded numbers of the state):

    - ``effective_samples``: NaN for a quantity that is not recorded or constant.
    - ``per_second``: the same divided by the CPU seconds of inference after burn-in of all chains (``cpu_time``).
    - ``n_chains``; ``n_draws``, the recorded iterations of each chain; ``iterations_between`` two of them. The iterations
      between records count for the time alone.

    Dims ``run`` and ``topic``:

    - ``of_topic``: effective samples of the tokens of each topic (``n_k``), separately for each run, as topic 3 of one chain is
      not topic 3 of another; NaN for a topic of constant size.

    The number is too high for a chain that stays in one mode; only several seeds show this. Raises MeasureError for a run
    without sampled tokens, or with fewer than 4 recorded iterations after burn-in.

    Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021), section 3.2: of the mean, by autocorrelations of split chains.
    """
    runs = each_run(runs)
    by_label = chains_by_label(runs)
    rows = [chains_of(chains) for _, chains in by_label]
    names = [name for name in STATE if any(name in run for run in runs)]
    table = np.array([[row.effective(name) for name in names] for row in rows])
    seconds = np.array([row.seconds for row in rows])[:, None]
    of_topic = np.full(
        (len(runs), max(run["n_k"].shape[1] if "n_k" in run else 0 for run in runs)), np.nan
    )
    for row_index, run in enumerate(runs):
        if "n_k" in run:
            sizes = run["n_k"].values[after_burn_in(run, spec_of(run).record_every)].T
            of_topic[row_index, : len(sizes)] = [
                _effective(topic_draws[None]) for topic_draws in sizes
            ]
    return xr.Dataset(
        {
            "effective_samples": (
                ("label", "quantity"),
                table,
                attributes("effective samples of its mean"),
            ),
            "per_second": (
                ("label", "quantity"),
                np.divide(table, seconds, out=np.full_like(table, np.nan), where=seconds > 0),
                attributes("effective samples for each CPU second after burn-in", "1/s"),
            ),
            "n_chains": (
                "label",
                [len(row.runs) for row in rows],
                attributes("runs that are its chains"),
            ),
            "n_draws": (
                "label",
                [row.runs[0].sizes["iteration"] for row in rows],
                attributes("recorded iterations after burn-in of each chain"),
            ),
            "iterations_between": (
                "label",
                [row.between for row in rows],
                attributes("iterations from one recorded to the next"),
            ),
            "of_topic": (
                ("run", "topic"),
                of_topic,
                attributes("effective samples of the tokens of a topic"),
            ),
        },
        {
            "label": np.array([label for label, _ in by_label], dtype=object),
            "quantity": np.array(names, dtype=object),
            "run": np.array([run.attrs["name"] for run in runs], dtype=object),
            "topic": np.arange(of_topic.shape[1]),
        },
    )


def chains_by_label(runs: Runs) -> list[tuple[str, list[xr.Dataset]]]:
    """Yield (label, runs) for all runs that have this label and the same training and test tokens."""
    runs = each_run(runs)
    keys = [
        (label, spec_of(run).train, spec_of(run).test)
        for label, run in zip(labels_of(runs), runs, strict=True)
    ]
    return [(label, chains) for (label, *_), chains in grouped(keys, runs).items()]


def chains_of(runs: list[xr.Dataset]) -> Chains:
    """Return the runs cut to evenly spaced iterations after burn-in that every run recorded."""
    between = int(np.lcm.reduce([spec_of(run).record_every for run in runs]))
    evenly_spaced = [run.isel(iteration=after_burn_in(run, between)) for run in runs]
    n = min(run.sizes["iteration"] for run in evenly_spaced)
    cut = [run.isel(iteration=slice(n)) for run in evenly_spaced]
    return Chains(
        cut, between, sum(_seconds(run, chain) for run, chain in zip(runs, cut, strict=True))
    )


def after_burn_in(run: xr.Dataset, between: int) -> np.ndarray:
    """Return the indices of the iterations after burn-in that are multiples of ``between``."""
    spec, name, iteration = spec_of(run), run.attrs["name"], run["iteration"].values
    # a hybrid that records ``moved`` may have sampled no token
    sampled = (
        run["moved"].notnull().any()
        if "moved" in run
        else get_engine(spec.engine).samples(None, None)
    )
    if not sampled:
        raise MeasureError(
            f"run '{name}' of {spec.engine} samples no token; effective samples need a sampler, such as cgs or sb-ctm"
        )
    positions = np.flatnonzero((iteration > spec.burn_in) & (iteration % between == 0))
    if len(positions) < FEWEST:
        raise MeasureError(
            f"effective samples need at least {FEWEST} recorded iterations after burn-in; run '{name}' has {len(positions)} "
            f"after its burn-in of {spec.burn_in}; let it run longer, or record more often"
        )
    return positions


def _seconds(run: xr.Dataset, cut: xr.Dataset) -> float:
    """Return the CPU seconds between the end of burn-in, interpolated, and the last iteration of ``cut``."""
    iteration, spent = ([0, *run[name].values] for name in ("iteration", "cpu_time"))
    return float(cut["cpu_time"].values[-1] - np.interp(spec_of(run).burn_in, iteration, spent))


def _effective(draws: np.ndarray) -> float:
    """Return the effective sample size of draws (chain, draw); NaN for constant or missing values."""
    from arviz_stats.base import array_stats  # two seconds to import

    if not np.isfinite(draws).all() or not np.ptp(draws, axis=1).any():
        return np.nan
    return float(array_stats.ess(draws, method="mean", chain_axis=0, draw_axis=1))
