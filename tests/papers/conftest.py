"""Figures of papers in place of those that there are, made in seconds."""

from collections.abc import Callable, Iterable

import pytest
from same_process import working_here

from workbench.papers import figures
from workbench.papers.figure import Figure


@pytest.fixture
def only(monkeypatch) -> Callable:
    """A function by which some figures are the only ones, with corpora by name, whose runs need no processes."""

    def only(some: Iterable[Figure], load: Callable) -> dict[str, Figure]:
        working_here(monkeypatch)
        by_name = {figure.name: figure for figure in some}
        monkeypatch.setattr(figures, "FIGURES", by_name)
        monkeypatch.setattr("workbench.papers.reproduce.load_corpus", load)
        return by_name

    return only
