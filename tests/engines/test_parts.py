"""How functions of an engine that yield work over a corpus in one part, and how sums of parts are taken."""

from typing import NamedTuple

import numpy as np
import pytest

from workbench.engines.engine import (
    Largest,
    Meeting,
    Phase,
    Rows,
    add_sums,
    over_parts,
    row_fields,
    start_of,
    step_of,
)


class State(NamedTuple):
    n_dk: Rows
    n_wk: np.ndarray
    steps: int


STATE = State(np.ones((2, 3)), np.ones((4, 3)), 0)


def counted(corpus, model, options, state, context):
    state, sums = yield Meeting(state, {"updates": corpus, "n_wk": state.n_wk})
    return state._replace(steps=state.steps + 1), {"updates": sums["updates"], "moved": 0.5}


def nothing_due(corpus, model, options, state, context):
    return state, {}
    yield


def test_step_of_gives_back_what_its_phases_yield_and_adds_up_their_updates():
    step = step_of(Phase(counted), Phase(nothing_due), Phase(counted))
    state, told = step(5, None, None, STATE, None)
    assert state.n_wk is STATE.n_wk and state.steps == 2
    assert told == {"updates": 10, "moved": 0.5}
    assert len(step.phases) == 3


def test_start_of_takes_the_first_state_through_its_phases():
    def first(corpus, model, options, context, warm_start=None):
        return (yield Meeting(STATE))[0]

    assert start_of(first, Phase(counted))(5, None, None, None).steps == 1


def test_over_parts_refuses_a_generator_that_yields_twice():
    @over_parts
    def watch():
        yield Meeting(STATE)
        yield Meeting(STATE)

    with pytest.raises(TypeError, match="has one meeting, and this one yielded twice"):
        watch()


def test_row_fields_are_those_of_the_type_rows():
    assert row_fields(State) == ("n_dk",)


def test_add_sums_adds_arrays_in_place_joins_lists_and_takes_the_largest_change():
    total = {"n_wk": np.ones(2), "guests": [1], "change": Largest(0.5), "updates": 3}
    array = total["n_wk"]
    added = add_sums(total, {"n_wk": np.ones(2), "guests": [2], "change": 0.25, "updates": 4})
    assert added["n_wk"] is array and array.tolist() == [2, 2]
    assert (added["guests"], added["change"], added["updates"]) == ([1, 2], 0.5, 7)
