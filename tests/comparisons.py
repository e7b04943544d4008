"""Tiny runs to measure, draw and report: some made up number by number, some inferred."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import xarray as xr

import workbench as wb
from workbench.models import LDA
from workbench.report.gathering import corpora_of, gather
from workbench.runs.execution.compare import plan
from workbench.views import pictures

ENGINES = ("svb", "cgs", "svb-cgs")


def tiny_corpus() -> wb.Corpus:
    """12 documents, 20 words, 180 tokens."""
    return LDA(4, 0.3, 0.2).simulate(12, 20, 15, seed=3)[0]


def picture_names(runs) -> list[str]:
    """The names of the pictures that the views make of runs, in order."""
    gathered = gather(runs)
    datasets = [each.dataset for each in gathered]
    return [one.name for one in pictures(datasets, corpora=corpora_of(gathered))]


@lru_cache
def tiny_comparison(seeds: int = 2, holdout: float = 0.2) -> xr.Dataset:
    """Three engines, 12 iterations, side by side."""
    return wb.compare(
        tiny_corpus(),
        ENGINES,
        n_topics=4,
        n_iterations=12,
        seeds=seeds,
        holdout=holdout,
        burn_in=3,
        progress=False,
    )


@lru_cache
def tiny_run(engine: str = "cgs", n_iterations: int = 12, seed: int = 0) -> xr.Dataset:
    """One whole run with its counts."""
    train, test = wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)
    split = {"fraction": 0.2, "seed": 0, "per": "corpus"}
    return wb.fit(
        train,
        engine,
        n_topics=4,
        n_iterations=n_iterations,
        seed=seed,
        test=test,
        burn_in=3,
        split=split,
        progress=False,
    )


def made_up(
    engine: str, perplexities, elapsed=None, seed: int = 0, train: str = "t0", **changes
) -> xr.Dataset:
    """A run with the given headline at iterations 1, 2, …; ``changes`` are fields of its spec."""
    (spec,), _, _ = plan(
        tiny_corpus(), [engine], seed=seed, n_topics=2, n_iterations=len(perplexities)
    )
    if "options" in changes:
        changes["options"] = spec.options | changes["options"]
    spec = replace(
        spec,
        **({"corpus": "made up", "train": train, "test": f"{train} test", "split": None} | changes),
    )
    perplexities = np.array(perplexities, float)
    steps = np.arange(1, len(perplexities) + 1)
    elapsed = np.array(elapsed if elapsed is not None else steps, float)
    data = {
        "test_perplexity": perplexities,
        "test_perplexity_state": perplexities + 1,
        "test_perplexity_average": perplexities,
        "elapsed": elapsed,
        "cpu_time": 2 * elapsed,
        "updates": 100.0 * steps,
    }
    variables = {name: ("iteration", values) for name, values in data.items()}
    variables["n_k"] = (("iteration", "topic"), np.tile([3.0, 1.0], (len(steps), 1)))
    attrs = {
        "name": f"{engine}-{seed}-{train}",
        "engine": engine,
        "spec": spec.to_json(),
        "state": "finished",
    }
    return xr.Dataset(variables, {"iteration": steps, "topic": [0, 1]}, attrs)


def run_of(chain, seed: int = 0, burn_in: int = 0, sizes=None, **changes) -> xr.Dataset:
    """A run of cgs that has recorded these numbers as its log joint; two CPU seconds an iteration."""
    run = made_up("cgs", np.ones(len(chain)), seed=seed, burn_in=burn_in, **changes)
    chain, moved = np.array(chain, float), np.full(len(chain), 0.5)
    run = run.assign(log_joint=("iteration", chain), moved=("iteration", moved))
    if sizes is not None:
        run = run.drop_vars(["n_k", "topic"]).assign(
            n_k=(("iteration", "topic"), np.array(sizes, float))
        )
    return run


@lru_cache
def with_topics(n_topics: int) -> xr.Dataset:
    """One whole run of two iterations with the given number of topics."""
    train, test = wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)
    return wb.fit(
        train, "cgs", n_topics=n_topics, n_iterations=2, test=test, burn_in=0, progress=False
    )


def with_phi(phi) -> xr.Dataset:
    """A run with the given phi and as many tokens in each topic."""
    phi = np.array(phi, float)
    run = made_up("cgs", [1]).drop_vars("n_k").drop_vars("topic")
    run["n_k"] = (("iteration", "topic"), np.ones((1, len(phi))))
    run["phi"] = (("topic", "word"), phi)
    run["n_kw"] = (("snapshot", "topic", "word"), phi[None])
    return run.assign_coords(
        topic=np.arange(len(phi)),
        word=np.array([f"w{w}" for w in range(phi.shape[1])], dtype=object),
    )
