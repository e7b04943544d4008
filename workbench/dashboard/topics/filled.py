"""A component with content computed in the background, in which one item can be chosen."""

import math
from collections.abc import Callable
from functools import partial

import param

from workbench.dashboard.shared.background import LOOKS, LatestTask, sentence_of
from workbench.dashboard.shared.drawn import Drawn
from workbench.dashboard.shared.ui_events import with_lock

NONE = -1
"""Stands for no topic and no document."""


def changes(n_rows: int, most: int) -> int:
    """Return how often a picture of ``most`` points has changed: at each row, then whenever rows grow by 1 / most."""
    return n_rows if n_rows <= most else int(most * (1.0 + math.log(n_rows / most)))


class Filled(Drawn):
    """A component that shows what a function returns; ``_filled``: parameters that are empty while nothing is shown."""

    __abstract = True

    chosen = param.Integer(
        default=NONE, doc="Number of the topic, row or document that is chosen; -1: none."
    )
    said = param.String(doc="What is shown, or why nothing is, in a sentence.")

    _filled = ("content",)

    def __init__(self, workers=LOOKS, **settings):
        super().__init__(**settings)
        self._latest = LatestTask(workers)

    def fill(
        self, work: Callable[..., dict], *asked, waiting: str = "", anew: bool = False
    ) -> None:
        """Compute ``work(*asked)`` in a thread and show what it returns, unless ``asked`` equals the last.

        ``waiting`` is shown meanwhile if the component is empty, or if ``anew`` says that all of it will change.
        """

        def then(result, error) -> None:
            self.take(**result) if error is None else self._empty(sentence_of(error))

        def first() -> None:
            if waiting and (anew or not any(getattr(self, name) for name in self._filled)):
                # with the lock, as the result is; else Panel may send this after the result
                with_lock(self._latest.document, lambda: self.param.update(said=waiting))

        self._latest.submit(asked, partial(work, *asked), then, first)

    def take(self, **shown) -> None:
        """Show the result."""
        self.param.update(**shown)

    def clear(self, said: str = "") -> None:
        """Remove the content, and show a sentence if one is given."""
        self._latest.reset()
        self._empty(said)

    def _empty(self, said: str) -> None:
        self.take(said=said, **{name: type(getattr(self, name))() for name in self._filled})
