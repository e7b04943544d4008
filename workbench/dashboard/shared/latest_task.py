"""Work of one place of the page: one piece at a time, and of the wishes that come meanwhile only the last."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn

from workbench.dashboard.shared.background import LOOKS, in_background


class Latest:
    """Does what was asked for last, in a thread; a wish that is done or under way already is not done again."""

    def __init__(self, workers=LOOKS):
        self._document, self._workers = pn.state.curdoc, workers
        self._wanted, self._wish, self._busy = None, None, False

    def ask(
        self, wanted, work: Callable[[], object], then: Callable[[object, Exception | None], None],
        first: Callable[[], None] = lambda: None,
    ) -> None:
        """Has ``work`` done and ``then(result, error)`` called, unless ``wanted``, which names the wish, was the last one.

        ``first`` is called before, in the session: to say that something is under way.
        """
        if wanted != self._wanted:
            self._wanted, self._wish = wanted, (work, then)
            first()
            self._go()

    def forget(self) -> None:
        """The next wish is done whatever it is; what is under way comes to nothing."""
        self._wanted = self._wish = None

    def _go(self) -> None:
        if self._busy or self._wish is None:
            return
        self._busy, wish = True, self._wish

        def done(result, error) -> None:
            self._busy = False
            if self._wish is wish:
                self._wish = None
                wish[1](result, error)
            self._go()

        in_background(self._document, wish[0], done, self._workers)
