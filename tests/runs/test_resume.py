"""A run of each engine in a store, stopped and resumed on several threads, beside one in memory on one thread."""

import math

import pytest
from same_bits import same_bits
from short_runs import short_settings
from toys import LDA_ENGINES

import workbench as wb
from workbench.engines import ENGINES
from workbench.engines.bayes_nets import cases
from workbench.kernels import threads

LEARNT = [
    {"learn_alpha": way, "learn_beta": way, "learn_after": 2, "learn_every": 2}
    for way in ("maximised", "sampled")
]
MORE = {
    "svb": [{"schedule": "sequential"}],
    "cgs": [{"scored": "sampled"}, {"partition": 3}],
    "cvb": [{"partition": 3}],
    "svb-cgs": [{"n_chains": 2}, {"r": math.inf}],
    "cvb0-cgs": [{"partition": 3, "n_chains": 2}],
    "adaptive-cgs": [
        {"refresh": 3, "n_chains": 2, "average": average, "split": split}
        for average in ("svb", "cvb0")
        for split in ("gap", "random")
    ],
    "cv-hdp": [{"moves_every": 1, "moves_after": 2, "beta_total": 2.5}],
    "bn-gibbs": [{"tables": "drawn"}],
    "lnm-lds": [{"learn_sigma_c2": True}],
}
"""Engine → options with which it takes other steps; every engine runs with its defaults, too."""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        (name, options)
        for name in ENGINES
        for options in ({}, *(LEARNT if name in LDA_ENGINES else ()), *MORE.get(name, ()))
    ],
)
def test_threads_a_store_and_a_resume_change_no_bit(name, options, store, monkeypatch):
    monkeypatch.setattr(threads, "SLICE_WORK", 60)
    monkeypatch.setattr(cases, "SLICE_WORK", 60)
    about = {"options": options, "snapshot_every": 3, "progress": False}
    train, settings = short_settings(name)
    whole = wb.fit(train, name, **settings | about | {"n_iterations": 9})
    for n_iterations in (6, 9):
        # made anew: what a process keeps beside a corpus is not in its checkpoint
        train, settings = short_settings(name)
        settings |= about | {"n_iterations": n_iterations}
        resumed = wb.fit(train, name, store=store, n_threads=3, **settings)
    assert len(wb.open_runs(store)) == 1
    same_bits(resumed, whole)
