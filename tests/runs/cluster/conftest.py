import contextlib

import pytest
from clusters import Cluster
from distributed import Client


@pytest.fixture
def cluster(tmp_path):
    """A scheduler without workers."""
    folder = tmp_path / "dask"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.close()
    print(made.log())  # shown where the test failed


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory):
    """A cluster of one worker with one thread, which tests share that kill nothing of it."""
    made = Cluster(tmp_path_factory.mktemp("dask"))
    made.add_worker()
    yield made
    made.close()


@pytest.fixture
def client_to():
    """Makes clients that are closed at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda address: stack.enter_context(Client(address, set_as_default=False))
