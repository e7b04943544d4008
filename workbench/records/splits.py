"""Splits of records into training and test part: by cells, or by whole records."""

import numpy as np

from workbench.data.available_memory import check_fits
from workbench.data.drawing import check_type, draw_share
from workbench.data.reading import with_current
from workbench.errors import DataError, Named
from workbench.records.records import MISSING, Records, merged

SPLITTING = 32
"""Bytes per cell to split records without merging equal ones: values, both parts, their order."""
CELLS, RECORDS = range(2)  # streams of one seed, so that no split is a function of another


def hold_out_cells(
    records: Records, fraction: float = 0.1, seed: int = 0
) -> tuple[Records, Records]:
    """Return training and test records; test cells are drawn uniformly without replacement among the known cells.

    Row r is the same record in both: held-out cells are missing in training, all other cells in test. Equal records with
    different held-out cells are separate rows. ``fraction`` is the share of the known cells, counted by multiplicity; with 0
    the test records have no known cell. Equal seeds give equal splits everywhere. Raise DataError for an argument out of
    range, and for a split without test cells or without training cells.
    """
    check_type(records, Records, "Records")
    n_cells = records.n_records * records.n_fields
    check_fits(SPLITTING * n_cells, f"a split of {records.n_records:,} records", "hold out nothing")
    is_drawn = draw_share(
        records.n_items, fraction, seed, CELLS, f"known cells of {records.name!r}", none=True
    )
    values = np.repeat(records.values, records.multiplicities, axis=0)
    is_known = values != MISSING
    held_out = np.zeros_like(is_known)
    held_out[is_known] = is_drawn
    both = np.hstack([np.where(held_out, MISSING, values), np.where(held_out, values, MISSING)])
    both, multiplicities = merged(both, np.ones(len(both), np.int64))
    train, test = np.hsplit(both, 2)
    return records.with_values(train, multiplicities), records.with_values(test, multiplicities)


def hold_out_records(
    records: Records, fraction: float = 0.1, seed: int = 0
) -> tuple[Records, Records]:
    """Return training and unseen records; ``round(fraction * n_records)`` records, drawn at random, are unseen.

    Equal records are drawn one by one, so some may be for training and some unseen; both parts keep all fields and levels.
    Equal seeds give equal splits everywhere, independent of the cells that `hold_out_cells` draws. Raise DataError for an
    argument out of range, and for a part without records or without known cells.
    """
    unseen = _draw_copies(records, fraction, seed)
    counts = records.multiplicities - unseen, unseen
    return tuple(records.with_values(records.values[part > 0], part[part > 0]) for part in counts)


def hold_out_whole_records(
    records: Records, fraction: float = 0.1, seed: int = 0
) -> tuple[Records, Records]:
    """Return training and test records with the same rows; each row is known in one of the two and missing in the other.

    Row r is the same record in both, as for `hold_out_cells`: all cells of a training record are missing in test, all cells
    of a held-out record in training. Held-out records come last and are not merged, so that each is scored separately.
    Raise the errors of `hold_out_records`.
    """
    unseen = _draw_copies(records, fraction, seed)
    n_left = records.multiplicities - unseen
    known_values, held_out = records.values[n_left > 0], np.repeat(records.values, unseen, axis=0)
    multiplicities = np.concatenate([n_left[n_left > 0], np.ones(len(held_out), np.int64)])
    train = np.concatenate([known_values, np.full_like(held_out, MISSING)])
    test = np.concatenate([np.full_like(known_values, MISSING), held_out])
    return records.with_values(train, multiplicities), records.with_values(test, multiplicities)


def _draw_copies(records: Records, fraction: float, seed: int) -> np.ndarray:
    """Return how many copies of each distinct record (record,) are held out; raise an error if a part has no known cell."""
    check_type(records, Records, "Records")
    is_drawn = draw_share(
        records.n_records, fraction, seed, RECORDS, f"records of {records.name!r}"
    )
    distinct = np.repeat(np.arange(records.n_distinct), records.multiplicities)
    unseen = np.bincount(distinct[is_drawn], minlength=records.n_distinct)
    empty = ~np.any(records.values != MISSING, axis=1)
    for counts, part in ((records.multiplicities - unseen, "training"), (unseen, "held-out")):
        if np.all(empty[counts > 0]):
            raise DataError(
                f"all {counts.sum()} {part} record(s) have no known cell; ask for another fraction or seed"
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
    """Return training records, test records and a dict that describes the split; without a split the last two are None.

    Parameters
    ----------
    holdout : float
        The held-out share; 0 for no test records.
    seed : int
        Of the held-out split.
    per : "cell" or "record"; "corpus" is "cell"
        What the share is taken from: see `hold_out_cells` and `hold_out_whole_records`.
    top_words, singletons, rows, merge, repeat
        Parameters of `workbench.corpus.prepare` that records do not have; other values than the defaults raise an error.
    """
    settings = {
        "top_words": (top_words, None),
        "singletons": (singletons, "keep"),
        "rows": (rows, None),
        "merge": (merge, 1),
        "repeat": (repeat, 1),
    }
    if idle := next(
        (name for name, (value, default) in settings.items() if value != default), None
    ):
        raise DataError(
            "records have no words or documents, so ",
            Named(idle),
            " would be without effect; leave it out",
        )
    if per not in ("corpus", *PER):
        raise DataError.must_be(
            Named("holdout_per", text="per"), f"{' or '.join(PER)} for records", per
        )
    records = with_current(records)
    if not holdout:
        return records, None, None
    per = "cell" if per == "corpus" else per
    return *PER[per](records, holdout, seed), {"fraction": holdout, "seed": int(seed), "per": per}


PER = {"cell": hold_out_cells, "record": hold_out_whole_records}
"""What a share can be taken from → the function that holds it out."""
