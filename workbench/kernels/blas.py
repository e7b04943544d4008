"""Linear algebra by BLAS in one thread at a time, so that its bits do not depend on how many threads it may use.

The limit holds for the whole process, since BLAS has but one, and ends when the last who asked for it leaves. What is left to
BLAS is its version and the processor: other builds may add in another order.
"""

from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

_lock, _inside = Lock(), []


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread():
    """Within it BLAS and LAPACK, called from any thread, stay in the thread that calls them."""
    with _lock:
        if not _inside:
            _inside.append(_controller().limit(limits=1, user_api="blas"))
        _inside.append(None)
    try:
        yield
    finally:
        with _lock:
            _inside.pop()
            if len(_inside) == 1:
                _inside.pop().restore_original_limits()
