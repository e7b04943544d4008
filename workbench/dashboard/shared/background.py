"""Long work in threads, so that no page freezes; for some tasks only the latest request counts."""

import logging
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import panel as pn
from tornado.ioloop import IOLoop

from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.ui_events import with_lock
from workbench.numbers import capital

THREAD_PREFIX = "workbench-pool-"
"""Prefix of the names of these threads."""
STARTS, LOOKS, SEARCHES, FILES = (
    ThreadPoolExecutor(2, thread_name_prefix=f"{THREAD_PREFIX}{name}")
    for name in ("starts", "looks", "searches", "files")
)
"""Thread pools for starting runs, reading and drawing, searching, and writing files; separate, so that none delays another."""
LOG = logging.getLogger(__name__)


def in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this process."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def in_background(
    document,
    work: Callable[[], object],
    on_result: Callable[[object, Exception | None], None],
    workers: ThreadPoolExecutor = STARTS,
) -> None:
    """Do ``work`` in a thread, then call ``on_result(result, error)`` in the session; without a session, do both at once.

    A notebook has no session; there ``on_result`` is called on the loop of the kernel.

    Call this in the thread of the server, where the session lives. The result comes back through the loop of the server, since
    `add_next_tick_callback` of a document would make it the current document of the whole process, and another session at work
    at that moment would mix its models with those of this one.
    """
    loop = IOLoop.current() if document is not None or in_notebook() else None

    def task() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as problem:  # it is shown to the visitor
            error = problem
            if not isinstance(problem, ValueError) and not _shutting_down(workers):
                LOG.exception("a request of the page failed")
        if loop is None:
            on_result(result, error)
        else:
            loop.add_callback(come_back, result, error)

    def come_back(result: object, error: Exception | None) -> None:
        if document is None or document.session_context is not None:
            with_lock(document, partial(on_result, result, error))

    if loop is None:
        task()
    else:
        workers.submit(task)


def _shutting_down(workers: ThreadPoolExecutor) -> bool:
    """Return whether the process is ending, so that thread pools accept no more work."""
    try:
        workers.submit(int)
    except RuntimeError:
        return True
    return False


def sentence_of(error: Exception) -> str:
    """Return the message of an error as one sentence for visitors, with a capital letter."""
    return capital(policy().for_visitors(" ".join(str(error).split()) or type(error).__name__))


class LatestTask:
    """A runner of the latest request in a thread, one at a time; a request equal to the last is not repeated."""

    def __init__(self, workers=LOOKS):
        self.document, self._workers = pn.state.curdoc, workers
        self._key, self._request, self._busy = None, None, False

    def submit(
        self,
        key,
        work: Callable[[], object],
        on_result: Callable[[object, Exception | None], None],
        on_start: Callable[[], None] = lambda: None,
    ) -> None:
        """Do ``work`` and call ``on_result(result, error)``, unless ``key``, the key of the request, equals the last key.

        ``on_start`` is called before, in the session: to show that something is in progress.
        """
        if key != self._key:
            self._key, self._request = key, (work, on_result)
            on_start()
            self._go()

    def reset(self) -> None:
        """Forget the last key, so that any next request is done, and drop the result of one in progress."""
        self._key = self._request = None

    def _go(self) -> None:
        if self._busy or self._request is None:
            return
        self._busy, request = True, self._request

        def finish(result, error) -> None:
            self._busy = False
            if self._request is request:
                self._request = None
                request[1](result, error)
            self._go()

        in_background(self.document, request[0], finish, self._workers)
