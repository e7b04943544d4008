"""What is in the topics of a run: their words and their sizes."""

from __future__ import annotations

import numpy as np
import xarray as xr

from workbench.measures.selection import MeasureError


def top_words(run: xr.Dataset, n: int = 10) -> xr.Dataset:
    """The words of each topic with the highest phi at the last snapshot.

    Returns
    -------
    xarray.Dataset
        Dims ``topic`` (the run's own numbers, in their order) and ``rank`` (from 1; all words if there
        are fewer than n): ``word`` and its probability ``phi``. Equal probabilities keep the vocabulary's order.

    Raises
    ------
    MeasureError
        The Dataset holds no phi, or n is below 1.
    """
    _require(run, "phi")
    if n < 1:
        raise MeasureError(f"the number of top words must be at least 1; got {n!r}")
    phi = run["phi"].values
    order = np.argsort(-phi, axis=1, kind="stable")[:, :n]
    coords = {"topic": run["topic"].values, "rank": np.arange(1, order.shape[1] + 1)}
    return xr.Dataset(
        {
            "word": (("topic", "rank"), run["word"].values[order], {"long_name": "word type"}),
            "phi": (("topic", "rank"), np.take_along_axis(phi, order, axis=1), run["phi"].attrs),
        },
        coords,
    )


def topic_words(run: xr.Dataset, n: int = 10) -> xr.DataArray:
    """The top words of each topic as one line of text, largest topic first: dim ``topic``, coordinate ``share``.

    Raises
    ------
    MeasureError
    """
    words, share = top_words(run, n)["word"], topic_sizes(run)["share"]
    order = np.argsort(-share.values, kind="stable")
    lines = np.array([" ".join(map(str, row)) for row in words.values[order]], dtype=object)
    coords = {"topic": words["topic"].values[order], "share": ("topic", share.values[order], share.attrs)}
    return xr.DataArray(lines, coords, ("topic",), "words", {"long_name": f"top {words.sizes['rank']} words by phi"})


def topic_sizes(run: xr.Dataset) -> xr.Dataset:
    """(Expected) tokens of each topic at the last snapshot and their ``share`` of all: dim ``topic``.

    Raises
    ------
    MeasureError
        The Dataset holds no snapshot.
    """
    _require(run, "phi", "n_kw")
    tokens = run["n_kw"].isel(snapshot=-1).sum("word").values.astype(float)
    return xr.Dataset(
        {
            "n_k": ("topic", tokens, run["n_k"].attrs),
            "share": ("topic", tokens / tokens.sum(), {"long_name": "share of the training tokens", "units": ""}),
        },
        {"topic": run["topic"].values},
    )


def _require(run: xr.Dataset, *names: str) -> None:
    missing = [name for name in names if name not in run]
    if missing:
        raise MeasureError(
            f"this Dataset holds no {missing[0]}: it is a comparison, or a run before its first snapshot; "
            "open the run itself with workbench.open_run"
        )
