"""What a view of a card shows, computed in the background."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import param

from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.latest_task import Latest


class Filler:
    """Sets parameters of a view to what a function returns; ``shown`` names those that are empty where nothing is shown."""

    def __init__(self, view: param.Parameterized, *shown: str):
        self._view, self._shown, self._latest = view, shown, Latest()

    def fill(self, work: Callable[..., dict], *asked, waiting: str = "", then: Callable[[], None] = lambda: None) -> None:
        """Sets what ``work(*asked)`` returns, unless that was asked last; ``waiting`` is said while nothing is shown."""

        def done(result, error) -> None:
            if error is not None:
                self._empty(sentence_of(error))
            else:
                self._view.param.update(**result)
                then()

        def first() -> None:
            if waiting and not any(getattr(self._view, name) for name in self._shown):
                self._view.said = waiting

        self._latest.ask(asked, partial(work, *asked), done, first)

    def clear(self, said: str = "") -> None:
        """Nothing is shown but, perhaps, a sentence."""
        self._latest.forget()
        self._empty(said)

    def _empty(self, said: str) -> None:
        self._view.param.update(**{name: type(getattr(self._view, name))() for name in self._shown}, said=said)
