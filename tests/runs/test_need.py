"""What runs take of memory: told before they start, true when they run, refused where it is not there."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from toys import corpus_of, data_for, dated, placed, sequenced

import workbench as wb
from workbench.data.available_memory import AvailableMemory
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.models.networks.network import Network
from workbench.models.networks.shipped import generic_lda
from workbench.runs.execution import memory_check as need
from workbench.runs.execution.memory_check import (
    PROCESS,
    Planned,
    at_a_time,
    check_room,
    memory_forecast,
    predict_memory,
    unfinished,
)
from workbench.runs.execution.worker import carry_on
from workbench.runs.spec import SpecError, make_spec
from workbench.runs.store.status import FAILED, FINISHED
from workbench.runs.store.writer import create_run

VARIANTS = {
    "svb": [{"schedule": "sequential"}],
    "vb": [{"topics": "point"}],
    "cv-hdp": [{"learn_tau": True}],
    "svb-cgs": [{"schedule": "sequential"}, {"r": 0}, {"r": "inf"}, {"n_chains": 3}],
    "cvb": [{"precision": "single"}],
    "cvb-cgs": [{"r": 2}, {"n_chains": 2}, {"precision": "single"}],
    "cvb0-cgs": [{"r": 0}, {"r": "inf", "n_chains": 2}],
}
CHOICES = [(name, options) for name in ENGINES for options in ({}, *VARIANTS.get(name, []))]


@pytest.fixture(scope="module")
def wide() -> wb.Corpus:
    """300 documents over 400 words: enough for arrays of topics to be small beside those of rows."""
    corpus = wb.load_corpus(
        "zipf", n_documents=300, n_words=400, tokens_per_document=30, n_topics=5
    )
    return sequenced(placed(dated(corpus)))


def model_of(engine, n_topics: int):
    """The model of an engine, of so many topics where it has any."""
    if engine.model is Network:
        return engine.suits(Network(**generic_lda(n_topics)))
    return engine.model(n_topics) if "n_topics" in engine.model.takes else engine.model()


@pytest.fixture(scope="module")
def large() -> wb.Corpus:
    """A corpus that is never run: a million pairs, of which no engine with 100 topics has room in 1 GB but the lightest."""
    n_documents, each = 20_000, 50
    words = (np.arange(n_documents)[:, None] * 7 + np.arange(each) * 200) % 10_000
    words.sort(axis=1)
    indptr = np.arange(n_documents + 1) * each
    texts = tuple(map(str, range(n_documents)))
    return wb.Corpus(
        indptr, words.ravel(), np.full(words.size, 2), texts[:10_000], texts, name="large"
    )


def planned(corpus, engine="cvb", **settings):
    return Planned(make_spec(corpus, engine, **{"n_topics": 100} | settings), corpus, None)


# ---------------------------------------------------------------------- is it true?


@pytest.mark.parametrize("name, options", CHOICES, ids=str)
def test_the_bytes_of_a_state_are_those_told(name, options, wide):
    engine = get_engine(name)
    data, model, chosen = (
        data_for(engine, wide),
        model_of(engine, 20),
        make_options(engine, options),
    )
    model = model.for_data(data) if engine.model.data is wb.Records else model
    state = engine.init(data, model, chosen, StepContext(0, 0))
    found = sum(array.nbytes for array in state if isinstance(array, np.ndarray))
    memory = engine.memory(data, model, chosen)
    assert {type(size) for size in memory} == {int}  # numbers of numpy cannot be written as JSON
    told = memory.state
    if engine.grows:  # it is told with room for more topics than it begins with
        assert found <= told <= 2 * found
    else:
        assert told == pytest.approx(found, rel=0.02)  # arrays by topic or word alone are not told


def test_an_engine_that_tells_nothing_is_counted_without_its_state(wide):
    assert (
        get_engine("cgs")
        ._replace(memory=get_engine("cgs")._field_defaults["memory"])
        .memory(wide, None, None)
        .state
        == 0
    )


WITHOUT_RESPONSIBILITIES = [
    ("cgs", 200, {}, True),
    ("cgs", 200, {}, False),
    ("svb", 200, {}, True),
    ("svb-cgs", 120, {}, True),
]
WITH_RESPONSIBILITIES = [
    ("cvb", 48, {}, True),
    ("cvb0", 48, {}, True),
    ("cvb-cgs", 120, {}, True),
    ("cvb0-cgs", 120, {"r": 0}, True),
    ("svb", 48, {"schedule": "sequential"}, True),
    ("cv-hdp", 48, {}, True),
    ("vb", 120, {}, True),
    ("online-vb", 120, {}, True),
    ("g-hdp", 150, {}, True),
    ("sb-ctm", 100, {}, True),
    ("sb-ctm", 100, {"topics": "drawn"}, True),
    ("sb-ctm-vb", 40, {}, True),
    ("ln-ctm", 100, {}, True),
    ("ctm-em", 100, {}, True),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "runs",
    [
        WITHOUT_RESPONSIBILITIES,
        pytest.param(WITH_RESPONSIBILITIES, marks=pytest.mark.long),
    ],
    ids=["without responsibilities", "with responsibilities"],
)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
def test_memory_forecast_is_what_a_run_takes(runs, tmp_path):
    """At most a tenth too little, so that a run that fits does not fail, nor more than two fifths too much."""
    sizes = {"n_documents": 20_000, "n_words": 8000, "tokens_per_document": 8, "n_topics": 20}
    answers = subprocess.run(
        [sys.executable, Path(__file__).with_name("peaks.py"), tmp_path],
        capture_output=True,
        text=True,
        check=True,
        input="\n".join(map(json.dumps, [sizes, *runs])),
    ).stdout.splitlines()
    found = [json.loads(line) for line in answers]
    assert [run["engine"] for run in found] == [engine for engine, *_ in runs]
    shares = {
        f"{run['engine']} {run['options']}, {run['taken']:,} bytes": run["predicted"] / run["taken"]
        for run in found
    }
    assert all(0.9 <= share <= 1.4 for share in shares.values()), shares


def test_more_of_anything_takes_more(large):
    def total(engine, options=None, stored=True, test=None, **settings):
        spec = make_spec(large, engine, options=options, test=test, **{"n_topics": 100} | settings)
        return predict_memory(Planned(spec, large, test), stored).total

    assert total("cvb") > total("cvb0") > total("svb") > total("cgs") > PROCESS
    assert total("cgs", n_topics=500) > total("cgs")
    assert total("svb-cgs", {"r": 2, "n_chains": 9}) > total("svb-cgs", {"r": 2})
    assert total("cv-hdp", {"moves_every": 5}) > total("cv-hdp")
    assert total("cgs", stored=False) > total("cgs")
    # snapshots that stay in memory
    assert total("cgs", stored=False, n_iterations=900) > total("cgs", stored=False)
    assert total("cgs", test=large) > total("cgs")


# ---------------------------------------------------------------------- is it said?


def test_what_runs_take_at_a_time_is_the_sum_of_the_largest(large):
    runs = [planned(large, engine) for engine in ("cgs", "cvb", "svb")]
    each = sorted((predict_memory(run).total for run in runs), reverse=True)
    assert [at_a_time(runs, jobs) for jobs in (1, 2, 3, 9)] == [
        each[0],
        sum(each[:2]),
        sum(each),
        sum(each),
    ]


def test_an_engine_that_may_find_more_topics_says_so(wide):
    assert memory_forecast([planned(wide, "g-hdp")]).endswith(
        " of memory, more if more topics are found"
    )
    assert memory_forecast([planned(wide, "cgs")]).endswith(" of memory")


def test_a_fit_says_it_where_it_is_large(wide, monkeypatch, capsys):
    wb.fit(wide, n_topics=2, n_iterations=1, progress=True)
    assert "of memory" not in capsys.readouterr().err
    monkeypatch.setattr(need, "LARGE", 1)
    monkeypatch.setattr("workbench.runs.execution.fit.LARGE", 1)
    wb.fit(wide, n_topics=2, n_iterations=1, progress=True)
    assert capsys.readouterr().err.startswith("takes about ")
    wb.fit(wide, n_topics=2, n_iterations=1, progress=False)
    assert capsys.readouterr().err == ""


# ---------------------------------------------------------------------- is it refused?


@pytest.fixture
def one_gigabyte(monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "1G")


def test_a_run_that_does_not_fit_is_refused_with_what_would(large, one_gigabyte):
    with pytest.raises(SpecError) as refused:
        check_room([planned(large)])
    sentence = str(refused.value)
    assert sentence.startswith("cvb with K=100 needs about ") and "; take " in sentence
    assert "of memory and WORKBENCH_MEMORY allows 1.0 GB" in sentence
    assert "cvb0 instead" not in sentence  # which does not fit either
    assert "svb instead" in sentence
    most = int(sentence.rsplit("at most ", 1)[1].split()[0])
    check_room([planned(large, n_topics=most)])
    with pytest.raises(SpecError, match=f"at most {most} topics$"):
        check_room([planned(large, n_topics=most + 1)])


@pytest.mark.parametrize(
    ("engine", "settings", "option", "proposed"),
    [
        (
            "svb",
            {"options": {"schedule": "sequential"}},
            "schedule",
            "take the option schedule=parallel",
        ),
        (
            "svb-cgs",
            {"options": {"schedule": "sequential", "phases": "interleaved", "r": 1}},
            "schedule",
            "",
        ),
        ("cvb0", {}, "precision", "take the option precision=single, "),
        ("cvb0", {"n_topics": 300, "options": {"precision": "single"}}, "precision", ""),
    ],
    ids=["less is kept", "another option forbids it", "half is kept", "it is so already"],
)
def test_an_option_with_which_a_run_fits_is_proposed_where_it_can_be(
    engine, settings, option, proposed, large, one_gigabyte
):
    with pytest.raises(SpecError) as refused:
        check_room([planned(large, engine, **settings)])
    assert (option in str(refused.value)) == bool(proposed) and proposed in str(refused.value)


def test_where_nothing_fits_the_corpus_is_what_to_change(large, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "1M")
    with pytest.raises(
        SpecError,
        match="1 MB; nothing smaller of it fits: take fewer documents or words, or more memory",
    ):
        check_room([planned(large)])


def test_several_at_a_time_count_together(large, one_gigabyte):
    runs = [planned(large, "cgs", seed=seed) for seed in range(5)]
    check_room(runs, jobs=1)
    with pytest.raises(
        SpecError, match=r"^4 runs at a time need about .*; start at most [123] at a time$"
    ):
        check_room(runs, jobs=4)


def test_what_this_process_holds_already_is_not_wanted_again(large, monkeypatch):
    run = planned(large, "cgs")
    free = AvailableMemory(predict_memory(run).total - PROCESS, "")
    monkeypatch.setattr(need, "available_memory", lambda: free)
    check_room([run], here=True)
    with pytest.raises(SpecError, match="MB are free; nothing smaller of it fits"):
        check_room([run])


REFUSED = {
    "fit": lambda corpus, store: wb.fit(corpus, "cvb", n_topics=100, store=store, progress=False),
    "fit in memory": lambda corpus, store: wb.fit(corpus, "cvb", n_topics=100, progress=False),
    "start": lambda corpus, store: wb.start(corpus, "cvb", n_topics=100, store=store),
    "compare": lambda corpus, store: wb.compare(
        corpus, ["cgs", "cvb"], n_topics=100, store=store, progress=False
    ),
    "compare in memory": lambda corpus, store: wb.compare(
        corpus, ["cgs", "cvb"], n_topics=100, progress=False
    ),
    "jobs": lambda corpus, store: wb.compare(
        corpus, ["cgs"], 100, seeds=4, jobs=4, store=store, progress=False
    ),
    "sweep": lambda corpus, store: wb.sweep(
        corpus, {"n_topics": [2, 100]}, "cvb", store=store, progress=False
    ),
    "warm sweep": lambda corpus, store: wb.sweep(
        corpus, {"n_topics": [2, 100]}, "cvb", store=store, warm=True, progress=False
    ),
}


@pytest.mark.parametrize("way", REFUSED)
def test_a_refusal_leaves_no_half_made_run(way, large, tmp_path, one_gigabyte, monkeypatch):
    monkeypatch.setattr(
        "workbench.runs.execution.run.launch", lambda path: pytest.fail("a worker was started")
    )
    with pytest.raises(SpecError, match="WORKBENCH_MEMORY allows"):
        REFUSED[way](large, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_run_that_no_longer_fits_fails_with_the_sentence_and_goes_on_later(
    train, test, tmp_path, monkeypatch
):
    path = create_run(
        tmp_path, make_spec(train, "cgs", test=test, n_topics=3, n_iterations=4), train, test
    )
    monkeypatch.setenv("WORKBENCH_MEMORY", "1M")
    with pytest.raises(SpecError, match="cgs with K=3 needs about"):
        wb.resume(wb.Run(path), progress=False)
    assert (
        wb.Run(path).state == FAILED
        and "WORKBENCH_MEMORY allows 1 MB" in wb.Run(path).status()["message"]
    )
    monkeypatch.delenv("WORKBENCH_MEMORY")
    carry_on(path)
    assert wb.Run(path).state == FINISHED


def test_runs_that_are_finished_need_nothing(train, test, tmp_path, monkeypatch):
    settings = {
        "engines": ["cgs"],
        "n_topics": 3,
        "n_iterations": 4,
        "store": tmp_path,
        "progress": False,
    }
    first = wb.compare(train, **settings)
    monkeypatch.setenv("WORKBENCH_MEMORY", "1M")
    again = wb.compare(train, **settings)
    assert again["test_perplexity"].identical(first["test_perplexity"])
    with pytest.raises(SpecError, match="needs about"):
        wb.compare(train, **settings | {"n_iterations": 5})
    assert wb.Run(tmp_path / str(first["run"].values[0])).status()["n_iterations"] == 4


def test_a_run_whose_rule_has_ended_it_needs_nothing(train, tmp_path):
    settings = {"n_topics": 2, "n_iterations": 300, "stop_on": "bound", "stop_tolerance": 0.1}
    wb.fit(train, "svb", store=tmp_path, progress=False, **settings)
    run = Planned(make_spec(train, "svb", **settings), train, None)
    assert unfinished(tmp_path, [run]) == []
    assert unfinished(tmp_path / "elsewhere", [run]) == [run]


def test_the_corpora_at_hand_give_the_bits_of_those_read(train, test, tmp_path):
    spec = make_spec(train, "cgs", test=test, n_topics=3, n_iterations=6)
    runs = [wb.Run(create_run(tmp_path / name, spec, train, test)) for name in ("read", "at hand")]
    read, at_hand = (
        wb.resume(runs[0], progress=False),
        wb.resume(runs[1], progress=False, corpora=(train, test)),
    )
    for name in ("test_perplexity", "train_perplexity", "n_dk", "phi", "word", "document"):
        assert read[name].identical(at_hand[name])


# ---------------------------------------------------------------------- planned with what?


@pytest.mark.parametrize(
    "name", ["sb-ctm", "ln-ctm", "ctm-em", "sb-ctm-vb", "sb-ctm-lds", "sb-dtm"]
)
def test_the_topics_of_all_tokens_at_the_start_are_told(name):
    """A document of a thousand million tokens: two bytes each in the chain that a run begins with, and two as it is drawn."""
    corpus = dated(corpus_of([(0, 0, 10**9), (1, 1, 1), (2, 1, 2)]))
    engine = get_engine(name)
    told = engine.memory(corpus, engine.model(2), make_options(engine, {}))
    assert told.state + told.step >= 4 * 10**9
