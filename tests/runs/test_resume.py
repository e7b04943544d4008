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

ADAPTIVE = {"refresh": 3, "n_chains": 2}
CHOSEN = {
    **{name: [{}] for name in ENGINES},
    **{
        name: [
            {},
            *(
                {"learn_alpha": way, "learn_beta": way, "learn_after": 2, "learn_every": 2}
                for way in ("maximised", "sampled")
            ),
        ]
        for name in LDA_ENGINES
    },
}
CHOSEN["svb"].append({"schedule": "sequential"})
CHOSEN["cgs"] += [{"scored": "sampled"}, {"partition": 3}]
CHOSEN["cvb"].append({"partition": 3})
CHOSEN["svb-cgs"] += [{"n_chains": 2}, {"r": math.inf}]
CHOSEN["cvb0-cgs"].append({"partition": 3, "n_chains": 2})
CHOSEN["adaptive-cgs"] += [
    ADAPTIVE | {"average": average, "split": split}
    for average in ("svb", "cvb0")
    for split in ("gap", "random")
]
CHOSEN["cv-hdp"].append({"moves_every": 1, "moves_after": 2, "beta_total": 2.5})
CHOSEN["bn-gibbs"].append({"tables": "drawn"})
CHOSEN["lnm-lds"].append({"learn_sigma_c2": True})


@pytest.mark.parametrize(
    ("name", "options"),
    [(name, options) for name, each in CHOSEN.items() for options in each],
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
