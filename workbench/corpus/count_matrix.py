"""The corpus of a matrix of counts that anybody may have made: what is no count is named, with its place."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.corpus.corpus import INT32_MAX, Corpus
from workbench.errors import DataError

INSTEAD = "give counts, as of CountVectorizer, and no weights, as of TfidfVectorizer"


def corpus_of_counts(matrix, vocabulary: Sequence[str], name: str = "counts") -> Corpus:
    """Return the corpus of a matrix (document, word), dense or of scipy.sparse, which is not changed.

    Documents without a word are legal, all of them too: they are to be folded in beside others.

    Raises
    ------
    DataError
        One sentence with row and column of the first entry that is not finite, negative, no whole number, or too large.
    """
    from scipy.sparse import csr_array

    cells = csr_array(matrix)
    if not cells.has_canonical_format or not np.all(cells.data):
        cells = cells.copy()
        cells.sum_duplicates()
        cells.eliminate_zeros()
    values = cells.data
    for is_wrong, said in (
        (
            ~np.isfinite(values),
            "counts must be finite; {where} has {value}; leave such rows out, or fill them with counts",
        ),
        (
            values < 0,
            "Negative values in data: counts are whole numbers from 0 on; {where} has {value}; "
            + INSTEAD,
        ),
        (
            values != np.floor(values),
            "counts must be whole numbers; {where} has {value}; " + INSTEAD,
        ),
        (
            values > INT32_MAX,
            f"a count may not exceed {INT32_MAX:,}; {{where}} has {{value}}; divide all counts by a number",
        ),
    ):
        if is_wrong.any():
            at = int(np.argmax(is_wrong))
            row, value = int(np.searchsorted(cells.indptr, at, side="right")) - 1, values[at].item()
            where = f"row {row} (counted from 0), column {vocabulary[cells.indices[at]]!r},"
            raise DataError(
                said.format(where=where, value="NaN" if math.isnan(value) else f"{value:g}")
            )
    titles = tuple(f"document {d}" for d in range(cells.shape[0]))
    return Corpus(
        cells.indptr, cells.indices, values.astype(np.int32), vocabulary, titles, name=name
    )
