"""Topic models as a scikit-learn estimator, for pipelines, grid searches and other tools."""

import contextlib
import math
import numbers
import os
from collections.abc import Iterator, Sequence

import numpy as np

from workbench.corpus import Corpus, split_halves
from workbench.corpus.corpus import INT32_MAX
from workbench.corpus.streams import in_batches
from workbench.engines import ENGINES, STREAMING, engine_called, get_engine
from workbench.engines.engine import Engine, StepContext
from workbench.engines.lda import online_vb
from workbench.engines.lda.fold_in import LearntTopics, numbers_by_content
from workbench.engines.options import options_of
from workbench.errors import ALONE, DataError, InputError, Named, not_installed, one_sentence
from workbench.models.model import tiny_bag
from workbench.runs.afterwards.learnt import Topics, topics_of
from workbench.runs.execution.fit import fit
from workbench.runs.settings import DEFAULT_HYBRID
from workbench.runs.spec import SpecError, make_model
from workbench.runs.store.status import FINISHED

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise InputError(not_installed("estimators", "scikit-learn", "sklearn")) from None

CALLED = {
    "n_topics": "n_components",
    "alpha": "doc_topic_prior",
    "beta": "topic_word_prior",
    "n_iterations": "max_iter",
    "seed": "random_state",
    "n_threads": "n_jobs",
    "stop_tolerance": "tol",
}
"""Setting of a run → the parameter of the estimator."""


def _goes_on(estimator: "TopicModel") -> bool:
    """Return True if the estimator's engine supports partial_fit; else raise AttributeError, with the engines that do."""
    if estimator.engine == STREAMING:
        return True
    raise AttributeError(
        f"engine={estimator.engine!r} learns from all documents at once, so there is no partial_fit; choose "
        f"engine={STREAMING!r}"
    )


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A topic model of a matrix of counts (document, word), fitted by an engine of this package.

    A fit gives the same bits as `workbench.fit` with the same settings. Parameters have the names of scikit-learn's
    LatentDirichletAllocation if it has them; those of the engine are in ``options``.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics; for ``cv-hdp`` the maximum, for ``g-hdp`` the initial number. ``n_components_`` is the number
        after the fit.
    engine : str, default="svb-cgs"
        An engine that needs only counts, of LDA, the HDP or correlated topics: "vb", "svb", "online-vb", "cvb", "cvb0", "cgs",
        "svb-cgs", "cvb-cgs", "cvb0-cgs", "adaptive-cgs", "mixed-cgs", "slda", "dmr", "cv-hdp", "g-hdp", "sb-ctm",
        "ln-ctm", "ctm-em", "sb-ctm-vb"; those of networks infer LDA here. See `workbench.engines`.
    doc_topic_prior : float or array of shape (n_components,), default=None
        alpha, the Dirichlet prior of each topic in a document; None: 0.1 (scikit-learn: 1 / n_components). The HDP and
        correlated topics have other priors, and raise an error.
    topic_word_prior : float or array, default=None
        beta, the Dirichlet prior of each word in a topic, in LDA also (word,) or (topic, word); None: 0.1. The HDP raises an
        error.
    max_iter : int, default=100
        Iterations over the documents. Samplers have fast iterations, and need more than scikit-learn.
    tol : float, default=None
        Stop early when the bound changes by at most this relative amount in ten iterations; for engines that have a bound.
        None: always ``max_iter`` iterations.
    options : dict, default=None
        Options of the engine, as ``{"r": 1}`` or ``{"learn_alpha": "maximised"}``; `workbench.engines` lists them. For
        ``partial_fit``, ``total_documents`` is the size of the corpus that a batch represents; by default the documents so far.
    store : path, default=None
        Folder in which each fit is stored as a run; a fit that exists is read, not computed again. None: in memory only.
    n_jobs : int, default=None
        Threads of one fit or transform; they do not change results. None: 1; -1: one per processor. Samplers also need
        ``options={"partition": 4}`` to use them.
    verbose : int, default=0
        Above 0, a progress bar is shown on stderr.
    random_state : int, RandomState or None, default=None
        An int is the ``seed`` of `workbench.fit`; otherwise each fit draws a seed. `transform` uses the seed of the fit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Pseudo-counts as in LatentDirichletAllocation: (expected) tokens of each word in each topic plus the prior.
        Rows divided by their sums are the probabilities of words.
    n_components_ : int
        Number of topics after the fit.
    n_iter_ : int
        Iterations of the fit; each `partial_fit` is one more.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Columns of a DataFrame, which are the words of ``run_``.
    seed_ : int
        The seed of fit, transform and perplexity.
    run_ : xarray.Dataset
        The run, for other functions of this package, as ``workbench.topics(model.run_)``; missing after `partial_fit`.

    Notes
    -----
    All methods take counts, dense or of scipy.sparse. They raise DataError, a ValueError, for an entry that is negative,
    not finite or not whole. A document may have no words; its theta is the prior mean.
    """

    def __init__(
        self,
        n_components=10,
        engine=DEFAULT_HYBRID,
        *,
        doc_topic_prior=None,
        topic_word_prior=None,
        max_iter=100,
        tol=None,
        options=None,
        store=None,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        self.n_components = n_components
        self.engine = engine
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.tol = tol
        self.options = options
        self.store = store
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        # scikit-learn's checks know no counts; so they come with whole numbers
        tags.input_tags.categorical = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_topics")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def fit(self, X, y=None):
        """Learn topics from counts.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Whole numbers of at least 0, not all 0.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        SpecError, ModelError, OptionError, DataError
            Each is a ValueError; the estimator does not change. Ctrl-C raises KeyboardInterrupt; the next fit resumes a run in
            a ``store``.
        """
        with _unless_it_fails(self):
            self._learn(self._corpus(X, first=True), self.max_iter, self.store)
        return self

    @available_if(_goes_on)
    def partial_fit(self, X, y=None):
        """Update the topics with more documents, in batches of ``options["batch_size"]``; only the engine `online-vb` can.

        The first call, without topics yet, is a fit of one iteration. Later calls visit each document once, as
        `workbench.update` does, with the priors of the last fit.

        Parameters
        ----------
        X, y
            As of `fit`, with the same features.

        Returns
        -------
        self
        """
        if self.store is not None:
            raise SpecError(
                "partial_fit keeps no run; leave store out, or continue a run of the store with workbench.update"
            )
        has_topics = hasattr(self, "_topics")
        if has_topics and (engine := self._topics.spec.engine) != STREAMING:
            raise SpecError(
                f"{STREAMING} continues from its own topics, and these are of a fit by {engine}; fit with {STREAMING} first"
            )
        with _unless_it_fails(self):
            corpus = self._corpus(X, first=not has_topics)
            if has_topics:
                self._go_on(corpus)
            else:
                self._learn(corpus, 1, None)
                del self.run_
        return self

    def transform(self, X):
        """Return theta (document, topic), the topic proportions of documents, inferred with the topics fixed.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            Rows sum to one; for an HDP the share of topics without tokens is left out. A row depends only on the words of
            its document, also for samplers, and is the same at each call. For training documents it differs slightly from
            ``run_.theta``.
        """
        corpus = self._corpus(X, first=False)
        with _worded():
            theta = self._topics.fold_in(
                corpus, self.seed_, self._n_threads(), numbers=numbers_by_content(corpus)
            )
        theta = theta[:, : self.n_components_]
        return theta / theta.sum(axis=1, keepdims=True)

    def perplexity(self, X, y=None) -> float:
        """Return the document-completion perplexity: theta is fitted to a random half of each document, the rest is scored.

        It is exp of the mean negative log probability of the scored tokens, as in `workbench.document_completion`. The one
        of LatentDirichletAllocation differs: exp of a bound, on the same words that theta is fitted to.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Documents of fewer than two tokens are left out; DataError if there are no others.
        y : ignored
        """
        corpus = self._corpus(X, first=False)
        with _worded():
            observed, scored = split_halves(corpus, self.seed_)
            return self._topics.perplexity(
                self._topics.fold_in(observed, self.seed_, self._n_threads()), scored
            )

    def score(self, X, y=None) -> float:
        """Return the mean log probability of the scored tokens, in nats: minus the log of `perplexity`. Larger is better."""
        return -math.log(self.perplexity(X))

    def _corpus(self, X, first: bool) -> Corpus:
        """Return the counts as a corpus; record the column names of X if ``first``, else compare them with those of the fit."""
        if not first:
            check_is_fitted(self)
        counts = validate_data(
            self, X, reset=first, accept_sparse="csr", dtype="numeric", ensure_all_finite=False
        )
        if first:
            words = getattr(self, "feature_names_in_", None)
            words = [f"w{w}" for w in range(counts.shape[1])] if words is None else words
        else:
            words = self._topics.vocabulary
        return corpus_of_counts(counts, tuple(map(str, words)))

    def _learn(self, corpus: Corpus, n_iterations: int, store) -> None:
        """Fit the topics anew to the corpus and store them in the estimator."""
        _refuse_empty(corpus)
        seed, n_threads = _seed_of(self.random_state), self._n_threads()
        engine = _engine_of_counts(self.engine)
        priors = {"alpha": self.doc_topic_prior, "beta": self.topic_word_prior}
        _refuse_priors(engine, priors)
        run_settings = {} if self.tol is None else {"stop_on": "bound", "stop_tolerance": self.tol}
        if run_settings and "bound" not in engine.watches:
            raise SpecError(
                f"{engine.name} has no bound, whose change tol is compared with; leave tol out, or choose one of "
                f"{_able('bound')}",
                field="tol",
                value=self.tol,
            )
        # the last is all that is looked at
        run_settings |= {"snapshot_every": n_iterations} if store is None else {}
        with _worded():
            run = fit(
                corpus,
                engine.name,
                self.n_components,
                **priors,
                n_iterations=n_iterations,
                seed=seed,
                options=self.options,
                n_threads=n_threads,
                store=store,
                progress=bool(self.verbose),
                **run_settings,
            )
        if run.attrs["state"] != FINISHED:
            raise KeyboardInterrupt
        self.run_, self.seed_, self.n_iter_ = run, seed, int(run["iteration"][-1])
        self._keep(topics_of(run, None))
        if engine.name == STREAMING:
            self._n_visited = int(np.count_nonzero(corpus.document_tokens))
            self._n_batches = self.n_iter_ * online_vb.n_batches(
                self._n_visited, self._topics.spec.parts()[2]
            )

    def _go_on(self, corpus: Corpus) -> None:
        """Update the topics with the documents of a corpus, batch by batch."""
        _refuse_empty(corpus)
        options, (priors, n_kw) = self._topics.spec.parts()[2], self._topics.of_words
        rows = np.flatnonzero(corpus.document_tokens)
        self._n_visited += len(rows)
        state = online_vb.topics_alone(n_kw, priors.alphas, priors.word_prior)
        context = StepContext(self.seed_, 0, self._n_threads())
        for documents in in_batches(rows.tolist(), options.batch_size):
            batch = online_vb.batch_of(*online_vb.some_documents(corpus, documents))
            share = (options.total_documents or self._n_visited) / len(documents)
            online_vb.take_in(batch, state, options, options.rate(self._n_batches), share, context)
            self._n_batches += 1
        topics = LearntTopics(priors, np.ascontiguousarray(state.mean_wk[:, : len(n_kw)].T))
        self._keep(self._topics._replace(of_words=topics, learnt=topics))
        self.n_iter_ += 1
        vars(self).pop("run_", None)

    def _keep(self, topics: Topics) -> None:
        """Store the learnt topics for `transform`, and in the attributes that scikit-learn prescribes."""
        priors, n_kw = topics.of_words
        self._topics, self.n_components_ = topics, topics.n_topics
        self.components_ = (n_kw + priors.beta)[: topics.n_topics]

    def _n_threads(self) -> int:
        """Return the number of threads that ``n_jobs`` stands for, by the rules of joblib."""
        n_jobs = self.n_jobs
        if n_jobs is None:
            return 1
        if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
            raise SpecError.must_be(
                "n_jobs",
                "a whole number of threads from 1 on, -1 for all processors, or None",
                n_jobs,
            )
        return int(n_jobs) if n_jobs > 0 else max(1, os.cpu_count() + 1 + int(n_jobs))


@contextlib.contextmanager
def _unless_it_fails(estimator: "TopicModel") -> Iterator[None]:
    """Restore all attributes of an estimator if the block raises an error."""
    attributes = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(attributes)
        raise


@contextlib.contextmanager
def _worded() -> Iterator[None]:
    """Re-raise errors of the block with the estimator's names of settings, such as doc_topic_prior instead of alpha."""

    def to_text(part) -> str:
        if not isinstance(part, Named) or part.field not in CALLED:
            return str(part)
        return (
            CALLED[part.field]
            if part.value is ALONE
            else str(part._replace(field=CALLED[part.field]))
        )

    try:
        yield
    except InputError as error:
        field = CALLED.get(error.field, error.field)
        raise type(error)(
            one_sentence(error.parts, to_text), field=field, value=error.value
        ) from None


def _seed_of(random_state) -> int:
    """Return a seed: ``random_state`` itself if it is an integer, else a number drawn from it."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _engine_of_counts(name: str) -> Engine:
    """Return the engine of a name; raise OptionError for an unknown one, SpecError if it needs more than word counts."""
    engine = get_engine(engine_called(name))
    if lacking := _lacking(engine):
        raise SpecError(
            f"engine must learn topics from counts of words alone, and {name} {lacking}; choose one of {_able()}",
            field="engine",
            value=name,
        )
    return engine


def _able(*scalars: str) -> str:
    """Return the names, joined by commas, of engines that learn topics from word counts and record all ``scalars``."""
    return ", ".join(
        engine.name
        for engine in map(get_engine, ENGINES)
        if {*scalars} <= {*engine.watches} and not _lacking(engine)
    )


def _lacking(engine: Engine) -> str:
    """Return why an engine cannot learn topics from word counts, as the end of a sentence; "" if it can."""
    if engine.model.data is not Corpus:
        return f"infers from {engine.model.data.__name__}"
    if engine.fold_in is None:
        return "has no topics of unseen documents"
    try:
        engine.suits(make_model(engine).for_data(tiny_bag(1)))
        engine.check_options(engine.options(), tiny_bag(1))
    except InputError:
        return "needs more of documents, as their years"
    return ""


def _refuse_empty(corpus: Corpus) -> None:
    """Raise DataError if no document has a word."""
    if not corpus.n_tokens:
        raise DataError(
            f"X must have a count above 0 to learn from; all of {corpus.n_documents} x {corpus.n_words} are 0; give "
            "documents with words"
        )


def _refuse_priors(engine: Engine, priors: dict) -> None:
    """Raise SpecError if a prior is given that the engine's model does not have."""
    for name in (
        name
        for name, value in priors.items()
        if value is not None and name not in engine.model.takes
    ):
        sentence = f"{engine.name} has no {CALLED[name]}; leave it out"
        if f"{name}_total" in options_of(engine):
            sentence += f", and set the option {name}_total if it is not to be learnt"
        raise SpecError(sentence, field=CALLED[name])


INSTEAD = "give counts, as of CountVectorizer, and no weights, as of TfidfVectorizer"


def corpus_of_counts(matrix, vocabulary: Sequence[str], name: str = "counts") -> Corpus:
    """Return a matrix of counts (document, word), dense or of scipy.sparse, as a corpus; the matrix is not changed.

    Documents may have no words, even all of them.

    Raises
    ------
    DataError
        The error names row and column of the first entry that is not finite, negative, not whole, or too large.
    """
    from scipy.sparse import csr_array

    cells = csr_array(matrix)
    if not cells.has_canonical_format or not np.all(cells.data):
        cells = cells.copy()
        cells.sum_duplicates()
        cells.eliminate_zeros()
    values = cells.data
    for is_wrong, sentence in (
        (
            ~np.isfinite(values),
            "counts must be finite; {where} has {value}; leave such rows out, or fill them with counts",
        ),
        (
            values < 0,
            "Negative values in data: counts are whole numbers from 0 on; {where} has {value}; "
            + INSTEAD,
        ),
        (
            values != np.floor(values),
            "counts must be whole numbers; {where} has {value}; " + INSTEAD,
        ),
        (
            values > INT32_MAX,
            f"a count may not exceed {INT32_MAX:,}; {{where}} has {{value}}; divide all counts by a number",
        ),
    ):
        if is_wrong.any():
            position = int(np.argmax(is_wrong))
            row, value = (
                int(np.searchsorted(cells.indptr, position, side="right")) - 1,
                values[position].item(),
            )
            location = (
                f"row {row} (counted from 0), column {vocabulary[cells.indices[position]]!r},"
            )
            raise DataError(
                sentence.format(where=location, value="NaN" if math.isnan(value) else f"{value:g}")
            )
    titles = tuple(f"document {d}" for d in range(cells.shape[0]))
    return Corpus(
        cells.indptr, cells.indices, values.astype(np.int32), vocabulary, titles, name=name
    )
