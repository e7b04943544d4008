"""Slices of a corpus: where they are cut, in which order their results come, who may interrupt."""

import threading
import time

import numpy as np
import pytest

from workbench.kernels import slices

INDPTR = np.concatenate([[0], np.cumsum(np.random.default_rng(0).integers(0, 9, 200))])


@pytest.fixture
def small_slices(monkeypatch):
    monkeypatch.setattr(slices, "SLICE_WORK", 256)


def test_slices_cover_every_row_once_and_in_order(small_slices):
    bounds = slices.slice_bounds(INDPTR, 16)
    assert len(bounds) > 10
    assert [row for first, last in bounds for row in range(first, last)] == list(range(200))


def test_no_slice_has_more_work_than_wanted_by_more_than_a_row(small_slices):
    for first, last in slices.slice_bounds(INDPTR, 16):
        assert last > first
        work = (INDPTR[last - 1] - INDPTR[first] + last - 1 - first) * 16
        assert work <= 256


def test_a_document_longer_than_a_slice_stays_whole(small_slices):
    assert slices.slice_bounds(np.array([0, 1, 10_000, 10_001]), 16) == [(0, 2), (2, 3)]


def test_a_small_corpus_is_one_slice():
    assert slices.slice_bounds(INDPTR, 16) == [(0, 200)]


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_order_whatever_the_threads(n_threads):
    bounds = [(i, i + 1) for i in range(50)]
    pulses = []
    results = slices.each_slice(lambda first, last: (first, last), bounds, n_threads, lambda: pulses.append(1))
    assert results == bounds
    assert len(pulses) == 50 if n_threads == 1 else 1 <= len(pulses) <= 52


def test_several_threads_work_at_once():
    """Two slices that wait for each other end only when both are under way."""
    meeting = threading.Barrier(2, timeout=10)
    assert slices.each_slice(lambda first, last: meeting.wait() >= 0, [(0, 1), (1, 2)], 2, lambda: None) == [True, True]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_pulse_that_raises_ends_the_pass(n_threads):
    class Stop(Exception):
        pass

    def pulse():
        if len(done) >= 3:
            raise Stop

    def work(first, last):
        time.sleep(0.001)
        done.append(first)

    done = []
    with pytest.raises(Stop):
        slices.each_slice(work, [(i, i + 1) for i in range(1000)], n_threads, pulse)
    assert 3 <= len(done) < 1000
