"""What works where the system is not POSIX: inference in memory, and one sentence where a store is asked for."""

import subprocess
import sys

PROGRAM = """
import asyncio, multiprocessing, subprocess, sys, warnings
import psutil
for name in ("fcntl", "resource", "pwd", "grp", "termios"):   # Windows has none of them
    sys.modules[name] = None
warnings.simplefilter("ignore")
import workbench as wb
train, test = wb.hold_out_tokens(wb.load_corpus("bars:n_documents=20"), fraction=0.1, seed=0)
print(float(wb.fit(train, "cgs", n_topics=4, n_iterations=5, test=test, progress=False)["test_perplexity"][-1]) > 0)
try:
    wb.fit(train, "cgs", n_topics=4, n_iterations=5, store=sys.argv[1], progress=False)
except ValueError as error:
    print(error)
"""


def test_without_the_modules_of_posix_runs_are_in_memory(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "runs")],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    fitted, refused = done.stdout.splitlines()
    assert fitted == "True" and "cannot be locked" in refused and "on Windows use WSL" in refused
