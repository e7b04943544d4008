"""Named corpora on the command line, and what is done to a corpus before it is fitted."""

import pytest
from published_tiny import FILES, publish, write_uci

import workbench as wb


@pytest.fixture(autouse=True)
def without_data(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("WORKBENCH_DATA", raising=False)


def test_the_list_says_of_each_corpus_how_to_come_by_it(command, told):
    where = {entry["name"]: entry["where"] for entry in told("data", "list")["corpora"]}
    assert where["docstrings"] == "here" and where["bars"] == "drawn"
    assert {name for name, state in where.items() if state == "fetchable"} == {
        "kos",
        "kos500",
        "reuters395",
        "ap",
        "ap1000",
    }
    assert {name for name, state in where.items() if state == "by hand"} == {
        "nips",
        "nips17",
        "reuters_top",
        "news20",
        "news5",
        "news1000",
        "names",
        "dna",
        "alice",
        "reuters_sequences",
    }
    status, out, err = command("data", "list")
    assert status == 0 and "fetchable" in out and "by hand" in out and "drawn" in out
    assert err.startswith("`workbench data info NAME` describes one") and err.count("\n") == 1


def test_info_tells_forms_hash_licence_and_options(command, told):
    _, out, _ = command("data", "info", "kos")
    forms = "docword.kos.txt.gz + vocab.kos.txt; kos.npz + kos.vocab.txt"
    assert all(part in out for part in (forms, "467,714", "CC BY 4.0", "fddd7667d720c303", "exact"))
    assert "side=5, n_documents=1000" in command("data", "info", "bars")[1]
    assert told("data", "info", "news20")["options"] == {"part": "all"}


def test_fetch_says_where_the_files_are_or_why_there_are_none(command, told, tmp_path, monkeypatch):
    status, _, err = command("data", "fetch", "nips")
    assert (
        status == 2
        and "no public address serves its files; set WORKBENCH_DATA" in err
        and err.count("\n") == 1
    )
    assert (
        command("data", "fetch", "bars")[2]
        == "bars is drawn when it is asked for; there is nothing to fetch\n"
    )
    publish(monkeypatch, *(f"http://127.0.0.1:9/{file}" for file in FILES))
    status, _, err = command("data", "fetch", "tiny")
    assert status == 2 and "cannot be reached" in err
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    write_uci(tmp_path)
    assert command("data", "fetch", "tiny") == (
        0,
        f"tiny is here, as published: {tmp_path}\n",
        "",
    )
    assert told("data", "fetch", "tiny")["folder"] == str(tmp_path)


def test_a_drawn_corpus_is_fitted_by_its_name(told):
    (run,) = told(*"fit bars:side=3 --read n_documents=30 -k 6 -n 2 -q".split())["runs"]
    assert wb.Run(run["path"]).spec.corpus == "bars:side=3:n_documents=30"


def test_top_words_and_singletons_are_recorded_shown_and_in_the_identity(command, told):
    line = "fit bars:side=3:n_documents=30:tokens_per_document=20 -k 6 -n 2 -q".split()
    plain, cut = (
        told(*line, *flags)["runs"][0]
        for flags in ((), ("--top-words", 5, "--singletons", "both-own"))
    )
    assert plain["name"] != cut["name"]
    spec = wb.Run(cut["path"]).spec
    assert spec.split == {
        "fraction": 0.1,
        "seed": 0,
        "per": "corpus",
        "top_words": 5,
        "singletons": "both-own",
    }
    assert wb.open_run(cut["path"]).sizes["word"] == 5
    shown = " ".join(command("show", cut["name"])[1].split())
    assert (
        "the 5 most frequent words alone; no singletons in training, nor in test by its own counts"
        in shown
    )
