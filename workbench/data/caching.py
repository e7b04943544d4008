"""A cache in which each result is computed by one thread only."""

from collections.abc import Callable
from functools import lru_cache, wraps
from threading import RLock


def cached_once(maxsize: int) -> Callable:
    """Return a decorator like `functools.lru_cache` under which one thread computes a value while others wait for it."""

    def decorate(function: Callable) -> Callable:
        cached, lock = lru_cache(maxsize)(function), RLock()

        @wraps(function)
        def compute_once(*arguments):
            with lock:
                return cached(*arguments)

        compute_once.cache_clear = cached.cache_clear
        return compute_once

    return decorate
