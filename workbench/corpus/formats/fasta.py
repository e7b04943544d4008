"""FASTA: records of symbols, ``>name`` and the lines below it; a record is a sequence, a symbol a document with one token.

Symbols are letters (in capitals), ``*`` and ``-``; blanks are ignored. The vocabulary is in alphabetical order, or that of the
option ``vocabulary``.
"""

import re
from itertools import chain
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import CorpusError
from workbench.corpus.formats.by_name import counts_by_name
from workbench.corpus.formats.interface import ReadOptions
from workbench.data.opening import BYTE_ORDER_MARK, read_text

MEANING = "a FASTA file of symbols"
SUFFIXES = (".fa", ".fasta", ".faa", ".fna")
NO_SYMBOL = re.compile(r"[^A-Z*-]")


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether the file begins with ``>``, as the name of a FASTA record does."""
    return start.removeprefix(BYTE_ORDER_MARK).startswith(b">")


def read(path: Path, read_options: ReadOptions) -> dict:
    """Return each symbol of the file as a document; each FASTA record is a sequence."""
    records: dict[str, list[str]] = {}
    name = None
    for line, content in enumerate(read_text(path).split("\n"), start=1):
        text = "".join(content.split()).upper()
        if content.startswith(">"):
            name = (content[1:].split() or [""])[0]
            if not name or name in records:
                raise CorpusError(
                    f"{path}, line {line}: every record needs a name of its own; got {name!r}"
                )
            records[name] = []
        elif text and name is None:
            raise CorpusError(
                f"{path}, line {line}: a record begins with a line >name; got {content[:40]!r}"
            )
        elif bad_symbol := NO_SYMBOL.search(text):
            raise CorpusError(
                f"{path}, line {line}: {bad_symbol[0]!r} is no symbol; letters, * and - are; take it out"
            )
        elif text:
            records[name] += text
    if empty := [name for name, symbols in records.items() if not symbols]:
        raise CorpusError(f"{path}: the record {empty[0]!r} has no symbol; leave it out")
    return read_symbols(path, read_options, records)


def read_symbols(path: Path, read_options: ReadOptions, symbols: dict[str, list[str]]) -> dict:
    """Return arguments of `Corpus.from_pairs` for named sequences of symbols; the default vocabulary is sorted."""
    rows = rows_of_symbols(symbols)
    if read_options.vocabulary is None:
        read_options = read_options._replace(vocabulary=sorted(set(rows["words"])))
    return counts_by_name(path, read_options, **rows)


def rows_of_symbols(symbols: dict[str, list[str]]) -> dict:
    """Return arguments of `Corpus.from_pairs` that make each symbol a document with one token."""
    sequence = [
        (name, site)
        for name, symbols_of_row in symbols.items()
        for site in range(len(symbols_of_row))
    ]
    return {
        "words": list(chain.from_iterable(symbols.values())),
        "documents": np.arange(len(sequence)),
        "counts": np.ones(len(sequence), np.int64),
        "n_documents": len(sequence),
        "titles": [f"{name} {site}" for name, site in sequence],
        "sequence": sequence,
    }
