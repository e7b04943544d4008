"""What a corpus in memory and one in shards have in common: a sequence of parts, each some documents in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar

from workbench.errors import DataError

if TYPE_CHECKING:
    from workbench.corpus.corpus import Corpus


class AnyCorpus:
    """Documents as counts of words, in one part (`Corpus`) or in several (`ShardedCorpus`).

    Both have sizes, a vocabulary, what is known of each document, ``rows(first, last)``, `parts`, and ``in_memory()``.
    """

    item: ClassVar[str] = "token"
    """What a score is per."""
    name: str
    n_documents: int
    n_tokens: int
    input_names: tuple[str, ...]

    def parts(self) -> Iterable[Corpus]:
        """The documents in order, one part in memory at a time."""
        raise NotImplementedError

    def parts_in_order(self) -> Iterator[tuple[int, Corpus]]:
        """(number of the first document, documents) of each part."""
        first = 0
        for part in self.parts():
            yield first, part
            first += part.n_documents

    @property
    def n_items(self) -> int:
        """Items that a score is a mean over: tokens."""
        return self.n_tokens

    def same_rows(self, other) -> bool:
        """Has another corpus the same number of documents and the same words, as a test set has?"""
        return (
            isinstance(other, AnyCorpus)
            and other.n_documents == self.n_documents
            and self.vocabulary == other.vocabulary
        )

    def check_input(self, name: str) -> None:
        """Raises DataError for a name that is none of the inputs'."""
        if name not in self.input_names:
            there = ", ".join(map(repr, self.input_names)) or "none"
            raise DataError(f"{self.name!r} has no input {name!r}; there are {there}")
