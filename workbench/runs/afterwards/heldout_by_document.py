"""Score the held-out tokens of each document under a run; the headline perplexity is their mean."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.runs.execution.run import Run, find_run
from workbench.runs.parts.stored import StoredPart, at_last_checkpoint
from workbench.runs.position import Position
from workbench.runs.scoring import predict_entries
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store.archive import get_corpus
from workbench.runs.store.checkpoint import no_checkpoint, read_average, read_checkpoint


class Scored(NamedTuple):
    """Log likelihood and number of the held-out tokens of each document under a run."""

    # (document,) float64, nats; 0 for a document without a held-out token
    log_likelihood: np.ndarray
    n_tokens: np.ndarray  # (document,) int64, held-out tokens
    iteration: int  # of the checkpoint that was scored
    n_averaged: int  # iterations whose p(w|d) were averaged; 0: that of the state alone

    @property
    def perplexity(self) -> float:
        """The headline perplexity at that iteration."""
        return float(np.exp(-self.log_likelihood.sum() / self.n_tokens.sum()))


def score_documents(run, store=None) -> Scored:
    """Compute the log likelihood of each document's held-out tokens, at the last checkpoint of a run in a store.

    As in the headline perplexity: of the running average of p(w|d) where tokens are sampled and burn-in is over,
    which the checkpoint holds; else of the state, by the engine's own predictive. Of a corpus in shards the rows of one part
    are in memory at a time.

    Parameters
    ----------
    run : Run, path or name
        It may be running; its checkpoint is then some seconds old.
    store : path, optional
        Where a name is looked up.

    Raises
    ------
    SpecError, StoreError
        No test set, no whole checkpoint, a Dataset, or a corpus that is gone; one sentence each.
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
    file = run.path / "checkpoint.npz"
    train, test = (get_corpus(run.path.parent, content) for content in (spec.train, spec.test))
    engine, model, options = spec.parts(train)
    last = read_average(file)
    if last is not None and last[1].n_averaged and engine.samples(train, options):
        iteration, average = last
        return Scored(*_sums(test, average.probability), iteration, average.n_averaged)
    position = read_checkpoint(file, engine)
    if position is None:
        raise no_checkpoint(run.name)
    context = StepContext(spec.seed, position.iteration)
    probability = predict_entries(engine, train, model, options, position.state, test, context)[0]
    return Scored(*_sums(test, probability), position.iteration, 0)


def _sums(test, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log likelihood and number (document,) of the held-out items of each document."""
    rows = test.documents if isinstance(test, Corpus) else test.groups
    n_rows = max(int(rows.max(initial=-1)) + 1, getattr(test, "n_documents", 0))
    logs = np.bincount(rows, test.weights * np.log(probability), n_rows)
    return logs, np.bincount(rows, test.weights, n_rows).astype(np.int64)


def _score_parts(spec: RunSpec, position: Position, parts: Iterator[StoredPart]) -> Scored:
    """`score_documents` of a corpus in shards, a part after the other."""
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
