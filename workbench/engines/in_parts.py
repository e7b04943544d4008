"""How an engine works on a corpus that is kept in parts: ranges of documents, on disk or in several processes.

The state of a part has the rows that are its own, of its documents, pairs and tokens, and whole arrays by word and by topic,
which all parts share. A step is one pass or several over all parts, each of one of three kinds::

    ADDED      every part begins from the same counts of words; what they count is added up, two and two, in a fixed tree
    ROUNDS     blocks of a partition (see `lda.partition`): in each round a range of documents has one set of words to itself
    IN_ORDER   the counts of words are handed on from part to part, in order

The functions of an engine do not know that a corpus is a part: it is a corpus, and the keys of its uniforms are shifted
(`StepContext.before`). So bits depend on the corpus and its parts, never on who works on which part.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

ADDED, ROUNDS, IN_ORDER = "added", "rounds", "in order"
LARGEST = ("change",)
"""What a step tells of which the largest counts; everything else is added up."""


class Pass(NamedTuple):
    """One pass over all parts.

    ``work`` is (corpus, options, state, context, split) -> (state, numbers to be told): in place, but for fields of the state
    that are numbers. ``split`` is that of the part, or of a block of it (`lda.partition.BlockOfPart`).
    """

    kind: str
    work: Callable
    words: tuple[str, ...]  # fields of the state by word, (…, word, topic), that it changes
    sizes: tuple[str, ...]  # by topic, (…, topic)
    # (options, what all share as a state, context) -> what ``work`` is given besides, last
    prepare: Callable | None = None

    @property
    def changes(self) -> tuple[str, ...]:
        """All fields that it changes, of those that parts share."""
        return self.words + self.sizes


class InParts(NamedTuple):
    """What an engine declares to work in parts."""

    own: tuple[str, ...]  # fields of the state with rows of documents, pairs or tokens
    split: Callable  # (corpus, options) -> which pairs are sampled
    # (options, step) -> the passes of a step; of step 0 those after the start
    passes: Callable
    # (corpus, model, options, state) -> numbers by name that add up to what is watched
    of_part: Callable
    # (model, options, state, their sums) -> as `Engine.watch`; "by_word" among them, if any
    watched: Callable
    # (corpus, options, state, prior) -> that of a prior, given the counts of a part
    likelihood: Callable
    # (corpus, options, sums of the numbers of a step) -> as `Engine.step` tells them
    told: Callable
    of_words: Callable  # (state) -> (word, topic) the counts that a snapshot keeps
    samples: Callable  # (options) -> bool: is any token sampled?
    numbers: tuple[str, ...] = ()  # fields of the state that are numbers, added up over the parts
    # (corpus, model, options, context, warm_start) -> the first state; None: `Engine.init`
    begin: Callable | None = None
    # (corpus, model, options, state) -> (…, word, topic), what is watched of words besides
    by_word: Callable | None = None
    # (those of some parts, of others) -> those of both, in place of the first
    joined: Callable | None = None
    # raises OptionError for options that need the whole corpus at once
    refuse: Callable = lambda options: None


def in_each_step(*passes: Pass) -> Callable:
    """`InParts.passes` of an engine that has the same in every step, and none after the start."""
    return lambda options, step: passes if step else ()


def add_told(told: Iterable[dict]) -> dict:
    """The numbers of several parts as one."""
    total: dict = {}
    for numbers in told:
        for name, value in numbers.items():
            total[name] = (
                value
                if name not in total
                else max(total[name], value)
                if name in LARGEST
                else total[name] + value
            )
    return total


def in_tree(items: Iterable, add: Callable):
    """All items added up: neighbours first, then their sums, and so on, whoever has computed which; at least one item.

    An item is added as soon as it comes, so that no more than one sum for each level of the tree is held.
    """
    return from_subtrees(((0, item) for item in items), add)


def from_subtrees(sums_of_items: Iterable[tuple[int, object]], add: Callable):
    """`in_tree` given the sums of `subtrees`, in order, each with its level."""
    sums: list[tuple[int, object]] = []
    for level, item in sums_of_items:
        while sums and sums[-1][0] == level:
            item, level = add(sums.pop()[1], item), level + 1
        sums.append((level, item))
    _, total = sums.pop()
    while sums:
        total = add(sums.pop()[1], total)
    return total


def subtrees(first: int, last: int) -> Iterator[tuple[int, range]]:
    """The items from ``first`` to before ``last`` in as few ranges as are whole subtrees of `in_tree`, each with its level."""
    while first < last:
        level = (last - first).bit_length() - 1
        while first % 2**level:
            level -= 1
        yield level, range(first, first + 2**level)
        first += 2**level
