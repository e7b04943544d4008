"""The interface of a tab of the Sweep page: its fields, the runs that they describe, and the cards with their results."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import ClassVar

import panel as pn

from workbench.dashboard.shared.card import Card, Shown
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.sweep.runs import Found, Place
from workbench.runs.request import RunRequest


class Tab(ABC):
    """A question that several runs answer together."""

    name: ClassVar[str]
    title: ClassVar[str]
    heading: ClassVar[str]  # the question
    placed_at: ClassVar[dict[str, str]] = {"engines": "engine"}
    """Setting → field that shows a mistake in it."""
    cards: list[Card]
    fields: dict[str, pn.widgets.Widget]

    @abstractmethod
    def asked(self, texts: dict[str, str]) -> RunRequest:
        """Return the request that the texts of the fields describe."""

    @abstractmethod
    def mistakes(self, asked: RunRequest) -> dict[str, str]:
        """Return the mistakes of the request as sentences, by setting."""

    @abstractmethod
    def find(self, readings: Iterable[Reading], asked: RunRequest) -> Found:
        """Return the runs of the form that the store has, whoever started them."""

    @abstractmethod
    def wanted(self, asked: RunRequest, found: Found) -> dict[Place, int]:
        """Return the iterations of each run that the form describes."""

    @abstractmethod
    def describe(self, readings: Iterable[Reading], asked: RunRequest) -> str:
        """Return a sentence on the runs that Start would start."""

    @abstractmethod
    def start(self, store: Path, asked: RunRequest, found: Found) -> tuple[int, str]:
        """Start the runs of the form that have not ended; return their number and a sentence."""

    @abstractmethod
    def request(self, readings: Iterable[Reading], asked: RunRequest, found: Found) -> Hashable:
        """Return the input of `results`; equal inputs give equal results."""

    @abstractmethod
    def results(self, request) -> list[Shown]:
        """Return the content of each card; called in a thread."""

    def goes_on(self, store: Path, asked: RunRequest, found: Found) -> bool:
        """Return whether further runs start by themselves."""
        return False
