"""Every notebook: committed clean, plain to read, and it runs without asking anybody outside."""

import ast
import json
import re
import warnings
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
STRUCTURE = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
WRITTEN = {
    "01_compare_engines": ("report.html", "figures/*.pdf", "figures/*.svg"),
    "02_hybrids_and_r": (),
    "03_hdp": ("hdp.html",),
    "04_topics_of_your_own_text": ("report.html",),
    "05_evaluation": ("evaluation.html",),
    "06_generic_topic_models": ("networks.html",),
    "07_use_a_run": ("export/final.beta", "export/topics.csv", "bars.mtx"),
    "08_correlated_topics": (),
    "09_names": (),
    "10_sequences": (),
    "11_votes": (),
    "12_frontier": (),
    "13_starts": (),
    "14_priors": (),
}
NAMED_ALONE = (
    "http://www.w3.org/",
    "https://jupyterlab.readthedocs.io/en/4.1.x/extension/notebook.html#keyboard-interaction-model",
)
"""Addresses that nobody asks: names of formats, and a remark in the script that Panel puts beside a view."""
LONG = ("12_frontier",)
"""Notebooks that take minutes."""
LIVE = {"02_hybrids_and_r": 2, "04_topics_of_your_own_text": 2}
"""Live views, with the one that Panel adds when `wb.views.show` loads it."""
SHARE = 10
"""Runs, and the rows that are left out at their beginning, are so many times as short; `make docs` executes whole notebooks."""
HERE = f"""import sys
from pytest import MonkeyPatch
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from same_process import working_here
working_here(MonkeyPatch())"""
"""A cell before the first: the kernel itself computes the runs, whose processes would take seconds each to start."""
PROGRAMS = ("application/javascript", "application/vnd.holoviews_load.v0+json")
"""Panel and Bokeh themselves, which name many addresses; tests/browser/test_lab.py sees what they ask for."""


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def code_of(notebook: dict) -> list[str]:
    """The Python of each cell, without IPython's magics."""
    cells = [
        "".join(cell["source"]).splitlines()
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    return ["\n".join(line for line in lines if not line.startswith("%")) for lines in cells]


def shortened(source: str) -> str:
    """Return the code of a cell with runs a tenth as long, of twenty iterations at least; those with a rule end by it."""
    source = re.sub(r"(?<=\[)\d\d+(?=:)", lambda first: str(int(first[0]) // SHARE), source)
    return re.sub(
        r'(?<=n_iterations)("?(?:=|: ))(\d+)(?!.*stop_on)',
        lambda n: f"{n[1]}{min(int(n[2]), max(int(n[2]) // SHARE, 20))}",
        source,
    )


def told_to_people(cell: dict) -> list[dict]:
    """The outputs of a cell without the programs in them."""
    told = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        told.append(
            {**output, "data": {kind: what for kind, what in data.items() if kind not in PROGRAMS}}
        )
    return told


def views_of(notebook) -> list[dict]:
    """The live views in the outputs."""
    kinds = [
        output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])
    ]
    return [data for data in kinds if "application/vnd.holoviews_exec.v0+json" in data]


def test_there_is_a_first_notebook():
    assert NOTEBOOKS and NOTEBOOKS[0].name == "01_compare_engines.ipynb"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path):
    cells = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    assert cells and all(
        cell["outputs"] == [] and cell["execution_count"] is None for cell in cells
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_def_no_class_and_no_loop(path):
    trees = [ast.parse(code) for code in code_of(read(path))]
    assert [
        type(node).__name__
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, STRUCTURE)
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.long] * (path.stem in LONG))
        for path in NOTEBOOKS
    ],
)
def test_a_notebook_runs_from_top_to_bottom_and_asks_no_other_host(path, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    from nbclient import NotebookClient

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = shortened(cell.source) if cell.cell_type == "code" else cell.source
    notebook.cells.insert(0, nbformat.v4.new_code_cell(HERE))
    with warnings.catch_warnings():
        # event loops and paths of jupyter_client
        warnings.simplefilter("ignore", DeprecationWarning)
        # sockets of the kernel that is shut down
        warnings.simplefilter("ignore", ResourceWarning)
        NotebookClient(
            notebook,
            timeout=120,
            kernel_name="python3",
            resources={"metadata": {"path": str(tmp_path)}},
        ).execute()
    outputs = json.dumps([told_to_people(cell) for cell in notebook.cells])
    addresses = re.findall(r"https?://[^\s\"'<>)]+|src=[\\\"']+//[^\s\"'<>)]+", outputs)
    assert [address for address in addresses if not address.startswith(NAMED_ALONE)] == []
    assert "data:image/png;base64," in outputs, "the pictures are in the page itself"
    assert len(views_of(notebook)) == LIVE.get(path.stem, 0)
    for wanted in WRITTEN[path.stem]:
        assert any(file.stat().st_size > 100 for file in (tmp_path / "out").glob(wanted)), wanted
