"""A wrong index in a kernel raises IndexError: two iterations of engines on a toy, compiled with checks of every index.

numba checks where an array is indexed in a kernel, and the vectors of `kernels/simd` what they read and write. Where an array
is read ahead of time (`fetch`) an index may lie beyond it. The quick form has engines of each family, samplers too;
`python tests/campaigns/test_index_checks.py` runs all of them.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUICK = (
    "cvb",
    "cvb0",
    "cgs",
    "cv-hdp",
    "g-hdp",
    "network-cvb0",
    "bn-cvb0",
    "static",
    "sb-ctm",
    "hmm",
    "sbm-lds",
)
PLANTED = """
import numpy as np
from workbench.kernels.jit import lean
from workbench.kernels.simd.vectors import load, put, store

@lean
def beyond(values):
    total = 0.0
    for i in range(len(values) + 1):
        total += values[i]
    return total

@lean
def read_beyond(values):
    store(values, 0, load(values, len(values) - 15))

@lean
def written_beyond(values):
    store(values, -1, load(values, 0))

@lean
def put_beyond(values):
    put(values, len(values), 1.0)

for kernel in (beyond, read_beyond, written_beyond, put_beyond):
    try:
        kernel(np.ones(32))
    except IndexError:
        print("IndexError")
"""
IN_CVB = (
    "in_d, in_w = d * n_padded + k, w * n_padded + k",
    "in_d, in_w = d * n_padded + k, (w + 1) * n_padded + k",
)
"""A row of `kernels/lda/collapsed_vb.py`, and one that reads the counts of the next word."""
FITS = """
import sys
import workbench as wb
from toys import data_for, dated, placed, sequenced, simulated
from workbench.engines import get_engine

for name in sys.argv[1:]:
    data = data_for(get_engine(name), sequenced(placed(dated(simulated()))))
    wb.fit(data, name, n_iterations=2, progress=False)
    print(name, flush=True)
"""


def checked(
    program: str, cache: Path, *arguments: str, root: Path = ROOT
) -> subprocess.CompletedProcess:
    """Runs a program whose kernels check indices, with a cache of their own; ``root``: of the package."""
    path = os.pathsep.join([str(root), str(ROOT / "tests")])
    environment = os.environ | {
        "NUMBA_BOUNDSCHECK": "1",
        "WORKBENCH_CACHE": str(cache),
        "PYTHONPATH": path,
    }
    cache.mkdir(exist_ok=True)
    script = cache / "program.py"  # a file: numba caches no function of a text
    script.write_text(program)
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)


@pytest.mark.long
def test_an_index_beyond_an_array_raises_an_error(tmp_path):
    assert checked(PLANTED, tmp_path).stdout.split() == 4 * ["IndexError"]


@pytest.mark.long
def test_a_wrong_index_planted_in_cvb_is_no_segmentation_fault(tmp_path):
    copy = tmp_path / "planted"
    for part in ("workbench", "data"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    file = copy / "workbench" / "kernels" / "lda" / "collapsed_vb.py"
    right, wrong = IN_CVB
    assert file.read_text().count(right) > 1
    file.write_text(file.read_text().replace(right, wrong))
    done = checked(FITS, tmp_path / "cache", "cvb", root=copy)
    assert (
        done.returncode == 1 and "IndexError: a vector that reaches beyond its array" in done.stderr
    )


@pytest.mark.long
def test_no_kernel_of_an_engine_of_each_family_indexes_beyond_its_arrays(tmp_path):
    done = checked(FITS, tmp_path, *QUICK)
    assert done.stdout.split() == list(QUICK), done.stderr[-2000:]


def main() -> int:
    """Runs every engine with checks and prints a row of figures; the exit status is that of the run."""
    import tempfile

    from workbench.engines import ENGINES

    with tempfile.TemporaryDirectory() as folder:
        done = checked(FITS, Path(folder), *ENGINES)
    n_done = len(done.stdout.split())
    print(
        f"| index checks | {n_done} of {len(ENGINES)} engines, two iterations each | {done.stderr[-500:]} |"
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
