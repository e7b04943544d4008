"""What the command line says of memory, and how it refuses what does not fit."""

import json

import pytest

COMMANDS = {
    "fit": ("fit", "-e", "cvb"),
    "fit in the background": ("fit", "-e", "cvb", "--detach"),
    "compare": ("compare", "-e", "svb,cgs", "-j", "2"),
    "compare in the background": ("compare", "-e", "svb,cgs", "--detach"),
    "sweep": ("sweep", "-g", "r=0,1"),
    "sweep in the background": ("sweep", "-g", "r=0,1", "--detach"),
}


def asked(which, corpus):
    name, *rest = COMMANDS[which]
    return name, corpus, *rest, "-k", "3", "-n", "2", "--store", "runs"


@pytest.mark.parametrize("which", ["fit", "compare", "sweep"])
def test_what_runs_take_is_said_before_they_start(which, command, six_documents):
    status, out, err = command(*asked(which, six_documents), "--json")
    assert status == 0
    assert (
        "kB on disk, about " if which == "sweep" else "kB before compression, about "
    ) in err and " MB of memory" in err
    assert all(200 * 2**20 < run["memory"] < 400 * 2**20 for run in json.loads(out)["runs"])


@pytest.mark.parametrize("which", COMMANDS)
def test_what_does_not_fit_is_refused_in_one_line_before_anything_is_made(
    which, command, six_documents, tmp_path, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_MEMORY", "1M")
    status, out, err = command(*asked(which, six_documents), "--quiet")
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "of memory and WORKBENCH_MEMORY allows 1 MB; nothing smaller of it fits" in err
    assert not (tmp_path / "runs").exists()


def test_fewer_jobs_are_proposed_where_they_fit(command, six_documents, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "600M")
    status, _, err = command(
        *asked("compare", six_documents)[:-2], "--seeds", "2", "-j", "4", "--store", "runs"
    )
    assert status == 2
    assert err.splitlines()[-1].startswith("workbench: 4 runs at a time need about 1,000 MB")
    assert err.splitlines()[-1].endswith(
        "WORKBENCH_MEMORY allows 600 MB; start at most 2 at a time"
    )
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("text", ["abc", "-1G", "4 gigs"])
def test_a_memory_that_is_no_size_is_refused(text, command, six_documents, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", text)
    status, _, err = command(*asked("fit", six_documents))
    assert (
        status == 2
        and f"WORKBENCH_MEMORY must be a size such as 4G or 500M; got {text!r}"
        in err.splitlines()[-1]
    )
    assert not (tmp_path / "runs").exists()


def test_the_doctor_tells_the_memory_there_is(command, monkeypatch):
    def told():
        checks = json.loads(command("doctor", "--json")[1])["checks"]
        return next(check for check in checks if check["check"] == "memory")

    monkeypatch.setenv("WORKBENCH_MEMORY", "3G")
    assert told() == {"check": "memory", "ok": True, "finding": "WORKBENCH_MEMORY allows 3.0 GB"}
    monkeypatch.setenv("WORKBENCH_MEMORY", "much")
    assert not told()["ok"]
