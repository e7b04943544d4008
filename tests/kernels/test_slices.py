"""Slices of a corpus: where they are cut, in which order their results come, who may interrupt."""

import threading
import time
from functools import partial

import numpy as np
import pytest

from workbench.kernels import threads as slices

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
    results = slices.each_slice(
        lambda first, last: (first, last), bounds, n_threads, lambda: pulses.append(1)
    )
    assert results == bounds
    assert len(pulses) == 50 if n_threads == 1 else 1 <= len(pulses) <= 52


def test_several_threads_work_at_once():
    """Two slices that wait for each other end only when both are under way."""
    meeting = threading.Barrier(2, timeout=10)
    assert slices.each_slice(
        lambda first, last: meeting.wait() >= 0, [(0, 1), (1, 2)], 2, lambda: None
    ) == [True, True]


def test_a_range_of_rows_is_cut_like_a_whole(small_slices):
    bounds = slices.slice_bounds(INDPTR, 16, 30, 170)
    assert [row for first, last in bounds for row in range(first, last)] == list(range(30, 170))
    shifted = slices.slice_bounds(INDPTR[30:171] - INDPTR[30], 16)
    assert bounds == [(first + 30, last + 30) for first, last in shifted]
    assert slices.slice_bounds(INDPTR, 16, 30, 30) == []


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_a_task_goes_slice_after_slice_and_tasks_come_in_order(n_threads):
    def task(number, interrupt):
        trace = []
        for i in range(number):
            interrupt()
            trace.append(i)
        return trace

    tasks = [partial(task, number) for number in range(20)]
    assert slices.each_task(tasks, n_threads, lambda: None) == [
        list(range(number)) for number in range(20)
    ]
    assert slices.each_task([], n_threads, lambda: None) == []


def test_the_pulse_is_given_by_the_thread_of_the_caller_alone_while_it_waits_too():
    """The other's task outlasts the caller's by half a second: ten looks."""
    caller, pulses, both = threading.current_thread(), [], threading.Barrier(2, timeout=30)

    def task(interrupt):
        both.wait()
        time.sleep(0.0 if threading.current_thread() is caller else 0.5)
        interrupt()

    slices.each_task([task, task], 2, lambda: pulses.append(threading.current_thread()))
    assert set(pulses) == {caller} and len(pulses) >= 3


def test_while_the_pulse_waits_nobody_works():
    done, seen = [], []

    def task(number, interrupt):
        for _ in range(200):
            interrupt()
            done.append(number)
            time.sleep(0.0005)

    def interrupt():
        if not seen and len(done) > 20:
            time.sleep(0.05)  # those at work end their slices
            seen.append(len(done))
            time.sleep(0.1)
            seen.append(len(done))

    slices.each_task([partial(task, number) for number in range(4)], 4, interrupt)
    assert seen[0] == seen[1] < len(done) == 800


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_an_error_in_a_task_ends_the_others_and_comes_out(n_threads):
    done = []

    def task(number, interrupt):
        for _ in range(2000):
            interrupt()
            if number == 1 and len(done) > 5:
                raise ValueError("wrong in task 1")
            done.append(number)
            time.sleep(0.0005)

    with pytest.raises(ValueError, match="wrong in task 1"):
        slices.each_task(
            [partial(task, number) for number in (1, 0, 2, 3, 4, 5)], n_threads, lambda: None
        )
    n_done = len(done)
    time.sleep(0.02)
    assert n_done == len(done) < 6000


def test_a_stop_in_tasks_within_tasks_comes_out():
    class Stop(Exception):
        pass

    def interrupt():
        if len(done) > 10:
            raise Stop

    def outer(number, interrupt):
        return slices.each_task([partial(inner, i) for i in range(4)], 2, interrupt)

    def inner(number, interrupt):
        for _ in range(500):
            interrupt()
            done.append(number)
            time.sleep(0.001)

    done = []
    with pytest.raises(Stop):
        slices.each_task([partial(outer, number) for number in range(4)], 2, interrupt)
    n_done = len(done)
    time.sleep(0.02)
    assert n_done == len(done) < 8000


# ---------------------------------------------------------------------- waves


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_a_row_takes_a_step_only_after_the_row_before(n_threads):
    """With rows that are quick and slow in turn, every step sees the rows in order, and a row its steps."""
    seen, moved = [], threading.Lock()

    def work(row, step):
        time.sleep(0.0005 if row % 2 else 0.0)
        with moved:
            seen.append((row, step))
        return 10 * row + step

    assert slices.each_wave(work, 7, 4, n_threads, lambda: None) == [
        [10 * row + step for step in range(4)] for row in range(7)
    ]
    assert all([row for row, s in seen if s == step] == list(range(7)) for step in range(4))
    assert all([s for r, s in seen if r == row] == list(range(4)) for row in range(7))


def test_rows_are_under_way_at_once():
    """The last step of a row and the first of the next wait for each other."""
    meeting = threading.Barrier(2, timeout=10)

    def work(row, step):
        return meeting.wait() >= 0 if row + step == 1 else True

    assert slices.each_wave(work, 2, 2, 2, lambda: None) == [[True, True], [True, True]]


def test_steps_behind_the_ordered_ones_wait_for_no_other_row():
    """The last steps of two rows wait for each other, after first steps in order."""
    seen, meeting = [], threading.Barrier(2, timeout=10)

    def work(row, step):
        seen.append((row, step))
        return meeting.wait() >= 0 if step else True

    assert slices.each_wave(work, 6, 2, 2, lambda: None, n_ordered=1) == [[True, True]] * 6
    assert [row for row, step in seen if step == 0] == list(range(6))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_an_error_in_a_step_ends_the_rows_that_wait_for_it(n_threads):
    def work(row, step):
        if (row, step) == (1, 2):
            raise ZeroDivisionError
        done.append((row, step))

    done = []
    with pytest.raises(ZeroDivisionError):
        slices.each_wave(work, 50, 4, n_threads, lambda: None)
    assert (1, 2) not in done and len(done) < 50
