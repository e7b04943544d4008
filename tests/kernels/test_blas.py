"""The limit of BLAS to one thread."""

import os
import subprocess
import sys

SCRIPT = """
from threading import Barrier, Thread

import scipy.linalg
from threadpoolctl import ThreadpoolController

from workbench.kernels.threads import one_blas_thread

entered, left = Barrier(2), Barrier(2)


def threads():
    return {pool["num_threads"] for pool in ThreadpoolController().info() if pool["user_api"] == "blas"}


def other():
    with one_blas_thread():
        entered.wait()
    left.wait()


found = [threads()]
with one_blas_thread():
    with one_blas_thread():
        found.append(threads())
    found.append(threads())
found.append(threads())
thread = Thread(target=other)
thread.start()
with one_blas_thread():
    entered.wait()
    left.wait()
    found.append(threads())
thread.join()
print(*found, threads())
"""


def test_blas_has_one_thread_until_the_last_who_asked_for_it_has_left():
    environment = os.environ | {
        "OPENBLAS_NUM_THREADS": "2",
        "OMP_NUM_THREADS": "2",
        "MKL_NUM_THREADS": "2",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.stdout.split() == ["{2}", "{1}", "{1}", "{2}", "{1}", "{2}"], done.stderr
