"""Effective samples: how many independent draws a sampler's dependent ones are worth, in all and for each second."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.engines import get_engine
from workbench.measures.selection import MeasureError, each_run, grouped, labels_of, spec_of
from workbench.models import VARIABLES
from workbench.models.stick_breaking.scores import GAINS, HITS

AVERAGED = (
    "test_perplexity",
    "test_perplexity_average",
    "test_perplexity_by_document",
    "test_perplexity_joint",
)
"""Perplexities of running averages: no chain, as each value has all those before it in it."""
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
    *(each.name for scores in (GAINS, HITS) for each in scores.variables),
)
"""Numbers of each iteration that say nothing of the state that was drawn."""
STATE = tuple(
    name for name, each in VARIABLES.items() if each.dims == ("iteration",) and name not in NO_STATE
)
"""Numbers of each iteration that depend on the state alone."""
FEWEST = 4
"""Draws of a chain that an estimate needs: each half of a chain is compared with the other."""


class Chains(NamedTuple):
    """Runs of one label on the same tokens, at the iterations after burn-in that all of them have recorded."""

    runs: list[xr.Dataset]
    between: int  # iterations from one record to the next
    # CPU time of all of them, from the end of burn-in to the last of these iterations
    seconds: float

    def effective(self, name: str) -> float:
        """Effective samples of a number of each iteration; NaN where it is not recorded."""
        return (
            _effective(np.stack([run[name].values for run in self.runs]))
            if name in self.runs[0]
            else np.nan
        )


def effective_samples(runs) -> xr.Dataset:
    """How many independent draws from the posterior would give means as exact as those of the recorded chain after burn-in.

    Runs of one label, with the same training and test tokens, are chains of one estimate in what does not depend on the
    numbers of topics, cut to the shortest of them: chains that differ are worth less. A label with
    several splits has a row for each.

    Dims ``label`` and ``quantity`` (``log_joint``, ``test_perplexity_state`` and what else is recorded of the state):

    - ``effective_samples``: NaN for what a label has not recorded and for what never changes.
    - ``per_second``: the same divided by the CPU seconds of inference after burn-in, of all chains together (``cpu_time``).
    - ``n_chains``; ``n_draws``, the recorded iterations of each chain; ``iterations_between`` one and the next. Of a chain
      recorded at every tenth iteration the nine between count for time alone.

    Dims ``run`` and ``topic``:

    - ``of_topic``: effective samples of the tokens of each topic (``n_k``), of each run by itself, as topic 3 of one chain is
      not topic 3 of another; NaN for a topic whose number of tokens never changes.

    A chain that stays at one mode looks better than it is: several seeds show it, not one. Raises MeasureError for a run
    without sampled tokens, or with fewer than 4 recorded iterations after burn-in.

    Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021), section 3.2: of the mean, by autocorrelations of split chains.
    """
    runs = each_run(runs)
    by_label = chains_by_label(runs)
    rows = [chains_of(own) for _, own in by_label]
    names = [name for name in STATE if any(name in run for run in runs)]
    found = np.array([[row.effective(name) for name in names] for row in rows])
    seconds = np.array([row.seconds for row in rows])[:, None]
    of_topic = np.full(
        (len(runs), max(run["n_k"].shape[1] if "n_k" in run else 0 for run in runs)), np.nan
    )
    for at, run in enumerate(runs):
        if "n_k" in run:
            sizes = run["n_k"].values[after_burn_in(run, spec_of(run).record_every)].T
            of_topic[at, : len(sizes)] = [_effective(each[None]) for each in sizes]
    return xr.Dataset(
        {
            "effective_samples": (
                ("label", "quantity"),
                found,
                about("effective samples of its mean"),
            ),
            "per_second": (
                ("label", "quantity"),
                np.divide(found, seconds, out=np.full_like(found, np.nan), where=seconds > 0),
                about("effective samples for each CPU second after burn-in", "1/s"),
            ),
            "n_chains": (
                "label",
                [len(row.runs) for row in rows],
                about("runs that are its chains"),
            ),
            "n_draws": (
                "label",
                [row.runs[0].sizes["iteration"] for row in rows],
                about("recorded iterations after burn-in of each chain"),
            ),
            "iterations_between": (
                "label",
                [row.between for row in rows],
                about("iterations from one recorded to the next"),
            ),
            "of_topic": (
                ("run", "topic"),
                of_topic,
                about("effective samples of the tokens of a topic"),
            ),
        },
        {
            "label": np.array([label for label, _ in by_label], dtype=object),
            "quantity": np.array(names, dtype=object),
            "run": np.array([run.attrs["name"] for run in runs], dtype=object),
            "topic": np.arange(of_topic.shape[1]),
        },
    )


def chains_by_label(runs) -> list[tuple[str, list[xr.Dataset]]]:
    """(label, chains) of the runs: those of one label on the same tokens are chains of one posterior."""
    runs = each_run(runs)
    keys = [
        (label, spec_of(run).train, spec_of(run).test)
        for label, run in zip(labels_of(runs), runs, strict=True)
    ]
    return [(label, own) for (label, *_), own in grouped(keys, runs).items()]


def chains_of(runs: list[xr.Dataset]) -> Chains:
    """The runs at the iterations after burn-in that all have recorded, evenly spaced: without those of pauses."""
    between = int(np.lcm.reduce([spec_of(run).record_every for run in runs]))
    even = [run.isel(iteration=after_burn_in(run, between)) for run in runs]
    n = min(run.sizes["iteration"] for run in even)
    kept = [run.isel(iteration=slice(n)) for run in even]
    return Chains(
        kept, between, sum(_seconds(run, part) for run, part in zip(runs, kept, strict=True))
    )


def after_burn_in(run: xr.Dataset, between: int) -> np.ndarray:
    """The positions of the iterations after burn-in that are multiples of ``between``; refuses a run that has too few."""
    spec, name, iteration = spec_of(run), run.attrs["name"], run["iteration"].values
    if not _samples(run, spec):
        raise MeasureError(
            f"run '{name}' of {spec.engine} samples no token; effective samples are those of a sampler, such as cgs or sb-ctm"
        )
    found = np.flatnonzero((iteration > spec.burn_in) & (iteration % between == 0))
    if len(found) < FEWEST:
        raise MeasureError(
            f"effective samples need at least {FEWEST} recorded iterations after burn-in; run '{name}' has {len(found)} after "
            f"its burn-in of {spec.burn_in}; let it run longer, or record more often"
        )
    return found


def _samples(run: xr.Dataset, spec) -> bool:
    """Is something drawn? A hybrid, which counts moves, may have sampled no token; what counts none samples all or nothing."""
    return (
        bool(run["moved"].notnull().any())
        if "moved" in run
        else get_engine(spec.engine).samples(None, None)
    )


def _seconds(run: xr.Dataset, kept: xr.Dataset) -> float:
    """CPU seconds from the end of burn-in, between records in proportion to iterations, to the last iteration kept."""
    iteration, spent = ([0, *run[name].values] for name in ("iteration", "cpu_time"))
    return float(kept["cpu_time"].values[-1] - np.interp(spec_of(run).burn_in, iteration, spent))


def _effective(draws: np.ndarray) -> float:
    """Effective samples of chains (chain, draw) of one number; NaN where none of them moves, or a value is missing."""
    from arviz_stats.base import array_stats  # two seconds to import

    if not np.isfinite(draws).all() or not np.ptp(draws, axis=1).any():
        return np.nan
    return float(array_stats.ess(draws, method="mean", chain_axis=0, draw_axis=1))


def about(meaning: str, unit: str = "") -> dict[str, str]:
    return {"long_name": meaning, "units": unit}
