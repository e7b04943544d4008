"""Memory that is freed goes back to the machine."""

import subprocess
import sys

import pytest

from workbench.runs.execution import memory_check

FREED = """
import numpy as np
import psutil
from workbench.runs.execution.memory_check import SMALLEST_MAPPED, give_back_freed

give_back_freed()
np.ones(30 * 2**20, np.uint8)  # freed at once: from now on the C library keeps what is smaller
arrays = []
for _ in range(4):
    arrays += [np.ones(SMALLEST_MAPPED, np.uint8), np.ones(100_000, np.uint8)]  # a small one behind each, which stays
before = psutil.Process().memory_info().rss
del arrays[::2]
print((before - psutil.Process().memory_info().rss) / (4 * SMALLEST_MAPPED))
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other C libraries are left as they are"
)
def test_arrays_that_are_freed_go_back_though_small_ones_lie_behind_them():
    run = [sys.executable, "-c", FREED]
    share = float(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    assert share > 0.9  # pages of the interpreter come and go


def test_a_system_without_the_setting_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(memory_check.ctypes, "pythonapi", object())
    memory_check.give_back_freed()
