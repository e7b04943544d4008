"""Checks of a corpus' inputs (named real covariates of documents) and of the sequences that documents belong to.

Positions are whole numbers that order the documents of a sequence; they may have gaps, as years without a document do, and
a sequence has each position at most once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np

from workbench.data.arrays import as_array, sealed
from workbench.errors import DataError

LARGEST_POSITION = 2**53
"""Whole numbers up to here are exact as floats too."""


class BySequence(NamedTuple):
    """The documents sorted by sequence and, within a sequence, by position."""

    names: tuple[str, ...]  # one per sequence, in the order of first appearance
    # (sequence + 1,) int64: the documents of sequence s are documents[indptr[s]:indptr[s + 1]]
    indptr: np.ndarray
    documents: np.ndarray  # (document,) int64, sorted by sequence and position


def checked_inputs(
    inputs, names: Sequence[str], n_documents: int
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Return the inputs (numeric covariates) as a read-only array (document, input) float64, and the input names.

    ``inputs`` is such an array, with ``names``, or a mapping from names to values. Raise an error for values that are not
    finite, a number of values other than ``n_documents``, and names that are empty or repeated.
    """
    if isinstance(inputs, Mapping):
        names, columns = (
            tuple(inputs),
            [_column(values, name, n_documents) for name, values in inputs.items()],
        )
        inputs = np.column_stack(columns) if columns else None
    if inputs is None:
        return None, ()
    inputs, names = as_array(inputs, "inputs"), tuple(names)
    if inputs.shape != (n_documents, len(names)) or not names:
        raise DataError(
            f"inputs must have one row per document ({n_documents}) and one column per name ({len(names)}, at "
            f"least one); their shape is {inputs.shape}; a dict of columns by name is taken too"
        )
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise DataError("every input needs a name, a string that is not empty")
    if len(set(names)) < len(names):
        raise DataError(
            f"two inputs have the name {Counter(names).most_common(1)[0][0]!r}; rename one of them"
        )
    if inputs.dtype == np.float64 and not inputs.flags.writeable and inputs.flags.c_contiguous:
        return inputs, names
    inputs = np.column_stack(
        [_column(column, name, n_documents) for name, column in zip(names, inputs.T, strict=True)]
    )
    return sealed(np.ascontiguousarray(inputs)), names


def _column(values, name: str, n_documents: int) -> np.ndarray:
    """Return the values (document,) float64 of one input; raise an error unless each document has a finite number."""
    values = as_array(values, f"the input {name!r}")
    if values.shape != (n_documents,):
        shape = len(values) if values.ndim == 1 else f"the shape {values.shape}"
        raise DataError(
            f"inputs must have one entry per document ({n_documents}); {name!r} has {shape}"
        )
    if values.dtype.kind not in "iubf":
        raise DataError(f"the input {name!r} must be numbers; got values of type {values.dtype}")
    # which makes 0.0 of -0.0: equal contents, equal hashes
    values = values.astype(np.float64) + 0.0
    bad_documents = np.flatnonzero(~np.isfinite(values))
    if len(bad_documents):
        raise DataError(
            f"the input {name!r} must be a finite number; document {bad_documents[0]} (counted from 0) has "
            f"{values[bad_documents[0]]}; give it a value or leave the document out"
        )
    return values


def checked_sequence(sequence: Iterable) -> tuple[tuple[str, int], ...]:
    """Return (sequence name, position) of each document; raise an error for an invalid or repeated pair."""
    if not isinstance(sequence, Iterable):
        raise DataError(f"sequence must have a pair per document; got {sequence!r}")
    rows = {}
    for d, entry in enumerate(sequence):
        pair = (
            isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[1], Integral)
        )
        if not pair or abs(int(entry[1])) > LARGEST_POSITION:
            raise DataError(
                f"sequence must have a pair per document, its sequence and a whole number, its position there; "
                f"document {d} (counted from 0) has {entry!r}"
            )
        entry = str(entry[0]), int(entry[1])
        if entry[0] == "":
            raise DataError(
                f"every sequence needs a name; that of document {d} (counted from 0) is empty"
            )
        if rows.setdefault(entry, d) != d:
            raise DataError(
                f"the sequence {entry[0]!r} has the position {entry[1]} twice, in documents {rows[entry]} and {d} "
                "(counted from 0); a position may stand once in a sequence"
            )
    return tuple(rows)


def by_sequence(sequence: tuple[tuple[str, int], ...]) -> BySequence:
    """Return the documents sorted by sequence, then by position."""
    ids = {name: s for s, name in enumerate(dict.fromkeys(name for name, _ in sequence))}
    of_document = np.array([ids[name] for name, _ in sequence], np.int64)
    order = np.lexsort((np.array([position for _, position in sequence], np.int64), of_document))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(of_document, minlength=len(ids)))])
    return BySequence(tuple(ids), sealed(indptr), sealed(order))
