"""Draw subsets without replacement, and check the share and seed of a split.

The bits come from PCG64 itself, not from a numpy distribution, so that a seed names the same subset on every platform and
with every version of numpy.
"""

from collections.abc import Iterable, Iterator
from numbers import Real

import numpy as np

from workbench.data.available_memory import check_fits
from workbench.errors import DataError, Named, shown

BLOCK = 1 << 19
"""Tokens whose random keys are in memory at a time."""
DRAWING = 64 * BLOCK
"""Bytes for one block of tokens: keys, their sorted copy, groups."""
BIN_BITS = 16
"""Number of highest bits of the keys that are the bins of a histogram."""
SHARE = Named("holdout", text="fraction")
"""The name of the held-out share in errors."""


def check_fraction(fraction: object, argument: Named | str = SHARE) -> None:
    """Raise an error unless the share is at least 0 and below 1."""
    if isinstance(fraction, bool) or not isinstance(fraction, Real) or not 0 <= fraction < 1:
        raise DataError.must_be(argument, "a number of at least 0 and below 1", fraction)


def check_seed(seed: object) -> int:
    """Return the seed as an int; raise an error unless it is a whole number of at least 0."""
    return DataError.whole(Named("split_seed", text="seed"), seed, 0)


def check_type(data: object, kind: type, name: str) -> None:
    """Raise DataError unless the data to be split have the type ``kind``, which the message calls ``name``."""
    if not isinstance(data, kind):
        raise DataError(
            f"what is split must be a {name} (workbench.load_corpus and load_records make one of a name); "
            f"got {shown(repr(data))}"
        )


def draw_share(
    n: int, fraction: float, seed: int, stream: int, items: str, none: bool = False
) -> np.ndarray:
    """Draw ``round(fraction * n)`` of n items at random; return which were drawn (item,) bool.

    Raise an error for arguments out of range, if all items are drawn, or if none are, unless ``none`` allows fraction 0.
    """
    check_fraction(fraction)
    seed = check_seed(seed)
    n_drawn = round(fraction * n)
    if n_drawn == n or (n_drawn == 0 and not (none and fraction == 0)):
        raise DataError(
            f"fraction {fraction:g} of {n} {items} is {n_drawn}; at least one to hold out and one to train on were "
            "wanted; ask for another fraction"
        )
    return draw_subsets(np.array([n]), np.array([n_drawn]), int(seed), stream)


def draw_subsets(lengths: np.ndarray, sizes: np.ndarray, seed: int, stream: int) -> np.ndarray:
    """Draw ``sizes`` (group,) tokens from groups of ``lengths`` (group,) tokens; return which were drawn (token,) bool.

    Every token gets a random key, and the tokens with the smallest keys of a group are drawn; of equal keys the first.
    """
    n_tokens = int(lengths.sum())
    check_fits(
        n_tokens + DRAWING,
        f"a subset of {n_tokens:,}",
        "hold out nothing, or take fewer documents or records",
    )
    is_drawn = np.empty(n_tokens, bool)
    end = 0
    for block in drawn_blocks(lengths, sizes, seed, stream):
        is_drawn[end : (end := end + len(block))] = block
    return is_drawn


def drawn_blocks(
    lengths: np.ndarray, sizes: np.ndarray, seed: int, stream: int
) -> Iterator[np.ndarray]:
    """Yield the array that `draw_subsets` returns in pieces of about `BLOCK` tokens, to bound memory."""
    group_bits = (len(lengths) - 1).bit_length()
    ends = np.cumsum(lengths)
    keys = _Keys(seed, stream, group_bits)
    first = 0
    while first < len(lengths):
        begin = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, begin + BLOCK, "right")), first + 1)
        if ends[last - 1] - begin > BLOCK:
            yield from _draw_from_long_group(keys, begin, int(lengths[first]), int(sizes[first]))
        else:
            random_keys = keys.of(begin, int(ends[last - 1] - begin))
            yield _draw_from_groups(random_keys, lengths[first:last], sizes[first:last], group_bits)
        first = last


def counts_drawn(parts: Iterable[np.ndarray], blocks: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield, for each array of counts (pair,) in ``parts``, how many tokens of each pair were drawn (pair,) int32.

    ``blocks``: which tokens are drawn (token,) bool, as `drawn_blocks` yields them.
    """
    rest = np.empty(0, bool)
    for counts in parts:
        ends = np.cumsum(counts, dtype=np.int64)
        n_chosen = np.zeros(len(counts) + 1, np.int64)  # up to the end of each pair
        n_done = pair = total = 0
        while n_done < (ends[-1] if len(ends) else 0):
            while not len(rest):  # as of groups without items
                rest = next(blocks)
            running_sums = np.cumsum(rest[: ends[-1] - n_done], dtype=np.int32)
            last = int(np.searchsorted(ends, n_done + len(running_sums), "right"))
            n_chosen[pair + 1 : last + 1] = total + running_sums[ends[pair:last] - n_done - 1]
            total, n_done, pair, rest = (
                total + int(running_sums[-1]),
                n_done + len(running_sums),
                last,
                rest[len(running_sums) :],
            )
        yield np.diff(n_chosen).astype(np.int32)


class _Keys:
    """Generator of a random 64-bit key per token, from any token on; the highest ``group_bits`` bits of a key are 0."""

    def __init__(self, seed: int, stream: int, group_bits: int):
        bits = np.random.PCG64(seed)
        self._bits, self._position, self.group_bits = (
            bits.jumped(stream) if stream else bits,
            0,
            group_bits,
        )

    def of(self, first: int, n: int) -> np.ndarray:
        """Return the keys (token,) uint64 of n tokens from ``first`` on."""
        if first != self._position:
            # backwards too: as many steps come round
            self._bits.advance((first - self._position) % 2**128)
        self._position = first + n
        keys = self._bits.random_raw(n)
        if self.group_bits:
            keys >>= np.uint64(self.group_bits)
        return keys


def _draw_from_groups(
    keys: np.ndarray, lengths: np.ndarray, sizes: np.ndarray, group_bits: int
) -> np.ndarray:
    """Return which tokens (token,) bool of several groups are drawn: per group the ``sizes`` tokens of smallest keys."""
    groups = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    if group_bits:
        keys |= groups.astype(np.uint64) << np.uint64(64 - group_bits)
    starts = np.cumsum(lengths) - lengths
    drawing = np.flatnonzero(sizes)
    largest_chosen = np.zeros(len(lengths), dtype=np.uint64)
    largest_chosen[drawing] = np.sort(keys)[starts[drawing] + sizes[drawing] - 1]
    is_drawn = keys <= largest_chosen[groups]
    is_drawn &= (sizes > 0)[groups]
    surplus = np.bincount(groups[is_drawn], minlength=len(lengths)) - sizes
    for group in np.flatnonzero(surplus):  # two equal keys at the edge: the later tokens give way
        tokens = slice(starts[group], starts[group] + lengths[group])
        ties = np.flatnonzero(keys[tokens] == largest_chosen[group])
        is_drawn[starts[group] + ties[-surplus[group] :]] = False
    return is_drawn


def _draw_from_long_group(keys: _Keys, first: int, n: int, n_chosen: int) -> Iterator[np.ndarray]:
    """Yield by block which tokens (token,) bool of a long group are drawn: those with the smallest random keys."""
    blocks = [(start, min(BLOCK, first + n - start)) for start in range(first, first + n, BLOCK)]
    if n_chosen == 0:
        yield from (np.zeros(size, bool) for _, size in blocks)
        return
    counts, shift = np.zeros(1 << BIN_BITS, np.int64), np.uint64(64 - keys.group_bits - BIN_BITS)
    for block in blocks:
        counts += np.bincount((keys.of(*block) >> shift).astype(np.int64), minlength=len(counts))
    smaller = np.cumsum(counts)
    # the first bin at whose end at least n_chosen keys are counted
    edge_bin = int(np.searchsorted(smaller, n_chosen))
    bin_keys = [
        keys_of_block[keys_of_block >> shift == edge_bin]
        for keys_of_block in (keys.of(*block) for block in blocks)
    ]
    bin_keys = np.sort(np.concatenate(bin_keys))
    n_before = int(smaller[edge_bin - 1]) if edge_bin else 0
    edge = bin_keys[n_chosen - n_before - 1]
    # number of keys equal to the edge that are chosen
    n_tied = n_chosen - n_before - int(np.searchsorted(bin_keys, edge))
    for block in blocks:
        keys_of_block = keys.of(*block)
        is_drawn = keys_of_block < edge
        ties = np.flatnonzero(keys_of_block == edge)[:n_tied]
        is_drawn[ties] = True
        n_tied -= len(ties)
        yield is_drawn
