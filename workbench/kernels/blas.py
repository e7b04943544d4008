"""Linear algebra by BLAS in one thread at a time, so that its bits do not depend on how many threads it may use.

BLAS has one number of threads for the whole process, which `threadpoolctl` lets one thread alone change at a time: here always
the same one. The limit ends when the last who asked for it leaves. It has no effect while someone else holds a limit of their
own in another thread. What is left to BLAS is its version and the processor: other builds may add in another order.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

_lock, _limit, _inside = Lock(), ExitStack(), []


@cache
def _controlling_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="workbench-blas")


# a fork has no threads: it would wait for one forever
os.register_at_fork(after_in_child=_controlling_thread.cache_clear)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread():
    """Within it BLAS and LAPACK, called from any thread, stay in the thread that calls them."""
    with _lock:
        if not _inside:
            _controlling_thread().submit(
                lambda: _limit.enter_context(_controller().limit(limits=1, user_api="blas"))
            ).result()
        _inside.append(None)
    try:
        yield
    finally:
        with _lock:
            _inside.pop()
            if not _inside:
                _controlling_thread().submit(_limit.close).result()
