import pytest

import workbench as wb
from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.execution.worker import carry_on


@pytest.fixture(scope="session")
def thirty_documents():
    """(train, test): 30 documents of 40 tokens over 50 words, a tenth held out."""
    corpus, _ = LDA(3, 0.2, 0.2).simulate(30, 50, 40, seed=1)
    return hold_out_tokens(corpus, fraction=0.1, seed=0)


@pytest.fixture(scope="session")
def halves(thirty_documents):
    return thirty_documents


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs"


@pytest.fixture(scope="session")
def forty_documents():
    """(train, test) of 40 documents of 60 tokens."""
    return hold_out_tokens(LDA(4, 0.3, 0.2).simulate(40, 30, 60, seed=3)[0], 0.1, 0)


@pytest.fixture
def start(monkeypatch):
    """Runs that are started are computed at once, in this process."""
    monkeypatch.setattr("workbench.runs.execution.run.launch", carry_on)
    return wb.start
