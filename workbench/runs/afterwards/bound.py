"""Compute the bound B on the evidence at the last checkpoint of a hybrid run (spec A.9)."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import xarray as xr

from workbench.corpus import ShardedCorpus
from workbench.engines.engine import StepContext
from workbench.engines.lda import adaptive, hybrid, mixed
from workbench.engines.lda import hybrid_bound as bounds
from workbench.engines.lda.hybrid_state import chain_of, mean_part, part_of, split_of
from workbench.kernels.uniforms import ANNEALING
from workbench.numbers import format_size
from workbench.runs.execution.run import Run, find_run
from workbench.runs.parts.part import OwnRows, ShardRange
from workbench.runs.parts.stored import StoredPart, at_last_checkpoint
from workbench.runs.progress import bar
from workbench.runs.recorded import Position
from workbench.runs.settings import LARGEST_SEED
from workbench.runs.spec import SpecError
from workbench.runs.store.archive import corpora_of, get_corpus, last_position

HYBRIDS = dict.fromkeys(hybrid.KINDS, hybrid) | dict.fromkeys((adaptive.NAME, mixed.NAME), adaptive)
"""Name of each hybrid engine → its module."""
METHODS = {
    "ais": "an estimate by annealed importance sampling, on average below B",
    "bracket": "an interval from Gibbs samples; its upper end is loose where labels switch",
    "exact": f"enumeration of every assignment, for at most {bounds.MOST_STATES:,} of them",
}


def hybrid_bound(
    run: Run | str | Path | xr.Dataset,
    method: str = "ais",
    seed: int = 0,
    n_runs: int = 4,
    n_temperatures: int = 500,
    n_sweeps: int = 100,
    burn_in: int = 20,
    n_threads: int = 1,
    store: str | Path | None = None,
    progress: bool = True,
) -> dict:
    """Compute the bound B of a hybrid run at its last checkpoint: B <= log p(training words), nats.

    Parameters
    ----------
    run : Run, path or name
        A run of a hybrid engine in a store; it may be running. For a corpus in shards, one part is in memory at a time.
    method : "ais", "bracket" or "exact"
        See `METHODS`.
    seed : int
        Seed of the chains that compute the bound, not of the run.
    n_runs, n_temperatures : int
        Annealing runs and temperatures of ``ais``. With more temperatures the estimate approaches B and the runs agree.
    n_sweeps, burn_in : int
        Sweeps of ``bracket`` that are averaged, and sweeps before them.
    n_threads : int
        Number of annealing runs computed in parallel; it does not change the result.
    progress : bool
        Show a bar with the time left (stderr).

    Returns
    -------
    dict
        ``method``, ``run``, ``engine``, ``iteration`` of the checkpoint, ``n_sampled`` tokens, ``entropy`` of the
        responsibilities, seed, and: ``bound`` (ais, exact); ``standard_error``, ``effective_runs`` and ``log_weights``
        (ais; see `workbench.engines.lda.hybrid_bound.Annealed`); ``low`` and ``high`` (bracket).

    Raises
    ------
    SpecError, StoreError, OptionError
        The run is not of a hybrid engine, has no checkpoint, or has too many assignments for ``exact``.

    Welling, Teh & Kappen (2008), eq. 20.
    """
    SpecError.one_of("method", method, METHODS)
    if isinstance(run, xr.Dataset):
        raise SpecError(
            "a Dataset keeps no state of the engine; give a run in a store, as workbench.fit(…, store=…) makes it"
        )
    run = Run(find_run(run, store))
    spec = run.spec
    engine, model, options = spec.parts()
    if engine.name not in HYBRIDS:
        numbers = ("bound", "log_joint", "objective")
        number_name = next((name for name in numbers if name in engine.watches), "no such number")
        raise SpecError(
            f"the bound B belongs to the hybrids ({', '.join(HYBRIDS)}); run '{run.name}' is {engine.name}, and its Dataset "
            f"holds {number_name}"
        )
    context = StepContext(
        SpecError.whole("seed", seed, 0, LARGEST_SEED),
        0,
        SpecError.whole("threads", n_threads, 1, 1024),
    )
    sizes = {
        "ais": (
            SpecError.whole("runs", n_runs, 1),
            SpecError.whole("temperatures", n_temperatures, 1),
        ),
        "bracket": (SpecError.whole("sweeps", n_sweeps, 1), SpecError.whole("burn-in", burn_in, 0)),
        "exact": (),
    }[method]
    with _inputs(run) as (iteration, parts, state, entropy):
        results = _results(
            method,
            (parts, state, entropy),
            context,
            sizes,
            partial(bar, spec.caption, is_shown=progress),
        )
    return {
        "method": method,
        "run": run.name,
        "engine": spec.engine,
        "iteration": iteration,
        "n_sampled": sum(part.n_tokens for part in parts),
        "entropy": entropy,
        "seed": context.seed,
        **results,
    }


def _results(
    method: str, inputs: tuple, context: StepContext, sizes: tuple, progress: Callable
) -> dict:
    """Compute the bound by one method; return a dict of results, such as bound and standard_error.

    inputs : parts, state and entropy of `_inputs`; sizes : numbers of runs or sweeps; progress : returns a bar for n sweeps
    """
    if method == "exact":
        return {"bound": bounds.exact(*inputs)}
    if method == "ais":
        with progress(sizes[0] * sizes[1]) as progress_bar:
            annealed = bounds.ais(*inputs, context, *sizes, progress_bar.update)
        return annealed._asdict() | {
            "effective_runs": annealed.effective_runs,
            "log_weights": annealed.log_weights.tolist(),
        }
    parts, state, _ = inputs
    with progress(sum(sizes)) as progress_bar:
        n_bytes = bounds.bracket_bytes(sum(part.n_tokens for part in parts), len(state.alpha))
        progress_bar.set_postfix_str(f"{format_size(n_bytes)} of marginals")
        return bounds.bracket(*inputs, context, *sizes, progress_bar.update)._asdict()


@contextlib.contextmanager
def _inputs(run: Run) -> Iterator[tuple]:
    """Yield the bound's input at the last checkpoint: (iteration, parts of the corpus, state, responsibilities' entropy).

    For a corpus in shards the document arrays are in files of a temporary folder, deleted at the end of the block.
    """
    spec = run.spec
    if spec.shards:
        with tempfile.TemporaryDirectory(prefix="bound-") as scratch:
            yield at_last_checkpoint(run, partial(_shard_inputs, run, Path(scratch)))
        return
    engine, model, options = spec.parts()
    position = last_position(run, engine)
    corpus = get_corpus(run.path.parent, spec.train)
    inputs = HYBRIDS[engine.name].for_bound(corpus, options, position.state)
    yield position.iteration, *bounds.whole(corpus, *inputs)


def _shard_inputs(
    run: Run, scratch: Path, position: Position, parts: Iterator[StoredPart]
) -> tuple:
    """Return what `_inputs` yields for a corpus in shards; the document arrays are written to files in ``scratch``."""
    _, model, options = run.spec.parts()
    train, bound_parts, entropy = corpora_of(run.path.parent, run.spec)[0], [], 0.0
    for number, part in enumerate(parts):
        chain, shard_range = chain_of(part.state, 0), part.shard_range
        rows = OwnRows(scratch / f"{position.iteration}-{number}")
        rows.put({"mean_dk": part.state.mean_dk, "n_dk": chain.n_dk, "topics": chain.topics})
        split, engine = split_of(part.corpus, options), part_of(part.state)
        entropy += engine.stored_entropy(options, split, mean_part(part.state))
        n_tokens, shift = split.n_tokens, ((ANNEALING, shard_range.first_token),)
        bound_parts.append(
            bounds.Part(partial(_open_part, train, shard_range, options), rows, n_tokens, shift)
        )
    state = position.state
    entropy = part_of(state).total_entropy(options, mean_part(state), entropy)
    return position.iteration, bound_parts, state, entropy


def _open_part(train: ShardedCorpus, shard_range: ShardRange, options) -> tuple:
    """Return (documents, split): a shard's documents, memory-mapped, and which of their pairs are sampled or averaged."""
    corpus = train.rows(shard_range.first, shard_range.last)
    return corpus, split_of(corpus, options)
