"""The same spec gives the same bits: in other processes, folders, time zones, with other hash seeds and numbers of threads.

``make torture CAMPAIGNS=same_bits`` adds another instruction set, for which kernels are compiled anew: there the statistics
agree, and the run says which it was made for.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CLOCKS = ("elapsed", "cpu_time")
PLACES = (
    {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "TZ": "UTC"},
    {
        "PYTHONHASHSEED": "4711",
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "2",
        "TZ": "Asia/Kolkata",
        "LC_ALL": "C",
    },
)
OLDER = {"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": "+sse4.2,+popcnt"}
FEW = ("vb", "svb", "cvb0", "cgs", "svb-cgs", "cv-hdp", "network-vb", "sb-ctm", "bn-vb", "bn-gibbs")
"""Engines of the comparison of instruction sets, where none are named."""
WITHIN = 0.05
"""Relative difference of final perplexities: of runs of twelve iterations on twelve documents whose chains part company."""


def digests(names: list[str], n_threads: int) -> dict[str, dict]:
    """Engine → SHA-256 of all that its short run records, its last perplexity, and what it was made for."""
    from short_runs import run_of

    found = {}
    for name in names:
        run, digest = run_of(name, n_threads=n_threads), hashlib.sha256()
        for variable in sorted(set(run.variables) - set(CLOCKS)):
            values = np.ascontiguousarray(run[variable].values)
            digest.update(f"{variable} {values.dtype} {values.shape}".encode())
            digest.update(
                repr(values.tolist()).encode() if values.dtype.kind == "O" else values.tobytes()
            )
        versions = json.loads(run.attrs["versions"])
        found[name] = {"bits": digest.hexdigest(), "made for": versions["cpu"]}
        found[name]["perplexity"] = float(run["test_perplexity"].values[-1])
    return found


def elsewhere(
    names: list[str], n_threads: int, folder: Path, surroundings: dict[str, str]
) -> dict[str, dict]:
    """`digests` of another process, in a folder of its own."""
    folder.mkdir()
    code = f"from campaigns.test_same_bits import digests; import json; print(json.dumps(digests({names!r}, {n_threads})))"
    paths = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]), "TMPDIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | paths | surroundings,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
def test_every_engine_gives_the_same_bits_wherever_and_with_however_many_threads(tmp_path):
    from workbench.engines import ENGINES

    here, there = PLACES
    first = elsewhere(list(ENGINES), 1, tmp_path / "here", here)
    other = elsewhere(list(ENGINES)[::-1], 2, tmp_path / "there ü", there)
    assert {name: each["bits"] for name, each in first.items()} == {
        name: other[name]["bits"] for name in first
    }


def main(names: list[str], folder: Path) -> None:
    """Prints a row for each engine: its bits here and for an older instruction set, and both perplexities."""
    here = elsewhere(names, 1, folder / "here", PLACES[0])
    older = elsewhere(
        names, 1, folder / "older", PLACES[0] | OLDER | {"WORKBENCH_CACHE": str(folder / "cache")}
    )
    print(
        "| engine | made for | and for | same bits | perplexity | and |\n|---|---|---|---|---:|---:|"
    )
    for name in names:
        one, other = here[name], older[name]
        same = "yes" if one["bits"] == other["bits"] else "no"
        ends = " | ".join(f"{each['perplexity']:.4f}" for each in (one, other))
        print(f"| `{name}` | {one['made for']} | {other['made for']} | {same} | {ends} |")
        assert abs(np.log(one["perplexity"] / other["perplexity"])) < WITHIN, name


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1:] or list(FEW), Path(scratch))
