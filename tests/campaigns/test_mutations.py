"""Each planted bug is seen by the tests that are there for it.

`python tests/campaigns/test_mutations.py [NAME …]` plants all of them, or those named, and prints a table.
"""

import os
import random
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from mutations import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]
MINUTES = 10
CHEAP = [each for each in MUTATIONS if not each.compiles]
SEEN = {"report/captions.py", "runs/scoring.py", "measures/curves.py", "corpus/formats/ldac.py"}
"""Files of which the quick form draws: their tests compile little."""


def copied(folder: Path) -> Path:
    """A copy of package, tests and data, in which bugs are planted."""
    for part in ("workbench", "tests", "data"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, folder / file)
    return folder


def planted(mutation: Mutation, source: str) -> str:
    """The source with the bug in it."""
    found = source.count(mutation.old)
    assert found == 1, (
        f"the text of '{mutation.name}' stands {found} times in {mutation.file}: the patch needs a new place"
    )
    return source.replace(mutation.old, mutation.new)


@cache
def passes(folder: Path, tests: str) -> bool:
    """Does a selection of tests pass where nothing is planted?"""
    return run(folder, tests).returncode == 0


def run(folder: Path, tests: str) -> subprocess.CompletedProcess:
    """Runs a selection of tests on a copy of the tree."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        *(f"tests/{one}" for one in tests.split()),
    ]
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60 * MINUTES
    )


def outcome(folder: Path, mutation: Mutation) -> str:
    """ "seen" where a test fails that passes without the bug, "not seen" where all pass; otherwise how pytest ended."""
    if not passes(folder, mutation.tests):
        return "its tests fail without it"
    path = folder / "workbench" / mutation.file
    source = path.read_text()
    path.write_text(planted(mutation, source))
    try:
        code = run(folder, mutation.tests).returncode
    except subprocess.TimeoutExpired:
        return "timed out"
    finally:
        path.write_text(source)
    return {0: "not seen", 1: "seen"}.get(code, f"pytest ended with {code}")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.name)
def test_a_planted_bug_has_one_place_and_tests_that_are_there(mutation):
    changed = planted(mutation, (ROOT / "workbench" / mutation.file).read_text())
    compile(changed, mutation.file, "exec")
    assert all((ROOT / "tests" / one.partition("::")[0]).exists() for one in mutation.tests.split())


@pytest.mark.long
def test_four_planted_bugs_are_seen(tmp_path):
    folder = copied(tmp_path)
    drawn = random.Random(0).sample([each for each in CHEAP if each.file in SEEN], 4)
    assert {each.name: outcome(folder, each) for each in drawn} == {
        each.name: "seen" for each in drawn
    }


def main(names: list[str]) -> int:
    """Plants the bugs and prints what came of each; the exit status is 1 where fewer than 95 % are seen."""
    import tempfile

    chosen = [each for each in MUTATIONS if not names or each.name in names]
    with tempfile.TemporaryDirectory() as folder:
        tree, n_seen = copied(Path(folder)), 0
        print("| planted bug | file | |\n|---|---|---|")
        for each in chosen:
            found = outcome(tree, each)
            n_seen += found == "seen"
            print(f"| {each.name} | {each.file} | {found} |", flush=True)
    print(f"| seen | | {n_seen} of {len(chosen)} |")
    return int(n_seen < 0.95 * len(chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
