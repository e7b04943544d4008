"""The notebooks with their outputs: executed, two at a time, and kept by what they depend on."""

import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PROGRAMS = ("application/javascript", "application/vnd.holoviews_load.v0+json")
"""Outputs that load Panel and Bokeh into a notebook: megabytes, and of no use in a page without a kernel."""
LIVE = "application/vnd.holoviews_exec.v0+json"
"""What marks the output of a live view, which needs a kernel."""
INSTEAD = "A live view stands here in JupyterLab (`make lab`); it needs a running kernel.\n"
LONGEST = ("12_frontier", "11_votes", "08_correlated_topics", "10_sequences")
"""Notebooks that take longest, which begin first, so that none is left alone at the end."""
SECONDS = 300
"""Longest time of one cell."""


def key_of(path: Path) -> str:
    """A hash of all that decides the outputs of a notebook: its text, the package, the versions of what draws and computes."""
    content = hashlib.sha256(path.read_bytes())
    for file in sorted([*(ROOT / "workbench").rglob("*.py"), Path(__file__)]):
        content.update(file.relative_to(ROOT).as_posix().encode() + file.read_bytes())
    for package in ("numpy", "numba", "matplotlib", "holoviews", "bokeh", "pandas", "xarray"):
        content.update(f"{package} {importlib.metadata.version(package)}".encode())
    return content.hexdigest()[:20]


def execute(path: Path, target: Path) -> None:
    """Runs a notebook from top to bottom in an empty folder and writes it, without programs; an error ends the build."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTHONDIR"] = folder + "/ipython"
        NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [kept for output in cell.outputs if (kept := shown(output))]
    write(json.dumps(notebook, ensure_ascii=False), target)


def shown(output):
    """An output as the page shows it: no program, nothing that is for stderr, a sentence instead of a live view."""
    from nbformat.v4 import new_output

    data = output.get("data", {})
    if output.output_type == "stream" and output.name == "stderr":
        return None
    if LIVE in data:
        return new_output("display_data", {"text/markdown": INSTEAD})
    if any(kind in data for kind in PROGRAMS) or (
        "text/html" in data and "<script" in data["text/html"]
    ):
        return None
    return output


def write(text: str, target: Path) -> None:
    """Writes a file whole, or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(target)


def executed(cache: Path, at_once: int = 2) -> list[Path]:
    """The executed notebooks: read from the folder ``cache`` where nothing they depend on has changed, else executed.

    Each is executed in a process of its own, ``at_once`` side by side, the longest first. Raises RuntimeError with the
    end of the error's text where a notebook fails.
    """
    targets = {path: cache / f"{path.stem}-{key_of(path)}.ipynb" for path in NOTEBOOKS}
    missing = sorted(
        (path for path in NOTEBOOKS if not targets[path].exists()),
        key=lambda path: path.stem not in LONGEST,
    )
    say = threading.Lock()

    def one(path: Path) -> None:
        command = [sys.executable, __file__, str(path), str(targets[path])]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        if done.returncode:
            raise RuntimeError(f"notebook {path.name} failed:\n{done.stderr[-3000:]}")
        with say:
            print(f"executed {path.name}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(one, missing))
    for old in set(cache.glob("*.ipynb")) - set(targets.values()):
        old.unlink()
    return list(targets.values())


if __name__ == "__main__":
    execute(Path(sys.argv[1]), Path(sys.argv[2]))
