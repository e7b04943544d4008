import json

import pytest
from same_process import working_here

import workbench as wb


@pytest.fixture(autouse=True)
def here(monkeypatch):
    working_here(monkeypatch)


def test_json_tells_each_cell_with_its_values_of_the_grid(told, six_documents):
    line = ("sweep", six_documents, "-g", "r=1,inf", "-g", "topics=2,3", "-n", 5, "-q")
    cells = told(*line)["runs"]
    assert [cell["grid"] for cell in cells] == [
        {"r": 1, "n_topics": 2},
        {"r": 1, "n_topics": 3},
        {"r": "inf", "n_topics": 2},
        {"r": "inf", "n_topics": 3},
    ]
    assert [cell["n_topics"] for cell in cells] == [2, 3, 2, 3]
    assert {cell["n_iterations"] for cell in cells} == {5}
    assert {
        "name",
        "engine",
        "options",
        "test_perplexity",
        "test_perplexity_state",
        "elapsed",
        "path",
    } <= set(cells[0])
    # asked again, reopened
    assert told(*line)["runs"] == cells and len(wb.open_runs()) == 4


def test_a_cell_is_its_run_up_to_its_iterations(told, six_documents):
    line = ("sweep", six_documents, "-g", "iterations=3,6", "-e", "cgs", "-k", 2, "-q")
    short, long = told(*line)["runs"]
    assert short["name"] == long["name"] and (short["n_iterations"], long["n_iterations"]) == (3, 6)
    assert short["test_perplexity"] == float(wb.open_run(long["name"]).test_perplexity[2])


def test_without_json_there_is_a_table_with_the_grid_in_front(command, six_documents):
    status, out, err = command("sweep", six_documents, "--grid", "r=1,inf", "-k", 2, "-n", 5)
    assert status == 0 and "2 cells, 2 runs; up to " in err
    assert [line.split()[0] for line in out.splitlines()] == ["r", "1", "inf"]


def test_the_flags_of_compare_are_those_of_sweep(command):
    flags = {
        name: {word for word in command(name, "--help")[1].split() if word.startswith("--")}
        for name in ("compare", "sweep")
    }
    assert flags["compare"] - flags["sweep"] == {"--engines", "--test"}
    assert flags["sweep"] - flags["compare"] == {"--grid", "--engine", "--warm"}


def test_a_run_that_fails_is_told_at_the_end_with_status_1(command, six_documents, monkeypatch):
    monkeypatch.setattr(
        "workbench.runs.execution.worker.iterate", lambda spec, *others: 1 / (spec.options["r"] - 1)
    )
    status, out, err = command(
        "sweep", six_documents, "-g", "r=0,1,2", "-k", 2, "-n", 5, "-q", "--json"
    )
    told = json.loads(out)["runs"]
    assert (
        status == 1
        and [cell["state"] for cell in told].count("failed") == 1
        and told[1]["test_perplexity"] is None
    )
    last = err.splitlines()[-1]
    assert (
        last.startswith(f"workbench: run '{told[1]['name']}' failed: ZeroDivisionError")
        and "worker.log in" in last
    )


def test_warm_begins_each_run_from_that_with_fewer_topics(command, told, six_documents):
    line = f"sweep {six_documents} -g topics=3,2 -e cgs --warm -n 5 -q".split()
    smaller, larger = told(*line)["runs"]
    assert (smaller["n_topics"], larger["n_topics"]) == (2, 3)
    assert smaller["label"] == "cgs" and larger["label"] == "cgs warm"
    assert told(*line)["runs"] == [smaller, larger]
    *_, last = command(*line)[1].strip().splitlines()
    assert last.split()[0] == "3"


def test_sweep_warm_detach_starts_the_first_runs(command, six_documents, monkeypatch):
    begun = []
    monkeypatch.setattr(
        "workbench.runs.execution.warm_sweep.spawn", lambda *given, **more: begun.append(given[0])
    )
    line = f"sweep {six_documents} -g topics=2,3 -e cgs --warm -n 5 --detach --json"
    status, out, err = command(*line.split())
    (told,) = json.loads(out)["runs"]
    assert status == 0 and begun == ["warm_sweep"] and told["n_topics"] == 2
    assert err.splitlines()[-1] == "those with more topics begin when these have ended"


def test_a_run_that_no_cluster_can_share_is_refused_before_it_is_made(
    command, six_documents, tmp_path, monkeypatch
):
    line = ("fit", "six", "-e", "svb", "-k", "2", "--holdout", "0", "-q", "--scheduler")
    command("data", "convert", six_documents, "small", "--shards", "-q")
    status, _, err = command("fit", "small", *line[2:], "local")
    assert (
        status == 2
        and "'six' is small enough for a single one: one process infers from it; leave --scheduler out"
        in err
    )
    monkeypatch.setattr("workbench.corpus.shards.shard_writer.SHARD_PAIRS", 4)
    command("data", "convert", six_documents, "six", "--shards", "-q")
    assert wb.load_corpus("six").n_parts > 1
    wrong = {
        "nonsense": "a scheduler is an address such as",
        "tcp://127.0.0.1:1": "no scheduler answers",
    }
    for scheduler, sentence in wrong.items():
        status, _, err = command(*line, scheduler)
        assert status == 2 and err.startswith(f"workbench: {sentence}") and err.count("\n") == 1
    status, _, err = command("fit", "six", "-e", "cv-hdp", "-q")
    assert (
        status == 2
        and "load it whole: in_memory(), or workbench data convert FOLDER all.npz" in err
    )
    assert not wb.open_runs() and not (tmp_path / "runs").exists()
    assert command("data", "convert", "six", "all.npz")[0] == 0
    assert wb.load_corpus("all.npz").content_hash == wb.load_corpus("six").content_hash
