import numpy as np
import pytest

from workbench.models import LDA, VARIABLES, ModelError


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
