"""Reader of gensim's LdaModel: phi is that of the model; theta is inferred by gensim, since the model does not keep it."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import shown
from workbench.runs.foreign.foreign_model import ForeignError, ForeignModel

START = 0
"""Seed of the random starts of documents, so that theta is reproducible."""
DOCUMENTS = 2000
"""Documents per call of gensim's inference; fixed, since the random starts depend on the position within a call."""


def read_model(model) -> ForeignModel:
    """Return the topics of a gensim LdaModel."""
    import gensim

    words = None
    if getattr(model, "id2word", None):
        words = tuple(str(model.id2word[number]) for number in range(model.num_terms))
    eta = np.unique(model.eta)
    return ForeignModel(
        "gensim-lda",
        f"gensim {gensim.__version__}",
        np.asarray(model.get_topics(), np.float64),
        words,
        infer=lambda documents: theta_of(model, documents),
        topic_prior=tuple(np.asarray(model.alpha, np.float64).tolist()),
        word_prior=float(eta[0]) if len(eta) == 1 else None,
    )


def theta_of(model, documents: Corpus) -> np.ndarray:
    """Infer theta (document, topic) as gamma / sum(gamma) of `LdaModel.inference`, keeping the model's random state."""
    before, theta = model.random_state, np.empty((documents.n_documents, model.num_topics))
    model.random_state = np.random.RandomState(START)
    try:
        for first in range(0, documents.n_documents, DOCUMENTS):
            last = min(first + DOCUMENTS, documents.n_documents)
            ends = documents.indptr[first : last + 1].tolist()
            bags = [
                list(
                    zip(
                        documents.words[begin:end].tolist(),
                        documents.counts[begin:end].tolist(),
                        strict=True,
                    )
                )
                for begin, end in pairwise(ends)
            ]
            gamma, _ = model.inference(bags)
            gamma = np.asarray(gamma, np.float64)
            theta[first:last] = gamma / gamma.sum(axis=1, keepdims=True)
    finally:
        model.random_state = before
    return theta


def read_file(path: Path) -> ForeignModel:
    """Return the topics in a file saved by gensim; the caller must trust the file, which is a pickle."""
    try:
        from gensim.models import LdaModel
    except ImportError as error:
        raise ForeignError(
            f"{path} is a model of gensim, which is not installed; pip install gensim"
        ) from error
    try:
        model = LdaModel.load(str(path))
    except Exception as error:  # a pickle may raise anything
        raise ForeignError(
            f"{path} cannot be read as a model of gensim ({type(error).__name__}: {shown(error)}); the files "
            "beside it belong to it; save it again"
        ) from error
    if not isinstance(model, LdaModel):
        raise ForeignError(
            f"of gensim LdaModel is read; {path} has a {type(model).__name__}; give its theta and phi as arrays"
        )
    return read_model(model)
