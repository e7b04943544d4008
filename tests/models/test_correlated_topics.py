"""The model of correlated topics: the order of its topics on the stick."""

import json

import numpy as np
import pytest

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.options import OptionError
from workbench.engines.stick_breaking.sb_ctm import stick_order
from workbench.models.stick_breaking.correlated_topics import CorrelatedTopics
from workbench.models.stick_breaking.orders import permutation

CORPUS, _ = wb.models.LDA(3).simulate(12, 8, 10)


def run_with(order, **given):
    return wb.fit(
        CORPUS, "sb-ctm", 3, n_iterations=2, options={"order": order}, progress=False, **given
    )


@pytest.mark.parametrize("order", ["2,0,1", "2-0-1", " 2 0 1 ", [2, 0, 1], (2, 0, 1)])
def test_a_permutation_is_kept_in_one_form_however_it_is_written(order):
    assert permutation(order) == CorrelatedTopics(3, order=order).order == "2,0,1"


def test_a_given_order_is_of_the_places_in_order_of_size():
    sizes = np.array([5, 30, 10])
    assert stick_order(CorrelatedTopics(3), sizes).tolist() == [1, 2, 0]
    assert stick_order(CorrelatedTopics(3, order="2,0,1"), sizes).tolist() == [0, 1, 2]
    assert stick_order(CorrelatedTopics(3, order="0,1,2"), sizes).tolist() == [1, 2, 0]


def test_a_given_order_is_part_of_the_hash_and_the_order_by_size_given_in_numbers_is_the_same_run():
    by_size, given, other = run_with("size"), run_with("0,1,2"), run_with([2, 0, 1])
    assert len({run.attrs["spec_hash"] for run in (by_size, given, other)}) == 3
    assert json.loads(other.attrs["spec"])["options"]["order"] == "2,0,1"
    assert np.array_equal(by_size["psi"].values, given["psi"].values)
    assert not np.array_equal(by_size["psi"].values, other["psi"].values)


def test_a_run_in_order_of_size_is_hashed_as_before_orders_could_be_given():
    options = json.loads(run_with("size").attrs["spec"])["options"]
    assert {name: options[name] for name in ("order", "order_seed")} == {
        "order": "size",
        "order_seed": 0,
    }


@pytest.mark.parametrize("order", ["sizes", "0,0,1", "1,2,3", "0,1.5", "", "0,1,", [0, 2], 7, None])
def test_what_is_no_permutation_is_refused_in_a_sentence(order):
    with pytest.raises(
        OptionError,
        match="must be size, random, or each place 0, 1, … of the topics once, as 2,0,1; got",
    ):
        run_with(order)


def test_a_permutation_of_other_topics_than_there_are_is_refused_before_anything_is_written(
    tmp_path,
):
    with pytest.raises(
        ValueError, match="order=1,0 has 2 places, and there are 3 topics; give each of 0 to 2 once"
    ):
        run_with("1,0", store=tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("sb-ctm")]


def test_the_option_says_what_can_be_given():
    about = get_engine("sb-ctm").model.__dataclass_fields__["order"].metadata
    assert "2,0,1" in about["meaning"] and about["otherwise"] is permutation


def test_a_seed_of_an_order_that_is_not_random_is_refused():
    with pytest.raises(
        wb.ModelError,
        match="^order_seed=3 is without effect while order=size; set order=random, or leave out",
    ):
        CorrelatedTopics(3, order_seed=3).for_data(CORPUS)
    assert CorrelatedTopics(3, order="random", order_seed=3).for_data(CORPUS).order_seed == 3
