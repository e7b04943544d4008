import tempfile

import pytest
from runs_in_shards import drawn_corpus

import workbench as wb
from workbench.corpus.shards import shard_writer
from workbench.runs.execution import memory_check
from workbench.runs.execution.control import StoreControl
from workbench.runs.execution.worker import carry_on
from workbench.runs.store import writer
from workbench.runs.store.turning import pending


@pytest.fixture(scope="session")
def thirty_documents():
    """(train, test): 30 documents of 40 tokens over 50 words, a tenth held out."""
    corpus, _ = wb.LDA(3, 0.2, 0.2).simulate(30, 50, 40, seed=1)
    return wb.hold_out_tokens(corpus, fraction=0.1, seed=0)


@pytest.fixture(scope="session")
def halves(thirty_documents):
    return thirty_documents


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs"


@pytest.fixture(scope="session")
def forty_documents():
    """(train, test) of 40 documents of 60 tokens."""
    return wb.hold_out_tokens(wb.LDA(4, 0.3, 0.2).simulate(40, 30, 60, seed=3)[0], 0.1, 0)


@pytest.fixture(scope="session")
def pair():
    """Training and test corpus of `drawn_corpus`, whole."""
    return wb.hold_out_tokens(drawn_corpus(), 0.2, 1)


@pytest.fixture(scope="session")
def in_shards(pair, tmp_path_factory):
    """The same two in folders, in five shards or more."""
    folder = tmp_path_factory.mktemp("shards")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shard_writer, "SHARD_PAIRS", 64)
        train, test = (
            wb.ShardedCorpus.write(corpus, folder / name)
            for corpus, name in zip(pair, ("train", "test"), strict=True)
        )
    assert train.n_parts >= 5
    return train, test


@pytest.fixture
def out_of_core(monkeypatch, tmp_path):
    """Nothing fits into memory any more once it is called."""

    def begin():
        monkeypatch.setattr(
            memory_check, "predict_whole", lambda planned: memory_check.Prediction(2**60, 0, 0, 0)
        )
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
        (tmp_path / "scratch").mkdir()

    return begin


@pytest.fixture
def at_once(monkeypatch):
    """A worker looks for requests before each step, not ten times a second."""
    monkeypatch.setattr(StoreControl, "asked", lambda control: bool(pending(control._path)))


@pytest.fixture
def every_checkpoint(monkeypatch):
    """Each iteration writes a checkpoint."""
    monkeypatch.setattr(writer, "CHECKPOINT_EVERY", 0.0)
    monkeypatch.setattr(writer, "CHECKPOINT_SHARE", 1e9)


@pytest.fixture
def start(monkeypatch):
    """Runs that are started are computed at once, in this process."""
    monkeypatch.setattr("workbench.runs.execution.run.launch", carry_on)
    return wb.start
