"""`workbench import` of models of other programs."""

import numpy as np
import pytest
from foreign_models import own_perplexity, split_corpus, tables

import workbench as wb


@pytest.fixture
def there(tmp_path):
    """A store with a run, and beside it a model as npz and its words as a text."""
    (train, test), (theta, phi) = split_corpus(), tables()
    wb.fit(
        train,
        "cgs",
        n_topics=3,
        n_iterations=3,
        test=test,
        store=tmp_path / "runs",
        name="ours",
        progress=False,
    )
    np.savez(tmp_path / "model.npz", theta=theta, phi=phi)
    (tmp_path / "words.txt").write_text("\n".join(train.vocabulary) + "\n")
    return tmp_path


def test_a_model_becomes_a_run_beside_ours(there, command, told):
    line = "import model.npz --like ours --words words.txt --name theirs --alpha 0.5"
    (run,) = told(*line.split())["runs"]
    theta, phi = tables()
    assert run["test_perplexity"] == pytest.approx(
        own_perplexity(theta, phi, split_corpus()[0].vocabulary), abs=1e-6
    )
    assert (run["name"], run["engine"], run["n_iterations"], run["elapsed"]) == (
        "theirs",
        "tables",
        None,
        None,
    )
    assert "theirs" in command("runs")[1]
    assert command("report", "ours", "theirs")[0] == 0
    page = (there / "report.html").read_text()
    assert "1 of 2 models were inferred by other programs and imported: tables (model.npz)" in page
    assert "workbench import MODEL --like RUN" in page
    assert command("report", "theirs")[0] == 0


def test_what_is_missing_is_one_sentence(there, command):
    both = ["--like", "ours", "--corpus", "votes"]
    for more, said in ((["--like", "nobody"], "no run 'nobody'"), ([], "give like"), (both, "")):
        status, _, err = command("import", "model.npz", *more)
        assert status == 2 and err.count("\n") == 1 and said in err
