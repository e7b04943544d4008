"""Import models of other programs into a store, each as a run with one recorded row and one snapshot."""

import math
import numbers
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import xarray as xr
from numpy.typing import ArrayLike

from workbench.corpus import AnyCorpus, Corpus
from workbench.corpus.corpus import Documents
from workbench.engines.imported import State, probability, state_of
from workbench.models.imported import Imported, content_hash
from workbench.runs.execution.run import Run, find_run
from workbench.runs.foreign.foreign_model import ForeignError, ForeignModel, checked, one_per_topic
from workbench.runs.foreign.matching import match
from workbench.runs.foreign.reading import read
from workbench.runs.recorded import Position, Row
from workbench.runs.scoring import initial_average, perplexity, score
from workbench.runs.spec import RunSpec, make_spec
from workbench.runs.store.archive import corpora_of
from workbench.runs.store.places import default_store, is_run
from workbench.runs.store.reader import RunReader
from workbench.runs.store.status import FINISHED
from workbench.runs.store.writer import RunWriter, create_run, remove_run

THE_ROW = 1
"""Iteration number of the only row and snapshot of an imported model."""
LEAVE_OUT, REFUSE = "leave out", "refuse"


def import_run(
    model: Any,
    store: str | Path | None = None,
    *,
    like: Run | str | Path | xr.Dataset | None = None,
    corpus: Documents = None,
    test: Corpus | None = None,
    split: dict | None = None,
    theta: ArrayLike | str | Path | None = None,
    words: Iterable[str] | None = None,
    alpha: float | Sequence[float] | None = None,
    beta: float | None = None,
    unknown: str = REFUSE,
    trust: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Path:
    """Import a model of another program into a store as a run; return the folder of the run.

    The run is scored on held-out tokens as runs of this package are.

    Parameters
    ----------
    model : a model, or str or path of its file
        A model of tomotopy (LDA, HDP, CT, PA; ``.bin``), gensim (LdaModel), scikit-learn (LatentDirichletAllocation) or MALLET
        (``--output-state``, or ``--topic-word-weights-file`` with ``theta``), or phi (topic, word) as array, DataFrame,
        ``.npz`` or ``.csv``.
    store : path, default ``WORKBENCH_STORE`` or ``./runs``
    like : Run, path or name in the store, optional
        A run with the training corpus, test set and split of the model.
    corpus, test, split
        Instead of ``like``: the training corpus (`Corpus`) that the model was fit on, its held-out tokens, and a record of how
        these were drawn.
    theta : (document, topic), DataFrame, or path of a CSV file or of MALLET's doc-topics, optional
        Theta of the training documents, in their order or by title, if the model does not have it.
    words : list of str, optional
        Words of the columns of phi, if the model has only their numbers (scikit-learn). Default: those of the corpus, if the
        number is the same.
    alpha, beta : optional
        Dirichlet priors of topics in a document, and of words in a topic, if the model does not have them; without alpha no
        theta of other documents is inferred.
    unknown : "refuse" or "leave out"
        What to do if the model gives probability 0 to a held-out token, for example of an unknown word: raise an error, since
        the perplexity is infinite; or leave unknown words out of the training and test set, which are then other data.
    trust : bool
        Whether to open a file of gensim, which is a pickle and can run any code.
    seed : int
        A number to tell models of one program on one split apart: runs are compared in pairs with the same seed.
    name : str, optional
        Name of the run; by default from corpus, program, K and a hash.

    Warns
    -----
    UserWarning
        The model and the corpus have different words, or the program has no theta of some documents.

    Raises
    ------
    StoreError, ForeignError, SpecError, ModelError
        Nothing is stored then.
    """
    if unknown not in (REFUSE, LEAVE_OUT):
        raise ForeignError.must_be("unknown", f"'{REFUSE}' or '{LEAVE_OUT}'", unknown)
    home = Path(store if store is not None else default_store())
    corpus, test, split = _data_of(like, home, corpus, test, split)
    foreign = read(model, theta, words, trust)
    foreign = _with_priors(checked(foreign), alpha, beta)
    train, test, theta, phi, mismatch = match(foreign, corpus, test, unknown == LEAVE_OUT)
    if mismatch:
        warnings.warn(f"{foreign.program}: {mismatch}", stacklevel=2)
    if train is not corpus:
        split = (split or {}) | {"known_words": foreign.program}
    spec = make_spec(
        train,
        foreign.engine,
        test=test,
        model=Imported(
            len(phi),
            foreign.program,
            content_hash(theta, phi),
            foreign.topic_prior,
            foreign.word_prior,
            foreign.iterations,
        ),
        split=split,
        seed=seed,
        name=name,
        n_iterations=THE_ROW,
    )
    state = state_of(train, theta, phi)
    return write_run(home, spec, train, test if spec.test else None, state)


def write_run(store: Path, spec: RunSpec, train: Corpus, test: Corpus | None, state: State) -> Path:
    """Create the folder of a run with an imported model as its only row and snapshot; return the folder."""
    existed = is_run(store / spec.name)
    path = create_run(store, spec, train, test)
    if existed and RunReader(path).status()["state"] == FINISHED:
        return path
    try:
        with RunWriter(path) as writer:
            writer.record(row_of(spec, train, test, state))
            engine, model, options = spec.parts()
            writer.snapshot(THE_ROW, engine.counts(train, model, options, state))
            writer.checkpoint(
                Position(THE_ROW, state, initial_average(test), 0.0, 0.0, 0), now=True
            )
            writer.beat(FINISHED)
    except BaseException:
        if not existed:
            remove_run(path)
        raise
    return path


def row_of(spec: RunSpec, train: Corpus, test: Corpus | None, state: State) -> Row:
    """Return the only row of an imported model's run: perplexities and topic sizes."""
    engine, model, options = spec.parts(train)
    _, scores, _ = score(engine, train, test, model, options, state, initial_average(test), False)
    training_probability = probability(state, train)
    scores["train_perplexity"] = (
        perplexity(train, training_probability) if training_probability.all() else math.inf
    )
    return Row(THE_ROW, scores, engine.watch(train, model, options, state))


def _data_of(like, store: Path, corpus, test, split) -> tuple[Corpus, Corpus | None, dict | None]:
    """Return (training corpus, test set, split) of the run ``like``; if it is None, return the given ones.

    Raises ForeignError if both or neither are given.
    """
    if (like is None) == (corpus is None):
        raise ForeignError(
            "a model is imported beside the tokens that it was fit on: give like, a run with the same "
            "training corpus and test set, or corpus (and test), one of them"
        )
    if like is not None:
        if test is not None or split is not None:
            raise ForeignError(
                "the test set is that of the run that like names; leave test and split out, or give corpus"
            )
        path = find_run(like, store)
        spec = RunReader(path).spec
        corpus, test = corpora_of(path.parent, spec)
        split = spec.split
    corpus, test = (
        data.in_memory() if isinstance(data, AnyCorpus) else data for data in (corpus, test)
    )
    if not isinstance(corpus, Corpus):
        raise ForeignError(
            "the training corpus is a Corpus (workbench.load_corpus makes one); got a "
            f"{type(corpus).__name__}; hold_out_tokens gives it with its test set"
        )
    return corpus, test, split


def _with_priors(model: ForeignModel, alpha, beta) -> ForeignModel:
    """Return the model with alpha and beta replaced by the given values; None keeps the model's value."""
    if alpha is not None:
        model = model._replace(topic_prior=one_per_topic(alpha, len(model.phi)))
    if beta is not None:
        model = model._replace(word_prior=float(beta) if isinstance(beta, numbers.Real) else beta)
    return model
