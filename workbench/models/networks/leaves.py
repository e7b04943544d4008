"""Leaves of a network: parts of the vocabulary, such as languages, or words and tags, with distributions of their own.

Every row k of the last level has a distribution for each leaf l, over the words of that leaf alone::

    phi_kl ~ Dirichlet(beta),   p(w | k) = phi_kl(w) given that the token is of the leaf l of w

The leaf of a token is known from its word, and is not drawn. A word belongs to the leaf with whose prefix it begins.

Mimno, Wallach, Naradowsky, Smith & McCallum (2009), "Polylingual topic models".
"""

from collections.abc import Sequence

import numpy as np

from workbench.models.model import ModelError
from workbench.models.networks.levels import PREFIXES

SEPARATOR = ":"
"""What ends the prefix of a word, where the vocabulary says which prefixes there are."""
MOST_LEAVES = 255


def leaves_of(leaves: Sequence[str] | str, vocabulary: Sequence[str]) -> tuple[tuple, np.ndarray]:
    """Return the prefixes of the leaves, "" for words without one, and the number of the leaf of each word, (word,) uint8.

    leaves : prefixes; or "prefixes", those that the words have: what precedes their first colon, and the colon
    """
    if not leaves:
        return ("",), np.zeros(len(vocabulary), np.uint8)
    if leaves == PREFIXES:
        found = [word[: word.find(SEPARATOR) + 1] for word in vocabulary]
        names = tuple(sorted(set(found)))
    else:
        longest = sorted(leaves, key=len, reverse=True)
        names = ("", *leaves)
        found = [next(filter(word.startswith, longest), "") for word in vocabulary]
    number = {name: i for i, name in enumerate(names[: MOST_LEAVES + 1])}
    return names, np.array([number.get(name, MOST_LEAVES) for name in found], np.uint8)


def words_of_leaves(leaves: Sequence[str] | str, vocabulary: Sequence[str]) -> list[np.ndarray]:
    """Return the word ids of each leaf that has words."""
    _, numbers = leaves_of(leaves, vocabulary)
    return [np.flatnonzero(numbers == i) for i in np.unique(numbers)]


def check_leaves(prefix: str, leaves: Sequence[str] | str, corpus) -> None:
    """Raise ModelError unless the words of a corpus are of at least two leaves, and every prefix has a word.

    prefix : how error messages begin
    """
    names, numbers = leaves_of(leaves, corpus.vocabulary)
    if len(names) > MOST_LEAVES:
        raise ModelError(
            f"{prefix} may have {MOST_LEAVES} leaves, and the words of {corpus.name!r} have {len(names)} prefixes; "
            'name those that count, as leaves = ["tag:"]'
        )
    for i, name in enumerate(names):
        if name and not (numbers == i).any():
            raise ModelError(
                f"{prefix} has a leaf of words that begin with '{name}', and {corpus.name!r} has no such word; correct the "
                "prefix, or leave it out"
            )
    if len(np.unique(numbers)) < 2:
        raise ModelError(
            f"{prefix} has several leaves, and all words of {corpus.name!r} are of one; let the words of a leaf begin with "
            "a prefix, as 'de:haus' and 'tag:oil', or take a network without leaves"
        )
