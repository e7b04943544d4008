"""The project holds together: one list of dependencies, one order of layers, one manual."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_environment_yml_has_the_dependencies_of_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    wanted = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["lab"]
    listed = [entry for entry in environment["dependencies"] if isinstance(entry, str) and entry != "pip"]
    assert sorted(listed) == sorted(["python" + PROJECT["requires-python"], *wanted])
    assert environment["dependencies"][-1] == {"pip": ["--editable ."]}


def test_every_dependency_has_bounds():
    extras = [entry for extra in PROJECT["optional-dependencies"].values() for entry in extra]
    assert all(">=" in entry for entry in PROJECT["dependencies"] + extras)


def test_bare_make_prints_every_target():
    told = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = [line.split()[1] for line in told.splitlines()]
    for wanted in ("demo", "serve", "lab", "test", "test-all", "check", "bench", "figures", "clean"):
        assert wanted in targets


@pytest.mark.slow
def test_the_layers_are_kept():
    done = subprocess.run([Path(sys.executable).parent / "lint-imports"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_style_is_kept():
    done = subprocess.run([Path(sys.executable).parent / "ruff", "check", "."], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_apps_and_notebooks_hold_no_logic():
    for app in (ROOT / "apps").glob("*.py"):
        lines = app.read_text().splitlines()
        assert len(lines) <= 20 and not [line for line in lines if line.split(" ")[0] in ("def", "class", "for", "while")]


def test_the_first_commands_of_the_readme_are_targets_of_make():
    readme = (ROOT / "README.md").read_text()
    assert "make demo" in readme and "make serve" in readme and "make test" in readme
    assert "make test" in (ROOT / ".ci" / "run").read_text()
