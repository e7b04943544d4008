"""A small store of runs: three engines, two seeds, 12 iterations."""

import pytest
from comparisons import ENGINES, tiny_corpus

import workbench as wb


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    home = tmp_path_factory.mktemp("report") / "runs"
    train, test = wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)
    split = {"fraction": 0.2, "seed": 0, "per": "corpus"}
    for engine in ENGINES:
        for seed in (0, 1):
            settings = {"n_topics": 4, "n_iterations": 12, "burn_in": 3, "split": split}
            wb.fit(train, engine, seed=seed, test=test, store=home, progress=False, **settings)
    return home


@pytest.fixture
def unfinished(store, tmp_path):
    """A run that was made and never begun."""
    from workbench.runs.execution.compare import plan
    from workbench.runs.store.writer import create_run

    (spec,), train, test = plan(tiny_corpus(), ["cgs"], n_topics=3, n_iterations=5)
    return wb.Run(create_run(tmp_path / "waiting", spec, train, test))
