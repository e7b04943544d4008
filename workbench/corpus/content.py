"""The hash of a corpus' content, of parts that come one after the other: the same however the corpus is kept."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

BLOCK = 1 << 14
"""Entries whose text is made at a time."""


def content_hash(
    arrays: Iterable[tuple[Iterable[np.ndarray], str]],
    fields: Iterable[Sequence | None],
    inputs: Iterable[np.ndarray] | None,
    input_names: tuple[str, ...],
    sequence: Sequence | None,
) -> str:
    """Return the sha256 (hex) of a corpus: of the parts and type of each array, then of fields per word or document."""
    digest = hashlib.sha256()
    for parts, kind in arrays:
        for part in parts:
            digest.update(np.ascontiguousarray(part, dtype=kind))
        digest.update(b"|")
    for field in fields:
        _add(digest, _repr(field))
        digest.update(b"|")
    if inputs is not None:  # what came later is hashed where it is there, so that older hashes stay
        digest.update(f"inputs {input_names!r}|".encode())
        for part in inputs:
            digest.update(np.ascontiguousarray(part, dtype="<f8"))
    if sequence is not None:
        digest.update(b"|sequence ")
        _add(digest, _repr(sequence))
    return digest.hexdigest()


def _add(digest, texts: Iterable[str]) -> None:
    for text in texts:
        digest.update(text.encode())


def _repr(values: Sequence | None) -> Iterator[str]:
    """Yield ``repr(tuple(values))`` in pieces; "None" for None."""
    if values is None or len(values) < 2:
        yield repr(values if values is None else tuple(values))
        return
    entries, before = iter(values), "("
    while block := tuple(islice(entries, BLOCK)):
        # of one entry the text ends in a comma
        yield before + repr(block)[1 : -1 if len(block) > 1 else -2]
        before = ", "
    yield ")"
