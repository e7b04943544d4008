"""Takes a run of a toy family on until it is killed: ``python killing_family.py RUN``. Started by a test."""

import sys
import time
from pathlib import Path

from workbench.runs.execution.worker import carry_on
from workbench.runs.store import writer

(path,) = sys.argv[1:]
writer.FLUSH_EVERY, writer.FLUSH_WITHIN, writer.CHECKPOINT_EVERY = 0.0, 0.0, 0.02
carry_on(
    Path(path), lambda position, scores: (print(position.iteration, flush=True), time.sleep(0.002))
)
