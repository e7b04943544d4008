"""Posteriors of hidden nodes of new records, against enumeration; what is refused."""

import numpy as np
import pytest
from bayes_net_twins import completions, families

import workbench as wb
from workbench.errors import InputError
from workbench.runs.spec import RunSpec


@pytest.fixture(scope="module")
def records():
    random = np.random.default_rng(0)
    kinds = random.integers(2, size=60)
    columns = {
        f"f{i}": np.where(random.random(60) < 0.2, 1 - kinds, kinds).astype(str) for i in range(3)
    }
    return wb.Records.from_columns(columns, "sixty")


def by_enumeration(run, net, case, node, theta) -> np.ndarray:
    found = np.zeros(net.nodes[node].n_states)
    for each in completions(net, case):
        found[each[node]] += np.prod([theta[cell] for cell in families(net, each)])
    return found


@pytest.mark.parametrize(
    "settings",
    [
        {"options": {"n_states": 3}},
        {"options": {"network": "hmm"}},
        {
            "model": wb.BayesNet(
                "own",
                [
                    wb.Node("a", 2),
                    wb.Node("b", 3, "a"),
                    *(wb.Node(f"f{i}", ("0", "1"), "b") for i in range(3)),
                ],
            )
        },
    ],
    ids=["latent-class", "hmm", "own"],
)
@pytest.mark.parametrize("engine", ["bn-vb", "bn-em"])
def test_posteriors_are_those_by_enumeration(records, settings, engine):
    run = wb.fit(records, engine, n_iterations=15, progress=False, **settings)
    new = wb.Records.from_columns(
        {"f0": ["1", None, "0"], "f1": ["1", None, "1"], "f2": [None, None, "0"]},
        levels={f"f{i}": ["1", "0"] for i in range(3)},
    )
    if "model" in settings:
        new = wb.Records(
            np.where(new.values < 0, -1, 1 - new.values),
            new.multiplicities,
            new.fields,
            (("0", "1"),) * 3,
        )
    found = wb.infer(run, new)
    net = RunSpec.from_json(run.attrs["spec"]).parts()[1].for_data(records)
    theta = run["cpt"].values
    if engine == "bn-em":
        counts, rows = run["n_cpt"].values[-1], run["row"].values
        theta = counts / np.bincount(rows, counts)[rows]
    names = [node.name for node in net.nodes]
    for at in range(new.n_distinct):
        case = [-1] * len(names)
        for field, level in zip(new.fields, new.values[at], strict=True):
            if level >= 0:
                case[names.index(field)] = int(new.levels[new.fields.index(field)][level])
        for node in found["node"].values:
            exact = by_enumeration(run, net, case, names.index(node), theta)
            got = found["posterior"].sel(node=node).values[at][: len(exact)]
            np.testing.assert_allclose(got, exact / exact.sum(), rtol=1e-9, atol=1e-12)
            assert float(found["log_probability"][at]) == pytest.approx(
                np.log(exact.sum()), abs=1e-9
            )


def test_what_the_run_does_not_know_is_told_in_one_sentence(records):
    run = wb.fit(records, "bn-vb", n_iterations=3, progress=False)
    for columns, sentence in (
        ({"f9": ["0"]}, "has no field 'f9'; there are f0, f1, f2; leave the field out"),
        ({"f0": ["2"]}, "does not know the level '2' of 'f0'; there are 0, 1; leave it out"),
    ):
        with pytest.raises(InputError, match=sentence):
            wb.infer(run, wb.Records.from_columns(columns))
    lda = wb.fit(
        wb.Corpus.from_pairs([0, 1], [0, 1], [2, 1]), n_topics=2, n_iterations=1, progress=False
    )
    with pytest.raises(InputError, match="is of no Bayesian network, so there are no hidden nodes"):
        wb.infer(lda, records)
    with pytest.raises(InputError, match="has no topics"):
        wb.infer(run, ["a text"])
