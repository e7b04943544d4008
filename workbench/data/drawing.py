"""Subsets drawn without replacement, and the checks of a split's share and seed.

The bits come from PCG64 itself, not from a numpy distribution, so that a seed names the same subset on every platform and
with every version of numpy.
"""

from numbers import Real

import numpy as np

from workbench.data.available_memory import check_fits
from workbench.errors import DataError, Named, shown

DRAWING = 40
"""Bytes for each of what a subset is drawn of: keys, their sorted copy, groups."""
SHARE = Named("holdout", text="fraction")
"""The share of the data that is held out, in sentences."""


def check_fraction(fraction, what: Named | str = SHARE) -> None:
    """Refuses a share that is not at least 0 and below 1."""
    if isinstance(fraction, bool) or not isinstance(fraction, Real) or not 0 <= fraction < 1:
        raise DataError.must_be(what, "a number of at least 0 and below 1", fraction)


def check_seed(seed) -> None:
    """Refuses a seed that is no whole number of at least 0."""
    check_whole(Named("split_seed", text="seed"), seed, 0)


def check_kind(data, kind: type) -> None:
    """Refuses what are no data of a type, as the name of a data set."""
    if not isinstance(data, kind):
        raise DataError(
            f"what is split must be a {kind.__name__} (workbench.load_corpus and load_records make one of a name); "
            f"got {shown(repr(data))}"
        )


def check_whole(what: Named | str, value, least: int) -> int:
    """The value as an int; refuses what is no whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise DataError.must_be(what, f"a whole number of at least {least}", value)
    return int(value)


def draw_share(n: int, fraction: float, seed: int, stream: int, what: str, none: bool = False) -> np.ndarray:
    """(item,) bool: ``round(fraction * n)`` of n items, every choice equally likely.

    Refuses arguments out of range, and a share that leaves none to train on, or none to hold out unless fraction 0 may
    (``none``).
    """
    check_fraction(fraction)
    check_seed(seed)
    n_drawn = round(fraction * n)
    if n_drawn == n or (n_drawn == 0 and not (none and fraction == 0)):
        raise DataError(f"fraction {fraction:g} of {n} {what} is {n_drawn}; at least one to hold out and one to train on were "
                        "wanted; ask for another fraction")
    return draw_subsets(np.array([n]), np.array([n_drawn]), int(seed), stream)


def draw_subsets(lengths: np.ndarray, wanted: np.ndarray, seed: int, stream: int) -> np.ndarray:
    """(token,) bool: of each group of consecutive tokens (or documents), as many as wanted.

    Every token gets a random key, and the smallest keys of a group are chosen. The group's number is
    written above the random bits, so that one sort orders all groups in place.
    """
    n_tokens = int(lengths.sum())
    check_fits(DRAWING * n_tokens, f"a subset of {n_tokens:,}", "hold out nothing, or take fewer documents or records")
    group_bits = (len(lengths) - 1).bit_length()
    groups = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    bits = np.random.PCG64(seed)
    keys = (bits.jumped(stream) if stream else bits).random_raw(n_tokens)
    if group_bits:
        keys >>= np.uint64(group_bits)
        keys |= groups.astype(np.uint64) << np.uint64(64 - group_bits)
    starts = np.cumsum(lengths) - lengths
    drawing = np.flatnonzero(wanted)
    largest_chosen = np.zeros(len(lengths), dtype=np.uint64)
    largest_chosen[drawing] = np.sort(keys)[starts[drawing] + wanted[drawing] - 1]
    chosen = keys <= largest_chosen[groups]
    chosen &= (wanted > 0)[groups]
    surplus = np.bincount(groups[chosen], minlength=len(lengths)) - wanted
    for group in np.flatnonzero(surplus):  # two equal keys at the edge: the later tokens give way
        tokens = slice(starts[group], starts[group] + lengths[group])
        tied = np.flatnonzero(keys[tokens] == largest_chosen[group])
        chosen[starts[group] + tied[-surplus[group]:]] = False
    return chosen
