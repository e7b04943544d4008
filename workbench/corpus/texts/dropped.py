"""How many words, and tokens of them, each rule leaves out while texts are counted; noted where it is asked for."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

_NOTED: ContextVar[dict | None] = ContextVar("dropped", default=None)
FOUND = "found"
"""In the place of a rule: all that is found in the texts."""


@contextmanager
def noting_dropped() -> Iterator[dict[str, list[int]]]:
    """Yield a dict that collects, while texts are counted, option of `count_words` → [words, tokens] that it left out.

    Under ``FOUND`` all words and tokens of the texts. The options leave out one after the other, in the order of the dict:
    stop_words, min_letters, then, of words and n-grams, min_documents, max_share and max_words; 0 are none.
    """
    noted: dict[str, list[int]] = {}
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def note_words(texts: Iterable[str], steps: dict[str, Callable[[str], list[str]]]) -> None:
    """Record what the steps leave out; each is a function that returns which words of a text it and earlier steps keep."""
    if (noted := _NOTED.get()) is None:
        return
    before = None
    for name, words_of in steps.items():
        words: Counter[str] = Counter()
        for text in texts:
            words.update(words_of(text))
        sizes = np.array([len(words), words.total()])
        noted[name] = (sizes if before is None else before - sizes).tolist()
        before = sizes


def note_kept(totals: np.ndarray, steps: dict[str, np.ndarray]) -> None:
    """Record which words the steps leave out: (word,) bool each, of words with these (word,) totals."""
    if (noted := _NOTED.get()) is None:
        return
    for name, left_out in steps.items():
        noted[name] = [int(left_out.sum()), int(totals[left_out].sum())]
