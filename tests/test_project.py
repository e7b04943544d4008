"""The project holds together: one list of dependencies, one order of layers, one manual."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from inspect import isclass, isfunction, signature
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import workbench as wb
from workbench.errors import DISTRIBUTION

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
BY_PIP = ("stop-words",)
"""Installed by pip with the package itself: conda-forge is not known to have it."""
REFUSED = {
    "import pickle\n\npickle.loads(b'')": "TID251",
    "import joblib\n\njoblib.load('x')": "TID251",
    "from marshal import loads\n\nloads(b'')": "TID251",
    "import shelve\n\nshelve.open('x')": "TID251",
    "eval('1')": "S307",
    "exec('1')": "S102",
    "import os\n\nos.system('ls')": "S605",
    "import subprocess\n\nsubprocess.run('ls', shell=True)": "S602",
    "import yaml\n\nyaml.load('')": "S506",
    "import tarfile\n\ntarfile.open('x').extractall()": "S202",
}
"""What nobody may write in the package, and ruff's rule that refuses it."""


def test_environment_yml_has_the_dependencies_of_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    extras = PROJECT["optional-dependencies"]
    wanted = [
        *PROJECT["dependencies"],
        *(entry for name in ("figures", "pages", "sklearn", "lab") for entry in extras[name]),
    ]
    wanted = [
        entry for entry in wanted if Requirement(entry).name not in (*BY_PIP, PROJECT["name"])
    ]
    listed = [
        entry for entry in environment["dependencies"] if isinstance(entry, str) and entry != "pip"
    ]
    assert sorted(listed) == sorted(["python" + PROJECT["requires-python"], *wanted])
    assert environment["dependencies"][-1] == {"pip": ["--editable ."]}


def test_every_dependency_has_bounds():
    extras = [entry for extra in PROJECT["optional-dependencies"].values() for entry in extra]
    others = [entry for entry in extras if Requirement(entry).name != PROJECT["name"]]
    for entry in (*PROJECT["dependencies"], *others, *PYPROJECT["build-system"]["requires"]):
        assert {each.operator for each in Requirement(entry).specifier} == {">=", "<"}, (
            f"{entry} is to have two bounds"
        )


def test_the_name_that_pip_installs_is_said_in_one_place():
    """Sentences take it from `workbench.errors`, and pages for people give the same."""
    assert PROJECT["name"] == DISTRIBUTION
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        extras = re.findall(r"pip install '?([\w-]+)\[([\w,]+)\]", path.read_text())
        assert all(name == DISTRIBUTION for name, _ in extras), path
        assert {each for _, several in extras for each in several.split(",")} <= set(
            PROJECT["optional-dependencies"]
        ), path


def test_versions_agree_and_a_tag_has_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == wb.__version__ and citation["license"] == PROJECT["license"]
    asked = ["git", "tag", "--points-at", "HEAD", "--list", "v[0-9]*"]
    tags = subprocess.run(
        asked, cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    assert set(tags) <= {f"v{wb.__version__}"}


def test_bare_make_prints_every_target():
    printed = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    assert {line.split()[1] for line in printed.splitlines()} == set(phony) - {"browser"}


@pytest.mark.parametrize("address", ["", "workbench serves runs at http://localhost:5011/compare"])
def test_make_serve_starts_the_same_runs_each_time_and_none_without_its_port(tmp_path, address):
    """The program in the place of `workbench` notes what it is asked for, and prints the address or ends as without a port."""
    program = tmp_path / "bin" / "workbench"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n[ $1 = compare ] || echo {address} | grep .\n'
    )
    program.chmod(0o755)
    for file in (program.with_name("python"), tmp_path / ".installed"):
        file.touch()
    command = ["make", "--no-print-directory", "serve", "PORT=5011", f"VENV={tmp_path}"]
    served, again = (
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True) for _ in range(2)
    )
    first, *others = (tmp_path / "asked").read_text().splitlines()
    assert first == "serve --port 5011 --show" and served.stdout.startswith(address)
    if address:
        comparison, *others = others
        assert comparison.startswith("compare docstrings ") and comparison.endswith(" --detach")
        assert others == [first, comparison] and served.returncode == again.returncode == 0
    else:
        assert others == [first] and served.returncode and again.returncode


def test_the_sums_of_a_whole_check_count_every_closing_line(tmp_path):
    log = tmp_path / "log"
    command = [sys.executable, ROOT / ".ci" / "sums.py"]

    def sums(*texts: str) -> tuple[int, str]:
        logs = [log.with_suffix(f".{number}") for number in range(len(texts))]
        for path, text in zip(logs, texts, strict=True):
            path.write_text(text)
        done = subprocess.run([*command, *logs], capture_output=True, text=True)
        return done.returncode, done.stdout.strip()

    quick, slow = (
        "==== 9 passed, 2 skipped in 20.31s ====\n",
        "===== 5 passed, 1 warning in 71.20s (0:01:11) =====\n",
    )
    assert sums(quick + "more\n" + slow) == (0, "14 passed, 0 failed, 2 skipped")
    wrong = "= 1 failed, 3 passed, 1 error in 1.00s =\n"
    assert sums(quick + wrong) == (1, "12 passed, 2 failed, 2 skipped")
    assert sums("make: *** [Makefile:58: test] Error 5\n") == (1, "0 passed, 0 failed, 0 skipped")
    alone = (
        (0, 2, "= 2 passed in 1.00s ="),
        (1, 1, "= 1 failed, 1 passed in 1.00s ="),
        (2, 0, "no tests ran in 1.00s"),
    )
    for failed, passed, again in alone:
        sentence = f"12 passed, {failed} failed, 2 skipped, {passed} passed only alone"
        assert sums(quick + wrong, again + "\n") == (failed > 0, sentence)


@pytest.mark.parametrize(
    "command",
    [pytest.param(["lint-imports"], marks=pytest.mark.slow), ["ruff", "check", "."]],
    ids=["layers", "style"],
)
def test_layers_and_style_are_kept(command):
    program, *arguments = command
    done = subprocess.run(
        [Path(sys.executable).parent / program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("program", REFUSED)
def test_pickle_eval_and_shells_are_refused(program):
    ruff, place = Path(sys.executable).parent / "ruff", "workbench/planted.py"
    command = [ruff, "check", "--output-format", "concise", "--stdin-filename", place]
    done = subprocess.run(command, input=program + "\n", cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and f" {REFUSED[program]} " in done.stdout, (
        done.stdout + done.stderr
    )


def unpickles(program: str) -> bool:
    """Does a call allow that arrays of objects are unpickled?"""
    keywords = [
        word
        for node in ast.walk(ast.parse(program))
        if isinstance(node, ast.Call)
        for word in node.keywords
    ]
    return any(
        word.arg == "allow_pickle" and getattr(word.value, "value", True) is not False
        for word in keywords
    )


def test_no_array_of_objects_is_unpickled():
    assert unpickles("np.load(x, allow_pickle=True)") and unpickles("np.load(x, allow_pickle=yes)")
    assert not unpickles("np.load(x, allow_pickle=False)")
    files = [
        file
        for part in ("workbench", "apps", "benchmarks", "docs")
        for file in (ROOT / part).rglob("*.py")
    ]
    assert len(files) > 200 and not [file for file in files if unpickles(file.read_text())]


@pytest.mark.slow
def test_every_parameter_of_a_public_function_has_a_type():
    of_package = [getattr(wb, name) for name in wb.__all__]
    values = [*of_package, *(getattr(wb.measures, name) for name in wb.measures.__all__)]
    methods = [one for value in values if isclass(value) for one in vars(value).values()]
    functions = [getattr(one, "__func__", one) for one in (*values, *methods)]
    bare = [
        (one.__qualname__, each.name)
        for one in filter(isfunction, functions)
        if not one.__name__.startswith("_") or one.__name__ == "__init__"
        for each in signature(one).parameters.values()
        if each.annotation is each.empty and each.name not in ("self", "cls")
        if each.kind is not each.VAR_KEYWORD
    ]
    assert len(functions) > 200 and not bare


@pytest.mark.slow
def test_type_checkers_see_every_public_name():
    """`__init__.py` imports names when they are used, so `__init__.pyi` names them; tests/typed_use.py uses them."""
    told = ast.parse((ROOT / "workbench" / "__init__.pyi").read_text()).body
    names = {
        each.asname for line in told if isinstance(line, ast.ImportFrom) for each in line.names
    }
    assert names == set(wb.__all__)
    assert_types(ROOT / "tests/typed_use.py")


@pytest.mark.slow
def test_pyrefly_finds_no_error_in_the_package():
    assert_types()


def assert_types(*files: Path):
    """Assert that pyrefly finds no error in the files, or in the package."""
    pyrefly = [Path(sys.executable).parent / "pyrefly", "check"]
    command = [*pyrefly, "--python-interpreter-path", sys.executable, *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_what_is_built_twice_has_the_same_bytes_and_has_what_it_should(tmp_path):
    built = []
    for name, mask, time in (("one", 0o022, 0), ("two/deeper", 0o077, 10**9)):
        copy = tmp_path / name
        for part in ("workbench", "data"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        for file in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copyfile(ROOT / file, copy / file)
        for file in copy.rglob("*"):
            os.chmod(file, (0o777 if file.is_dir() else 0o666) & ~mask)
            os.utime(file, (time, time))
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build"], cwd=copy, check=True, capture_output=True
        )
        built.append(sorted(copy.glob("dist/*")))
    for first, second in zip(*built, strict=True):
        assert first.name == second.name and first.read_bytes() == second.read_bytes()
    wheel, archive = built[0]
    stem = f"topic_workbench-{wb.__version__}"
    assert (archive.name, wheel.name) == (f"{stem}.tar.gz", f"{stem}-py3-none-any.whl")
    package = {
        str(file.relative_to(ROOT)) for file in (ROOT / "workbench").rglob("*") if file.is_file()
    }
    package = {name for name in package if "__pycache__" not in name}
    with zipfile.ZipFile(wheel) as opened:
        listed = set(opened.namelist())
    assert {
        name for name in listed if name.startswith("workbench/") and "/_data/" not in name
    } == package
    others = {name.split("/")[0] for name in listed} | {
        "/".join(name.split("/")[:3]) for name in listed if "/_data/" in name
    }
    assert others == {
        "workbench",
        f"{stem}.dist-info",
        "workbench/_data/docstrings",
        "workbench/_data/votes",
    }
    assert "workbench/py.typed" in listed
    with tarfile.open(archive) as opened:
        tops = {name.split("/")[1] for name in opened.getnames()}
    assert tops == {"workbench", "data", "pyproject.toml", "README.md", "LICENSE", "PKG-INFO"}


def test_apps_and_notebooks_hold_no_logic():
    for app in (ROOT / "apps").glob("*.py"):
        lines = app.read_text().splitlines()
        assert len(lines) <= 20 and not [
            line for line in lines if line.split(" ")[0] in ("def", "class", "for", "while")
        ]


def test_the_readme_names_targets_of_make():
    names = set(re.findall(r"`make ([a-z-]+)`", (ROOT / "README.md").read_text()))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"serve", "test"} <= names <= set(targets)
    assert "for target in test test-slow; do\n  make" in (ROOT / ".ci" / "run").read_text()
