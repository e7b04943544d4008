import contextlib

import pytest
from cluster_runs import CORPUS, long
from clusters import Cluster
from distributed import Client

import workbench as wb
from workbench.runs.execution.run import make_runs
from workbench.runs.execution.sweep import lay_out


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A scheduler that the tests of a file share."""
    with contextlib.closing(Cluster(tmp_path_factory.mktemp("dask"))) as made:
        yield made


@pytest.fixture
def cluster(scheduler):
    """A scheduler without workers; tests may kill it."""
    if scheduler.scheduler.poll() is not None:
        scheduler.begin()
    yield scheduler
    scheduler.end_workers()
    print(scheduler.log())  # shown where the test failed


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory):
    """A cluster of one worker with one thread, which tests share that kill nothing of it."""
    with contextlib.closing(Cluster(tmp_path_factory.mktemp("dask"))) as made:
        made.add_worker()
        yield made


@pytest.fixture(scope="module")
def three_workers(tmp_path_factory):
    """A client of three workers, of which tests kill nothing: sums over them go up a tree that is not even."""
    with contextlib.closing(Cluster(tmp_path_factory.mktemp("dask"))) as made:
        for _ in range(3):
            made.add_worker("--no-nanny")
        with Client(made.address, set_as_default=False) as client:
            client.wait_for_workers(3, 120)
            yield client


@pytest.fixture
def client_to():
    """Makes clients that are closed at the end; ``timeout``: seconds in which they look for a scheduler that is gone."""
    with contextlib.ExitStack() as stack:
        yield lambda address, timeout=30: stack.enter_context(
            Client(address, timeout=timeout, set_as_default=False)
        )


@pytest.fixture(scope="module")
def corpus():
    return wb.load_corpus(CORPUS)


@pytest.fixture(scope="session")
def whole():
    """The Dataset of a run that was never interrupted, by its seed."""
    found = {}

    def run(seed):
        if seed not in found:
            train, test = wb.hold_out_tokens(wb.load_corpus(CORPUS), fraction=0.1, seed=0)
            found[seed] = wb.fit(
                train, "cgs", n_topics=2, seed=seed, test=test, progress=False, **long()
            )
        return found[seed]

    return run


@pytest.fixture
def make(corpus, store):
    """Makes runs of `cgs`, one for each seed, which nobody has begun."""

    def runs(n, **more):
        return make_runs(
            store, lay_out(corpus, {"seed": list(range(n))}, "cgs", n_topics=2, **long() | more), 1
        )

    return runs
