"""Fixtures of the tests of records."""

import pytest

from workbench.records import Records, load_records


@pytest.fixture(scope="session")
def votes() -> Records:
    """Votes of the US House in 1984, and the party."""
    return load_records("votes:party=keep")
