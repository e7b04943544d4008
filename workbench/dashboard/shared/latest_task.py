"""Work in a thread of which only the latest request matters: one at a time, and of those that come meanwhile only the last."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn

from workbench.dashboard.shared.background import LOOKS, in_background


class Latest:
    """Does what was requested last, in a thread; a request that equals the one before is not done again."""

    def __init__(self, workers=LOOKS):
        self._document, self._workers = pn.state.curdoc, workers
        self._wanted, self._request, self._busy = None, None, False

    def ask(
        self, wanted, work: Callable[[], object], then: Callable[[object, Exception | None], None],
        first: Callable[[], None] = lambda: None,
    ) -> None:
        """Does ``work`` and calls ``then(result, error)``, unless ``wanted``, the key of the request, was the last one.

        ``first`` is called before, in the session: to show that something is under way.
        """
        if wanted != self._wanted:
            self._wanted, self._request = wanted, (work, then)
            first()
            self._go()

    def forget(self) -> None:
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

        in_background(self._document, request[0], done, self._workers)
