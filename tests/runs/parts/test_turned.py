"""Settings that are turned while a run over a corpus in shards runs."""

from math import inf

import numpy as np
import pytest
from runs_in_shards import differing, fitted

from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on
from workbench.runs.spec import make_spec
from workbench.runs.store.turning import ask
from workbench.runs.store.writer import create_run

TURNS = [(3, {"r": 0}), (5, {"r": 2, "alpha": 0.4}), (7, {"r": inf}), (9, {"r": 1, "beta": 0.3})]
SETTINGS = {"n_iterations": 10, "burn_in": 1, "snapshot_every": 1}
HYBRIDS = [
    ("svb-cgs", {}),
    ("svb-cgs", {"n_chains": 2}),
    ("svb-cgs", {"schedule": "sequential"}),
    ("svb-cgs", {"schedule": "sequential", "phases": "interleaved"}),
    ("cvb-cgs", {}),
    ("cvb0-cgs", {"n_chains": 2}),
    ("network-hybrid", {"n_chains": 2}),
]


@pytest.mark.parametrize(
    ("engine", "options"),
    [pytest.param(*each, marks=[pytest.mark.slow] * (at > 0)) for at, each in enumerate(HYBRIDS)],
)
def test_counts_are_kept_where_r_is_turned_and_rows_in_files_are_those_in_memory(
    in_shards, engine, options, out_of_core
):
    settings = SETTINGS | {"interventions": TURNS}
    held = fitted(*in_shards, engine, options, **settings)
    for name in ("n_kw", "n_dk"):
        counts = held[name].values
        np.testing.assert_allclose(counts.sum(axis=(1, 2)), in_shards[0].n_tokens, rtol=1e-9)
        assert counts.min() >= 0
    out_of_core()
    assert differing(held, fitted(*in_shards, engine, options, **settings)) == []


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("svb-cgs", {}),
        ("svb-cgs", {"schedule": "sequential"}),
        ("cvb0-cgs", {}),
        ("svb", {}),
        ("cgs", {"scan": "documents"}),
        ("network-hybrid", {}),
    ],
)
def test_a_corpus_in_shards_is_turned_as_the_whole_one(pair, in_shards, engine, options):
    """What is sampled alone is the same, and what is averaged alone comes of sums: it is so up to their order."""
    turns = [(3, {"alpha": 0.4}), (5, {"beta": 0.3}), (8, {"alpha": 0.2, "beta": 0.05})]
    if "-" in engine:
        options, turns = options | {"r": inf}, [*turns, (5, {"r": 0, "alpha": 0.6})]
    whole, parts = (
        fitted(*corpora, engine, options, interventions=turns, **SETTINGS)
        for corpora in (pair, in_shards)
    )
    perplexities = [name for name in whole if name.startswith("test_perplexity")]
    for name in ("n_kw", "n_dk", *perplexities):
        np.testing.assert_allclose(parts[name], whole[name], rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("engine", ["svb-cgs", "adaptive-cgs"])
def test_a_run_in_shards_is_turned_and_resumed_from_a_checkpoint_in_the_middle(
    in_shards, tmp_path, at_once, every_checkpoint, engine
):
    (train, test), size = in_shards, "r" if engine == "svb-cgs" else "budget_r"
    options = {} if engine == "svb-cgs" else {"refresh": 2}
    spec = make_spec(train, engine, 4, test=test, options=options, **SETTINGS)
    path = create_run(tmp_path / "runs", spec, train, test)
    asks = {2: {size: 0}, 5: {size: inf, "alpha": 0.4}, 7: {size: 2}}

    def killed_at(last):
        def on_iteration(position, scores):
            if position.iteration in asks:
                ask(path, asks.pop(position.iteration))
            if position.iteration == last:
                raise KeyboardInterrupt

        return on_iteration

    for last in (3, 5, 6):
        with pytest.raises(KeyboardInterrupt):
            carry_on(path, killed_at(last))
    carry_on(path, killed_at(None))
    run = Run(path)
    assert [made.iteration for made in run.spec.interventions] == [3, 6, 8]
    replay = fitted(*in_shards, engine, options, interventions=run, **SETTINGS)
    assert differing(run.dataset(), replay) == []
    np.testing.assert_allclose(replay["n_kw"].sum(("topic", "word")), train.n_tokens, rtol=1e-9)
