"""Networks of mixture levels: what is refused, where they come from, and corpora drawn from them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from workbench.corpus import Corpus
from workbench.models import ModelError
from workbench.models.networks.network import AUTHORS, Level, Network, Rows, Variable
from workbench.models.networks.shipped import (
    SHIPPED,
    author_topic,
    generic_lda,
    hierarchical_pachinko_1,
    hierarchical_pachinko_2,
    pachinko,
)

TOPIC, X = Variable("topic", 3), Variable("x", 2)
THETA, PHI = (
    Level("theta", "topic", (Rows(("document",)),)),
    Level("phi", "word", (Rows(("topic",)),)),
)
DRAWS_X = Level("eta", "x", (Rows(("document",)),))
AUTHOR, TELLS = (
    Variable("author", AUTHORS),
    Level("a", "author", (Rows(("document",)),), "observed", table=AUTHORS),
)


def rows(*by, when=()):
    return (Rows(by, when),)


def lda(variables=(TOPIC,), **about):
    """LDA with a theta that is described otherwise."""
    return lambda: Network("net", variables, (replace(THETA, **about), PHI))


def net(variables, *levels):
    return lambda: Network("net", variables, levels)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            net((TOPIC,), THETA, replace(PHI, rows=rows("topik"))),
            "are numbered by 'topik', which is no variable; there are topic",
        ),
        (
            net((TOPIC,), replace(THETA, draws="topik"), PHI),
            "'theta' draws 'topik', which is no variable; there are topic",
        ),
        (net((TOPIC,), THETA), 'no level draws the word; let the last one have draws = "word"'),
        (
            net((TOPIC,), PHI, THETA),
            "'phi' are numbered by 'topic', which is not drawn before; put the level that draws 'topic' above it",
        ),
        (
            net((TOPIC,), THETA, PHI, replace(PHI, name="chi")),
            "levels 'phi' and 'chi' both draw 'word'; a variable is drawn once, so make them one level, whose",
        ),
        (
            net((TOPIC,), THETA, replace(THETA, name="chi"), PHI),
            "levels 'theta' and 'chi' both draw 'topic'",
        ),
        (
            net((TOPIC, X), THETA, PHI, DRAWS_X),
            "'eta' is below level 'phi', which draws the word; put that last",
        ),
        (
            net((TOPIC, X), THETA, PHI),
            "no level draws variable 'x'; remove it, or add a level with draws = \"x\"",
        ),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                THETA,
                replace(PHI, rows=(Rows(("topic",), (("x", 0, 1),)), Rows((), (("x", 1),)))),
            ),
            "two rows of 'phi' are for paths with x 1, topic 0 to 2; let their when differ",
        ),
        (
            net((TOPIC, X), DRAWS_X, THETA, replace(PHI, rows=rows("topic", when=(("x", 1, 0),)))),
            "when x is 1 to 0 never holds; the first value comes first",
        ),
        (
            net((TOPIC, X), DRAWS_X, THETA, replace(PHI, rows=rows("topic", when=(("x", 0, 2),)))),
            "'x' has the values 0 to 1; got when x is 0 to 2",
        ),
        (
            net((TOPIC, X), DRAWS_X, THETA, replace(PHI, rows=rows("topic", when=(("x", "off"),)))),
            "got when x is 'off' to 'off'",
        ),
        (
            net((TOPIC, X), DRAWS_X, THETA, replace(PHI, rows=rows("topic", when=(("x", 0, 0),)))),
            "paths with x 1, topic 0 to 2 draw no word; give level 'phi' rows for them",
        ),
        (
            net((TOPIC, X), DRAWS_X, replace(THETA, rows=rows("document", when=(("x", 0),))), PHI),
            "the rows of level 'phi' are by 'topic', which paths with x 1 do not have; limit the rows (when)",
        ),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                replace(THETA, rows=rows("document", when=(("x", 0),))),
                replace(
                    PHI,
                    rows=(
                        Rows((), (("x", 1),)),
                        Rows(("topic",), (("x", 0),)),
                        Rows((), (("topic", 1), ("x", 1))),
                    ),
                ),
            ),
            "no path visits the rows of level 'phi' when topic is 1 to 1, x is 1 to 1; remove them",
        ),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                THETA,
                replace(PHI, rows=rows("topic", when=(("x", 0), ("x", 1)))),
            ),
            "limits a variable twice in one when; give one span",
        ),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                THETA,
                replace(PHI, rows=rows("topic", when=(("document", 0),))),
            ),
            "limited to certain values of 'document', which cannot be",
        ),
        (
            net((TOPIC, X), DRAWS_X, THETA, replace(PHI, rows=rows("topic", when=("x", 0)))),
            "when is a list of (variable, first value, last value), as [[\"super\", 1, 5]]; got 'x'",
        ),
        (
            lda(prior=(0.1, 0.2)),
            "'theta' must be one number, one for each of the 3 values of 'topic', or 1 (its groups) x 3; got 2",
        ),
        (lda(prior=((0.1, 0.2, 0.3), (0.1,))), "or 1 (its groups) x 3; got 2"),
        (
            lda(prior=0),
            "the prior of level 'theta' must be a number greater than 0 (at least 1e-08); got 0",
        ),
        (lda(prior=(0.1, -1, 0.1)), "must be a number greater than 0 (at least 1e-08); got -1"),
        (lda(prior="much"), "must be a number greater than 0 (at least 1e-08); got 'much'"),
        (
            lda(prior=(0.1, 0.2, 0.3), learn="scalar"),
            "is learnt as one number, but begins as 3; give one, or learn a vector",
        ),
        (
            net((TOPIC,), THETA, replace(PHI, prior=(0.1, 0.2))),
            "the prior of level 'phi' must be one number, the same for every word; got 2 numbers",
        ),
        (
            net((TOPIC,), THETA, replace(PHI, learn="vector")),
            "draws the word and cannot learn a prior per word; make it scalar",
        ),
        (
            net((TOPIC,), THETA, replace(PHI, kind="observed")),
            "draws the word and cannot be observed; make it dirichlet",
        ),
        (
            lda(groups=("topic",)),
            "groups its priors by 'topic', by which its rows are not numbered; they are by nothing",
        ),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                replace(THETA, rows=rows("document", "x"), groups=("document",)),
                PHI,
            ),
            "groups its priors by 'document', by which its rows are not numbered; they are by x",
        ),
        (
            net(
                (AUTHOR, TOPIC), TELLS, replace(THETA, rows=rows("author"), groups=("author",)), PHI
            ),
            "groups its priors by 'author', which the corpus defines; group by something else",
        ),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                replace(THETA, rows=(Rows(("document",), (("x", 0),)), Rows((), (("x", 1),)))),
                PHI,
            ),
            "level 'theta' has rows of a document and others that are not; make them two levels",
        ),
        (
            net(
                (AUTHOR, TOPIC, X),
                TELLS,
                DRAWS_X,
                THETA,
                replace(PHI, rows=(Rows(("author",), (("x", 0),)), Rows(("topic",), (("x", 1),)))),
            ),
            "level 'phi' has rows of an author and others that are not; make them two levels",
        ),
        (
            net((AUTHOR, TOPIC), TELLS, replace(THETA, rows=rows("document", "author")), PHI),
            "level 'theta' has rows by document and by 'author'; take one of them",
        ),
        (
            net((TOPIC,), THETA, replace(PHI, rows=rows("document", "topic"))),
            "level 'phi' draws words from rows by document, which share nothing; number them by a variable",
        ),
        (
            net((TOPIC,), THETA, replace(PHI, rows=rows("topic", "topic"))),
            "'phi' has rows by topic, topic; name each once",
        ),
        (
            net((TOPIC,), THETA, replace(PHI, rows=rows("word"))),
            "level 'phi' draws 'word' given 'word' itself",
        ),
        (
            net((TOPIC,), THETA, replace(PHI, rows=())),
            "level 'phi' has no rows; for a single one write rows = [{ by = [] }]",
        ),
        (
            net((TOPIC,), THETA, replace(PHI, rows=(Rows("topic"),))),
            "level 'phi': by is a list of names, as [\"topic\"]",
        ),
        (
            lda(kind="point"),
            "has rows by document, which cannot be point estimates; make it dirichlet",
        ),
        (
            lda(kind="fixed"),
            "level 'theta' must have a kind of dirichlet, point, observed; got 'fixed'",
        ),
        (lda(learn=True), "'theta' must have a learn of none, scalar, vector; got True"),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                replace(THETA, rows=rows("x"), kind="point", learn="scalar"),
                PHI,
            ),
            "is point and has no prior to learn; leave learn out",
        ),
        (
            lda(table=((1, 0, 0),)),
            "level 'theta' is dirichlet and has a table; leave it out, or make the level observed",
        ),
        (
            lda(kind="observed"),
            "level 'theta' is known row by row, so no document or author has a row",
        ),
        (
            net((TOPIC, X), DRAWS_X, replace(THETA, rows=rows("x"), kind="observed"), PHI),
            "level 'theta' is observed and needs a table of 2 rows x 3 values; got no table",
        ),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                replace(THETA, rows=rows("x"), kind="observed", table=((1, 0), (0, 1))),
                PHI,
            ),
            "needs a table of 2 rows x 3 values; got 2 x 2",
        ),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                replace(THETA, rows=rows("x"), kind="observed", table=((1, 0, 0), (0, 1))),
                PHI,
            ),
            "needs a table of 2 rows x 3 values; got rows of other lengths",
        ),
        (
            net(
                (TOPIC, X),
                DRAWS_X,
                replace(THETA, rows=rows("x"), kind="observed", table=((1, 0, 0), (0.5, 0.6, 0))),
                PHI,
            ),
            "each row of its table must be probabilities that sum to 1; row 1 is [0.5, 0.6, 0.0]",
        ),
        (
            net(
                (AUTHOR, TOPIC),
                replace(TELLS, rows=rows()),
                replace(THETA, rows=rows("author")),
                PHI,
            ),
            "level 'a' describes the authors of documents; let its rows be by document alone, for every path",
        ),
        (
            net(
                (AUTHOR, TOPIC),
                replace(TELLS, kind="dirichlet", table=None),
                replace(THETA, rows=rows("author")),
                PHI,
            ),
            "level 'a' draws 'author', authors; make it observed, with table = \"authors\"",
        ),
        (
            net(
                (AUTHOR, replace(AUTHOR, name="editor"), TOPIC),
                TELLS,
                replace(TELLS, name="b", draws="editor"),
                THETA,
                PHI,
            ),
            'is not the only one with table = "authors"; keep one of them',
        ),
        (
            lda((Variable("topic", 0),)),
            "variable 'topic' must have a size from 1 to 65535, or \"authors\"; got 0",
        ),
        (
            lda((Variable("topic", True),)),
            "variable 'topic' must have a size from 1 to 65535, or \"authors\"; got True",
        ),
        (
            lda((Variable("topic", 3, ("a", "b")),)),
            "variable 'topic' has 3 values; got 2 names for them",
        ),
        (
            lda((Variable("topic", 3, ("a", "b", "a")),)),
            "two values of variable 'topic' have one name; rename one",
        ),
        (lda((TOPIC, TOPIC)), "two variables are called 'topic'; rename one"),
        (
            lda((TOPIC, Variable("snapshot", 2))),
            "a variable cannot be called 'snapshot', which means something else; rename",
        ),
        (
            lda((TOPIC, Variable("super topic", 2))),
            "the name of a variable is letters, digits and _, a letter first",
        ),
        (
            lda(name="kw"),
            "a level cannot be called 'kw', since n_kw or alpha_kw means something else; rename it",
        ),
        (
            net(
                (Variable("x", 2000), TOPIC, Variable("y", 2000)),
                DRAWS_X,
                THETA,
                replace(DRAWS_X, name="chi", draws="y"),
                PHI,
            ),
            "has 12,000,000 paths a token, and may have 1,048,576; take smaller sizes",
        ),
        (lambda: Network("", (TOPIC,), (THETA, PHI)), "a network has a name, as \"lda\"; got ''"),
        (
            lambda: Network("net", (TOPIC,), (THETA, PHI), 4),
            "network 'net' has 3 rows over words; got n_topics=4",
        ),
        (
            lambda: Network("net", (["topic", 3],), ()),
            "each variable of a network is a table of name, size, values",
        ),
        (
            lambda: Network("net", ({"name": "topic", "sise": 3},), ()),
            "of a network has no 'sise'; did you mean 'size'",
        ),
        (
            lambda: Network("net", ({"name": "topic"},), ()),
            "variable 'topic' of a network needs 'size'; got name",
        ),
    ],
)
def test_what_is_no_network_gets_one_sentence(make, sentence):
    with pytest.raises(ModelError) as caught:
        make()
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "n_topics"),
    [("lda", 4), ("author-topic", 4), ("pachinko", 4), ("hpam1", 7), ("hpam2", 7)],
)
def test_a_shipped_model_has_the_sizes_that_are_asked_for(name, n_topics):
    sizes = {"super": 2} if n_topics == 7 or name == "pachinko" else {}
    network = Network.of(name, 4, sizes)
    assert network.name == name and network.n_topics == n_topics
    assert network.n_groups(network.levels[min(1, len(network.levels) - 2)]) == (2 if sizes else 1)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_network_survives_json(name, tmp_path):
    network = Network.of(name)
    (tmp_path / "net.json").write_text(json.dumps(network.settings()))
    assert Network.of(tmp_path / "net.json") == network
    assert (
        Network.of(network.settings()) == network
        and json.loads(json.dumps(network.settings())) == network.settings()
    )


def test_a_network_is_read_from_toml_with_values_by_name(tmp_path):
    (tmp_path / "switch.toml").write_text("""
name = "switch"
variables = [{ name = "source", size = 2, values = ["common", "own"] }, { name = "topic", size = 4 }]
[[levels]]
name = "pi"
draws = "source"
prior = [2, 1]
rows = [{ by = ["document"] }]
[[levels]]
name = "theta"
draws = "topic"
rows = [{ by = ["document"], when = [["source", "own"]] }]
[[levels]]
name = "phi"
draws = "word"
rows = [{ by = [], when = [["source", "common"]] }, { by = ["topic"], when = [["source", "own"]] }]
""")
    network = Network.of(tmp_path / "switch.toml")
    assert network.n_topics == 5 and network.level("theta").rows[0].when == (("source", 1, 1),)
    assert Network.of(str(tmp_path / "switch.toml"), n_topics=7, alpha=0.3).n_topics == 8
    assert network == Network.of(network.settings()) and network.level("pi").prior == (2, 1)
    with pytest.raises(ModelError, match="'source' has 2 values with names; leave its size out"):
        network.with_sizes({"source": 3})
    with pytest.raises(ModelError, match="no variable 'sources'; did you mean 'source'"):
        network.with_sizes({"sources": 3})
    with pytest.raises(ModelError, match="must be a number greater than 0"):
        network.with_priors(beta=0)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.toml", "name = ", "a.toml is not TOML: "),
        ("a.json", "{", "a.json is not JSON: "),
        ("a.json", "[1]", "must hold one table with name, variables and levels; got list"),
        ("a.json", "{}", "a.json: a network needs 'name'; got nothing"),
        ("a.json", '{"nam": 1}', "a network has no 'nam'; did you mean 'name'?"),
        (
            "a.json",
            '{"name": "a", "variables": 3, "levels": []}',
            "'variables' must be a list of tables; got 3",
        ),
        ("a.toml", 'name = "a"\nvariables = []\nlevels = []', "no level draws the word"),
        ("a.txt", "", "no model '"),
    ],
)
def test_a_file_that_holds_no_network_gets_one_sentence(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(ModelError) as caught:
        Network.of(tmp_path / name)
    assert sentence in str(caught.value)


def test_network_of_what_is_not_there_gets_one_sentence(tmp_path):
    wrong = {
        "lad": "did you mean 'lda'?",
        tmp_path / "no.toml": "there is no file .*no.toml",
        7: "no model '7'",
    }
    for given, sentence in wrong.items():
        with pytest.raises(ModelError, match=sentence):
            Network.of(given)
    with pytest.raises(
        ModelError,
        match="no variable 'topic' for n_topics to set; set the size of one of x by its name",
    ):
        Network.of(Network("net", (X,), (DRAWS_X, replace(PHI, rows=rows("x")))), n_topics=3)


def written_by(*authors, counts=None):
    n = len(authors)
    used = [1] * n if counts is None else counts
    return Corpus.from_pairs(range(n), [0] * n, used, n_documents=n, authors=authors)


def test_authors_come_from_the_corpus_in_order_of_their_names_and_stay_out_of_json():
    network = Network(**author_topic(3)).for_data(written_by(("Bo", "Al"), ("Cy",)))
    assert network.author == Variable("author", 3, ("Al", "Bo", "Cy")) and network.n_topics == 3
    plain = Network.of(network.settings())
    assert (
        plain.author == Variable("author", 3)
        and plain.for_data(written_by(("Bo", "Al"), ("Cy",))) == network
    )
    assert Network(**generic_lda()).for_data(written_by(())) == Network(**generic_lda())


def test_rows_over_words_by_author_are_counted_once_there_is_a_corpus():
    network = Network("own words", (AUTHOR,), (TELLS, replace(PHI, rows=rows("author"))))
    assert (
        network.n_topics is None and network.for_data(written_by(("a",), ("b", "a"))).n_topics == 2
    )


def test_a_corpus_without_the_authors_it_needs_gets_one_sentence():
    nobody = Corpus.from_pairs([0], [0], [1])
    with pytest.raises(
        ModelError,
        match="needs the authors of documents, and 'corpus' has none; take a corpus with authors",
    ):
        Network(**author_topic()).for_data(nobody)
    with pytest.raises(
        ModelError,
        match=r"an author of every document; document 1 of 'corpus' \('document 1'\) has none",
    ):
        Network(**author_topic()).for_data(written_by(("a",), ()))
    # no token needs no author
    assert Network(**author_topic()).for_data(
        written_by(("a",), (), counts=[1, 0])
    ).author.values == ("a",)
    with pytest.raises(ModelError, match="has 1 authors; 'corpus' has 2"):
        Network(**author_topic()).for_data(written_by(("a",))).for_data(written_by(("a", "b")))
    with pytest.raises(
        ModelError,
        match=r"document 0 of 'corpus' \('document 0'\) names an author twice; name each once",
    ):
        Network(**author_topic()).for_data(written_by(("a", "b", "a")))
    with pytest.raises(
        ModelError, match="the corpus determines the number of 'author'; leave the size out"
    ):
        Network(**author_topic()).with_sizes({"author": 3})


def test_a_span_that_went_to_the_last_value_still_does():
    assert Network(**hierarchical_pachinko_2(6, 3)) == Network(
        **hierarchical_pachinko_2(4, 2)
    ).with_sizes({"super": 4, "sub": 7})


def test_rows_with_the_same_values_of_the_groups_share_a_prior_whatever_their_block():
    y, z = Variable("y", 2), Variable("z", 2)
    chi = Level("chi", "y", (Rows(),))
    blocks = (Rows(("x", "y"), (("x", 1),)), Rows(("y",), (("x", 0),)))
    zeta = Level("zeta", "z", blocks, groups=("y",), prior=((1e-8, 1.0), (1.0, 1e-8)))
    network = Network("net", (X, y, z), (DRAWS_X, chi, zeta, replace(PHI, rows=rows("z"))))
    assert (
        Network(**pachinko(3, 4)).n_groups(Network(**pachinko(3, 4)).level("theta1")) == 4
        and network.n_groups(network.level("zeta")) == 2
    )
    assert network.simulate(3, 4, 5)[1]["zeta"].argmax(1).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_simulated_corpus_has_the_frequencies_of_its_truth(name):
    n_topics = None if name == "labeled" else 3
    sizes = {"super": 2} if name in ("pachinko", "hpam1", "hpam2") else None
    network = Network.of(name, n_topics, sizes, alpha=0.5, beta=0.5)
    labels = None if network.labelled is None else [("a",), ("b", "c"), (), ("c",)] * 15
    if labels:
        network = network.with_labels(("a", "b", "c"))
    if network.author:
        network = network.with_authors(("a", "b", "c", "d"))
    corpus, truth = network.simulate(60, 12, 500, seed=0, labels=labels)
    assert corpus.document_tokens.tolist() == [500] * 60 and network.for_data(corpus) == network
    for level in network.levels:
        if level.table == AUTHORS:
            continue
        counts, rows_ = truth[f"n_{level.name}"], truth[level.name]
        visits = counts.sum(-1, keepdims=True)
        if level.leaves:  # two, of which each token is as likely of one as of the other
            assert rows_[:, :6].sum(-1) == pytest.approx(1)
            rows_ = rows_ / 2
        expected = visits * rows_
        # A cell is binomial given its row: 6 standard deviations, of some thousand cells.
        assert np.all(abs(counts - expected) <= 6 * np.sqrt(expected * (1 - rows_) + 1))
        assert counts.sum() <= 30_000 and rows_.sum(-1) == pytest.approx(1)
    assert np.array_equal(
        truth["n_kw"].sum(0), np.bincount(corpus.words, corpus.counts, minlength=12)
    )
    assert (
        np.array_equal(truth["n_dk"].sum(0), truth["n_kw"].sum(1))
        and len(truth["n_kw"]) == network.n_topics
    )
    again, _ = network.simulate(60, 12, 500, seed=0, labels=labels)
    assert again.content_hash == corpus.content_hash


def test_a_simulated_network_of_authors_asks_who_wrote():
    with pytest.raises(ModelError, match="needs authors to draw documents by; give authors"):
        Network(**author_topic()).simulate(2, 3, 4)
    corpus, truth = Network(**author_topic(2)).simulate(2, 3, 40, authors=[("z",), ("a", "z")])
    assert corpus.authors == (("z",), ("a", "z")) and truth["theta"].shape == (2, 2)
    # z wrote all of the first document and some of the second
    assert truth["n_theta"].sum(1)[1] > 40


def test_a_path_that_stops_early_is_counted_where_it_stops():
    corpus, truth = Network(**hierarchical_pachinko_2(2, 2, 1.0, 1.0)).simulate(30, 5, 40)
    at_root = truth["n_theta0"][:, 0, 0]
    assert np.array_equal(truth["n_dk"][:, 0], at_root)
    assert np.array_equal(truth["n_theta1"].sum((1, 2)), 40 - at_root)
    assert np.array_equal(truth["n_dk"][:, 1:3], truth["n_theta1"][:, :, 0])
    assert np.array_equal(truth["n_dk"][:, 3:], truth["n_theta1"][:, :, 1:].sum(1))


def test_hierarchical_pachinko_has_a_row_for_the_root_and_each_inner_node():
    network = Network(**hierarchical_pachinko_1(4, 3))
    assert [network.shape(each) for each in network.level("phi").rows] == [
        (),
        (3,),
        (4,),
    ] and network.n_topics == 8
