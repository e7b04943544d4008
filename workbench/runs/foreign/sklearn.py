"""Reader of scikit-learn's LatentDirichletAllocation: phi from its components, theta by its `transform`."""

import copy

import numpy as np
from scipy.sparse import csr_matrix

from workbench.corpus import Corpus
from workbench.runs.foreign.foreign_model import ForeignError, ForeignModel


def read_model(model) -> ForeignModel:
    """Return the topics of a fitted scikit-learn LDA; word names are known only if it was fitted to a DataFrame."""
    import sklearn

    if not hasattr(model, "components_"):
        raise ForeignError("this LatentDirichletAllocation has no topics yet; fit it first")
    components = np.asarray(model.components_, np.float64)
    names = getattr(model, "feature_names_in_", None)
    return ForeignModel(
        "sklearn-lda",
        f"scikit-learn {sklearn.__version__}",
        components / components.sum(axis=1, keepdims=True),
        None if names is None else tuple(map(str, names)),
        infer=lambda documents: theta_of(model, documents),
        topic_prior=(float(model.doc_topic_prior_),) * len(components),
        word_prior=float(model.topic_word_prior_),
        iterations=int(model.n_iter_),
    )


def theta_of(model, documents: Corpus) -> np.ndarray:
    """Infer theta (document, topic) by the model's own `transform`."""
    counts = csr_matrix(
        (documents.counts.astype(np.float64), documents.words, documents.indptr),
        (documents.n_documents, documents.n_words),
    )
    nameless = copy.copy(model)  # a copy that does not warn that a matrix has no column names
    vars(nameless).pop("feature_names_in_", None)
    return np.asarray(type(model).transform(nameless, counts), np.float64)
