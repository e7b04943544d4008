"""Results that are kept: each is computed by one thread alone, whoever else asks for it meanwhile."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.data.caching import cached_once


def test_what_several_threads_ask_for_at_once_is_computed_once():
    asked = []

    @cached_once(2)
    def slow(number):
        asked.append(number)
        time.sleep(0.05)
        return [number]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(slow, [1] * 4))
    assert asked == [1] and all(one is found[0] for one in found)
    slow.cache_clear()
    assert slow(1) is not found[0] and asked == [1, 1]


def test_an_error_is_not_kept_and_holds_nobody_up():
    @cached_once(2)
    def fails():
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            fails()
