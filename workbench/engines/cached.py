"""Results that are derived from a corpus and cached as long as the corpus exists."""

from collections.abc import Callable
from functools import wraps
from weakref import WeakKeyDictionary


def cached_by_corpus(function: Callable) -> Callable:
    """Return the function with its results cached: by corpus, and by its other, hashable arguments."""
    results: WeakKeyDictionary = WeakKeyDictionary()

    @wraps(function)
    def cached(corpus, *arguments):
        of_corpus = results.setdefault(corpus, {})
        if arguments not in of_corpus:
            of_corpus[arguments] = function(corpus, *arguments)
        return of_corpus[arguments]

    return cached
