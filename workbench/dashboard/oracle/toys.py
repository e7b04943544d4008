"""The toy corpus of the Oracle page: the examples, the text form of a table of counts, and checks of it."""

import re
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import InputError, Named
from workbench.models import LDA
from workbench.numbers import parse_number

MOST_ROWS, MOST_COLUMNS = 8, 8
"""Maximum numbers of documents and words of a table."""
MOST_TOPICS, MOST_TOKENS = 16, 64
"""Limits of a toy, besides the number of assignments: that stays small for one topic, or for one token."""
LONGEST = 12
"""Letters shown of a wrong count."""


class Toy(NamedTuple):
    """A toy as the texts of the fields: counts (commas between words, semicolons between documents), topics and priors."""

    counts: str
    n_topics: int
    alpha: str
    beta: str


TOYS = {
    "Two documents": Toy("5,1,0;0,1,5", 2, "0.1", "0.1"),
    "Unequal alpha (toy A)": Toy("3,1,0;1,1,3", 2, "0.7, 0.4", "0.3"),
    "Bars of 2 × 2 cells": Toy("3,2,0,0;0,0,2,3;2,1,1,2", 2, "0.5", "0.1"),
}
"""Name → example; the documents of the last are the two bars of a picture of 2 × 2 cells, and both bars together."""


def cells_of(counts: str) -> list[list[str]]:
    """Return the counts of each document as texts, short rows filled with zeros.

    counts : rows by lines or semicolons, and in a row counts by commas or blanks
    """
    rows = [re.split(r"\s*,\s*|\s+", row.strip()) for row in re.split("[;\n]", counts.strip())]
    return [list(row) for row in zip(*zip_longest(*rows, fillvalue="0"), strict=True)]


def corpus_of(counts: str) -> Corpus:
    """Return the corpus of a table in text form.

    Raises
    ------
    InputError
        One sentence on the first invalid count, on a table without tokens, or on more of something than a toy may have.
    """
    cells = cells_of(counts)
    if len(cells) > MOST_ROWS or len(cells[0]) > MOST_COLUMNS:
        rule = f"a toy has at most {MOST_ROWS} documents and {MOST_COLUMNS} words"
        raise InputError(f"{rule}; these are {len(cells)} and {len(cells[0])}", field="counts")
    table = np.array(
        [
            [_count(cell, d, w) for w, cell in enumerate(row, start=1)]
            for d, row in enumerate(cells, start=1)
        ]
    )
    n_tokens = int(table.sum())
    if not n_tokens:
        raise InputError(
            "the table has no token; type a count of at least 1",
            field="counts",
        )
    if n_tokens > MOST_TOKENS:
        rule = f"a toy has at most {MOST_TOKENS} tokens; these are {n_tokens:,}, so take smaller counts"
        raise InputError(rule, field="counts")
    documents, words = np.indices(table.shape).reshape(2, -1)
    n_documents, n_words = table.shape
    return Corpus.from_pairs(
        documents,
        words,
        table.ravel(),
        [f"word {w}" for w in range(1, n_words + 1)],
        n_documents,
        n_words,
        name="toy",
        titles=[f"document {d}" for d in range(1, n_documents + 1)],
    )


def model_of(n_topics, alpha: str, beta: str) -> LDA:
    """Return the LDA model that the fields describe.

    Raises
    ------
    InputError
        One sentence, with the wrong field.
    """
    if n_topics is None or n_topics > MOST_TOPICS:
        rule = f"a whole number from 1 to {MOST_TOPICS} for a toy"
        raise InputError.must_be(Named("n_topics", text="topics"), rule, n_topics)
    alphas = [parse_number(number) for number in alpha.split(",")]
    return LDA(n_topics, tuple(alphas) if len(alphas) > 1 else alphas[0], parse_number(beta))


def _count(cell: str, d: int, w: int) -> int:
    number = parse_number(cell)
    if isinstance(number, int) and 0 <= number <= 10**6:
        return number
    complaint = f"got {cell[:LONGEST]!r}" if cell else "there is none"
    raise InputError(
        f"the count of word {w} in document {d} must be a whole number of at least 0; {complaint}",
        field="counts",
    )
