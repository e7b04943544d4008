"""Fixtures of the tests of this folder."""

import pytest
from toys import read_oracles, toy_a


@pytest.fixture(scope="session")
def oracles() -> dict:
    """Exact values for the toy corpora; see tests/oracles."""
    return read_oracles()


@pytest.fixture
def toy():
    """(corpus, model) of toyA: 2 documents, 3 words, 9 tokens, 2 topics."""
    return toy_a()
