"""Branches of a run: from its present state with a setting turned, and from before one was turned."""

import numpy as np
import pytest
from runs.test_interventions import at_once, computed, made, replayed  # noqa: F401
from same_bits import CLOCKS

from workbench.corpus import Corpus
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on
from workbench.runs.store import writer
from workbench.runs.store.archive import BEFORE, CHECKPOINT, iteration_of_checkpoint
from workbench.runs.store.branching import branch, branch_before
from workbench.runs.store.layout import StoreError

ASKED = {4: [{"r": 2}]}


@pytest.fixture
def turned(thirty_documents, store, at_once, monkeypatch):  # noqa: F811
    """A run of which r was turned before iteration 5, killed behind iteration 8 with a checkpoint."""
    monkeypatch.setattr(writer, "CHECKPOINT_EVERY", 0.0)
    monkeypatch.setattr(writer, "CHECKPOINT_SHARE", np.inf)
    return computed(made(store, thirty_documents), ASKED, kill_at=8)


def finished(path) -> Run:
    carry_on(path)
    return Run(path)


def assert_same(run: Run, again) -> None:
    """The same numbers in each iteration, and the same last counts."""
    ds = run.dataset()
    for name in set(again.variables) - set(CLOCKS):
        if "iteration" in again[name].dims:
            np.testing.assert_array_equal(ds[name].values, again[name].values, err_msg=name)
    np.testing.assert_array_equal(ds["n_kw"][-1].values, again["n_kw"][-1].values)


def test_a_branch_has_the_bits_of_a_fit_with_its_settings_from_the_start(turned, thirty_documents):
    before = turned.rows()
    path = branch(turned.path, {"alpha": 0.5}, "me")
    new = Run(path)
    assert [(each.iteration, each.changes) for each in new.spec.interventions] == [
        (5, {"r": 2.0}),
        (len(before) + 1, {"alpha": 0.5}),
    ]
    assert new.spec.interventions[-1].who == "me" and new.name != turned.name
    np.testing.assert_array_equal(new.rows(), before)
    reached = iteration_of_checkpoint(turned.path / CHECKPOINT)
    assert iteration_of_checkpoint(path / CHECKPOINT) == reached > 4
    assert_same(finished(path), replayed(new, thirty_documents))
    np.testing.assert_array_equal(turned.rows(), before)


def test_a_branch_has_the_texts_of_its_run(store, at_once):  # noqa: F811
    corpus = Corpus.from_texts(["red ants", "green bees"] * 5)
    path = computed(made(store, (corpus, None)), {}, kill_at=8).path
    assert Run(branch(path, {"alpha": 0.5})).table.texts == corpus.table.texts


def test_the_same_branch_twice_is_one_run(turned):
    assert branch(turned.path, {"alpha": 0.5}) == branch(turned.path, {"alpha": 0.5})
    assert not list(turned.path.parent.glob("*branch*"))


def test_undoing_continues_from_before_the_last_change(turned, thirty_documents):
    path = branch_before(turned.path)
    assert iteration_of_checkpoint(path / CHECKPOINT) == len(Run(path).rows()) == 4
    assert Run(path).spec.interventions == ()
    assert_same(finished(path), replayed(Run(path), thirty_documents))


def test_what_has_no_branch_is_one_sentence(turned, thirty_documents, store):
    plain = made(store, thirty_documents, "cgs")
    with pytest.raises(StoreError, match="nothing was turned in run"):
        branch_before(plain)
    (turned.path / BEFORE).unlink()
    with pytest.raises(StoreError, match="before iteration 5 is not there"):
        branch_before(turned.path)
    with pytest.raises(StoreError, match="has finished at iteration 12"):
        branch(finished(turned.path).path, {"alpha": 0.5})
    assert not list(store.glob("*branch*"))
