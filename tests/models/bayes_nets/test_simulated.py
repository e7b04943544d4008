"""Records simulated from published networks: by name, with the truth behind them."""

import numpy as np
import pytest
from missing import skip_without

import workbench as wb
from workbench.models.bayes_nets import files, simulated
from workbench.models.bayes_nets.simulated import SIMULATED, simulate_records
from workbench.records import DataError
from workbench.runs.loading import kind_of, named_set

CHAIN = wb.BayesNet(
    "asia", [wb.Node("n0", 2), *(wb.Node(f"n{at}", 2, f"n{at - 1}") for at in range(1, 12))]
)
TABLES = np.array([0.4, 0.6, *[0.8, 0.2, 0.3, 0.7] * 11])


@pytest.fixture
def chain(monkeypatch):
    """A chain of twelve nodes stands in for the published networks."""
    monkeypatch.setattr(simulated, "published_net", lambda name: (CHAIN, TABLES))


def test_a_fifth_of_the_inner_nodes_is_hidden_and_the_truth_is_known(chain):
    records, truth = simulate_records("asia", n_records=500, seed=1)
    hidden = set(truth.complete.fields) - set(records.fields)
    assert (
        len(hidden) == 2
        and hidden <= {f"n{at}" for at in range(1, 11)}
        and truth.complete.n_fields == 12
    )
    assert truth.net == CHAIN and truth.tables is TABLES and truth.complete.n_records == 500
    assert truth.complete.of_fields(records.fields).content_hash == records.content_hash
    assert (
        simulate_records("asia", 500, seed=1, hidden=0)[0].content_hash
        == truth.complete.content_hash
    )


def test_the_seed_chooses_both_the_records_and_the_hidden_nodes(chain):
    first, *others = (simulate_records("asia", seed=seed) for seed in range(4))
    for _, truth in others:
        assert truth.complete.content_hash != first[1].complete.content_hash
    assert len({records.fields for records, _ in (first, *others)}) > 1  # of 45 pairs of nodes


def test_the_name_of_simulated_records_draws_them_again(chain):
    records = wb.load_records("asia:n_records=70:seed=4:hidden=0.5")
    assert records.name == "asia:n_records=70:seed=4:hidden=0.5" and records.n_fields == 7
    assert wb.load_records(records.name).content_hash == records.content_hash
    assert wb.load_records("asia", n_records=70, seed=4, hidden=0.5).name == records.name
    assert wb.load_records("asia:n_records=1000").name == wb.load_records("asia").name == "asia"
    assert wb.load_records("asia:seed=1").content_hash != wb.load_records("asia").content_hash


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("asia:n_records=0", {}, "n_records must be a whole number of at least 1; got 0"),
        ("asia:n_records=many", {}, "n_records must be a whole number of at least 1; got 'many'"),
        ("asia:seed=-1", {}, "seed must be a whole number of at least 0; got -1"),
        ("asia:hidden=1", {}, "hidden must be a number of at least 0 and below 1; got 1"),
        ("asia:hidden=no", {}, "hidden must be a number of at least 0 and below 1; got 'no'"),
        (
            "asia:records=9",
            {},
            "the data set 'asia' has no option 'records'; there are n_records, seed, hidden",
        ),
        (
            "asia:seed=1",
            {"seed": 2},
            "the option 'seed' of 'asia' is given twice; leave one of them out",
        ),
    ],
)
def test_options_that_cannot_be_are_refused_in_one_sentence(chain, name, given, sentence):
    with pytest.raises(DataError) as refused:
        wb.load_records(name, **given)
    assert str(refused.value) == sentence


def test_without_pgmpy_the_name_says_what_to_install(monkeypatch):
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    monkeypatch.setattr(simulated, "find_spec", lambda name: None)
    assert {each.whereabouts() for each in SIMULATED.values()} == {"by hand"}
    sentence = r"network 'alarm': networks in BIF need the package pgmpy, .*\[bif\]' adds it"
    for use in (wb.load_records, wb.BayesNet.of):
        with pytest.raises(wb.ModelError, match=sentence):
            use("alarm")


def test_simulated_records_are_in_the_catalog():
    assert next(iter(wb.record_sets())) == "votes" and list(wb.record_sets())[-4:] == list(
        SIMULATED
    )
    assert named_set("alarm:seed=2") is SIMULATED["alarm"] and kind_of("alarm") is wb.Records
    assert SIMULATED["alarm"].facts()["options"] == {"n_records": 1000, "seed": 0, "hidden": 0.2}


def test_a_field_that_a_network_has_no_node_for_is_refused_with_ten_of_its_nodes(chain):
    with pytest.raises(wb.ModelError) as refused:
        CHAIN.for_data(wb.load_records("votes"))
    assert str(refused.value) == (
        "network 'asia' has no node for the field 'V1' of 'votes'; there are n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, …; leave "
        "the field out, or add a node"
    )


@pytest.mark.slow  # pgmpy takes seconds to import
@pytest.mark.parametrize("name", SIMULATED)
def test_published_networks_are_as_described_and_are_models_by_name(name):
    about = SIMULATED[name]
    if about.whereabouts() != "drawn":
        skip_without("pgmpy is not installed; the extra bif has it")
    records, truth = simulate_records(name)
    assert wb.BayesNet.of(name) == truth.net and truth.net.name == records.name == name
    assert (records.n_records, records.n_fields, records.n_distinct) == (
        about.n_records,
        about.n_fields,
        about.n_distinct,
    )
    assert records.n_items == records.n_records * records.n_fields
    assert set(records.fields) < {node.name for node in truth.net.nodes}
    truth.net.for_data(records)  # every level is a state of its node
