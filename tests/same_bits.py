"""What it means that two runs are the same run."""

import numpy as np
import xarray as xr

CLOCKS = ("elapsed", "cpu_time")


def same_bits(one: xr.Dataset, other: xr.Dataset) -> None:
    """The same variables with the same bits; only clocks may differ."""
    assert set(one.variables) == set(other.variables)
    for name in set(one.variables) - set(CLOCKS):
        np.testing.assert_array_equal(one[name].values, other[name].values, err_msg=name)
