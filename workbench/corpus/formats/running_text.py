"""Running text: a plain text file as one sequence of words, one document per word; read with ``format="words"``.

Words are found and left out as in `workbench.corpus.texts.counting.count_words`; positions count only the words kept.
"""

from collections import Counter
from pathlib import Path

from workbench.corpus.corpus import CorpusError
from workbench.corpus.formats.fasta import read_symbols
from workbench.corpus.formats.interface import ReadOptions, stem_of
from workbench.corpus.texts.words import (
    WORD_PATTERN,
    compiled_pattern,
    most_frequent,
    stop_list,
)
from workbench.data.opening import read_text

MEANING = "a plain text file as one sequence of words"
SUFFIXES = ()
TEXT_OPTIONS = ("stop_words", "max_words", "token_pattern")


def read(
    path: Path,
    read_options: ReadOptions,
    stop_words="english",
    max_words: int | None = None,
    token_pattern: str = WORD_PATTERN,
) -> dict:
    """Return each token as a document, without stop words, keeping the ``max_words`` most frequent words (None: all)."""
    pattern = compiled_pattern(token_pattern)
    left_out = frozenset(stop_list(stop_words))
    words = [word for word in pattern.findall(read_text(path).lower()) if word not in left_out]
    vocabulary = set(most_frequent(Counter(words), max_words))
    tokens = [word for word in words if word in vocabulary]
    if not tokens:
        raise CorpusError(
            f"{path} holds no word once stop words are out; give a longer text, or other stop words"
        )
    return read_symbols(path, read_options, {stem_of(path, SUFFIXES): tokens})
