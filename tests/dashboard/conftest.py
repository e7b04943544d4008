"""Small stores of runs."""

from types import SimpleNamespace

import numpy as np
import pytest
from toys import simulated

from workbench.corpus import hold_out_tokens
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.policy import Policy, set_policy
from workbench.dashboard.shared.run_monitor import Reading, RunMonitor
from workbench.runs.execution.fit import fit
from workbench.runs.spec import RunSpec
from workbench.runs.store.notes import Notes

NONE = Notes()


@pytest.fixture(scope="session")
def halves():
    """A training and a test corpus of about 180 tokens."""
    return hold_out_tokens(simulated(), fraction=0.2, seed=0)


@pytest.fixture
def new_run(tmp_path, halves):
    """A function that fits a run of some iterations into the store ``tmp_path / "runs"``."""

    def make(name, engine="svb", n_iterations=12, **settings):
        train, test = halves
        settings |= {"store": tmp_path / "runs", "name": name, "progress": False}
        fit(
            train,
            engine,
            settings.pop("n_topics", 4),
            test=test,
            n_iterations=n_iterations,
            **settings,
        )
        return tmp_path / "runs" / name

    return make


@pytest.fixture
def monitor(tmp_path, monkeypatch):
    """The monitor of the store `tmp_path / "runs"` for all pages, which looks whenever it is asked."""
    own = RunMonitor(tmp_path / "runs")
    monkeypatch.setattr(own, "latest", lambda patience=0.0: own.look())
    monkeypatch.setattr(own, "look_soon", lambda: None)
    for page in ("compare", "topics", "sweep"):
        monkeypatch.setattr(f"workbench.dashboard.{page}.page.monitor_of", lambda store: own)
    return own


@pytest.fixture
def store(tmp_path):
    """The folder of a store that is not there yet."""
    return tmp_path / "runs"


@pytest.fixture
def corpus(monkeypatch):
    """A small corpus, which the Sweep page takes for any that its form names."""
    small = simulated()
    for module in ("compare.starting", "sweep.choose_k", "sweep.frontier"):
        monkeypatch.setattr(f"workbench.dashboard.{module}.data_of", lambda *given: small)
    for module in ("sweep.request", "sweep.frontier"):
        monkeypatch.setattr(f"workbench.dashboard.{module}.names_of", lambda name: {small.name})
    return small


@pytest.fixture
def queued(monkeypatch):
    """The paths of the runs that a start queues; they do not begin by themselves."""
    paths = []
    monkeypatch.setattr(
        "workbench.dashboard.compare.starting.enqueue", lambda some, jobs: paths.extend(some)
    )
    return paths


@pytest.fixture(autouse=True)
def undrawn(request, monkeypatch):
    """Figures are empty, since to draw takes most of the time, but in tests that ask for `drawn`."""
    if "drawn" not in request.fixturenames:
        for place in ("workbench.dashboard.shared.card", "workbench.views.live"):
            monkeypatch.setattr(f"{place}.figures_of", lambda picture: [])


@pytest.fixture
def drawn():
    """Figures are drawn."""


@pytest.fixture
def ruled():
    """A function that sets the policy for a test."""
    yield lambda **settings: set_policy(Policy(**settings))
    set_policy(Policy())


@pytest.fixture
def reading_of(tmp_path):
    """A function that makes a reading with some points, without a run behind it."""

    def make(
        name="a-run",
        n_points=5,
        state="running",
        n_topics=10,
        seed=0,
        label="svb",
        test="hash",
        split=None,
        start=None,
        notes=NONE,
        course=True,
        corpus="kos",
        **status,
    ):
        numbers = np.arange(1.0, n_points + 1)[:, None] * np.arange(1.0, len(COLUMNS) + 1)
        model = {"n_topics": n_topics, "alpha": 0.1, "beta": 0.1}
        spec = SimpleNamespace(
            model=model,
            options={},
            seed=seed,
            test=test,
            corpus=corpus,
            split=split,
            start=start,
            hash=name,
            snapshot_every=50,
            train="train",
            burn_in=10,
            n_iterations=10,
            n_threads=1,
            shards=None,
            reading=None,
            label=lambda: label,
            engine=label.split()[0],
            n_topics=n_topics,
            length=10 if course else None,
            interventions=(),
            breaks=[],
            to_json=RunSpec("kos", "train", test, "cgs", model).to_json,
            parts=lambda: (None, SimpleNamespace(nonparametric=False), None),
        )
        told = {
            "state": state,
            "iteration": n_points,
            "n_iterations": 10,
            "time_left": 12.0,
            "message": "",
        } | status
        latest = numbers[-1] if n_points else np.full(len(COLUMNS), np.nan)
        return Reading(tmp_path / name, spec, label, told, 1, numbers, latest, notes=notes)

    return make
