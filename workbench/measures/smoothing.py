"""Exponential smoothing of curves."""

import numpy as np
import pandas as pd


def smoothed(values: np.ndarray, weight: float) -> np.ndarray:
    """(point,) exponential moving average in the values' own units: ``sum_i w^i y_(t-i) / sum_i w^i``.

    The division keeps the beginning from being drawn towards zero, as TensorBoard does. A value that is not finite stays
    as it is and counts for nothing. ``weight`` goes from 0 (the values themselves) to below 1: what the point before weighs
    beside a point.
    """
    if not 0 <= weight < 1:
        raise ValueError(f"the weight of smoothing goes from 0 to below 1; got {weight!r}")
    values = np.asarray(values, float)
    if not weight or not len(values):
        return values
    finite = pd.Series(np.where(np.isfinite(values), values, np.nan))
    means = finite.ewm(alpha=1 - weight, adjust=True, ignore_na=True).mean().to_numpy()
    return np.where(np.isfinite(values), means, values)
