"""Score the held-out tokens of each document under a run, or under the mean prediction of several chains."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.kernels.log_likelihood import log_likelihood
from workbench.runs.execution.run import Run, find_run
from workbench.runs.parts.stored import StoredPart, at_last_checkpoint
from workbench.runs.recorded import Position
from workbench.runs.scoring import predict_entries
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store.archive import (
    CHECKPOINT,
    corpora_of,
    last_position,
    read_average,
)


class Scored(NamedTuple):
    """Held-out log likelihood and number of held-out tokens of each document, under one run."""

    # (document,) float64, nats; 0 for a document without a held-out token
    log_likelihood: np.ndarray
    n_tokens: np.ndarray  # (document,) int64, held-out tokens
    iteration: int  # iteration of the checkpoint that was scored
    n_averaged: int  # iterations whose p(w|d) were averaged; 0 if that of the last state was used

    @property
    def perplexity(self) -> float:
        """The held-out perplexity over all documents."""
        return float(np.exp(-self.log_likelihood.sum() / self.n_tokens.sum()))


def score_documents(run, store=None) -> Scored:
    """Compute the log likelihood of each document's held-out tokens at the last checkpoint of a stored run.

    It is that of the run's held-out perplexity: under the running average of p(w|d), which the checkpoint has, if tokens are
    sampled and burn-in is over; else under the engine's predictive distribution given the state. For a corpus in shards, one
    part is in memory at a time.

    Parameters
    ----------
    run : Run, path or name
        It may be running; its checkpoint is then some seconds old.
    store : path, optional
        The store in which a name is looked up.

    Raises
    ------
    SpecError, StoreError
        The run has no test set or no complete checkpoint, is a Dataset, or its corpus is missing.
    """
    if isinstance(run, xr.Dataset):
        raise SpecError(
            "a Dataset keeps no predictions; give a run in a store, as workbench.fit(…, store=…) makes it"
        )
    run = Run(find_run(run, store))
    spec = run.spec
    if spec.test is None:
        raise SpecError(
            f"run '{run.name}' has no test set, so nothing is scored; fit it with held-out tokens"
        )
    if spec.shards:
        return at_last_checkpoint(run, partial(_score_parts, spec))
    train, test = corpora_of(run.path.parent, spec)
    engine, model, options = spec.parts(train)
    average_at = read_average(run.path / CHECKPOINT)
    if average_at is not None and average_at[1].n_averaged and engine.samples(train, options):
        iteration, average = average_at
        return Scored(*_sums(test, average.probability), iteration, average.n_averaged)
    position = last_position(run, engine)
    context = StepContext(spec.seed, position.iteration)
    probability = predict_entries(engine, train, model, options, position.state, test, context)[0]
    return Scored(*_sums(test, probability), position.iteration, 0)


def _sums(test, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log likelihood (document,) of each document's held-out items, and their number (document,)."""
    rows = test.documents if isinstance(test, Corpus) else test.groups
    n_rows = max(int(rows.max(initial=-1)) + 1, getattr(test, "n_documents", 0))
    logs = np.bincount(rows, test.weights * np.log(probability), n_rows)
    return logs, np.bincount(rows, test.weights, n_rows).astype(np.int64)


def _score_parts(spec: RunSpec, position: Position, parts: Iterator[StoredPart]) -> Scored:
    """Return the scores of `score_documents` for a corpus in shards, computed one shard at a time."""
    engine, model, options = spec.parts()
    n_averaged, sums = position.average.n_averaged, []
    for part in parts:
        if not engine.samples(part.corpus, options):
            n_averaged = 0
        probability = (
            part.probability
            if n_averaged
            else engine.predict(part.corpus, model, options, part.state, part.test)
        )
        sums.append(_sums(part.test, probability))
    return Scored(*map(np.concatenate, zip(*sums, strict=True)), position.iteration, n_averaged)


class Pooled(NamedTuple):
    """The log perplexity of a test set under the averaged predictions of several chains, and the standard error."""

    split: tuple[str, str]  # hashes of the training and the test tokens
    model: dict  # settings of the model
    log_perplexity: float  # nats per token
    error: float  # standard error of log_perplexity over chains
    n_chains: int


def pool_chains(runs: Iterable, store=None) -> Pooled:
    """Compute the log perplexity under the average of p(w|d) over several chains, with its jackknife error.

    If chains stay at different modes, their mean predicts better than any of them, as the posterior does; the mean of their
    log perplexities does not show this.

    Parameters
    ----------
    runs : Runs, paths or names, at least two
        Chains of one model on the same split, with sampled tokens and past burn-in; they may be running, their checkpoints are
        then some seconds old.
    store : path, optional
        The store in which names are looked up.

    The probabilities of all held-out pairs are in memory, one array per chain, also for a corpus in shards.

    Raises
    ------
    SpecError, StoreError
        Fewer than two runs, several splits or models, nothing held out, or a run without an average.

    Efron & Stein (1981), for the jackknife.
    """
    chains = [Run(find_run(run, store)) for run in runs]
    splits = {(run.spec.train, run.spec.test) for run in chains}
    if len(chains) < 2 or len(splits) > 1:
        raise SpecError(
            f"chains are pooled that share a split, two at least; got {len(chains)} of {len(splits)} splits"
        )
    model = chains[0].spec.model
    if other_chain := next((run for run in chains if run.spec.model != model), None):
        raise SpecError(
            f"chains are pooled that share a model; '{chains[0].name}' and '{other_chain.name}' have two"
        )
    ((_, test_hash),) = splits
    if test_hash is None:
        raise SpecError(
            f"run '{chains[0].name}' has no test set, so nothing is predicted; fit it with held-out tokens"
        )
    _, test = corpora_of(chains[0].path.parent, chains[0].spec)
    probabilities = np.stack([_probability(run) for run in chains])
    log_perplexity = _log_perplexity(test, probabilities.mean(axis=0))
    total, n = probabilities.sum(axis=0), len(probabilities)
    jackknife = np.array(
        [_log_perplexity(test, (total - probability) / (n - 1)) for probability in probabilities]
    )
    error = np.sqrt((n - 1) * np.mean((jackknife - jackknife.mean()) ** 2))
    return Pooled(splits.pop(), model, log_perplexity, float(error), n)


def _probability(run: Run) -> np.ndarray:
    """Return a chain's running average (test pair,) of p(w|d)."""
    average_at = read_average(run.path / CHECKPOINT)
    if average_at is None or not average_at[1].n_averaged:
        raise SpecError(f"run '{run.name}' has no average yet; continue it beyond its burn-in")
    if not run.spec.shards:
        return average_at[1].probability
    return at_last_checkpoint(
        run, lambda _, parts: np.concatenate([part.probability for part in parts])
    )


def _log_perplexity(test, probability: np.ndarray) -> float:
    total, first = 0.0, 0
    for part in test.parts():
        last = first + part.n_entries
        total, first = total + log_likelihood(part.weights, probability[first:last]), last
    return -total / test.n_items
