"""Kills the writer of a run again and again: ``python killing.py RUN KILLS``. Started by test_kill.

Each life is a fork of a process whose kernels are compiled, so that most of it is spent writing. Rows are
flushed every time and checkpoints are written every 20 ms: nearly every kill hits one or the other.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from workbench.models import LDA
from workbench.runs.execution.fit import fit
from workbench.runs.store import writer

path, n_kills = Path(sys.argv[1]), int(sys.argv[2])
writer.FLUSH_EVERY, writer.FLUSH_WITHIN, writer.CHECKPOINT_EVERY = 0.0, 0.0, 0.02
fit(LDA(2).simulate(5, 5, 5)[0], "svb-cgs", n_topics=2, n_iterations=2, progress=False)  # compiles
random.seed(int(sys.argv[3]))
flush = writer.RunWriter.flush
progress, told = os.pipe()


def flush_and_tell(self):
    """Tells the parent of every flush that committed something new."""
    flush(self)
    if self.n_rows > len(self._known_rows):
        os.write(told, b".")


writer.RunWriter.flush = flush_and_tell
for _ in range(n_kills):
    child = os.fork()
    if child == 0:
        from workbench.runs.execution.worker import carry_on

        carry_on(path)
        os._exit(0)
    while os.read(progress, 1) != b".":
        pass
    time.sleep(random.uniform(0.0, 0.3))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.set_blocking(progress, False)
    while True:  # what this life told before it died
        try:
            os.read(progress, 65536)
        except BlockingIOError:
            break
    os.set_blocking(progress, True)
    print("killed" if os.WIFSIGNALED(status) else "ended", flush=True)
