"""The benchmarks are scripts beside the package; the tests import them from there."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
