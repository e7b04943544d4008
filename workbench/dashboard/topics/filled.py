"""A component that shows what is found in the background, and in which one topic can be chosen."""

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
    """How often a picture of ``most`` points has changed: with each row, then whenever rows grow by 1 / most."""
    return n_rows if n_rows <= most else int(most * (1.0 + math.log(n_rows / most)))


class Filled(Drawn):
    """Shows what a function returns; ``_filled`` names the parameters that are empty while nothing is shown."""

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
        """Takes what ``work(*asked)`` returns, unless that was asked last.

        ``waiting`` is said meanwhile where nothing is shown, or all of it will be ``anew``.
        """

        def then(result, error) -> None:
            self.take(**result) if error is None else self._empty(sentence_of(error))

        def first() -> None:
            if waiting and (anew or not any(getattr(self, name) for name in self._filled)):
                # as the result is sent: what a busy socket makes Panel send later would come after it, and stay
                with_lock(self._latest.document, lambda: self.param.update(said=waiting))

        self._latest.submit(asked, partial(work, *asked), then, first)

    def take(self, **shown) -> None:
        """Shows what was found."""
        self.param.update(**shown)

    def clear(self, said: str = "") -> None:
        """Nothing is shown but, perhaps, a sentence."""
        self._latest.reset()
        self._empty(said)

    def _empty(self, said: str) -> None:
        self.take(said=said, **{name: type(getattr(self, name))() for name in self._filled})
