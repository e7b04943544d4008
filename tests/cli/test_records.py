"""Records on the command line: named ones, files, and what does not go together."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from workbench.models.bayes_nets import files, simulated
from workbench.models.bayes_nets.simulated import SIMULATED
from workbench.runs.loading import kind_of, named_set


@pytest.fixture(autouse=True)
def without_data(monkeypatch):
    monkeypatch.delenv("WORKBENCH_DATA", raising=False)


def test_records_are_listed_and_described_and_those_that_are_missing_say_how_to_come_by_them(
    command, told
):
    where = {entry["name"]: entry["where"] for entry in told("data", "list")["records"]}
    assert [where.pop(name) for name in SIMULATED] == [
        "drawn" if find_spec("pgmpy") else "by hand"
    ] * 4
    assert where.pop("votes") == "here" and set(where.values()) == {"by hand"} and len(where) == 5
    listed, about = command("data", "list")[1], command("data", "info", "votes")[1]
    parts = "words of Alice's Adventures in Wonderland", "27,330", "342"
    assert all(part in listed for part in parts)
    assert all(
        part in about
        for part in (
            "435",
            "CC BY 4.0",
            "HouseVotes84",
            "a8c3bd9b85b1f2b6",
            "party=drop",
            "votes.csv",
        )
    )
    status, _, err = command("data", "fetch", "ability")
    assert status == 2 and err.count("\n") == 1
    assert "to a folder that holds ability.csv, from psych/ability.csv of" in err
    assert command("data", "fetch", "votes")[1].startswith("votes is here, as published: ")


def test_compare_of_named_records_reopens_its_runs(undrawn, command, told):
    line = "compare votes --engines bn-vb --holdout-per record -n 3 -q".split()
    (run,) = told(*line)["runs"]
    assert run["state"] == "finished" and run["test_log_likelihood_record"] < -5
    assert told(*line)["runs"] == [run]
    assert "10 % of the records held out, split seed 0" in command("show", run["name"])[1]
    assert command("report", run["name"])[0] == 0
    page = Path("report.html").read_text()
    # head of the table, note, definition
    assert page.count("95 % over records") == 3 and "over documents" not in page
    assert "interval over the records with held-out cells" in page
    (run,) = told("fit", "votes:party=keep", "--engine", "bn-vb", "-n", 2, "-q")["runs"]
    assert run["state"] == "finished"


def test_a_network_of_ones_own_is_shown_in_words(command, told, tmp_path):
    (tmp_path / "mine.csv").write_text("wet\nyes\nno\nyes\nyes\n")
    nodes = [
        {"name": "rain", "states": 3},
        {"name": "wet", "states": ["no", "yes"], "parents": ["rain"]},
    ]
    (tmp_path / "mine.json").write_text(json.dumps({"name": "mine", "nodes": nodes}))
    (run,) = told(*"fit mine.csv -e bn-vb --model mine.json --holdout 0 -n 2 -q".split())["runs"]
    shown = command("show", run["name"])[1]
    assert (
        "Bayesian network: mine: rain (3); wet (2) ← rain" in " ".join(shown.split())
        and "'prior'" not in shown
    )


def test_simulated_records_are_drawn_where_pgmpy_is_and_else_say_what_to_install(
    command, monkeypatch
):
    monkeypatch.setattr(simulated, "find_spec", lambda name: True)
    assert (
        command("data", "fetch", "alarm")[2]
        == "alarm is drawn when it is asked for; there is nothing to fetch\n"
    )
    assert "n_records=1000, seed=0, hidden=0.2" in command("data", "info", "alarm")[1]
    for module in (files, simulated):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    for said in ("data fetch alarm", "fit alarm -e bn-vb", "fit votes -e bn-vb --model alarm"):
        status, out, told = command(*said.split())
        assert (status, out, told.count("\n")) == (
            2,
            "",
            1,
        ) and "networks in BIF need the package pgmpy" in told


def test_a_file_of_records_is_read_as_asked(command, tmp_path):
    rows = [f"{'xy'[at % 2]},{'NA' if at % 3 else 'u'},{at % 4},{1 + at % 2}" for at in range(20)]
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,c,n", *rows]) + "\n")
    line = (
        "fit mine.csv -e bn-vb --read fields=a,b,c --read missing=NA --read multiplicity=n -n 2 -q"
    )
    status, _, err = command(*line.split())
    assert status == 0, err
    status, _, told = command("fit", "mine.csv", "-e", "bn-vb", "--read", "text=a")
    wanted = "workbench: records are read with fields, levels, missing, multiplicity and name, not with text; leave that out\n"
    assert (status, told) == (2, wanted)


def test_names_of_all_data_types_are_known():
    assert named_set("votes:party=keep").name == "votes" and named_set("bars:side=3").name == "bars"
    assert named_set("./votes") is None and kind_of("other.csv") is None
    assert kind_of("votes").__name__ == "Records" and kind_of("alice").__name__ == "Corpus"


def test_hidden_nodes_of_new_records_are_inferred(command, tmp_path):
    (tmp_path / "new.csv").write_text("V1,V4\ny,n\nn,y\n,\n")
    assert command("fit", "votes", "-e", "bn-vb", "-n", 30, "--name", "two", "-q")[0] == 0
    status, told, _ = command("infer", "two", "new.csv")
    assert status == 0 and "log_probability" in told and told.count("class") == 3
    status, told, _ = command("infer", "two", "new.csv", "--out", "found.csv")
    assert (status, told) == (0, "found.csv: hidden nodes of 3 distinct records\n")
    header, *rows = (tmp_path / "found.csv").read_text().splitlines()
    assert header == "record,multiplicity,log_probability,node,state 0,state 1" and len(rows) == 3
    assert all(abs(sum(map(float, row.split(",")[4:])) - 1) < 1e-12 for row in rows)
    status, _, told = command("infer", "two", "new.csv", "--protocol", "foldin_same")
    assert status == 2 and "--protocol foldin_same is of documents; of records leave it out" in told
