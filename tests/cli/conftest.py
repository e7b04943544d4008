import json
from pathlib import Path

import pytest

from workbench.cli import main


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORKBENCH_STORE", raising=False)


def write_six(folder: Path) -> str:
    """Write a UCI bag of words of six documents; return its name."""
    (folder / "docword.six.txt").write_text(
        "6\n4\n9\n1 1 3\n1 2 2\n2 1 4\n3 3 2\n3 4 5\n4 3 3\n5 2 1\n5 4 2\n6 1 6\n"
    )
    (folder / "vocab.six.txt").write_text("ant\nbee\ncat\ndog\n")
    return "docword.six.txt"


@pytest.fixture
def six_documents(tmp_path):
    """A UCI bag of words of six documents in the working folder; its name."""
    return write_six(tmp_path)


@pytest.fixture
def command(capsys):
    """Runs a command in this process: (exit status, stdout, stderr)."""

    def run(*arguments):
        status = main([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def told(command):
    """Runs a command that succeeds with --json: what it prints."""

    def run(*arguments):
        status, out, err = command(*arguments, "--json")
        assert status == 0, err
        return json.loads(out)

    return run
