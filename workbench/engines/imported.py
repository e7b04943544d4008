"""Engines for models of other programs, which are imported and scored but not inferred here.

The state has theta and phi as the program gives them. The expected tokens given these are computed here,
q(z = k | d, w) ~ theta_dk phi_kw; a word that the program does not know has the topics of its document, q = theta_dk.
"""

import sys
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import IMPORTED, Engine, NoOptions, StepContext, WarmStart
from workbench.engines.lda.fold_in import LearntTopics, mixture_probability, theta_under
from workbench.kernels.lda.fold_in import collapsed_theta
from workbench.models.imported import PHI, THETA, Imported
from workbench.models.model import ModelError

PROGRAMS = {
    "tomotopy-lda": (
        "LDA of tomotopy",
        "collapsed Gibbs sampling",
        "github.com/bab2min/tomotopy",
        "#7098b8",
        "-",
        "o",
    ),
    "tomotopy-hdp": (
        "HDP of tomotopy",
        "Gibbs sampling of the hierarchical Dirichlet process",
        "github.com/bab2min/tomotopy",
        "#20a868",
        "-",
        "P",
    ),
    "tomotopy-ct": (
        "correlated topics of tomotopy",
        "Gibbs sampling",
        "github.com/bab2min/tomotopy",
        "#7890c8",
        "--",
        "X",
    ),
    "tomotopy-pa": (
        "pachinko allocation of tomotopy",
        "Gibbs sampling; its topics are the lower ones",
        "github.com/bab2min/tomotopy",
        "#1888e8",
        "-.",
        "*",
    ),
    "gensim-lda": (
        "LDA of gensim",
        "online variational Bayes",
        "radimrehurek.com/gensim",
        "#c03060",
        "--",
        "s",
    ),
    "sklearn-lda": (
        "LDA of scikit-learn",
        "variational Bayes",
        "scikit-learn.org",
        "#40a040",
        "-.",
        "^",
    ),
    "mallet-lda": (
        "LDA of MALLET",
        "sparse collapsed Gibbs sampling",
        "mimno.github.io/Mallet",
        "#a06090",
        ":",
        "D",
    ),
    "tables": (
        "topics of a table",
        "theta and phi as they were given",
        "a file or arrays",
        "#b08098",
        "-..",
        "v",
    ),
}
"""Name → title, method, source, and colour, line and marker."""


class State(NamedTuple):
    """An imported model, and the expected topic counts of the training tokens."""

    theta: np.ndarray  # (document, topic) float64, of the training documents
    # (topic, word) float64, over the words of the corpus; 0 for words that the program does not know
    phi: np.ndarray
    n_dk: np.ndarray  # (document, topic) expected tokens
    n_kw: np.ndarray  # (topic, word) expected tokens


class Learnt(NamedTuple):
    """The parameters of an imported model that inference of unseen documents needs."""

    phi: np.ndarray  # (word, topic) float64
    alphas: np.ndarray | None  # (topic,) Dirichlet prior of theta; None if unknown
    program: str


def state_of(train: Corpus, theta: np.ndarray, phi: np.ndarray) -> State:
    """Return the state of an imported model: theta (document, topic), phi (topic, word), expected training counts."""
    documents, words, n_topics = train.documents, train.words, len(phi)
    # at least the smallest double
    total = mixture_probability(theta, np.ascontiguousarray(phi.T), train)
    unknown = total <= sys.float_info.min
    weights = train.counts / np.where(unknown, 1.0, total)
    n_dk, n_kw = np.empty((train.n_documents, n_topics)), np.empty((n_topics, train.n_words))
    unit_counts = train.counts / np.maximum(theta.sum(axis=1), sys.float_info.min)[documents]
    for k in range(n_topics):
        q = np.where(
            unknown,
            theta[documents, k] * unit_counts,
            theta[documents, k] * phi[k, words] * weights,
        )
        n_dk[:, k] = np.bincount(documents, q, train.n_documents)
        n_kw[k] = np.bincount(words, q, train.n_words)
    return State(theta, phi, n_dk, n_kw)


def probability(state: State, pairs: Corpus) -> np.ndarray:
    """Return p(w | d) = sum_k theta_dk phi_kw (pair,); 0 for words that are unknown to the imported model."""
    mixture = mixture_probability(state.theta, np.ascontiguousarray(state.phi.T), pairs)
    return np.where(mixture > sys.float_info.min, mixture, 0.0)


def init(
    corpus: Corpus,
    model: Imported,
    options: NoOptions,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    raise ModelError(
        f"a model of {model.program or 'another program'} was imported and cannot be resumed; "
        "fit an engine with the run as start"
    )


def step(
    corpus: Corpus, model: Imported, options: NoOptions, state: State, context: StepContext
) -> tuple[State, dict]:
    return init(corpus, model, options, context)


def watch(corpus: Corpus, model: Imported, options: NoOptions, state: State) -> dict:
    return {"n_k": state.n_kw.sum(axis=1)}


def counts(
    corpus: Corpus, model: Imported, options: NoOptions, state: State
) -> dict[str, np.ndarray]:
    return {"n_kw": state.n_kw, "n_dk": state.n_dk, THETA.name: state.theta, PHI.name: state.phi}


def predict(
    corpus: Corpus,
    model: Imported,
    options: NoOptions,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    return probability(state, pairs)


def learnt(model: Imported, last: Mapping, topics: LearntTopics) -> Learnt:
    """Return the parameters for inference of unseen documents: phi, and the prior of theta if it is known."""
    alphas = None if model.topic_prior is None else np.array(model.topic_prior)
    return Learnt(
        np.ascontiguousarray(np.asarray(last[PHI.name]).T, np.float64), alphas, model.program
    )


def fold_in(
    parameters: Learnt, options: NoOptions, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta of unseen documents by CVB0, given phi and the prior of the other program."""
    if parameters.alphas is None:
        raise ModelError(
            f"theta of other documents needs the Dirichlet prior of the topics, which {parameters.program} does not "
            "say; import the model again with alpha"
        )
    phi = np.maximum(parameters.phi, sys.float_info.min)
    return theta_under(collapsed_theta, phi, parameters.alphas, documents, context)


def unseen(parameters: Learnt, theta: np.ndarray, pairs: Corpus) -> np.ndarray:
    """Return p(w | d) (pair,) of unseen documents."""
    return mixture_probability(theta, parameters.phi, pairs)


def engine(name: str) -> Engine:
    """Return the engine for imported models of a program."""
    title, method, source, colour, line, marker = PROGRAMS[name]
    return Engine(
        name=name,
        kind=IMPORTED,
        colour=colour,
        line=line,
        marker=marker,
        title=f"{title}: {method}, imported",
        source=source,
        model=Imported,
        options=NoOptions,
        state=State,
        watches=(),
        samples=lambda corpus, options: False,
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=fold_in,
        learnt=learnt,
        unseen=unseen,
        when="Never here: its models are imported.",
    )
