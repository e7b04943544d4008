"""Fits, comparisons, sweeps and inference take documents as people have them."""

from functools import partial
from inspect import signature

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from same_bits import same_bits
from toys import simulated

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import engine_called
from workbench.errors import DataError, InputError
from workbench.models.options import OptionError

TEXTS = ["green ideas sleep", "furiously green ideas", "ideas sleep"]
TABLE = pd.DataFrame({"body": TEXTS, "key": ["x", "y", "z"], "n": [1, 2, 3]})
SHORT = {"n_topics": 2, "n_iterations": 3, "progress": False}


def test_a_fit_of_texts_tables_and_counts_is_that_of_their_corpus(tmp_path):
    corpus = Corpus.from_texts(TEXTS)
    wanted = wb.fit(corpus, **SHORT)
    same_bits(wb.fit(TEXTS, **SHORT), wanted)
    same_bits(wb.fit(TABLE, text="body", **SHORT), wanted)
    same_bits(wb.fit(corpus.to_scipy(), vocabulary=corpus.vocabulary, **SHORT), wanted)
    assert wb.fit(TABLE, text="body", id="key", **SHORT)["document"].values.tolist() == [
        "x",
        "y",
        "z",
    ]
    (tmp_path / "texts.csv").write_text(TABLE.to_csv(index=False))
    same_bits(wb.fit(tmp_path / "texts.csv", text="body", **SHORT), wanted)
    # a file has texts alone
    for table, kept in ((TABLE, [1, 2, 3]), (tmp_path / "texts.csv", ["1", "2", "3"])):
        inferred = wb.infer(wanted, table, text="body")
        assert inferred["document_n"].values.tolist() == kept
        same_bits(inferred.drop_vars(["document_key", "document_n"]), wb.infer(wanted, corpus))
    run = wb.start(TABLE, text="body", store=tmp_path / "runs", n_topics=2, n_iterations=3)
    assert run.wait(120) == "finished"
    same_bits(run.dataset(), wanted)
    assert "finished, iteration 3 of 3" in run._repr_html_() and "cgs" in run._repr_html_()


@pytest.mark.slow
def test_compare_and_sweep_take_texts_tables_and_counts_too(tmp_path):
    corpus = simulated()
    given = {"vocabulary": list(corpus.vocabulary)}
    one = wb.compare(corpus, ["svb", "cgs"], **SHORT)
    other = wb.compare(scipy.sparse.csr_array(corpus.to_scipy()), ["svb", "cgs"], **given, **SHORT)
    np.testing.assert_array_equal(one["test_perplexity"], other["test_perplexity"])
    grid = {"r": [0, 1]}
    one = wb.sweep(corpus, grid, store=tmp_path / "one", **SHORT)
    other = wb.sweep(corpus.to_scipy(), grid, store=tmp_path / "other", **given, **SHORT)
    np.testing.assert_array_equal(one["test_perplexity"], other["test_perplexity"])


def test_a_table_is_records_where_the_engine_infers_from_these():
    found = wb.fit(TABLE[["key", "n"]], "bn-em", n_iterations=2, progress=False)
    assert found.attrs["engine"] == "bn-em"
    with pytest.raises(
        wb.SpecError,
        match="bn-em infers from Records, a DataFrame with a row a record, .*; got a list",
    ):
        wb.fit(TEXTS, "bn-em")
    with pytest.raises(DataError, match="no data set and no file 'nowhere.csv'"):
        wb.fit("nowhere.csv", **SHORT)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("num_topics", "n_topics"),
        ("k", "n_topics"),
        ("n_components", "n_topics"),
        ("iterations", "n_iterations"),
        ("random_state", "seed"),
        ("n_topic", "n_topics"),
        ("workers", "n_threads"),
        ("zzz", None),
        ("partition", None),
        ("r", None),
        ("options", None),
    ],
)
def test_the_same_mistake_is_the_same_error_in_each_function(name, meant):
    said = set()
    for make in (wb.fit, wb.start, wb.compare, partial(wb.sweep, grid={"n_topics": [2]})):
        engine = "engines" if make is wb.compare else "engine"
        with pytest.raises((wb.SpecError, OptionError)) as told:
            make(simulated(), **{engine: "cgs", name: 77})
        said.add((type(told.value), str(told.value).partition("; there are")[0]))
    (one,) = said
    assert meant is None or one == (wb.SpecError, f"no setting '{name}'; did you mean '{meant}'?")


def test_words_are_counted_as_asked_for_wherever_documents_are_given(tmp_path):
    options = {"stop_words": None, "ngrams": 2}
    corpus = Corpus.from_texts(TEXTS, **options)
    wanted = wb.fit(corpus, **SHORT)
    (tmp_path / "texts.csv").write_text(TABLE.to_csv(index=False))
    for given, text in (
        (TEXTS, {}),
        (TABLE, {"text": "body"}),
        (tmp_path / "texts.csv", {"text": "body"}),
    ):
        same_bits(wb.fit(given, **text, **options, **SHORT), wanted)
    same_bits(wb.infer(wanted, TEXTS, **options), wb.infer(wanted, corpus))
    one, other = (
        wb.compare(given, ["svb"], **more, **SHORT)
        for given, more in ((corpus, {}), (TEXTS, options))
    )
    np.testing.assert_array_equal(one["train_perplexity"], other["train_perplexity"])
    for function in (wb.fit, wb.compare):
        assert {"ngrams", "tokenizer", "keep_text", "time"} <= signature(function).parameters.keys()
    with pytest.raises(
        DataError, match="stop_words= is for raw text, and a Corpus is counted as it is"
    ):
        wb.fit(corpus, stop_words=None, **SHORT)


def test_a_file_has_times_where_their_column_is_named(tmp_path):
    (tmp_path / "news.csv").write_text(
        "text,date\ngreen ideas,2020-01-31\nideas sleep,2021-02-01\n"
    )
    run = wb.fit(str(tmp_path / "news.csv"), time="date", **SHORT)
    assert run["document_time"].values.tolist() == ["2020-01-31", "2021-02-01"]


def test_options_are_keywords_and_engines_have_the_names_they_are_called_by(capsys):
    asked = dict(SHORT, n_iterations=2)
    wanted = wb.fit(simulated(), "svb-cgs", options={"r": 3}, **asked)
    for engine, own in (("SVB_CGS", {"r": 3}), (wb.engines.svb_cgs(r=3), {})):
        same_bits(wb.fit(simulated(), engine, **own, **asked), wanted)
    assert "r" in signature(wb.engines.svb_cgs).parameters and "svb_cgs" in dir(wb.engines)
    guesses = {"gibbs": "cgs", "CGS": "cgs", "lda": "cgs", "hdp": "g-hdp", "bn-vb": "bn-vb"}
    assert {name: engine_called(name) for name in guesses} == guesses
    for engines in (["gibbs", wb.engines.svb_cgs(r=2)], {"gibbs": {}, "svb-cgs": {"r": 2}}):
        table = wb.compare(simulated(), engines, r=3, **asked)
        assert table["label"].values.tolist() == ["cgs", "svb-cgs r=2"]
    for wrong, sentence in (
        ("gibs", "no engine 'gibs'; did you mean 'cgs'"),
        (["cgs", "svb"], "fit takes one engine, and compare several"),
    ):
        with pytest.raises(InputError, match=sentence):
            wb.fit(simulated(), wrong)
    with pytest.raises(wb.SpecError, match="split must be how the test tokens were drawn, a dict;"):
        wb.fit(simulated(), "adaptive-cgs", split="random")
    wb.compare(simulated(), "adaptive-cgs", jobs=2, split="random", **asked | {"progress": True})
    assert "for jobs in parallel give store=, a folder" in capsys.readouterr().err
    with pytest.raises(wb.SpecError, match="r is given twice"):
        wb.fit(simulated(), "svb-cgs", r=1, options={"r": 1})
    with pytest.raises(OptionError, match="cgs has no option 'r'; it is an option of svb-cgs, "):
        wb.fit(simulated(), "cgs", r=1)
    with pytest.raises(wb.SpecError, match="'k', 'max_iter'; did you mean 'n_topics', 'n_iter"):
        wb.compare(simulated(), k=2, max_iter=3)


def test_a_notebook_shows_an_error_as_its_sentence_and_the_lines_of_its_user():
    for wrong in (lambda: wb.fit(simulated(), "gibs"), lambda: wb.rhat):
        with pytest.raises((OptionError, AttributeError)) as told:
            wrong()
        shown = told.value._render_traceback_()
        assert shown[-1] == f"{type(told.value).__name__}: {told.value}"
        assert {line.split('"')[1] for line in shown if "File" in line} == {__file__}


@pytest.mark.parametrize(
    ("name", "meant"), [("k", "n_topics"), ("random_state", "seed"), ("topic", "topics")]
)
def test_keys_of_a_grid_that_other_programs_use_are_told_apart(name, meant):
    with pytest.raises(
        wb.SpecError, match=f"no key '{name}' for a grid of svb-cgs; did you mean '{meant}'"
    ):
        wb.sweep(simulated(), {name: [2, 3]})


def test_measures_and_views_are_names_of_the_package():
    assert {"measures", "views", "top_words", "corpus_of"} <= set(dir(wb))
    assert wb.measures.top_words is wb.top_words and wb.views.topic_words_view
