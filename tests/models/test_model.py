"""The defaults of the base classes of models."""

from dataclasses import dataclass

import numpy as np
import pytest

from workbench.corpus import Corpus
from workbench.models import Model, Priors, TopicModel, Variable

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
