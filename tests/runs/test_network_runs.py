"""Runs of networks: what they keep by name, what theta and phi are, that they go on, and that unseen documents know them."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.engines import ENGINES, get_engine
from workbench.models import ModelError
from workbench.models.networks.estimates import shares
from workbench.models.networks.levels import (
    AUTHORS,
    DOCUMENT,
    WORD,
    Level,
    Rows,
    Variable,
    learnt_priors,
    row_dims,
    spread,
    variables_of,
)
from workbench.models.networks.network import Network
from workbench.models.networks.shipped import hierarchical_pachinko_2, pachinko
from workbench.models.networks.simulation import row_of
from workbench.models.networks.spelling import spelled
from workbench.report.commands import command_of, missing_in_commands
from workbench.runs.spec import RunSpec, SpecError, make_spec

NETWORKS = [name for name in ENGINES if get_engine(name).model is Network]
MODELS = {
    "lda": {},
    "author-topic": {},
    "pachinko": {"super": 2},
    "hpam1": {"super": 2},
    "hpam2": {"super": 2},
}
SHORT = {"n_iterations": 4, "snapshot_every": 2, "progress": False}


@pytest.fixture(scope="module")
def halves():
    corpus, _ = (
        Network.of("author-topic", 3).with_authors(("Al", "Bo", "Cy")).simulate(12, 9, 20, seed=1)
    )
    return wb.hold_out_tokens(corpus, fraction=0.2, seed=0)


def switch() -> Network:
    """A network of nobody's: a token is drawn from a word list of all, of its author, or of one of two themes."""
    return Network(
        "switch",
        (
            Variable("author", AUTHORS),
            Variable("source", 2, ("common", "theme")),
            Variable("theme", 2),
        ),
        (
            Level("who", "author", (Rows((DOCUMENT,)),), "observed", table=AUTHORS),
            Level("pi", "source", (Rows(("author",)),), prior=(0.5, 1.0)),
            Level("theta", "theme", (Rows(("author",), (("source", "theme"),)),), learn="scalar"),
            Level(
                "phi",
                "word",
                (Rows((), (("source", "common"),)), Rows(("theme",), (("source", "theme"),))),
            ),
        ),
    )


def probability(network, means, corpus, document) -> np.ndarray:
    """(row over words,) every path of a document walked by itself, as `simulate` walks it."""
    names, sizes = zip(*[(each.name, each.size) for each in network.variables], strict=True)
    found = np.zeros(network.n_rows(network.levels[-1]))
    for values in itertools.product(*(range(-1, size) for size in sizes)):
        at = {DOCUMENT: np.array([document])} | {name: np.array([-1]) for name in names}
        weight = 1.0
        for level in network.levels[:-1]:
            row, drawn = row_of(network, level, at)[0], values[names.index(level.draws)]
            if (row < 0) != (drawn < 0):
                weight = 0.0
                break
            if row < 0:
                continue
            if level.table == AUTHORS:
                own = corpus.authors[document]
                weight *= (network.author.values[drawn] in own) / len(own)
            else:
                weight *= means[level.name][row, drawn]
            at[level.draws] = np.array([drawn])
        if weight:
            found[row_of(network, network.levels[-1], at)[0]] += weight
    return found


@pytest.mark.parametrize("name", [*MODELS, "switch"])
def test_the_shares_of_rows_are_sums_over_all_paths(name, train):
    network = (switch() if name == "switch" else Network.of(name, 3, MODELS[name])).for_data(train)
    random, plain, means = np.random.default_rng(0), {}, {}
    for level in network.levels[:-1]:
        if level.table != AUTHORS:
            n_documents = train.n_documents if level.of_documents else 1
            rows = random.dirichlet(
                np.ones(network.size(level.draws)), n_documents * network.n_rows(level)
            )
            plain[level.name] = rows
            means[level.name] = (
                rows.reshape(n_documents, -1, rows.shape[1]) if level.of_documents else rows
            )
    found = shares(network, means, train)
    expected = [
        probability(network, plain, train, document) for document in range(train.n_documents)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-14)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-14)


def test_a_document_of_unknown_authors_is_by_all_of_them_evenly(train):
    network = Network.of("author-topic", 2).for_data(train)
    nobody = replace(train.of_documents([0]), authors=((),))
    rows = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    assert shares(network, {"theta": rows}, nobody).tolist() == [[0.5, 0.5]]


def test_what_a_run_keeps_has_dims_named_as_the_variables():
    assert {each.name: each.dims for each in variables_of(Network(**pachinko(3, 2)))} == {
        "n_theta0": ("snapshot", "document", "super"),
        "n_theta1": ("snapshot", "document", "super", "topic"),
        "alpha_theta1": ("iteration", "super", "topic"),
    }
    two = Level("zeta", "z", (Rows(("x",), (("x", 1),)), Rows((), (("x", 0),))))
    assert row_dims(two) == ("zeta_row",) and row_dims(
        replace(two, rows=(Rows(("x", DOCUMENT)),))
    ) == (DOCUMENT, "x")


def test_rows_that_no_path_visits_hold_nothing_and_groups_that_are_not_are_unknown():
    network = Network(**hierarchical_pachinko_2(2, 2))
    level, counts = network.level("theta1"), np.arange(1, 13.0).reshape(2, 2, 3)
    whole = spread(network, level, counts)
    assert (
        whole.shape == (2, 3, 3) and not whole[:, 0].any() and np.array_equal(whole[:, 1:], counts)
    )
    alphas = learnt_priors(network, {"theta1": np.arange(6.0).reshape(2, 3)})["alpha_theta1"]
    assert np.isnan(alphas[0]).all() and alphas[1:].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.slow
@pytest.mark.parametrize("engine", NETWORKS)
@pytest.mark.parametrize("name", [*MODELS, "switch"])
def test_a_run_foretells_by_the_theta_and_phi_that_it_shows(engine, name, train, test):
    given = (
        {"model": switch()}
        if name == "switch"
        else {"model": name, "n_topics": 3, "sizes": MODELS[name]}
    )
    run = wb.fit(train, engine, test=test, **given, **SHORT)
    network = RunSpec.from_json(run.attrs["spec"]).parts(train)[1]
    for variable in variables_of(network):
        assert (
            run[variable.name].dims == variable.dims
            and run[variable.name].attrs["long_name"] == variable.meaning
        )
    for level in network.levels[:-1]:
        if level.table != AUTHORS:
            visited = run[f"n_{level.name}"].isel(snapshot=-1).sum()
            assert float(visited) == pytest.approx(train.n_tokens) or level.rows[0].when
    np.testing.assert_allclose(run["n_dk"].sum(("document",)), run["n_kw"].sum("word"), rtol=1e-6)
    if "author" in run.dims:
        assert run["author"].values.tolist() == ["Al", "Bo", "Cy"]
    if get_engine(engine).samples(train, get_engine(engine).options()):
        return
    theta, phi = run["theta"].values, run["phi"].values
    p = np.einsum("pk,kp->p", theta[test.documents], phi[:, test.words])
    perplexity = np.exp(-(test.counts @ np.log(p)) / test.n_tokens)
    # estimated rows have a floor of 1e-10
    np.testing.assert_allclose(perplexity, run["test_perplexity_state"][-1], rtol=1e-7)


@pytest.mark.parametrize("engine", NETWORKS)
def test_a_run_of_authors_in_a_store_goes_on_as_if_it_had_not_rested(engine, train, test, tmp_path):
    settings = {
        "model": switch(),
        "test": test,
        "progress": False,
        "snapshot_every": 1,
        "burn_in": 1,
    }
    whole = wb.fit(train, engine, n_iterations=5, **settings)
    wb.fit(train, engine, n_iterations=2, store=tmp_path, **settings)
    (path,) = (path for path in tmp_path.iterdir() if not path.name.startswith("."))
    resumed = wb.resume(path, n_iterations=5, progress=False)
    for name in ("n_kw", "n_pi", "n_theta", "alpha_theta", "test_perplexity", "n_k"):
        # estimated rows have no prior to learn
        assert name not in whole or np.array_equal(resumed[name], whole[name]), name
    assert resumed["author"].values.tolist() == ["Al", "Bo", "Cy"] and resumed[
        "node"
    ].values.tolist() == ["root", "theme 0", "theme 1"]
    assert "Cy" not in resumed.attrs["spec"]
    assert wb.open_run(path).attrs["spec"] == resumed.attrs["spec"]


def spec_of(train, **settings):
    return make_spec(train, NETWORKS[0], **settings)


def test_a_spec_survives_json_and_its_hash_knows_the_network(train):
    spec = spec_of(train, model="pachinko", n_topics=4, sizes={"super": 3}, alpha=0.2)
    assert RunSpec.from_json(spec.to_json()) == spec and spec.model["n_topics"] == 4
    assert spec.parts()[1] == Network.of("pachinko", 4, {"super": 3}, alpha=0.2)
    others = [
        {"model": "pachinko", "n_topics": 4},
        {"model": "pachinko", "n_topics": 4, "sizes": {"super": 3}},
        {},
    ]
    assert len({spec.hash, *(spec_of(train, **other).hash for other in others)}) == 4
    assert spec_of(train).hash == spec_of(train, model="lda", n_topics=10, alpha=0.1).hash


@pytest.mark.parametrize("name", MODELS)
def test_the_command_of_a_run_makes_the_same_spec(name, train):
    for engine in NETWORKS:
        for priors in ({}, {"alpha": 0.3, "beta": 0.2}):
            spec = make_spec(train, engine, 4, model=name, sizes=MODELS[name], **priors)
            words = spelled(spec.parts()[1])
            assert make_spec(train, engine, **words).hash == spec.hash
            assert f"--model {name} --topics 4" in command_of(spec)
    assert not missing_in_commands([spec])[1:]


def test_the_command_of_a_network_of_ones_own_names_a_file(train):
    spec = spec_of(train, model=switch())
    assert "--model switch.json" in command_of(
        spec
    ) and "switch.json is the network 'switch'" in " ".join(missing_in_commands([spec]))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"engine": "cgs", "model": "lda"},
            "cgs has a model of its own, so leave out model, or choose an engine",
        ),
        (
            {"engine": "cgs", "sizes": {"super": 3}},
            "cgs has a model of its own, so leave out sizes",
        ),
        (
            {"engine": "hmm", "n_topics": 3},
            "hmm has a model of its own, so leave out n_topics; its options are n_states",
        ),
        ({"model": "ldb"}, "no model 'ldb'; did you mean 'lda'?"),
        (
            {"model": "lda", "sizes": {"super": 3}},
            "network 'lda' has no variable 'super'; there are topic",
        ),
        ({"model": "lda", "n_topics": 0}, "variable 'topic' must have a size from 1 to 65535"),
        ({"model": "lda", "start": "elsewhere"}, "cannot begin from another run; leave start out"),
    ],
)
def test_settings_that_do_not_fit_get_one_sentence(settings, sentence, train):
    engine, start = settings.pop("engine", NETWORKS[0]), settings.pop("start", None)
    with pytest.raises((SpecError, ModelError)) as caught:
        make_spec(train, engine, start=start and (None, {}), **settings)
    assert sentence in str(caught.value)


def test_a_variable_called_topic_has_as_many_values_as_there_are_rows_over_words(train):
    x, topic = Variable("x", 2), Variable("topic", 3)
    network = Network(
        "odd",
        (x, topic),
        (
            Level("eta", "x", (Rows((DOCUMENT,)),)),
            Level("theta", "topic", (Rows((DOCUMENT,)),)),
            Level("phi", WORD, (Rows(("x", "topic")),)),
        ),
    )
    with pytest.raises(
        ModelError,
        match="has 6 rows over words, which a run calls topics, and a variable 'topic' of 3 values",
    ):
        spec_of(train, model=network)


def test_a_comparison_gives_the_network_to_those_that_take_one(train):
    from workbench.runs.execution.compare import plan

    specs, *_ = plan(train, ["cgs", NETWORKS[0]], model="pachinko", sizes={"super": 2}, n_topics=3)
    assert [spec.model.get("name") for spec in specs] == [None, "pachinko"]
    with pytest.raises(SpecError, match="svb has a model of its own"):
        plan(train, ["svb", "cgs"], model="pachinko")


def test_networks_are_told_apart_by_what_their_number_of_topics_does_not_tell(train):
    from workbench.measures.selection import labels_of_specs

    of = [
        ("lda", None),
        ("author-topic", None),
        ("pachinko", {"super": 2}),
        ("pachinko", {"super": 3}),
    ]
    specs = [make_spec(train, NETWORKS[0], 3, model=name, sizes=sizes) for name, sizes in of]
    labels = [
        f"{NETWORKS[0]} {rest}"
        for rest in ("lda", "author-topic", "pachinko, super 2", "pachinko, super 3")
    ]
    assert labels_of_specs(specs) == labels


@pytest.mark.filterwarnings("ignore:none of the")
@pytest.mark.parametrize("name", [*MODELS, "switch"])
def test_unseen_documents_have_a_theta_and_a_perplexity_by_either_protocol(name, train):
    given = (
        {"model": switch()}
        if name == "switch"
        else {"model": name, "n_topics": 3, "sizes": MODELS[name]}
    )
    run = wb.fit(train, NETWORKS[0], **given, **SHORT)
    for documents in (
        train.of_documents([0, 3]),
        replace(train.of_documents([0, 3]), authors=None),
    ):
        found = wb.infer(run, documents)
        assert found["theta"].shape == (2, run.sizes["topic"])
        np.testing.assert_allclose(found["theta"].sum("topic"), 1, atol=1e-9)
        assert 1 < found.attrs["perplexity_foldin_same"] < train.n_words
        assert 1 < wb.document_completion(run, documents)["perplexity"] < 2 * train.n_words
    nothing = wb.infer(run, ["nowhere known", ""]) if name == "lda" else None
    assert nothing is None or np.allclose(nothing["theta"], 1 / 3)


def test_documents_by_authors_of_the_run_are_by_them():
    corpus = wb.Corpus.from_pairs([0, 1], [0, 1], [30, 30], authors=[("Al",), ("Bo",)])
    run = wb.fit(
        corpus, NETWORKS[0], model="author-topic", n_topics=2, n_iterations=40, progress=False
    )
    # each writes what the other one wrote
    unseen = wb.Corpus.from_pairs([0, 1], [0, 1], [1, 1], authors=[("Bo",), ("Al",)])
    theta = wb.infer(run, unseen)["theta"].values
    np.testing.assert_allclose(theta, run["theta"].values[::-1], atol=1e-9)
