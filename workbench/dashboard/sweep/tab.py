"""What a tab of the Sweep page brings: its fields, the runs that they describe, and cards for what these show."""

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
    """A question that runs answer together."""

    name: ClassVar[str]
    title: ClassVar[str]
    heading: ClassVar[str]  # the question
    placed_at: ClassVar[dict[str, str]] = {"engines": "engine"}
    """Setting → field that shows a mistake in it."""
    cards: list[Card]
    fields: dict[str, pn.widgets.Widget]

    @abstractmethod
    def asked(self, texts: dict[str, str]) -> RunRequest:
        """Return what the fields with these texts describe."""

    @abstractmethod
    def mistakes(self, asked: RunRequest) -> dict[str, str]:
        """Return what is wrong, by setting."""

    @abstractmethod
    def find(self, readings: Iterable[Reading], asked: RunRequest) -> Found:
        """Return the runs of the form that are in the store, whoever started them."""

    @abstractmethod
    def wanted(self, asked: RunRequest, found: Found) -> dict[Place, int]:
        """Return the iterations of each run that the form describes."""

    @abstractmethod
    def describe(self, readings: Iterable[Reading], asked: RunRequest) -> str:
        """Return a sentence on the runs that Start makes."""

    @abstractmethod
    def start(self, store: Path, asked: RunRequest, found: Found) -> tuple[int, str]:
        """Start the runs of the form that have not ended; return how many, and a sentence."""

    @abstractmethod
    def request(self, readings: Iterable[Reading], asked: RunRequest, found: Found) -> Hashable:
        """Return what `results` are computed from; equal if nothing would change."""

    @abstractmethod
    def results(self, request) -> list[Shown]:
        """Return what each card shows; called in a thread."""

    def goes_on(self, store: Path, asked: RunRequest, found: Found) -> bool:
        """Return whether further runs begin by themselves."""
        return False
