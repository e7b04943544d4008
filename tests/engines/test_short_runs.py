"""A short run of every engine comes to what it came to before, and its spec keeps its hash."""

import json

import numpy as np
import pytest
from short_runs import GOLDEN, short_run

from workbench.engines import ENGINES

WRITTEN = json.loads(GOLDEN.read_text())
# relative: sums in another order, or another processor's logarithms; the bits are the same on one machine
ROUNDING = 1e-9


@pytest.mark.parametrize("name", ENGINES)
def test_a_short_run_has_the_numbers_and_the_hash_that_it_had(name):
    assert name in WRITTEN, (
        f"no short run of {name} is written down: run `python tests/short_runs.py`, "
        f"which writes {GOLDEN}, and see that only the line of {name} is new"
    )
    found, written = short_run(name), WRITTEN[name]
    assert (
        found["spec_hash"] == written["spec_hash"]
        and found["final"].keys() == written["final"].keys()
    )
    for number, value in written["final"].items():
        np.testing.assert_allclose(
            found["final"][number], value, rtol=ROUNDING, atol=1e-12, err_msg=number
        )
