"""Count the words of raw texts per document, and prune the vocabulary; `workbench.corpus.texts.words` finds the words.

Ties of pruning are broken the same way on every machine, and an empty vocabulary is explained.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus.document_table import DocumentTable, plain_value
from workbench.corpus.texts.words import (
    OF_WORDS,
    WORD_PATTERN,
    analyser,
    further_words,
    is_language,
    stop_list,
)
from workbench.data.arrays import sealed
from workbench.data.reading import is_noted, note
from workbench.errors import DataError, Named

DROPPED = "dropped"
"""Part of `workbench.data.reading.noting` in which `count_words` records what each option removes: option → [words, tokens].

``FOUND`` has all words and tokens of the texts. The options apply one after the other, in the order of the dict: stop_words,
min_letters, then, to words and n-grams, min_documents, max_share and max_words."""
FOUND = "found"
"""Key, in place of an option, of all words that are found in the texts."""


def note_words(texts: Iterable[str], steps: dict[str, Callable[[str], list[str]]]) -> None:
    """Record under `DROPPED` how many words and tokens each of ``steps`` (name → function: text → words kept) removes."""
    if not is_noted(DROPPED):
        return
    before = None
    for name, words_of in steps.items():
        words: Counter[str] = Counter()
        for text in texts:
            words.update(words_of(text))
        sizes = np.array([len(words), words.total()])
        note(DROPPED, **{name: (sizes if before is None else before - sizes).tolist()})
        before = sizes


TEXT_OPTIONS = (
    "stop_words",
    "min_documents",
    "max_share",
    "max_words",
    "token_pattern",
    "lowercase",
    "accents",
    "min_letters",
    "ngrams",
    "tokenizer",
    "more_stop_words",
    "segmenter",
    "phrases",
)
"""Options of `count_words` that say how words are found and which are kept."""
LISTS = ("stop_words", "more_stop_words", "phrases")
"""Options that may be iterators, which can be read only once."""
PRUNING = ("min_documents", "max_share", "max_words")
"""Options that prune the vocabulary; the other ones find words."""
FIRST = ("token_pattern", "lowercase", "accents", "ngrams")
"""Options that every stored table of documents records."""


def count_words(
    texts: Iterable[str],
    titles: Iterable[str] | None = None,
    labels: Iterable[str] | None = None,
    name: str = "texts",
    stop_words: str | Iterable[str] | None = "english",
    min_documents: int = 1,
    max_share: float = 1.0,
    max_words: int | None = None,
    token_pattern: str = WORD_PATTERN,
    lowercase: bool = True,
    accents: str = "keep",
    min_letters: int = 1,
    ngrams: int = 1,
    tokenizer: Callable[[str], Iterable[str]] | None = None,
    more_stop_words: str | Iterable[str] | None = None,
    segmenter: str | None = None,
    phrases: str | Iterable[str] | None = None,
    keep_text: bool = True,
    table: DocumentTable | None = None,
    **about,
) -> dict:
    """Return the word counts of raw texts, one text per document, as arguments of `Corpus.from_pairs`.

    Documents that are empty, or lose all their words, keep their rows. The vocabulary is in alphabetical
    (code point) order. Nothing but stop words disappears by default; for topics of real text
    ``min_documents=5, max_share=0.5`` is a good start.

    Parameters
    ----------
    texts : (document,) str
        An empty string is an empty document. None and NaN raise an error: only the owner of the data knows whether
        to drop the row of a missing text or to keep it empty.
    titles : (document,) str, default ``document 0, document 1, …``
    labels : (document,) str, optional
    name : str
        What pages and file names call the corpus.
    stop_words : a language ("english", "german", "fr" …), a file with a word on each line, words, or None
        Words left out, in either case. Words are an iterable, or a text separated by commas ("alpha,beta"; one alone
        "alpha,"); None, "none" and "" leave all words in. "english" is scikit-learn's list with the stumps of contractions
        (don, isn, ve); `workbench.corpus.texts.words.languages` lists the others.
    min_documents : int, default 1
        Words in fewer documents than this are left out.
    max_share : float in (0, 1], default 1.0
        Words in more than this share of all documents are left out.
    max_words : int, optional
        Maximum of words to keep after that: the most frequent ones; ties are ordered by alphabet.
    token_pattern : regular expression
        What counts as a word: by default two or more letters of any alphabet. At most one group.
    lowercase : bool, default True
    accents : "keep" or "strip"
        Whether é becomes e.
    min_letters : int, default 1
        Shorter words are left out.
    ngrams : int, default 1
        Besides words, sequences of up to this many words (at most 5) that follow each other once stop words are out, joined
        by _: new_york.
    tokenizer : function of a text that gives its words, optional
        Used instead of the pattern, after case and accents are changed.
    more_stop_words : iterable of words, or a text separated by commas, optional
        Words left out in addition to ``stop_words``.
    segmenter : "japanese", "chinese" (simplified) or "chinese-traditional", optional
        Cuts text of these languages into words, with the package budoux (`pip install budoux`); particles and endings of
        Japanese are cut off. The default pattern leaves words of one sign out.
    phrases : iterable of phrases, or a text separated by commas, optional
        Sequences of words that are one word wherever they follow each other, joined by _: "new york" is new_york, and not
        also new and york. Stop words may be inside.
    keep_text : bool, default True
        Keep the texts and other columns with the corpus: to be shown, searched and exported.
    table : DocumentTable, optional
        Texts and columns as they were read, if they are more than ``texts``.
    **about
        authors, times, inputs, sequence, and ``reading``, the record of how the texts were read.

    Raises
    ------
    DataError
        A text that is not a string, an option out of range, or no word left.
    """
    texts = _strings(texts)
    if not isinstance(keep_text, bool):
        raise DataError.must_be("keep_text", "true or false", keep_text)
    titles, labels = (
        None if values is None else tuple(map(str, values)) for values in (titles, labels)
    )
    check_pruning(min_documents, max_share, max_words)
    word_options = {
        "stop_words": repeatable(stop_words),
        "token_pattern": token_pattern,
        "lowercase": lowercase,
        "accents": accents,
        "min_letters": min_letters,
        "ngrams": ngrams,
        "tokenizer": tokenizer,
        "more_stop_words": repeatable(more_stop_words),
        "segmenter": segmenter,
        "phrases": repeatable(phrases),
    }
    words_of = analyser(**word_options)
    single_words = {**word_options, "ngrams": 1}
    unfiltered = {"stop_words": None, "more_stop_words": None, "min_letters": 1}
    note_words(
        texts,
        {
            FOUND: analyser(**single_words | unfiltered),
            "stop_words": analyser(**single_words | {"min_letters": 1}),
            "min_letters": analyser(**single_words),
        },
    )
    vocabulary, counts = _count(texts, words_of, token_pattern)
    occurs_in = np.bincount(counts.indices, minlength=len(vocabulary))
    totals = np.bincount(counts.indices, weights=counts.data, minlength=len(vocabulary))
    pruning = {"min_documents": min_documents, "max_share": max_share, "max_words": max_words}
    keep, left_out = kept_words(occurs_in, totals, len(texts), **pruning)
    note(DROPPED, **left_out)
    if len(keep) < len(vocabulary):
        counts = counts[:, keep]
    rows = np.repeat(np.arange(len(texts), dtype=np.int32), np.diff(counts.indptr))
    if keep_text:
        columns, text = ({"text": texts}, "text") if table is None else (table.columns, table.text)
        about["table"] = DocumentTable(columns, text, as_written(word_options))
    reading = about.get("reading") or {}
    options = written(word_options | pruning) | {"keep_text": keep_text}
    about["reading"] = reading | {
        "options": reading.get("options", {}) | options,
        "left_out": reading.get("left_out", {})
        | {name: sizes for name, sizes in left_out.items() if any(sizes)},
    }
    return about | {
        "documents": rows,
        "words": sealed(counts.indices),
        "counts": sealed(counts.data),
        "vocabulary": [vocabulary[word] for word in keep],
        "n_documents": len(texts),
        "titles": titles,
        "labels": labels,
        "name": name,
    }


def as_counted(counted: Mapping | None, options: Mapping) -> dict:
    """Return the options of `count_words` with which a corpus was counted (``counted``), overridden by ``options``.

    ``counted`` : as a DocumentTable has it; None, if unknown, for the defaults.

    Raises
    ------
    DataError
        The others were cut into words by a tokenizer, and none is given.
    """
    counted = {} if counted is None else counted
    if counted.get("tokenizer") and "tokenizer" not in options:
        raise DataError(
            "the texts of the run were cut into words by a tokenizer, which is not kept; give it ",
            Named("tokenizer", ...),
            ", or give lists of tokens or a Corpus",
            field="tokenizer",
        )
    return {
        name: value
        for name, value in counted.items()
        if name in TEXT_OPTIONS and name != "tokenizer"
    } | dict(options)


def as_written(of_words: dict) -> dict:
    """Return options for finding words as values that JSON has, without newer options that have their default.

    Options that older versions lacked are left out if they have the default, so that the hashes of tables do not change.
    """
    return {
        name: value
        for name, value in written(of_words).items()
        if name in FIRST or of_words[name] != OF_WORDS[name]
    }


def written(options: dict) -> dict:
    """Return options of `count_words` as values that JSON has: stop words as a list, a tokenizer as True."""
    values = {name: plain_value(value) for name, value in options.items()}
    if "stop_words" in values and not is_language(options["stop_words"]):
        values["stop_words"] = sorted(stop_list(options["stop_words"]))
    for name in ("more_stop_words", "phrases"):
        if name in values:
            values[name] = further_words(options[name], name)
    return values | ({"tokenizer": True} if values.get("tokenizer") is not None else {})


def repeatable(words):
    """Return an iterator as a list, which can be read twice; return other values unchanged."""
    return (
        words
        if words is None or isinstance(words, str | Path) or not isinstance(words, Iterable)
        else list(words)
    )


def _strings(texts) -> list[str]:
    if isinstance(texts, str):
        raise DataError("texts must be a list of strings, one per document; a single string came")
    texts = list(texts)
    if not texts:
        raise DataError("a corpus needs at least one document; no text came")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(
                f"every text must be a string; text {row} (counted from 0) is {text!r}; "
                "leave its row out, or put '' there to keep an empty document"
            )
    return texts


def check_pruning(
    min_documents: int = 1, max_share: float = 1.0, max_words: int | None = None
) -> None:
    """Raise an error for pruning options that are out of range."""
    DataError.whole("min_documents", min_documents, 1)
    if not isinstance(max_share, Real) or not 0 < max_share <= 1:
        raise DataError.must_be(
            "max_share", "a share of the documents, above 0 and at most 1", max_share
        )
    if max_words is not None and (not isinstance(max_words, (int, np.integer)) or max_words < 1):
        raise DataError.must_be(
            "max_words", "a whole number of at least 1, or None for all", max_words
        )


class WordCounts(NamedTuple):
    """The distinct words of some texts in order of first appearance, and each document's counts of them."""

    words: list[str]
    lengths: np.ndarray  # (document,) int32: number of pairs of each
    ids: np.ndarray  # (pair,) int32: index in ``words``
    counts: np.ndarray  # (pair,) int32


def counted(texts: Iterable[str], words_of: Callable[[str], list[str]]) -> WordCounts:
    """Count the words that the function ``words_of`` finds in each text."""
    word_numbers: dict[str, int] = defaultdict()
    word_numbers.default_factory = word_numbers.__len__
    lengths, ids, counts = array("i"), array("i"), array("i")
    for text in texts:
        counter = Counter(words_of(text))
        lengths.append(len(counter))
        ids.extend(map(word_numbers.__getitem__, counter))
        counts.extend(counter.values())
    word_numbers.default_factory = None  # which refers to the dict itself
    return WordCounts(
        list(word_numbers),
        *(np.frombuffer(numbers, np.int32) for numbers in (lengths, ids, counts)),
    )


def no_word_left(n_texts: int, token_pattern: str) -> DataError:
    """Return the error for texts in which no word is left after stop words and pattern."""
    return DataError(
        f"no word left in {n_texts} text(s) after stop words and ",
        Named("token_pattern", repr(token_pattern)),
        "; give longer texts, ",
        Named("stop_words", None),
        " or another pattern",
        field="texts",
    )


def _count(texts: list[str], words_of: Callable[[str], list[str]], token_pattern: str):
    """Return the words in alphabetical order, and a sparse array (document, word) of their counts."""
    from scipy.sparse import csr_array

    words, lengths, ids, counts = counted(texts, words_of)
    if not words:
        raise no_word_left(len(texts), token_pattern)
    order = sorted(range(len(words)), key=words.__getitem__)
    new_numbers = np.empty(len(words), np.int32)
    new_numbers[order] = np.arange(len(words), dtype=np.int32)
    ids = new_numbers[ids]
    table = csr_array(
        (counts, ids, np.concatenate([[0], np.cumsum(lengths)])), (len(texts), len(words))
    )
    table.sort_indices()
    return [words[number] for number in order], table


def kept_words(
    occurs_in: np.ndarray,
    totals: np.ndarray,
    n_documents: int,
    min_documents: int = 1,
    max_share: float = 1.0,
    max_words: int | None = None,
) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Return the ascending indices of words to keep, from the numbers of documents (word,) and tokens (word,) of each.

    Also return how much each option removes: its name → [words, tokens].
    """
    n_words = len(totals)
    rare, common = occurs_in < min_documents, occurs_in > max_share * n_documents
    keep = np.flatnonzero(~rare & ~common)
    if not len(keep):
        raise DataError(
            f"none of {n_words} words is in at least {min_documents} and at most {max_share:.0%} "
            f"of {n_documents} documents; lower ",
            Named("min_documents"),
            " or raise ",
            Named("max_share"),
        )
    if max_words is not None and len(keep) > max_words:
        keep = np.sort(keep[np.argsort(-totals[keep], kind="stable")[:max_words]])
    further = ~rare & ~common & ~np.isin(np.arange(n_words), keep)
    masks = {"min_documents": rare, "max_share": common & ~rare, "max_words": further}
    return keep, {
        name: [int(words.sum()), int(totals[words].sum())] for name, words in masks.items()
    }
