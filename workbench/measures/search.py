"""Search for documents by words of their texts, titles and columns."""

import re
from functools import lru_cache

import numpy as np
import xarray as xr

from workbench.corpus import AnyCorpus, Corpus
from workbench.corpus.document_table import DocumentTable
from workbench.errors import nearest_or_all, shown
from workbench.measures.groups import COLUMN
from workbench.measures.selection import MeasureError

TERM = re.compile(r'(?:(?P<column>[^\s":]+|"[^"]+"):)?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))')
BETWEEN = "\x1f"
"""Separator of the columns of a document, so that no phrase matches across columns."""


def find_documents(
    run: xr.Dataset, query: str, table: DocumentTable | None = None, corpus: Corpus | None = None
) -> np.ndarray:
    """Return (document,) int64: the training documents that match every term of a query, in the order of the corpus.

    Parameters
    ----------
    run : Dataset
        With the coordinate ``document``, and ``document_label`` and ``document_time`` if there are any.
    query : str
        Terms separated by blanks; case is ignored. A term is a word or "a phrase" that the title, the text or a column
        contains, or ``column:value``, ``"a column":"a value"``, where that column contains the value.
    table : DocumentTable, optional
        ``Run.table``.
    corpus : Corpus, optional
        Training corpus of the run. If no texts were kept, a term also matches documents that have it as a word type.

    Raises
    ------
    MeasureError
        An unknown column; an empty query.
    """
    terms = list(TERM.finditer(query))
    if not terms:
        raise MeasureError("type a word, a phrase in quotes, or column:value to find documents")
    titles = run["document"].values
    columns = {
        name.removeprefix(COLUMN): values.values
        for name, values in run.coords.items()
        if str(name).startswith(COLUMN) and values.dims == ("document",)
    }
    columns |= {} if table is None else dict(table.columns)
    matches = np.ones(len(titles), bool)
    for term in terms:
        column = (term["column"] or "").strip('"')
        value = (term["phrase"] if term["word"] is None else term["word"]).lower()
        if column and column not in columns:
            hint = f"; {nearest_or_all(column, [*columns])}" if columns else "; there are none"
            raise MeasureError(
                f"documents have no column {shown(column)!r}{hint}; put a text with a colon in quotes"
            )
        candidates = np.flatnonzero(matches)
        if column:
            entries = columns[column]
            hits = [value in str(entries[row]).lower() for row in candidates]
        else:
            texts = _all_columns(table) if table is not None else [""] * len(titles)
            hits = [value in texts[row] or value in str(titles[row]).lower() for row in candidates]
            if corpus is not None and (table is None or table.texts is None):
                hits = np.array(hits, bool) | _has_word(corpus, value)[candidates]
        matches[candidates] = np.asarray(hits, bool)
    return np.flatnonzero(matches)


@lru_cache(maxsize=2)
def _all_columns(table: DocumentTable) -> list[str]:
    """Return (document,) all columns of a document joined, in lower case."""
    return [
        BETWEEN.join(str(value) for value in row if value is not None).lower()
        for row in zip(*table.columns.values(), strict=True)
    ]


def _has_word(corpus: AnyCorpus, word: str) -> np.ndarray:
    """Return (document,) bool: whether the document has this word, ignoring case."""
    ids = [index for index, known in enumerate(corpus.vocabulary) if known.lower() == word]
    has_word = np.zeros(corpus.n_documents, bool)
    for first, shard in corpus.parts_in_order():
        has_word[first + shard.documents[np.isin(shard.words, ids)]] = True
    return has_word
