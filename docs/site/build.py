"""Builds the site: `make docs`, or python docs/site/build.py [FOLDER] [--no-outputs].

The folder that Sphinx reads has the Markdown files of the repository where they are there, so their links hold, the pages that
are made from the code, and the notebooks with their outputs.
"""

import argparse
import shutil
import sys
import time
from pathlib import Path

SITE = Path(__file__).parent
ROOT = SITE.parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(SITE))

TEXTS = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CITATION.cff",
    "LICENSE",
    "pyproject.toml",
)
FOLDERS = ("docs", "workbench", "benchmarks")
"""What pages are, and what they link to."""
OPTIONAL = ("docs/ledger",)
"""Pages that have a place in the index where there is a file."""


def stage(source: Path, outputs: Path | None) -> None:
    """Fills the folder ``source`` with what the site is made of; outputs of notebooks are kept in ``outputs``, None: none."""
    from generated import write_pages

    from notebooks import NOTEBOOKS, executed

    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in TEXTS:
        shutil.copy2(ROOT / name, source / name)
    for name in FOLDERS:
        shutil.copytree(
            ROOT / name,
            source / name,
            ignore=shutil.ignore_patterns("__pycache__", "site", "*.csv"),
        )
    index = (SITE / "index.md").read_text(encoding="utf-8")
    (source / "index.md").write_text(
        "".join(line for line in index.splitlines(True) if is_there(line)), encoding="utf-8"
    )
    shutil.copytree(SITE / "lists", source / "lists")
    write_pages(source / "reference")
    (source / "notebooks").mkdir()
    for notebook, path in zip(NOTEBOOKS, executed(outputs) if outputs else NOTEBOOKS, strict=True):
        shutil.copyfile(path, source / "notebooks" / notebook.name)


def is_there(line: str) -> bool:
    """Is a line of the index to stand? A page of those that need not exist has none where there is no file."""
    return line.strip() not in OPTIONAL or (ROOT / f"{line.strip()}.md").exists()


def build(source: Path, target: Path) -> int:
    """The exit status of Sphinx, for which every warning is an error."""
    from sphinx.cmd.build import main

    arguments = [
        "-W",
        "--keep-going",
        "-q",
        "-E",
        "-c",
        str(SITE),
        "-d",
        str(source.parent / "doctrees"),
    ]
    return main([*arguments, str(source), str(target)])


def main() -> int:
    """Builds the site in a folder that is made, and says where it is and how long it took."""
    parser = argparse.ArgumentParser(description="Builds the site of the documentation.")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "out" / "docs", help="where the pages go"
    )
    parser.add_argument(
        "--no-outputs", action="store_true", help="notebooks as they are, not executed"
    )
    given, start = parser.parse_args(), time.monotonic()
    work = given.folder.parent / f".{given.folder.name}-source"
    stage(work / "pages", None if given.no_outputs else work / "notebooks")
    status = build(work / "pages", given.folder)
    print(
        f"{given.folder / 'index.html'}, in {time.monotonic() - start:.0f} s"
        if not status
        else "the site was not built",
        file=sys.stderr,
    )
    return status


if __name__ == "__main__":
    sys.exit(main())
