"""Every notebook: committed clean, plain to read, and it runs without asking anybody outside."""

import ast
import json
import re
import warnings
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
STRUCTURE = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.For, ast.AsyncFor, ast.While, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.GeneratorExp,
)
WRITTEN = {
    "01_compare_engines": ("report.html", "figures/*.pdf", "figures/*.svg"),
    "02_hybrids_and_r": (),
    "03_hdp": ("hdp.html",),
    "04_topics_of_your_own_text": ("report.html",),
    "05_evaluation": ("evaluation.html",),
    "07_use_a_run": ("export/final.beta", "export/topics.csv", "bars.mtx"),
}
NAMES_OF_FORMATS = ("http://www.w3.org/",)


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def code_of(notebook: dict) -> list[str]:
    """The Python of each cell, without IPython's magics."""
    cells = ["".join(cell["source"]).splitlines() for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return ["\n".join(line for line in lines if not line.startswith("%")) for lines in cells]


def test_there_is_a_first_notebook():
    assert NOTEBOOKS and NOTEBOOKS[0].name == "01_compare_engines.ipynb"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_committed_without_outputs(path):
    cells = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    assert cells and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_has_no_def_no_class_and_no_loop(path):
    trees = [ast.parse(code) for code in code_of(read(path))]
    assert [type(node).__name__ for tree in trees for node in ast.walk(tree) if isinstance(node, STRUCTURE)] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_from_top_to_bottom_and_asks_no_other_host(path, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    from nbclient import NotebookClient

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(path, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # event loops and paths of jupyter_client
        warnings.simplefilter("ignore", ResourceWarning)     # sockets of the kernel that is shut down
        NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = json.dumps([cell.get("outputs", []) for cell in notebook.cells])
    addresses = re.findall(r"https?://[^\s\"'<>)]+|src=[\\\"']+//[^\s\"'<>)]+", outputs)
    assert [address for address in addresses if not address.startswith(NAMES_OF_FORMATS)] == []
    assert "data:image/png;base64," in outputs, "the pictures are in the page itself"
    for wanted in WRITTEN[path.stem]:
        assert any(file.stat().st_size > 100 for file in (tmp_path / "out").glob(wanted)), wanted
