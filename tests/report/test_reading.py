"""How data were read and counted is recorded with a run, shown, tells runs apart, and makes the run again from any folder."""

import json
import re
import shlex
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.cli import main
from workbench.corpus.shards.streaming import read_shards
from workbench.dashboard.compare.files import report_file
from workbench.dashboard.compare.starting import data_and_losses
from workbench.dashboard.shared.policy import Policy, set_policy
from workbench.dashboard.shared.uploads import ReceivedFile
from workbench.measures import data_of, labels_of
from workbench.report.commands import commands, missing_in_commands
from workbench.runs.reading import DEFAULTS, changed_options, option_texts
from workbench.runs.spec import RunSpec, make_spec

READ = {"text": "body", "title": "2024", "time": "when", "comment": "#"}
COUNTED = {
    "stop_words": ["und", "x"],
    "more_stop_words": ["rot"],
    "min_documents": 2,
    "token_pattern": r"\w{2,}",
}
SETTINGS = {"n_topics": 3, "n_iterations": 6, "progress": False}
CLOCKS = ("elapsed", "cpu_time")
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*is not UTF-8"),
    pytest.mark.filterwarnings("ignore:.*are no dates"),
]


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    monkeypatch.setattr("workbench.report.page.pictures", lambda *runs: [])


@pytest.fixture
def talks(tmp_path):
    """A CSV file of a stranger: semicolons, cp1252, a comment, 25 bad dates, a column whose name is a number."""
    rows = [
        f"schöne Äpfel {'rot ' * (i % 3)}und grün größer {'abcdefg'[i % 7]}x{i};{'n/a' if i >= 40 else 2010 + i % 5};t{i}"
        for i in range(65)
    ]
    file = tmp_path / "talks.csv"
    file.write_text("\n".join(["# by hand", "body;when;2024", *rows]), encoding="cp1252")
    return file


def spec_of(data, **settings) -> RunSpec:
    return make_spec(data, "cgs", 2, n_iterations=2, **settings)


def given_split(talks):
    train, test = wb.hold_out_tokens(wb.load_corpus(talks, text="body", comment="#"), 0.2, seed=3)
    return {"corpus": train, "test": test}


KINDS = {
    "a file with options": lambda talks: {"corpus": wb.load_corpus(talks, **READ, **COUNTED)},
    "a split of one's own": given_split,
    "a list of texts": lambda talks: {
        "corpus": ["a good day", "another good day", "a day of days"]
    },
    "a table": lambda talks: {"corpus": pd.DataFrame({"text": ["a good day", "day of days"]})},
    "words of a tokenizer": lambda talks: {
        "corpus": wb.load_corpus(talks, text="body", comment="#", tokenizer=str.split)
    },
    "shards": lambda talks: {
        "corpus": wb.load_corpus(read_shards(talks, talks.parent / "shards", **READ).folder)
    },
    "records": lambda talks: {"corpus": wb.load_records(talks.parent / "r.csv", missing="NA")},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_command_of_a_report_makes_the_run_again_in_an_empty_folder(
    kind, talks, tmp_path, monkeypatch
):
    (tmp_path / "r.csv").write_text("a,b\n1,x\n2,NA\n1,y\n2,y\n1,x\n")
    given = KINDS[kind](talks)
    settings = SETTINGS if kind != "records" else {"n_iterations": 6, "progress": False}
    engine = "cgs" if kind != "records" else "bn-vb"
    run = wb.fit(**given, engine=engine, **settings, record_every=2, store=tmp_path / "runs")
    page = wb.write_report(tmp_path / "runs" / run.attrs["name"], tmp_path / "r.html").read_text()
    command = unescape(re.search("<pre>(.*?)</pre>", page, re.DOTALL)[1])
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert main(shlex.split(command.replace("\\\n", " "))[1:]) == 0
    again = wb.open_run(run.attrs["name"], "runs").drop_vars(CLOCKS)
    for name, values in run.drop_vars(CLOCKS).data_vars.items():
        np.testing.assert_array_equal(again[name].values, values.values, err_msg=name)


def test_a_record_has_every_option_and_what_was_found_and_left_out(talks):
    corpus = wb.load_corpus(talks, **READ, **COUNTED)
    reading = RunSpec.from_json(spec_of(corpus).to_json()).reading
    assert reading == corpus.reading == wb.Corpus.load(corpus.save(talks.parent)).reading
    assert (reading["path"], len(reading["sha256"])) == (str(talks), 64)
    assert "25 of 65 values of 'when' are no dates" in reading["found"]["bad_dates"]
    expected = {"format": "csv", "encoding": "cp1252", "separator": ";"}
    assert {name: reading["found"][name] for name in expected} == expected
    frame = pd.DataFrame({"text": ["a day", "days"], "when": ["2024-01-01", "n/a"]})
    assert wb.corpus_of(frame, time="when").reading["left_out"] == {"bad_dates": 1}
    assert changed_options(reading) == READ | COUNTED
    others = {
        "path",
        "text_options",
        "counted",
        "fields",
        "levels",
        "missing",
        "multiplicity",
        "others",
    }
    assert reading["options"].keys() >= DEFAULTS.keys() - others
    assert reading["left_out"] == {"comments": 1, "bad_dates": 25, "min_documents": [65, 65]}
    sharded = read_shards(talks, talks.parent / "shards", **READ, **COUNTED)
    alike = ("path", "sha256", "found", "left_out")
    assert [sharded.reading[name] for name in alike] == [reading[name] for name in alike]
    assert changed_options(sharded.reading) == READ | COUNTED | {"keep_text": False}
    assert wb.load_corpus("bars:side=3").reading["data_set"] == "bars:side=3"


def test_runs_of_other_stop_words_or_pruning_are_told_apart_by_them(talks):
    def fitted(n_threads=1, **options):
        corpus = wb.load_corpus(talks, text="body", comment="#", **options)
        return wb.fit(corpus, "cgs", **SETTINGS, n_threads=n_threads)

    runs = [
        fitted(),
        fitted(min_documents=2, more_stop_words="rot,und"),
        fitted(stop_words=None, min_documents=2),
    ]
    assert labels_of(runs[:2]) == ["cgs", "cgs, min_documents=2, +2 stop words"]
    assert labels_of(runs) == [
        "cgs",
        "cgs, min_documents=2, +2 stop words",
        "cgs, no stop words, min_documents=2",
    ]
    assert data_of(runs)[:2] == ["talks", "talks, min_documents=2, +2 stop words"]
    phrases = [fitted(phrases="und rot"), fitted(more_stop_words="rot")]
    assert labels_of(phrases) == ["cgs, 1 phrase", "cgs, +1 stop word"]
    # what changes nothing in the corpus tells no runs apart
    assert set(labels_of([runs[0], fitted(2, min_letters=2)])) == {
        "cgs, 1 thread",
        "cgs, 2 threads",
    }


def test_a_corpus_that_was_changed_is_not_read_again_from_its_file(talks):
    corpus = wb.load_corpus(talks, text="body", comment="#")
    for spec in (
        spec_of(corpus.of_documents(range(20))),
        spec_of(wb.prepare(corpus.of_documents(range(20)), 0.1)[0], split={"fraction": 0.1}),
    ):
        assert spec.reading["changed"] and "path" not in spec.reading
        assert missing_in_commands([spec])
        (command,) = commands([spec], {spec.hash: talks.parent})
        assert f"{talks.parent / '.corpora' / spec.train}.npz" in command
    merged = wb.prepare(corpus, 0.1, merge=2)[0]
    assert spec_of(merged, split={"fraction": 0.1, "merge": 2}).reading["path"] == str(talks)


def test_a_command_sets_where_a_named_data_set_is_found(kos, tmp_path, monkeypatch):
    from workbench.corpus.catalog.named import DATA_SETS

    spec = replace(spec_of(kos), reading={"data_set": "kos"})
    folder = DATA_SETS["kos"].folder()
    monkeypatch.setenv("WORKBENCH_DATA", str(folder))
    assert commands([spec])[0].startswith(
        f"WORKBENCH_DATA={folder} workbench compare kos --engines"
    )
    bundled = spec_of(wb.load_corpus())
    assert commands([bundled])[0].startswith("workbench compare docstrings --engines")


def test_texts_of_the_record_are_short(talks):
    corpus = wb.load_corpus(talks, **READ, **COUNTED)
    texts = [text for text in option_texts(corpus.reading).values() if text]
    assert "+1 stop word" in texts and "2 stop words" in texts and "comment=#" in texts


def test_the_record_is_shown(talks, tmp_path, capsys):
    corpus = wb.load_corpus(talks, **READ, **COUNTED)
    name = wb.fit(corpus, "cgs", store=tmp_path / "runs", **SETTINGS).attrs["name"]
    assert main(["show", name, "--store", str(tmp_path / "runs")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    page = wb.write_report(tmp_path / "runs" / name, tmp_path / "r.html").read_text()
    data = " ".join(
        unescape(re.sub("<[^>]+>", " ", page.partition('<section id="data">')[2])).split()
    )
    for text in (
        f"{talks} (csv, cp1252, separator ';')",
        "time=when, comment=#",
        "2 stop words, min_documents=2, max_share=1.0",
        "25 bad dates; 1 comment line; 65 words with 65 tokens by min_documents=2",
    ):
        assert text in shown and text in data
    assert "dates 2010 to 2014, 25 documents without" in data
    assert main(["show", name, "--store", str(tmp_path / "runs"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spec"]["reading"] == corpus.reading


def test_the_files_of_a_stream_are_recorded_and_continue_it_again(talks, tmp_path):
    read = {"text": "body", "comment": "#", "stop_words": iter(["und"])}
    stream, words = wb.FileDocuments(talks, **read), ["schöne", "grün", "rot"]
    home = {"store": tmp_path / "runs", "progress": False}
    first = wb.fit_stream(stream, words, 2, options={"batch_size": 50}, **home)
    assert first.spec.reading["files"] == [
        [str(talks), wb.load_corpus(talks, text="body", comment="#").reading["sha256"]]
    ]
    changed = {"text": "body", "comment": "#", "stop_words": ["und"], "keep_text": False}
    assert changed_options(first.spec.reading) == changed
    assert first.spec.reading["options"]["ngrams"] == 1
    run = wb.update(first, wb.FileDocuments(talks, text="body", comment="#"), **home)
    assert "DOCUMENTS" not in " ".join(missing_in_commands([run.spec]))
    command = shlex.split(commands([run.spec], {run.spec.hash: tmp_path / "runs"})[0])
    assert (
        main([*command[1:], "--store", str(tmp_path / "runs"), "--name", "again", "--quiet"]) == 0
    )
    assert wb.Run(tmp_path / "runs" / "again").spec.hash == run.spec.hash
    of_list = wb.fit_stream([["rot"], ["grün"]], words, 2, **home)
    assert of_list.spec.reading == {"options": {}}


@pytest.mark.slow  # a process that reads the file
def test_an_upload_is_recorded_by_its_name(talks):
    upload = ReceivedFile(talks, "talks.csv", 0)
    reading = data_and_losses(upload, {"text": "body", "comment": "#"}, "cgs")[0].reading
    assert reading["upload"] == "talks.csv" and "path" not in reading
    assert changed_options(reading) == {"text": "body", "comment": "#"}


def test_a_report_for_visitors_names_no_folder(talks, tmp_path):
    run = wb.fit([["ant", "bee"], ["ant"]], "cgs", store=tmp_path / "runs", **SETTINGS)
    drawn = SimpleNamespace(runs=[(tmp_path / "runs" / run.attrs["name"], "cgs", "red")])
    assert str(tmp_path).encode() in report_file(drawn).content
    set_policy(Policy(others=True))
    try:
        assert str(tmp_path).encode() not in report_file(drawn).content
    finally:
        set_policy(Policy())
