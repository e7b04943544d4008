"""What `make test` installs, the extra `test` of pyproject.toml, is what the tests import."""

import ast
import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def requirements_of(extra: str) -> list[str]:
    """The requirements of the project with an extra, in which the project may name extras of its own."""
    return PROJECT["dependencies"] + PROJECT["optional-dependencies"][extra]


def distributions_of(requirements: Iterable[str]) -> dict[str, Distribution]:
    """The installed distributions that requirements name, and those that these require in turn."""
    waiting, seen, distributions = list(requirements), set(), {}
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            if name == canonicalize_name(PROJECT["name"]):
                waiting += requirements_of(extra) if extra else []
                continue
            distributions[name] = distribution(name)
            for text in distributions[name].requires or ():
                marker = Requirement(text).marker
                if marker is None or marker.evaluate({"extra": extra}):
                    waiting.append(text)
    return distributions


def make_environment(folder: Path, distributions: Iterable[Distribution]) -> Path:
    """The interpreter of a virtual environment in which links lead to the installed distributions and to no other."""
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for each in distributions:
        for top in {file.parts[0] for file in each.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(each.locate_file(top))
    return folder / "bin" / "python"


def imported_by_tests() -> set[str]:
    """The modules of other projects that the tests import, at the top of a file or within a function."""
    ours = {
        name for part in ("tests", "benchmarks", "docs") for file in (ROOT / part).rglob("*.py")
        for name in (file.stem, file.parent.name)
    }  # fmt: skip
    nodes = [
        node
        for file in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
    ]
    names = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0}
    return (
        {name.split(".")[0] for name in names} - ours - set(sys.stdlib_module_names) - {"workbench"}
    )


@pytest.mark.slow
def test_the_extra_test_has_all_that_the_tests_import(tmp_path):
    """Every test is collected, as `make test` does it, where nothing is installed but the extra and what it requires."""
    python = make_environment(tmp_path / "env", distributions_of(requirements_of("test")).values())
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONNOUSERSITE": "1"}

    def run(*arguments: str) -> subprocess.CompletedProcess:
        command = [python, *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    looked_for = "import importlib.util, sys; print(*(name for name in sys.argv[1:] if not importlib.util.find_spec(name)))"
    missing = run("-c", looked_for, *sorted(imported_by_tests())).stdout.split()
    assert missing == [], (
        f"tests import {missing}: add the packages to the extra `test` of pyproject.toml"
    )
    collected = run("-m", "pytest", "--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider")
    assert collected.returncode == 0, collected.stdout[-3000:] + collected.stderr[-3000:]
