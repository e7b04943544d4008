"""The defaults of the base classes of models, LDA, and the order of correlated topics on the stick."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.options import OptionError
from workbench.models import LDA, VARIABLES, Model, ModelError, Priors, TopicModel, Variable
from workbench.models.stick_breaking.correlated_topics import CorrelatedTopics
from workbench.models.stick_breaking.orders import permutation

SHARE = Variable("share", ("snapshot", "word"), "", "share of each word")


@dataclass(frozen=True)
class Shares(Model):
    takes = ("beta",)
    beta: float = 0.1

    def recorded(self, options):
        return (SHARE,)


@dataclass(frozen=True)
class Topics(TopicModel):
    n_topics: int = 3

    def priors(self, last):
        return Priors(np.full(self.n_topics, 1.0), 0.5)


def test_model_that_defines_only_what_it_records_answers_all_that_a_run_asks():
    corpus = Corpus.from_pairs([0, 0, 1], [0, 1, 1], [1, 2, 3], ["a", "b"])
    model = Shares.of(beta=0.5)
    assert model.settings() == {"beta": 0.5} and model.size_label is None
    assert model.for_data(corpus) is model and model.with_coords({}) is model
    assert model.dims() == {} and model.dims(corpus) == {"word": 2, "document": 2, "token": 6}
    assert model.coords(corpus)["word"] == (("a", "b"), "word type")
    assert model.estimates({}, corpus) == {} == model.hyperparameters(None)
    assert model.describe() == [] and model.tiny(7).counts.tolist() == [1, 7, 2]
    assert model.tiny(0).counts.tolist() == [1, 1, 2]  # of a model without topics, ``most`` is 0
    with pytest.raises(NotImplementedError):
        Model().recorded(None)


def test_topic_model_has_a_dimension_a_label_and_means_of_its_priors():
    model, counts = Topics(), {"n_dk": np.array([[1.0, 0.0, 2.0]]), "n_kw": np.eye(3)}
    assert model.size_label == ("K", 3) and model.dims() == {"topic": 3}
    means = {name: np.asarray(values) for name, values in model.estimates(counts, None).items()}
    assert means["theta"].tolist() == [[2 / 6, 1 / 6, 3 / 6]]
    assert means["phi"][0].tolist() == [1.5 / 2.5, 0.5 / 2.5, 0.5 / 2.5]


# ---------------------------------------------------------------------- LDA


def test_a_number_of_alpha_is_one_per_topic():
    assert LDA(3, 0.5).alphas.tolist() == [0.5, 0.5, 0.5]
    assert LDA(2, [0.1, 0.2]).alphas.tolist() == [0.1, 0.2]
    assert LDA(np.int64(2), np.float32(0.5)).n_topics == 2


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_topics": "ten"}, "topics must be a whole number from 1 to 65535; got 'ten'"),
        ({"n_topics": 65_536}, "topics must be a whole number from 1 to 65535; got 65536"),
        (
            {"alpha": float("inf")},
            "alpha must be a number greater than 0 (at least 1e-08); got inf",
        ),
        ({"alpha": None}, "alpha must be a number greater than 0 (at least 1e-08); got None"),
        (
            {"n_topics": 2, "alpha": [0.1, -0.1]},
            "alpha must be a number greater than 0 (at least 1e-08); got -0.1",
        ),
        ({"beta": 1e-9}, "beta must be a number greater than 0 (at least 1e-08); got 1e-09"),
    ],
)
def test_wrong_hyperparameters_get_one_sentence(settings, sentence):
    with pytest.raises(ModelError) as caught:
        LDA(**settings)
    assert str(caught.value) == sentence


def test_a_simulated_corpus_has_the_frequencies_of_its_truth():
    corpus, truth = LDA(3, 0.3, 0.3).simulate(200, 12, 500, seed=0)
    assert corpus.document_tokens.tolist() == [500] * 200
    expected = (truth["theta"] @ truth["phi"]).sum(0) * 500
    observed = np.bincount(corpus.words, corpus.counts, minlength=12)
    # Each word's total is a sum of 200 multinomial parts: its variance is at most its mean; 5 standard deviations.
    assert np.all(np.abs(observed - expected) < 5 * np.sqrt(expected))
    assert np.array_equal(truth["n_dk"].sum(1), corpus.document_tokens)
    assert np.array_equal(truth["n_kw"].sum(0), observed) and np.array_equal(
        truth["n_dk"].sum(0), truth["n_kw"].sum(1)
    )
    again, _ = LDA(3, 0.3, 0.3).simulate(200, 12, 500, seed=0)
    assert again.content_hash == corpus.content_hash
    assert LDA(3, 0.3, 0.3).simulate(200, 12, 500, seed=1)[0].content_hash != corpus.content_hash


def test_a_simulated_corpus_is_the_one_that_stored_runs_have():
    """The hash was printed before the drawing was done in `corpus.catalog.synthetic`; numpy's generator may change it."""
    assert LDA(4, 0.3, 0.2).simulate(12, 20, 15, 3)[0].content_hash.startswith("4ba17239e536")


def test_every_variable_says_what_it_is_in_one_sentence():
    for name, variable in VARIABLES.items():
        assert (
            variable.name == name
            and variable.dims
            and len(variable.meaning) > 10
            and "\n" not in variable.meaning
        )


# ---------------------------------------------------------------------- the model of correlated topics

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
    assert CorrelatedTopics(3).stick_order(sizes).tolist() == [1, 2, 0]
    assert CorrelatedTopics(3, order="2,0,1").stick_order(sizes).tolist() == [0, 1, 2]
    assert CorrelatedTopics(3, order="0,1,2").stick_order(sizes).tolist() == [1, 2, 0]


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
    assert "2,0,1" in about["help"] and about["otherwise"] is permutation


def test_a_seed_of_an_order_that_is_not_random_is_refused():
    with pytest.raises(
        wb.ModelError,
        match="^order_seed=3 is without effect while order=size; set order=random, or leave out",
    ):
        CorrelatedTopics(3, order_seed=3).for_data(CORPUS)
    assert CorrelatedTopics(3, order="random", order_seed=3).for_data(CORPUS).order_seed == 3
