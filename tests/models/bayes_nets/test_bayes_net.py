"""Bayesian networks: what is refused, in which words; shipped networks; values of records."""

import json

import numpy as np
import pytest

import workbench as wb
from workbench.models import ModelError
from workbench.models.bayes_nets.bayes_net import BayesNet, log_likelihoods
from workbench.models.bayes_nets.nodes import Node
from workbench.models.bayes_nets.plan import cases_of, junction_trees
from workbench.models.model import Predicted
from workbench.records import Records
from workbench.runs.execution.compare import plan

COIN = Node("coin", ("heads", "tails"))


def records(**columns) -> Records:
    return Records.from_columns(columns, "few")


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        *(
            (lambda nodes=nodes: BayesNet("mine", tuple(nodes)), sentence)
            for nodes, sentence in [
                ([], "at least one node"),
                ([Node("a", 2), Node("a", 3)], "two nodes are called 'a'; rename one"),
                ([Node("", 2)], "a node has a name; got ''"),
                (
                    [Node("a", 0)],
                    "'a' must have a number of states of at least 1, or names of them; got 0",
                ),
                ([Node("a", True)], "number of states of at least 1"),
                ([Node("a", "xy")], "number of states of at least 1, or names of them; got 'xy'"),
                ([Node("a", ("x", "x"))], "each with a name of its own"),
                ([Node("a", 2, ("b",))], "'a' has the parent 'b', which is no node; there are a"),
                ([Node("a", 2), Node("b", 2, ("a", "a"))], "'b' names a parent twice"),
                (
                    [Node("a", 2, ("b",)), Node("b", 2, ("c",)), Node("c", 2, ("a",))],
                    "no cycle; .*a.* → .* is one",
                ),
                (
                    [Node("a", 2, prior=0.0)],
                    "prior of node 'a' must be numbers greater than 0; got 0.0",
                ),
                ([Node("a", 2, prior=(1.0, -1.0))], "numbers greater than 0; got -1.0"),
                ([Node("a", 2, prior="many")], "numbers greater than 0; got 'many'"),
                ([Node("a", 2, prior=(1.0, float("nan")))], "got nan"),
                (
                    [Node("a", 2, prior=(1, 1, 1))],
                    "a number, a row of 2 or a table of 1 rows; got 1 row.s. of 3",
                ),
                (
                    [Node("a", 3), Node("b", 2, ("a",), ((1, 1), (1, 1)))],
                    "a row of 2 or a table of 3 rows; got 2 row.s. of 2",
                ),
                (
                    [Node("a", 2, cpt="t"), Node("b", 3, cpt="t")],
                    "'a' and 'b' name the same table 't' .* they have 2 and 3",
                ),
                ([Node("a", 2, cpt="t"), Node("b", 2, ("a",), cpt="t")], "they have 2 and 2 × 2"),
                (
                    [Node("a", 2, cpt="t"), Node("b", 2, prior=2, cpt="t")],
                    "with other priors; give both the same",
                ),
                ([{"name": "a"}], "a node needs 'states'; got name"),
                (
                    [{"name": "a", "states": 2, "card": 2}],
                    "a node has no 'card'; it has name, states",
                ),
                ([Node("a", 30_000), Node("b", 30_000, ("a",))], "900,000,000 cells, more than"),
            ]
        ),
        (
            lambda: BayesNet("mine", (COIN,), alpha=1.0),
            "has a prior at each node, so leave alpha out",
        ),
        (
            lambda: BayesNet("mine", (COIN,), n_states=5),
            "n_states=5 is for shipped networks, .*; leave it out",
        ),
        (
            lambda: BayesNet("mine", (COIN,), network="hmm"),
            "network=hmm is for shipped networks, and network 'mine' has nodes",
        ),
        (lambda: BayesNet(network="hmmm"), "network must be one of latent-class, hmm"),
        (lambda: BayesNet(alpha=0), "alpha must be a number greater than 0"),
        (
            lambda: BayesNet.of("hmm"),
            "'hmm' is a shipped network; choose it with the option network=hmm",
        ),
        (
            lambda: BayesNet.of("mine.bin"),
            "mine.bin: a Bayesian network is read from .toml or .json; rename it",
        ),
        (lambda: BayesNet.of("missing.toml"), "there is no file missing.toml"),
        (lambda: BayesNet.of(7), "a table with name and nodes, or a file; got 7"),
        (
            lambda: BayesNet.of({"name": "mine", "nodes": "COIN"}),
            "'nodes' must be a list of tables; got 'COIN'",
        ),
        (lambda: BayesNet.of({"name": "mine"}), "needs 'nodes'; got name"),
        (lambda: BayesNet.of({"name": "mine", "nodes": [COIN], "edges": []}), "has no 'edges'"),
        (
            lambda: BayesNet("mine", (COIN,)).for_data(records(coin=["heads", "edge"])),
            "'edge' of the field 'coin' is no state",
        ),
        (
            lambda: BayesNet("mine", (COIN,)).for_data(records(coins=["heads"])),
            "no node for the field 'coins' of 'few'",
        ),
        (
            lambda: BayesNet("mine", (Node("a", 2),)).for_data(records(a=[1, 2, 3])),
            "'3' of the field 'a' is no state of its node",
        ),
        (
            lambda: BayesNet("mine", (COIN, Node("d", 2, given=True))).for_data(
                records(coin=["heads"])
            ),
            "node 'd' is given",
        ),
        (
            lambda: BayesNet().for_data(Records.from_columns({"class": [1, 2]})),
            "'class' is a hidden node of 'latent-class'",
        ),
    ],
)
def test_what_is_no_network_and_what_does_not_go_together_are_refused_in_one_sentence(
    made, sentence
):
    with pytest.raises(ModelError, match=sentence) as refused:
        made()
    assert "\n" not in str(refused.value) and str(refused.value).count("mine") <= 1


def test_a_latent_class_stands_behind_all_fields():
    net = BayesNet(n_states=3, alpha=0.2).for_data(records(a=["x", "y"], b=[1, 3]))
    assert [(node.name, node.n_states, node.parents, node.prior) for node in net.nodes] == [
        ("class", 3, (), 0.2),
        ("a", 2, ("class",), 0.5),
        ("b", 2, ("class",), 0.5),
    ]
    assert net.tables.names == ("class", "a", "b") and net.tables.n_cells == 3 + 6 + 6
    assert net.settings() == {"alpha": 0.2, "beta": 0.5} and net.size_label == ("K", 3)


def test_a_hidden_markov_model_is_unrolled_and_its_tables_are_tied():
    words = Records.from_columns({"1": ["b", "a"], "2": ["c", "b"], "3": ["c", None]}, "words")
    net = BayesNet(network="hmm", n_states=4).for_data(words)
    assert (
        net.tables.names == ("start", "emission", "transition")
        and net.tables.n_cells == 4 + 4 * 3 + 4 * 4
    )
    assert [node.parents for node in net.nodes if node.name.startswith("state")] == [
        (),
        ("state@1",),
        ("state@2",),
    ]
    symbols = net.nodes[1].state_names
    found = [["".join(symbols[v] for v in row[1::2] if v >= 0)] for row in net.values(words)]
    assert sorted(found) == [["ab"], ["bcc"]]  # symbols by name, whatever levels each field has


def test_levels_are_states_by_name_and_numbers_by_order():
    given = records(coin=["tails", "heads", None], n=["7", "8", "7"])
    values = BayesNet("mine", (COIN, Node("n", 3))).values(given)
    names = [given.levels[0][v] if v >= 0 else None for v in given.values[:, 0]]
    assert [None if v < 0 else COIN.states[v] for v in values[:, 0]] == names
    np.testing.assert_array_equal(values[:, 1], given.values[:, 1])


def test_a_network_comes_back_from_its_settings():
    net = BayesNet(
        "mine",
        (COIN, Node("n", 3, ("coin",), ((1, 2, 3), (2, 1, 1)), cpt="t"), Node("d", 2, given=True)),
    )
    assert BayesNet(**net.settings()) == net and hash(BayesNet(**net.settings())) == hash(net)
    assert BayesNet.of({"name": "mine", "nodes": net.settings()["nodes"]}) == net


def test_every_cell_of_a_table_has_a_label_of_its_own():
    net, given = BayesNet(n_states=2), records(a=["x", "y"], b=["1", "2"])
    labels, _ = net.coords(given)["parameter"]
    assert labels[:4] == ["class=0", "class=1", "a=x | class=0", "a=y | class=0"]
    assert len(set(labels)) == len(labels) == net.dims(given)["parameter"]


@pytest.mark.parametrize(
    "net", [BayesNet(), BayesNet(network="hmm"), BayesNet("mine", (COIN, Node("b", 3, ("coin",))))]
)
def test_its_two_records_to_compile_with_fit_the_network(net):
    net.for_data(net.tiny(100))
    closed = net.for_data(net.tiny())
    assert closed.for_data(closed.tiny()) == closed


TWO_CAUSES = """
name = "two causes"
nodes = [
    {name = "cause", states = 2},
    {name = "season", states = ["winter", "summer"]},
    {name = "symptom", states = ["no", "yes"], parents = ["cause", "season"], prior = 0.7},
]
"""


def test_a_network_is_read_from_files_and_comes_back(tmp_path):
    (tmp_path / "mine.toml").write_text(TWO_CAUSES)
    net = BayesNet.of(tmp_path / "mine.toml")
    assert [(node.name, node.n_states, node.parents, node.prior) for node in net.nodes] == [
        ("cause", 2, (), 0.5),
        ("season", 2, (), 0.5),
        ("symptom", 2, ("cause", "season"), 0.7),
    ]
    (tmp_path / "again.json").write_text(json.dumps(net.settings()))
    assert BayesNet.of(str(tmp_path / "again.json")) == net


def test_a_broken_file_is_told_with_its_path(tmp_path):
    (tmp_path / "cut.toml").write_text(TWO_CAUSES[:40])
    (tmp_path / "ring.toml").write_text(
        TWO_CAUSES.replace(
            '{name = "cause", states = 2}', '{name = "cause", states = 2, parents = "symptom"}'
        )
    )
    for file, sentence in (
        ("cut.toml", "cut.toml is not TOML: "),
        ("ring.toml", "ring.toml: network 'two causes': there "),
    ):
        with pytest.raises(ModelError, match=sentence):
            BayesNet.of(tmp_path / file)


def test_cliques_that_are_too_large_are_refused_with_the_largest(monkeypatch):
    monkeypatch.setattr("workbench.models.bayes_nets.plan.MOST_CLIQUE_CELLS", 60)
    wide = BayesNet(
        "wide",
        (
            Node("a", 4),
            Node("b", 4),
            Node("c", 2, ("a", "b")),
            Node("d", 4),
            Node("e", 2, ("b", "d")),
        ),
    )
    cases = cases_of(np.array([[-1, -1, 0, -1, -1]]), np.ones(1))
    junction_trees(wide, cases)  # 16 cells: d and e say nothing
    both = cases_of(np.array([[-1, -1, -1, -1, -1, 0]]), np.ones(1))
    wide = BayesNet("wide", (*wide.nodes, Node("f", 2, ("c", "e"))))
    sentence = (
        r"network .wide. has cliques of \d+ cells, more than 60; the largest has \d+ \(.*\): give"
    )
    with pytest.raises(ModelError, match=sentence):
        junction_trees(wide, both)


# ---------------------------------------------------------------------- likelihoods of held-out cells and records

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
