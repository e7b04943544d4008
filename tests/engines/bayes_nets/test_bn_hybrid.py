"""The hybrid of Bayesian networks: its two ends bit for bit, its bound by enumeration, chains."""

import numpy as np
import pytest
from bayes_net_twins import ORACLES, families, joint_states, log_joint, net_of, random_net
from scipy.special import logsumexp
from stepping import stepped

from workbench.engines.bayes_nets import bn_gibbs, bn_hybrid, bn_vb
from workbench.engines.bayes_nets.bn_hybrid import Options
from workbench.engines.bayes_nets.cases import cases_within, expected_counts, prepared
from workbench.engines.engine import NoOptions, StepContext

TOYS = {
    "naive Bayes": lambda: net_of(ORACLES["naive_bayes"]),
    "tied": lambda: random_net(9, n_nodes=4, n_cases=9, tied=True),
}


def run(engine, net, records, options, n_steps=8, seed=2):
    return stepped(engine, records, net, options, n_steps, seed)


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize(
    ("r", "engine", "its_options", "found", "wanted", "watched"),
    [
        (
            0.0,
            bn_vb,
            NoOptions(),
            lambda ours: (ours.mean, ours.entropy),
            lambda theirs: (theirs.counts, theirs.entropy),
            "bound",
        ),
        (
            np.inf,
            bn_gibbs,
            bn_gibbs.Options(),
            lambda ours: (ours.counts[0], ours.cells[0]),
            lambda theirs: (theirs.counts, theirs.cells),
            "log_joint",
        ),
    ],
    ids=["variational Bayes", "Gibbs sampling"],
)
def test_at_its_ends_r_is_another_engine_bit_for_bit(
    toy, r, engine, its_options, found, wanted, watched
):
    net, records = TOYS[toy]()
    ours = run(bn_hybrid, net, records, Options(r=r))
    theirs = run(engine, net, records, its_options)
    for one, other in zip(found(ours), wanted(theirs), strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
    objective = bn_hybrid.watch(records, net, Options(r=r), ours)["objective"]
    assert objective == engine.watch(records, net, its_options, theirs)[watched]


@pytest.mark.parametrize("before", [0.0, 1.0, np.inf])
def test_where_r_is_turned_records_are_averaged_or_drawn_given_all_counts(before):
    net, records = TOYS["naive Bayes"]()
    old = run(bn_hybrid, net, records, Options(r=before, n_chains=3))
    all_averaged, split = (turned(net, records, old, before, r) for r in (0.0, 1.0))
    start = bn_vb.init(records, net, NoOptions(), StepContext(0, 0))
    logs = [bn_vb.log_tables(net.tables, counts) for counts in old.mean + old.counts]
    expected, _ = expected_counts(
        prepared(records, net, start.trees), np.mean(logs, axis=0), StepContext(0, 0)
    )
    np.testing.assert_allclose(all_averaged.mean, expected, rtol=1e-12)
    averaged, sampled = cases_within(records, net, 1.0), cases_within(records, net, 0.0, 1.0)
    of_class = slice(*net.tables.starts[:2])
    assert split.mean[of_class].sum() == pytest.approx(averaged.weights.sum(), rel=1e-12)
    np.testing.assert_array_equal(split.counts[:, of_class].sum(axis=1), sampled.weights.sum())
    assert len(split.counts) == 3 and len(all_averaged.counts) == 1


def turned(net, records, state, before, r):
    """The state after its r was turned."""
    context = StepContext(2, 9, changed={"r": before})
    return bn_hybrid.retune(records, net, Options(r=r, n_chains=3), state, context)[0]


def test_every_record_is_averaged_or_sampled():
    net, records = TOYS["naive Bayes"]()
    state = run(bn_hybrid, net, records, Options(r=1.0, n_chains=3))
    averaged, sampled = cases_within(records, net, 1.0), cases_within(records, net, 0.0, 1.0)
    assert len(averaged.weights) and len(sampled.weights) and state.counts.shape[0] == 3
    of_class = slice(*net.tables.starts[:2])
    assert state.mean[of_class].sum() == pytest.approx(averaged.weights.sum(), rel=1e-12)
    np.testing.assert_array_equal(state.counts[:, of_class].sum(axis=1), sampled.weights.sum())
    assert (
        len(
            {
                row.tobytes()
                for row in np.array(
                    [run(bn_hybrid, net, records, Options(1.0, 3), n).counts for n in (1, 2, 3)]
                ).reshape(9, -1)
            }
        )
        > 1
    )  # chains go ways of their own


def test_its_bound_lies_between_that_of_variational_bayes_and_the_evidence():
    """C.6: entropy of the averaged records + log sum over the others of exp L, by enumeration, at the end of each method."""
    net, records = TOYS["naive Bayes"]()
    values = np.repeat(net.values(records), records.multiplicities, axis=0)
    evidence = logsumexp([log_p for _, log_p in joint_states(net, values)])
    state = run(bn_hybrid, net, records, Options(r=1.0), n_steps=200)
    rare = cases_within(records, net, 0.0, 1.0)
    over = []
    for together, _ in joint_states(net, rare.values):
        cells = [cell for case in together for cell in families(net, case)]
        over.append(
            log_joint(net.tables, state.mean + np.bincount(cells, minlength=net.tables.n_cells))
        )
    found = state.entropy + logsumexp(over)
    vb = run(bn_vb, net, records, NoOptions(), n_steps=200)
    assert bn_vb.watch(records, net, NoOptions(), vb)["bound"] < found < evidence
