"""Pool several long chains into one prediction: p(w|d) of the held-out tokens averaged over chains, with its error."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.kernels.log_likelihood import log_likelihood
from workbench.runs.execution.run import Run, find_run
from workbench.runs.parts.stored import StoredPart, at_last_checkpoint
from workbench.runs.position import Position
from workbench.runs.spec import SpecError
from workbench.runs.store.archive import corpora_of
from workbench.runs.store.checkpoint import read_average

NO_AVERAGE = "run '{}' has no average yet; continue it beyond its burn-in"


class Pooled(NamedTuple):
    """The joint prediction of the chains of one split."""

    split: tuple[str, str]  # hashes of the training and the test tokens
    model: dict  # its settings
    log_perplexity: float  # nats per token
    error: float  # its standard error over chains
    n_chains: int


def pool_chains(runs: Iterable, store=None) -> Pooled:
    """Compute the log perplexity of the mean over chains of their running averages of p(w|d), with its jackknife error.

    Where chains stay at different modes, their mean predicts better than any of them, as does the posterior that they are drawn
    from; the mean of their log perplexities does not show it.

    Parameters
    ----------
    runs : Runs, paths or names, at least two
        Of one model on the same split, with sampled tokens and past burn-in; they may be running, their checkpoints are then
        some seconds old.
    store : path, optional
        Where names are looked up.

    The probabilities of all held-out pairs are in memory, one array a chain, also of a corpus in shards.

    Raises
    ------
    SpecError, StoreError
        Fewer than two, several splits or models, nothing held out, or a run without an average.

    Efron & Stein (1981), for the jackknife.
    """
    chains = [Run(find_run(run, store)) for run in runs]
    splits = {(run.spec.train, run.spec.test) for run in chains}
    if len(chains) < 2 or len(splits) > 1:
        raise SpecError(
            f"chains are pooled that share a split, two at least; got {len(chains)} of {len(splits)} splits"
        )
    model = chains[0].spec.model
    if other := next((run for run in chains if run.spec.model != model), None):
        raise SpecError(
            f"chains are pooled that share a model; '{chains[0].name}' and '{other.name}' have two"
        )
    ((_, test_hash),) = splits
    if test_hash is None:
        raise SpecError(
            f"run '{chains[0].name}' has no test set, so nothing is predicted; fit it with held-out tokens"
        )
    _, test = corpora_of(chains[0].path.parent, chains[0].spec)
    probabilities = np.stack([_probability(run) for run in chains])
    whole = _log_perplexity(test, probabilities.mean(axis=0))
    total, n = probabilities.sum(axis=0), len(probabilities)
    without = np.array(
        [_log_perplexity(test, (total - probability) / (n - 1)) for probability in probabilities]
    )
    error = np.sqrt((n - 1) * np.mean((without - without.mean()) ** 2))
    return Pooled(splits.pop(), model, whole, float(error), n)


def _probability(run: Run) -> np.ndarray:
    """Return the running average of p(w|d) (test pair,) of a chain."""
    if run.spec.shards:
        return at_last_checkpoint(run, partial(_averaged_in_parts, run.name))
    average = read_average(run.path / "checkpoint.npz")
    if average is None or not average[1].n_averaged:
        raise SpecError(NO_AVERAGE.format(run.name))
    return average[1].probability


def _averaged_in_parts(name: str, position: Position, parts: Iterator[StoredPart]) -> np.ndarray:
    """Return the running average of p(w|d) (test pair,) of a chain over a corpus in shards."""
    if not position.average.n_averaged:
        raise SpecError(NO_AVERAGE.format(name))
    return np.concatenate([part.probability for part in parts])


def _log_perplexity(test, probability: np.ndarray) -> float:
    total, first = 0.0, 0
    for part in test.parts():
        last = first + part.n_entries
        total, first = total + log_likelihood(part.weights, probability[first:last]), last
    return -total / test.n_items
