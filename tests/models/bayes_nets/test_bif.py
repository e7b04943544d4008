"""Networks read from BIF files by pgmpy, and records drawn from their tables."""

import gzip
import importlib.util
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from missing import skip_without

from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.files import published, read_bif
from workbench.models.bayes_nets.nodes import Node
from workbench.models.bayes_nets.simulated import draw_hidden, draw_records, published_net
from workbench.models.model import ModelError
from workbench.records import DataError

RAIN = """network unknown {
}
variable season {
  type discrete [ 2 ] { dry, wet };
}
variable cloud {
  type discrete [ 3 ] { none, some, many };
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
probability ( season ) {
  table 0.6, 0.4;
}
probability ( cloud | season ) {
  (dry) 0.7, 0.2, 0.1;
  (wet) 0.1, 0.3, 0.6;
}
probability ( rain | cloud, season ) {
  (none, dry) 1.0, 0.0;
  (some, dry) 0.9, 0.1;
  (many, dry) 0.7, 0.3;
  (none, wet) 0.95, 0.05;
  (some, wet) 0.6, 0.4;
  (many, wet) 0.2, 0.8;
}
"""
NODES = (
    Node("season", ("dry", "wet")),
    Node("cloud", ("none", "some", "many"), "season"),
    Node("rain", ("no", "yes"), ("cloud", "season")),
)
TABLES = [
    0.6,
    0.4,
    0.7,
    0.2,
    0.1,
    0.1,
    0.3,
    0.6,
    1,
    0,
    0.95,
    0.05,
    0.9,
    0.1,
    0.6,
    0.4,
    0.7,
    0.3,
    0.2,
    0.8,
]


class Reader:
    """What pgmpy's reader says of RAIN: tables with a column for each combination of parents, the last parent first."""

    def __init__(self, string):
        if string != RAIN:
            raise ValueError("no such network")
        self.variable_names = ["season", "cloud", "rain"]
        self.variable_states = {node.name: list(node.states) for node in NODES}
        self.variable_parents = {node.name: list(node.parents) for node in NODES}
        parts = (
            np.array(TABLES[:2]).reshape(1, 2),
            np.array(TABLES[2:8]).reshape(2, 3),
            np.array(TABLES[8:]).reshape(6, 2),
        )
        self.variable_cpds = dict(zip(self.variable_names, (part.T for part in parts), strict=True))


@pytest.fixture
def with_reader(monkeypatch):
    """pgmpy stands in, so that what is made of its reader is tested without it."""
    monkeypatch.setitem(sys.modules, "pgmpy", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pgmpy.readwrite", SimpleNamespace(BIFReader=Reader))


def put(folder, name="rain.bif", content=RAIN):
    path = folder / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith("gz") else content.encode())
    return path


@pytest.mark.parametrize("name", ["rain.bif", "rain.bif.gz"])
def test_a_file_is_a_network_with_its_true_tables(name, tmp_path, with_reader):
    net, tables = read_bif(put(tmp_path, name))
    assert BayesNet(**net) == BayesNet("rain", NODES) == BayesNet.of(tmp_path / name)
    assert tables == pytest.approx(TABLES, abs=1e-15)  # divided by sums of 1


@pytest.mark.slow  # pgmpy takes seconds to import
def test_pgmpy_itself_reads_the_same(tmp_path):
    if importlib.util.find_spec("pgmpy") is None:
        skip_without("pgmpy is not installed; the extra bif has it")
    net, tables = read_bif(put(tmp_path))
    assert BayesNet(**net) == BayesNet("rain", NODES) and tables == pytest.approx(TABLES, abs=1e-15)
    net, tables = published_net("asia")
    either = net.tables.starts[net.tables.names.index("either")]
    # lung or tub
    assert len(net.nodes) == 8 and tables[either : either + 8].tolist() == [1, 0, 1, 0, 1, 0, 0, 1]
    with pytest.raises(ModelError, match="pgmpy has no network 'aisa'; it has alarm, andes, asia"):
        published("aisa")
    with pytest.raises(ModelError, match=r"cut.bif is no BIF that can be read \(\w+"):
        read_bif(put(tmp_path, "cut.bif", RAIN[:300]))


def test_what_is_no_network_is_refused_in_one_sentence(tmp_path, monkeypatch, with_reader):
    with pytest.raises(
        ModelError,
        match=r"cut.bif is no BIF that can be read \(ValueError: no such network\); check the file",
    ):
        read_bif(put(tmp_path, "cut.bif", RAIN[:100]))
    with pytest.raises(DataError, match="there is no file .*none.bif; check the path"):
        BayesNet.of(tmp_path / "none.bif")
    monkeypatch.setattr(
        sys.modules["pgmpy.readwrite"],
        "BIFReader",
        lambda string: SimpleNamespace(
            variable_names=["a"],
            variable_states={"a": ["x", "y"]},
            variable_parents={"a": []},
            variable_cpds={"a": [[0.5], [0.4]]},
        ),
    )
    with pytest.raises(
        ModelError,
        match="rain.bif: every distribution of 'a' must have numbers of at least 0 that sum to 1",
    ):
        read_bif(put(tmp_path))
    monkeypatch.setitem(sys.modules, "pgmpy.readwrite", None)
    with pytest.raises(
        ModelError,
        match=r"rain.bif: networks in BIF need the package pgmpy, .*\[bif\]' adds it, or give",
    ):
        read_bif(tmp_path / "rain.bif")


def test_records_are_drawn_from_the_tables():
    net, n = BayesNet("rain", NODES), 200_000
    records = draw_records(net, TABLES, n, seed=3)
    assert (records.n_records, records.fields, records.levels[1]) == (
        n,
        ("season", "cloud", "rain"),
        ("none", "some", "many"),
    )
    season, cloud, rain = (
        np.array(TABLES[:2]),
        np.reshape(TABLES[2:8], (2, 3)),
        np.reshape(TABLES[8:], (3, 2, 2)),
    )
    joint = season[:, None, None] * cloud[:, :, None] * rain.transpose(1, 0, 2)
    drawn = np.zeros(joint.shape)
    drawn[tuple(records.values.T)] = records.multiplicities
    error = np.sqrt(n * joint * (1 - joint))
    # 4.5 sd for each of 12 cells; impossible ones never come
    assert np.all(np.abs(drawn - n * joint) <= 4.5 * error)
    assert draw_records(net, TABLES, n, seed=3).content_hash == records.content_hash
    assert draw_records(net, TABLES, n, seed=4).content_hash != records.content_hash


def test_the_last_of_parents_of_several_sizes_is_the_fastest():
    nodes = [Node("a", 2), Node("b", 3), Node("both", 6, ("a", "b"))]
    records = draw_records(
        BayesNet("pair", nodes), [*[1 / 2] * 2, *[1 / 3] * 3, *np.eye(6).ravel()], 200
    )
    a, b, both = records.values.T
    assert records.n_distinct == 6 and both.tolist() == (3 * a + b).tolist()


def test_tied_nodes_are_drawn_from_one_table():
    nodes = [
        Node("s1", 2, (), cpt="start"),
        *(Node(f"s{t}", 2, f"s{t - 1}", cpt="next") for t in (2, 3)),
    ]
    records = draw_records(BayesNet("chain", nodes), [1, 0, 0, 1, 1, 0], 5)
    assert records.values.tolist() == [[0, 1, 0]] and records.multiplicities.tolist() == [5]


def test_a_share_of_the_inner_nodes_is_hidden():
    nodes = [Node("n0", 2), *(Node(f"n{at}", 2, f"n{at - 1}") for at in range(1, 12))]
    net = BayesNet("chain", nodes)
    hidden = draw_hidden(net, 0.3, seed=1)
    assert (
        len(hidden) == 3
        and set(hidden) <= {f"n{at}" for at in range(1, 11)}
        and hidden == draw_hidden(net, 0.3, seed=1)
    )
    assert draw_hidden(net, 0) == ()
    assert {name for seed in range(60) for name in draw_hidden(net, 0.3, seed)} == {
        f"n{at}" for at in range(1, 11)
    }
    with pytest.raises(
        DataError, match="hidden must be a number of at least 0 and below 1; got 1.5"
    ):
        draw_hidden(net, 1.5)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"tables": TABLES[:-1]}, "network 'rain' has 20 cells of tables; 19 came"),
        (
            {"tables": [*TABLES[:-1], 0.7]},
            "network 'rain': every row of its tables must be probabilities that sum to 1",
        ),
        ({"n_records": 0}, "n_records must be a whole number of at least 1; got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1"),
        (
            {
                "net": BayesNet("d", [Node("a", 2, given=True), Node("b", 2, "a")]),
                "tables": [0.5] * 4,
            },
            "network 'd': node 'a' is given, so nothing is drawn from it",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_sentence(given, sentence):
    with pytest.raises((ModelError, DataError)) as refused:
        draw_records(**({"net": BayesNet("rain", NODES), "tables": TABLES, "n_records": 3} | given))
    assert str(refused.value) == sentence
