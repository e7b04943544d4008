"""The numbers of a network's levels, priors and known tables: what is wrong with them, in one sentence."""

from __future__ import annotations

import numbers

import numpy as np

from workbench.models.lda import SMALLEST_PRIOR, ModelError
from workbench.models.networks.levels import AUTHORS, DOCUMENT, WORD


def check_prior(network, level) -> None:
    where = f"network '{network.name}': the prior of level '{level.name}'"
    flat = list(_flat(level.prior))
    for value in flat:
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not SMALLEST_PRIOR <= value < np.inf:
            raise ModelError(f"{where} must be a number greater than 0 (at least {SMALLEST_PRIOR:g}); got {value!r}")
    given = np.array(level.prior, dtype=object)
    if given.ndim == 0:
        return
    if level.draws == WORD:
        raise ModelError(f"{where} must be one number, the same for every word; got {len(flat)} numbers")
    n_values, n_groups = network.size(level.draws), network.n_groups(level)
    if given.shape not in ((n_values,), (n_groups, n_values)):
        shape = " x ".join(map(str, given.shape))
        raise ModelError(
            f"{where} must be one number, one for each of the {n_values} values of '{level.draws}', or {n_groups} (its groups) "
            f"x {n_values}; got {shape}"
        )
    if level.learn == "scalar" and len(set(flat)) > 1:
        raise ModelError(f"{where} is learnt as one number, but begins as {len(flat)}; give one, or learn a vector")


def check_table(network, level) -> None:
    where = f"network '{network.name}': level '{level.name}'"
    if level.draws == WORD and (level.kind == "observed" or level.learn == "vector"):
        what = "cannot be observed" if level.kind == "observed" else "cannot learn a prior per word"
        better = "dirichlet" if level.kind == "observed" else "scalar"
        raise ModelError(f"{where} draws the word and {what}; make it {better}")
    if level.kind != "observed":
        if level.table is not None:
            raise ModelError(f"{where} is {level.kind} and has a table; leave it out, or make the level observed")
        return
    if level.table == AUTHORS:
        if any(rows.by != (DOCUMENT,) or rows.when for rows in level.rows):
            raise ModelError(f"{where} tells the authors of documents; let its rows be by document alone, for every path")
        if sum(each.table == AUTHORS for each in network.levels) > 1:
            raise ModelError(f"{where} is not the only one with table = \"{AUTHORS}\"; keep one of them")
        return
    if network.variable(level.draws).size == AUTHORS or any(
        name == DOCUMENT or network.is_author(name) for rows in level.rows for name in rows.by
    ):
        raise ModelError(f"{where} is known row by row, so no document or author has a row; number its rows by a variable")
    wanted = (network.n_rows(level), network.size(level.draws))
    try:
        table = np.array(level.table, float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != wanted:
        uneven = "no table" if level.table is None else "rows of other lengths"
        came = " x ".join(map(str, table.shape)) if table.ndim == 2 else uneven
        raise ModelError(f"{where} is observed and needs a table of {wanted[0]} rows x {wanted[1]} values; got {came}")
    wrong = np.flatnonzero(~((table >= 0).all(1) & (abs(table.sum(1) - 1) < 1e-9)))
    if len(wrong):
        row = table[wrong[0]].tolist()
        raise ModelError(f"{where}: each row of its table must be probabilities that sum to 1; row {wrong[0]} is {row}")


def _flat(values):
    if not isinstance(values, tuple):
        yield values
        return
    for each in values:
        yield from _flat(each)
