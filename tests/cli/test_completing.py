"""What the shell is told when Tab is pressed, through the variables with which it asks."""

import os
import subprocess
import sys

import pytest

from workbench.cli import main
from workbench.engines import ENGINES
from workbench.runs.execution.run import open_runs


@pytest.fixture
def completed(monkeypatch, capsys):
    """The words that bash is offered for a line whose last word is unfinished."""

    def ask(line):
        words = line.split(" ")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        monkeypatch.setenv("_WORKBENCH_COMPLETE", "complete_bash")
        with pytest.raises(SystemExit) as ended:
            main([])
        monkeypatch.delenv("_WORKBENCH_COMPLETE")
        assert ended.value.code == 0
        return capsys.readouterr().out.split()

    return ask


def test_commands_engines_corpora_and_formats_are_completed(completed):
    assert completed("workbench sw") == ["sweep"]
    assert completed("workbench fit docstrings --engine cg") == ["cgs"]
    assert completed("workbench fit ")[:2] == ["docstrings", "kos"]
    assert completed("workbench data info ko") == ["kos", "kos500"]
    assert completed("workbench figures a --format svg,p") == ["svg,pdf", "svg,png"]
    assert completed("workbench reproduce hybrid-fig1") == ["hybrid-fig10", "hybrid-fig10-full"]


def test_a_list_of_engines_is_completed_name_by_name_without_repeating_one(completed):
    assert completed("workbench compare docstrings --engines svb,cgs,") == [
        f"svb,cgs,{name}" for name in ENGINES if name not in ("svb", "cgs")
    ]


def test_runs_are_completed_from_the_store_that_the_line_names(
    completed, command, six_documents, tmp_path
):
    for store, name in (("runs", "here"), ("elsewhere", "there")):
        command("fit", six_documents, "-k", 2, "-n", 2, "-q", "--name", name, "--store", store)
    (tmp_path / "runs" / "no-run").mkdir()
    assert completed("workbench show ") == ["here"] == [run.name for run in open_runs("runs")]
    assert completed("workbench show --store elsewhere ") == ["there"]
    assert completed("workbench remove here ") == []


def test_the_shell_gets_a_script_to_install(command, monkeypatch):
    # there may be none above the tests
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: ("bash", "/bin/bash"))
    with pytest.raises(SystemExit) as ended:
        command("--show-completion", "bash")
    assert ended.value.code == 0


@pytest.mark.parametrize(
    "line", ["workbench sw", "workbench show ", "workbench fit do", "workbench reproduce h"]
)
def test_a_completion_imports_nothing_heavy(line):
    asked = os.environ | {
        "_WORKBENCH_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    heavy = "[name for name in ('numba', 'xarray', 'zarr', 'pandas', 'holoviews', 'panel', 'sklearn') if name in sys.modules]"
    code = (
        f"import atexit, sys; atexit.register(lambda: print({heavy}, file=sys.stderr)); "
        "from workbench.cli import entry; entry()"
    )
    told = subprocess.run([sys.executable, "-c", code], env=asked, capture_output=True, text=True)
    assert told.returncode == 0 and told.stderr.strip() == "[]"
