"""What the commands show of topics and documents."""

from pathlib import Path

import pytest

import workbench as wb
from workbench.cli import stored
from workbench.cli.printing import print_files
from workbench.engines import FIRST_CHOICE
from workbench.measures import representative_documents, top_words, topic_sizes, topics_by_size


@pytest.fixture
def fitted(command, six_documents):
    """The name of a run of three topics; what `fit` printed."""
    status, printed, _ = command("fit", six_documents, "-k", 3, "-n", 5, "--name", "run", "-q")
    assert status == 0
    return printed


def test_topics_are_those_of_the_measures_and_a_fit_and_show_end_with_them(fitted, command, told):
    wb.Run("runs/run").label(1, "animals")
    dataset = wb.open_run("run")
    found = told("topics", "run", "--words", 2)
    sizes, words = topic_sizes(dataset), top_words(dataset, 2)["word"]
    assert [each["topic"] for each in found["topics"]] == topics_by_size(dataset) and found[
        "name"
    ] == "run"
    for each in found["topics"]:
        assert each["words"] == list(words.sel(topic=each["topic"]).values)
        assert each["share"] == float(sizes["share"].sel(topic=each["topic"]))
        assert each["label"] == ("animals" if each["topic"] == 1 else "")
    rare = told("topics", "run", "--relevance", 0)["topics"][0]
    assert rare["words"] == list(top_words(dataset, 10, 0)["word"].sel(topic=rare["topic"]).values)
    table = command("topics", "run")[1]
    assert "animals" in table and len(table.splitlines()) == 4
    assert "label" not in fitted and all(
        " ".join(each["words"]) in fitted for each in found["topics"]
    )
    assert command("show", "run")[1].splitlines()[-4:] == table.splitlines()


def test_documents_are_those_that_represent_a_topic(fitted, command, told):
    dataset = wb.open_run("run")
    found = told("documents", "run", "--topic", 1, "--number", 2)["documents"]
    wanted = representative_documents(dataset, 1, 2)
    assert [each["document"] for each in found] == wanted["document"].values.tolist()
    assert [each["theta"] for each in found] == wanted["theta"].values.tolist()
    every = told("documents", "run", "--number", 1)["documents"]
    assert list(dict.fromkeys(each["topic"] for each in every)) == [
        topic
        for topic in topics_by_size(dataset)
        if representative_documents(dataset, topic, 1).sizes["rank"]
    ]
    assert command("documents", "run", "--topic", 1)[1].split()[:4] == [
        "topic",
        "title",
        "share",
        "tokens",
    ]


def test_of_very_many_documents_a_fit_only_names_the_command(fitted, command, monkeypatch):
    monkeypatch.setattr(stored, "LARGE", 10)
    assert "`workbench topics run` has the words of its topics" in command("show", "run")[2]


def test_a_run_without_topics_ends_with_none(command):
    assert command("fit", "votes", "-e", "bn-em", "-n", 2, "--name", "votes", "-q")[0] == 0
    assert "topic" not in command("show", "votes")[1].splitlines()[-1]
    status, _, said = command("topics", "votes")
    assert status == 2 and "no" in said


def test_the_version_and_help(command):
    assert command("--version")[1] == f"workbench {wb.__version__}\n"
    status, out, err = command()
    assert status == 2 and "documents" in out and "Missing command" not in err


def test_several_runs_are_paused_and_stopped_at_once(fitted, command, six_documents):
    command("fit", six_documents, "-k", 2, "-n", 5, "--name", "other", "-q")
    for what in ("pause", "stop"):
        status, _, said = command(what, "run", "other")
        assert status == 0 and said.splitlines() == [
            f"{name} is finished at iteration 5; there is nothing to {what}"
            for name in ("run", "other")
        ]


def test_engines_have_a_line_each_and_options_when_they_are_named(command, told):
    status, out, said = command("engines")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines() if line.strip()] == list(wb.engines())
    assert said.startswith(FIRST_CHOICE) and said.count("\n") == 1
    out = command("engines", "hmm", "cgs")[1]
    assert wb.engines()["hmm"]["when"] in out
    assert "--option n_states=10" in out and "hyperparameters of cgs" in out and "svb:" not in out
    assert [each["name"] for each in told("engines", "cgs")["engines"]] == ["cgs"]
    status, _, said = command("engines", "cg")
    assert status == 2 and "did you mean 'cgs'?" in said


def test_of_many_files_the_folders_are_told(capsys):
    few = [Path(f"out/{at}.csv") for at in range(8)]
    print_files(few, False)
    assert capsys.readouterr().out.splitlines() == [str(path) for path in few]
    print_files([*few, Path("out/a.png"), Path("more/b.svg")], False)
    assert capsys.readouterr().out.splitlines() == ["out: 9 files (csv, png)", "more: 1 file (svg)"]
