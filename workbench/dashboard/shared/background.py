"""Work that takes a while, done in threads, so that no page freezes meanwhile; of some only the latest request matters."""

import logging
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import panel as pn
from tornado.ioloop import IOLoop

from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.ui_events import with_lock

NAMED = "workbench-pool-"
"""Beginning of the names of these threads."""
STARTS, LOOKS, SEARCHES, FILES = (
    ThreadPoolExecutor(2, thread_name_prefix=f"{NAMED}{name}")
    for name in ("starts", "looks", "searches", "files")
)
"""Threads that start runs, read counts and draw, search, and write files: apart, so that no figure delays a search."""
LOG = logging.getLogger(__name__)


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this process."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def in_background(
    document,
    work: Callable[[], object],
    then: Callable[[object, Exception | None], None],
    workers: ThreadPoolExecutor = STARTS,
) -> None:
    """Does ``work`` in a thread, then calls ``then(result, error)`` in the session; without one, all of it now.

    In a notebook there is no session, and the loop is the kernel's.

    To be called where the session lives, in the thread of the server. The worker comes back through the server's
    loop: even `add_next_tick_callback` of a document makes that document the current one of the whole process, and
    another session that works at that moment then mixes its models with those of this one.
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
            then(result, error)
        else:
            loop.add_callback(come_back, result, error)

    def come_back(result: object, error: Exception | None) -> None:
        if document is None:
            then(result, error)
        elif document.session_context is not None:
            with_lock(document, partial(then, result, error))

    if loop is None:
        task()
    else:
        workers.submit(task)


def _shutting_down(workers: ThreadPoolExecutor) -> bool:
    """Whether the process is being ended: no thread pool takes work then."""
    try:
        workers.submit(int)
    except RuntimeError:
        return True
    return False


def sentence_of(error: Exception) -> str:
    """The error as one sentence that begins with a capital, as visitors may see it."""
    sentence = policy().shown(" ".join(str(error).split()) or type(error).__name__)
    return sentence[0].upper() + sentence[1:]


class LatestTask:
    """Does what was requested last, in a thread; a request that equals the one before is not done again."""

    def __init__(self, workers=LOOKS):
        self.document, self._workers = pn.state.curdoc, workers
        self._wanted, self._request, self._busy = None, None, False

    def submit(
        self,
        wanted,
        work: Callable[[], object],
        then: Callable[[object, Exception | None], None],
        first: Callable[[], None] = lambda: None,
    ) -> None:
        """Does ``work`` and calls ``then(result, error)``, unless ``wanted``, the key of the request, was the last one.

        ``first`` is called before, in the session: to show that something is under way.
        """
        if wanted != self._wanted:
            self._wanted, self._request = wanted, (work, then)
            first()
            self._go()

    def reset(self) -> None:
        """Does the next request whatever it is; the result of one that is under way is dropped."""
        self._wanted = self._request = None

    def _go(self) -> None:
        if self._busy or self._request is None:
            return
        self._busy, request = True, self._request

        def done(result, error) -> None:
            self._busy = False
            if self._request is request:
                self._request = None
                request[1](result, error)
            self._go()

        in_background(self.document, request[0], done, self._workers)
