"""Finding documents by words of their texts and titles, and by the columns that were read with them."""

import re
from functools import lru_cache

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.corpus.any_corpus import AnyCorpus
from workbench.corpus.document_table import DocumentTable
from workbench.errors import nearest_or_all, shown
from workbench.measures.groups import COLUMN
from workbench.measures.selection import MeasureError

TERM = re.compile(r'(?:(?P<column>[^\s":]+|"[^"]+"):)?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))')
BETWEEN = "\x1f"
"""Between the columns of a document, so that no phrase goes from one to the next."""


def find_documents(
    run: xr.Dataset, query: str, table: DocumentTable | None = None, corpus: Corpus | None = None
) -> np.ndarray:
    """(found,) int64: the training documents that have every term of a query, in the order of the corpus.

    Parameters
    ----------
    run : Dataset
        With the coordinate ``document``, and ``document_label`` and ``document_time`` where there are any.
    query : str
        Terms with blanks between them, upper or lower case alike: a word or "a phrase" that the title, the text or a column
        contains; or ``column:value``, ``"a column":"a value"``, where that column contains the value.
    table : of the run, as ``Run.table`` is, optional
    corpus : training corpus of the run, optional
        A word is then found in the documents that have it as a word type, too, where no texts were kept.

    Raises
    ------
    MeasureError
        A column that there is not; an empty query.
    """
    terms = list(TERM.finditer(query))
    if not terms:
        raise MeasureError("type a word, a phrase in quotes, or column:value to find documents")
    titles = run["document"].values
    known = {
        name.removeprefix(COLUMN): values.values
        for name, values in run.coords.items()
        if str(name).startswith(COLUMN) and values.dims == ("document",)
    }
    known |= {} if table is None else dict(table.columns)
    left = np.ones(len(titles), bool)
    for term in terms:
        column = (term["column"] or "").strip('"')
        value = (term["phrase"] if term["word"] is None else term["word"]).lower()
        if column and column not in known:
            there = f"; {nearest_or_all(column, [*known])}" if known else "; there are none"
            raise MeasureError(
                f"documents have no column {shown(column)!r}{there}; put a text with a colon in quotes"
            )
        at = np.flatnonzero(left)
        if column:
            own = known[column]
            fits = [value in str(own[row]).lower() for row in at]
        else:
            texts = _everything(table) if table is not None else [""] * len(titles)
            fits = [value in texts[row] or value in str(titles[row]).lower() for row in at]
            if corpus is not None and (table is None or table.texts is None):
                fits = np.array(fits, bool) | _having(corpus, value)[at]
        left[at] = np.asarray(fits, bool)
    return np.flatnonzero(left)


@lru_cache(maxsize=2)
def _everything(table: DocumentTable) -> list[str]:
    """(document,) all columns of a document, in lower case."""
    return [
        BETWEEN.join(str(value) for value in row if value is not None).lower()
        for row in zip(*table.columns.values(), strict=True)
    ]


def _having(corpus: AnyCorpus, word: str) -> np.ndarray:
    """(document,) bool: has the document this word, in whatever case the vocabulary has it?"""
    own = [at for at, known in enumerate(corpus.vocabulary) if known.lower() == word]
    found = np.zeros(corpus.n_documents, bool)
    for first, shard in corpus.parts_in_order():
        found[first + shard.documents[np.isin(shard.words, own)]] = True
    return found
