"""The bound B on the evidence at the last checkpoint of a hybrid run (spec A.9)."""

import xarray as xr

from workbench.engines.engine import StepContext
from workbench.engines.lda import adaptive, hybrid
from workbench.engines.lda import hybrid_bound as bounds
from workbench.runs.execution.run import Run, find_run
from workbench.runs.progress import bar
from workbench.runs.settings import LARGEST_SEED
from workbench.runs.spec import SpecError, whole
from workbench.runs.store.archive import get_corpus
from workbench.runs.store.checkpoint import read_checkpoint

HYBRIDS = {**dict.fromkeys(hybrid.KINDS, hybrid), "adaptive-cgs": adaptive}
"""Engine → its module."""
METHODS = {
    "ais": "an estimate by annealed importance sampling, on average below B",
    "bracket": "an interval from Gibbs samples; its upper end is loose where labels switch",
    "exact": f"enumeration of every assignment, for at most {bounds.MOST_STATES:,} of them",
}


def hybrid_bound(
    run, method: str = "ais", seed: int = 0, n_runs: int = 4, n_temperatures: int = 500, n_sweeps: int = 100,
    burn_in: int = 20, n_threads: int = 1, store=None, progress: bool = True,
) -> dict:
    """The bound B of a hybrid run at its last checkpoint: B <= log p(training words), nats.

    Parameters
    ----------
    run : Run, path or name
        Of a hybrid in a store; it may be running.
    method : "ais", "bracket" or "exact"
        See `METHODS`.
    seed : int
        Of the chains of the bound; not that of the run.
    n_runs, n_temperatures : int
        Of ``ais``. More temperatures bring the estimate up to B and the runs together.
    n_sweeps, burn_in : int
        Of ``bracket``: sweeps that are averaged, and sweeps before them.
    n_threads : int
        Runs of ``ais`` side by side; never changes a bit.
    progress : bool
        Show a bar with the time left (stderr).

    Returns
    -------
    dict
        ``method``, run, engine, ``iteration`` of the checkpoint, ``n_sampled`` tokens, ``entropy`` of the
        responsibilities, seed, and: ``bound`` (ais, exact); ``standard_error``, ``effective_runs`` and ``log_weights``
        (ais; see `workbench.engines.lda.hybrid_bound.Annealed`); ``low`` and ``high`` (bracket).

    Raises
    ------
    SpecError, StoreError, OptionError
        One sentence each: not a hybrid, no checkpoint, too many assignments.

    Welling, Teh & Kappen (2008), eq. 20.
    """
    if method not in METHODS:
        raise SpecError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    if isinstance(run, xr.Dataset):
        raise SpecError("a Dataset keeps no state of the engine; give a run in a store, as workbench.fit(…, store=…) makes it")
    run = Run(find_run(run, store))
    spec = run.spec
    engine, model, options = spec.parts()
    if engine.name not in HYBRIDS:
        recorded = [watch for watch in ("bound", "log_joint", "objective") if watch in engine.watches]
        instead = f"its Dataset holds {recorded[0]}" if recorded else "its Dataset holds no such number"
        raise SpecError(
            f"the bound B belongs to the hybrids ({', '.join(HYBRIDS)}); run '{run.name}' is {engine.name}, and {instead}"
        )
    position = read_checkpoint(run.path / "checkpoint.npz", engine, model)
    if position is None:
        raise SpecError(f"run '{run.name}' has no whole checkpoint; `workbench resume {run.name}` makes one")
    corpus = get_corpus(run.path.parent, spec.train)
    split, state, entropy = HYBRIDS[engine.name].for_bound(corpus, options, position.state)
    context = StepContext(whole("seed", seed, 0, LARGEST_SEED), 0, whole("threads", n_threads, 1, 1024))
    given = corpus, split, state, entropy
    if method == "exact":
        found = {"bound": bounds.exact(*given)}
    elif method == "ais":
        sizes = whole("runs", n_runs, 1), whole("temperatures", n_temperatures, 1)
        with bar(spec.caption, sizes[0] * sizes[1], progress) as line:
            annealed = bounds.ais(*given, context, *sizes, line.update)
        found = annealed._asdict() | {"effective_runs": annealed.effective_runs, "log_weights": annealed.log_weights.tolist()}
    else:
        sizes = whole("sweeps", n_sweeps, 1), whole("burn-in", burn_in, 0)
        with bar(spec.caption, sum(sizes), progress) as line:
            line.set_postfix_str(f"{bounds.bracket_bytes(split, state) / 2**20:,.0f} MB of marginals")
            found = bounds.bracket(*given, context, *sizes, line.update)._asdict()
    return {
        "method": method, "run": run.name, "engine": spec.engine, "iteration": position.iteration,
        "n_sampled": split.n_tokens, "entropy": entropy, "seed": context.seed, **found,
    }
