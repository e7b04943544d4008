"""Log likelihoods of held-out cells and records: by their definitions, and in runs."""

import numpy as np
import pytest

import workbench as wb
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.scores import log_likelihoods
from workbench.models.scores import Predicted
from workbench.records import Records
from workbench.runs.execution.compare import plan

LEVELS = ("x", "y", "z")


def records_of(values, multiplicities) -> Records:
    values = np.array(values)
    return Records(
        values,
        np.array(multiplicities),
        tuple("abcde"[: values.shape[1]]),
        (LEVELS,) * values.shape[1],
    )


def test_they_are_means_over_cells_and_over_records_with_a_held_out_cell():
    test = records_of([[0, 1], [-1, 2], [-1, -1]], [3, 2, 5])
    p = np.array([0.5, 0.2, 0.4])
    # of groups: as averaged, not the product of p
    logs = np.array([3 * np.log(0.5 * 0.2), 2 * np.log(0.3)])
    found = log_likelihoods(None, test, Predicted(p, logs, None, None, p, None))
    assert found == pytest.approx(
        {
            "test_log_likelihood": (3 * np.log(0.5) + 3 * np.log(0.2) + 2 * np.log(0.4)) / 8,
            "test_log_likelihood_record": (3 * np.log(0.1) + 2 * np.log(0.3)) / 5,
        },
        rel=1e-14,
    )  # float64, a handful of operations


def test_nothing_held_out_has_no_log_likelihood():
    test, empty = records_of([[-1, -1]], [3]), np.zeros(0)
    found = log_likelihoods(None, test, Predicted(empty, empty, None, None, empty, None))
    assert all(np.isnan(value) for value in found.values()) and len(found) == 2


@pytest.mark.parametrize("per", ["cell", "record"])
def test_a_run_records_them_beside_the_perplexity(per):
    records = records_of(
        np.random.default_rng(0).integers(-1, 3, (40, 4)), np.r_[np.full(20, 3), np.ones(20, int)]
    )
    (spec,), train, test = plan(records, "bn-vb", n_iterations=5, holdout=0.25, holdout_per=per)
    run = wb.fit(train, "bn-vb", test=test, split=spec.split, n_iterations=5, progress=False)
    n_records = test.multiplicities[np.any(test.values >= 0, axis=1)].sum()
    of_cells = -np.log(run["test_perplexity"].values)
    assert run["test_log_likelihood"].values == pytest.approx(of_cells, rel=1e-12)  # float64
    # nothing is sampled: the product over cells is that of the state
    of_records = of_cells * test.n_items / n_records
    assert run["test_log_likelihood_record"].values == pytest.approx(of_records, rel=1e-12)


def test_of_whole_records_it_is_their_probability():
    """Fields alone, independent: a cell's predictive does not depend on the others."""
    records = records_of([[0, 1], [1, 1], [2, 0]], [4, 3, 2])
    net = BayesNet("apart", tuple({"name": name, "states": 3} for name in "ab"))
    (_,), train, test = plan(
        records, "bn-vb", model=net, n_iterations=1, holdout=0.3, holdout_per="record"
    )
    run = wb.fit(train, "bn-vb", model=net, test=test, n_iterations=1, progress=False)
    logs = 0.0
    for at in range(2):
        counts = (
            np.bincount(train.values[:, at] + 1, train.multiplicities, 4)[1:]
            + net.for_data(records).nodes[at].prior
        )
        held_out = test.values[:, at][test.values[:, at] >= 0]
        logs += np.log(counts / counts.sum())[held_out].sum()
    n_records = test.multiplicities[np.any(test.values >= 0, axis=1)].sum()
    # float64
    assert float(run["test_log_likelihood_record"][-1]) == pytest.approx(
        logs / n_records, rel=1e-12
    )
