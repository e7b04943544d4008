"""Fixtures of the tests of records."""

import pytest
from missing import skip_without

from workbench.errors import DataError
from workbench.records import Records, load_records


@pytest.fixture(scope="session")
def votes() -> Records:
    """Votes of the US House in 1984; skipped where WORKBENCH_DATA does not hold them, failed under WORKBENCH_NO_SKIP=1."""
    try:
        return load_records("votes")
    except DataError as error:
        skip_without(str(error))
