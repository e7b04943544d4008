"""Splits of records: held-out cells, held-out records."""

import numpy as np

from workbench.data.available_memory import check_fits
from workbench.data.drawing import check_kind, draw_share
from workbench.errors import DataError, Named
from workbench.records.records import MISSING, Records, merged

SPLITTING = 32
"""Bytes a cell, of records of which equal ones stand apart: values, both parts, their order."""
CELLS, RECORDS = range(2)  # streams of one seed, so that no split is a function of another


def hold_out_cells(
    records: Records, fraction: float = 0.1, seed: int = 0
) -> tuple[Records, Records]:
    """Return training and test records: known cells drawn without replacement, every subset of that size equally likely.

    Record r of one is record r of the other: training has its cells but for the held-out ones, the test set has these alone,
    all others missing. Equal records of which other cells are held out stand apart. ``fraction`` is the share of the known
    cells, equal records counted as often as they came; with 0 the test records have no known cell. Equal seeds give equal
    splits everywhere. An argument out of range, or a split that would leave no test or no training cell, is a DataError.
    """
    check_kind(records, Records, "Records")
    n_cells = records.n_records * records.n_fields
    check_fits(SPLITTING * n_cells, f"a split of {records.n_records:,} records", "hold out nothing")
    drawn = draw_share(
        records.n_items, fraction, seed, CELLS, f"known cells of {records.name!r}", none=True
    )
    values = np.repeat(records.values, records.multiplicities, axis=0)
    known = values != MISSING
    held_out = np.zeros_like(known)
    held_out[known] = drawn
    both = np.hstack([np.where(held_out, MISSING, values), np.where(held_out, values, MISSING)])
    both, multiplicities = merged(both, np.ones(len(both), np.int64))
    train, test = np.hsplit(both, 2)
    return records.with_values(train, multiplicities), records.with_values(test, multiplicities)


def hold_out_records(
    records: Records, fraction: float = 0.1, seed: int = 0
) -> tuple[Records, Records]:
    """Return training and unseen records: every choice of ``round(fraction * n_records)`` equally likely.

    Equal records are drawn one by one, so that some may be for training and some unseen; both parts keep all fields and levels.
    Equal seeds give equal splits everywhere, independent of the cells that `hold_out_cells` draws. An argument out of range, or
    a part without records or without known cells, is a DataError.
    """
    unseen = _drawn(records, fraction, seed)
    counts = records.multiplicities - unseen, unseen
    return tuple(records.with_values(records.values[part > 0], part[part > 0]) for part in counts)


def hold_out_whole_records(
    records: Records, fraction: float = 0.1, seed: int = 0
) -> tuple[Records, Records]:
    """Return training and test records of the same rows; whole records are held out, as by `hold_out_records`.

    Record r of one is record r of the other, as of `hold_out_cells`: of a record for training all test cells are missing, of a
    held-out one all training cells. Held-out ones come last, equal ones apart, so that each has a probability of its own.
    Refused is what `hold_out_records` refuses.
    """
    unseen = _drawn(records, fraction, seed)
    left = records.multiplicities - unseen
    known, held_out = records.values[left > 0], np.repeat(records.values, unseen, axis=0)
    multiplicities = np.concatenate([left[left > 0], np.ones(len(held_out), np.int64)])
    train = np.concatenate([known, np.full_like(held_out, MISSING)])
    test = np.concatenate([np.full_like(known, MISSING), held_out])
    return records.with_values(train, multiplicities), records.with_values(test, multiplicities)


def _drawn(records: Records, fraction: float, seed: int) -> np.ndarray:
    """Return (record,) how many of each distinct record are held out; raise an error for a part without known cells."""
    check_kind(records, Records, "Records")
    chosen = draw_share(records.n_records, fraction, seed, RECORDS, f"records of {records.name!r}")
    distinct = np.repeat(np.arange(records.n_distinct), records.multiplicities)
    unseen = np.bincount(distinct[chosen], minlength=records.n_distinct)
    empty = ~np.any(records.values != MISSING, axis=1)
    for counts, what in ((records.multiplicities - unseen, "training"), (unseen, "held-out")):
        if np.all(empty[counts > 0]):
            raise DataError(
                f"all {counts.sum()} {what} record(s) have no known cell; ask for another fraction or seed"
            )
    return unseen


def prepare_records(
    records: Records,
    holdout: float = 0.1,
    seed: int = 0,
    top_words=None,
    singletons: str = "keep",
    per: str = "corpus",
    rows=None,
    merge: int = 1,
    repeat: int = 1,
) -> tuple[Records, Records | None, dict | None]:
    """Return training records, test records (None where nothing is held out) and the record of the split.

    Parameters
    ----------
    holdout : float
        Share that is held out; 0 for no test records.
    seed : int
        Of the held-out split.
    per : "cell" or "record"; "corpus" is "cell"
        What the share is of: see `hold_out_cells` and `hold_out_whole_records`.
    top_words, singletons, rows, merge, repeat
        Of `workbench.corpus.prepare`; records do not have them, and others than the defaults are refused.
    """
    changed = {
        "top_words": (top_words, None),
        "singletons": (singletons, "keep"),
        "rows": (rows, None),
        "merge": (merge, 1),
        "repeat": (repeat, 1),
    }
    if idle := next((name for name, (value, default) in changed.items() if value != default), None):
        raise DataError(
            "records have no words or documents, so ",
            Named(idle),
            " would be without effect; leave it out",
        )
    if per not in ("corpus", *PER):
        raise DataError.must_be(
            Named("holdout_per", text="per"), f"{' or '.join(PER)} for records", per
        )
    if not holdout:
        return records, None, None
    per = "cell" if per == "corpus" else per
    return *PER[per](records, holdout, seed), {"fraction": holdout, "seed": int(seed), "per": per}


PER = {"cell": hold_out_cells, "record": hold_out_whole_records}
"""What a share can be of → what holds it out."""
