"""Exponential smoothing of curves."""

import numpy as np
import pandas as pd


def smoothed(values: np.ndarray, weight: float) -> np.ndarray:
    """Return (point,) exponential moving averages: ``sum_i w^i y_(t-i) / sum_i w^i``.

    The division corrects the bias towards zero at the beginning, as in TensorBoard. Values that are not finite are kept and
    ignored in the averages. ``weight`` w is from 0 (no smoothing) to below 1.
    """
    if not 0 <= weight < 1:
        raise ValueError(f"the smoothing weight must be from 0 to below 1; got {weight!r}")
    values = np.asarray(values, float)
    if not weight or not len(values):
        return values
    finite = pd.Series(np.where(np.isfinite(values), values, np.nan))
    means = finite.ewm(alpha=1 - weight, adjust=True, ignore_na=True).mean().to_numpy()
    return np.where(np.isfinite(values), means, values)
