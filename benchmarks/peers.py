"""The peers, each with one sweep as its own `fit` does it, on one thread, in float64, nothing learnt of the priors.

Every class takes a corpus, K and a seed, and has ``sweep(n)``, and ``theta_phi()``: theta (document, topic), phi (word, topic).
``inner`` is how often scikit-learn and gensim go through a document in one sweep, "usual" for their own defaults.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise

import numpy as np
from ours import LeftOut, normalised

ALPHA = BETA = 0.1


def wanted(module: str):
    """The module of a peer, or LeftOut where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise LeftOut("not installed; the extra bench has it") from None


def sparse_counts(corpus, dtype):
    """(document, word) counts in compressed rows."""
    from scipy.sparse import csr_matrix

    return csr_matrix(
        (corpus.counts.astype(dtype), corpus.words, corpus.indptr),
        (corpus.n_documents, corpus.n_words),
    )


class Tomotopy:
    """LDAModel, its collapsed Gibbs sampler; counts in int32, weights in float32."""

    samples = True

    def __init__(self, corpus, n_topics: int, seed: int = 0, n_threads: int = 1):
        tomotopy = wanted("tomotopy")
        self.n_threads, self.sizes = n_threads, (corpus.n_documents, corpus.n_words)
        self.model = self._model(tomotopy, n_topics, seed + 1)
        names = np.array([str(w) for w in range(corpus.n_words)], dtype=object)
        for d in self._used(corpus):
            pairs = slice(corpus.indptr[d], corpus.indptr[d + 1])
            about = self._about(corpus, d)
            self.model.add_doc(
                np.repeat(names[corpus.words[pairs]], corpus.counts[pairs]).tolist(), **about
            )
        self.used = self._used(corpus)

    def _model(self, tomotopy, n_topics: int, seed: int):
        model = tomotopy.LDAModel(k=n_topics, alpha=ALPHA, eta=BETA, seed=seed)
        model.optim_interval = 0
        return model

    def _about(self, corpus, document: int) -> dict:
        """What it is told of a document beside its words."""
        return {}

    @staticmethod
    def _used(corpus) -> np.ndarray:
        """The documents that have a token; it takes no others."""
        return np.flatnonzero(np.diff(corpus.indptr))

    def sweep(self, n_sweeps: int = 1) -> None:
        self.model.train(n_sweeps, workers=self.n_threads)

    def theta_phi(self):
        theta = np.ones((self.sizes[0], self.model.k))
        theta[self.used] = [document.get_topic_dist() for document in list(self.model.docs)]
        # its vocabulary has the words of the corpus alone
        phi = np.full((self.sizes[1], self.model.k), BETA)
        words = [int(word) for word in self.model.used_vocabs]
        for k in range(self.model.k):
            phi[words, k] = self.model.get_topic_word_dist(k, normalize=False)
        return normalised(theta, phi)


class Lda:
    """The package lda: `_sample_topics`, without the shuffling of its random numbers that `fit` adds to each sweep.

    ``topics`` (token,) are where it begins; at random without.
    """

    samples = True

    def __init__(self, corpus, n_topics: int, seed: int = 0, topics: np.ndarray | None = None):
        self.model = wanted("lda").LDA(n_topics, alpha=ALPHA, eta=BETA, random_state=seed)
        self.random = np.random.default_rng(seed)
        if topics is None:
            topics = self.random.integers(n_topics, size=corpus.n_tokens)
        model, counts = self.model, corpus.counts
        model.WS = np.repeat(corpus.words, counts).astype(np.intc)
        model.DS = np.repeat(corpus.documents, counts).astype(np.intc)
        model.ZS = topics.astype(np.intc)
        size = n_topics * corpus.n_words
        n_wk = np.bincount(model.WS * np.int64(n_topics) + model.ZS, minlength=size).reshape(
            -1, n_topics
        )
        size = n_topics * corpus.n_documents
        n_dk = np.bincount(model.DS * np.int64(n_topics) + model.ZS, minlength=size).reshape(
            -1, n_topics
        )
        model.nzw_ = np.asfortranarray(n_wk.T.astype(np.intc))
        model.ndz_, model.nz_ = (
            np.ascontiguousarray(n_dk.astype(np.intc)),
            n_wk.sum(axis=0).astype(np.intc),
        )
        self.n_rands = len(model._rands)
        self.rands = self.random.random(2 * self.n_rands)

    def sweep(self, n_sweeps: int = 1) -> None:
        for _ in range(n_sweeps):
            begin = self.random.integers(self.n_rands)
            self.model._sample_topics(self.rands[begin : begin + self.n_rands])

    def theta_phi(self):
        return normalised(self.model.ndz_ + ALPHA, self.model.nzw_.T + BETA)


class Sklearn:
    """LatentDirichletAllocation, batch: `_em_step`, which restarts every document at random."""

    samples = False

    def __init__(self, corpus, n_topics: int, seed: int = 0, inner: int | str = 1):
        decomposition = wanted("sklearn.decomposition")
        self.counts = sparse_counts(corpus, np.float64)
        limits = {} if inner == "usual" else {"max_doc_update_iter": inner, "mean_change_tol": 0.0}
        self.model = decomposition.LatentDirichletAllocation(
            n_topics,
            doc_topic_prior=ALPHA,
            topic_word_prior=BETA,
            learning_method="batch",
            random_state=seed,
            n_jobs=1,
            **limits,
        )
        self.model._init_latent_vars(corpus.n_words, dtype=np.float64)

    def sweep(self, n_sweeps: int = 1) -> None:
        for _ in range(n_sweeps):
            self.model._em_step(self.counts, total_samples=self.counts.shape[0], batch_update=True)

    def theta_phi(self):
        theta, _ = self.model._e_step(self.counts, cal_sstats=False, random_init=False)
        return normalised(theta, self.model.components_.T)


class Gensim:
    """LdaModel, all documents in one chunk, batch: `do_estep` and `do_mstep` as `update` calls them, rho = 1."""

    samples = False

    def __init__(self, corpus, n_topics: int, seed: int = 0, inner: int | str = 1):
        ldamodel = wanted("gensim.models.ldamodel")
        limits = {} if inner == "usual" else {"iterations": inner, "gamma_threshold": 0.0}
        self.model = ldamodel.LdaModel(
            None,
            n_topics,
            id2word={w: str(w) for w in range(corpus.n_words)},
            alpha=ALPHA,
            eta=BETA,
            update_every=0,
            eval_every=None,
            dtype=np.float64,
            random_state=seed,
            **limits,
        )
        self.new_state = lambda: ldamodel.LdaState(
            self.model.eta, self.model.state.sstats.shape, self.model.dtype
        )
        words, counts = corpus.words.tolist(), corpus.counts.astype(float).tolist()
        self.documents = [
            list(zip(words[a:b], counts[a:b], strict=True))
            for a, b in pairwise(corpus.indptr.tolist())
        ]
        # so that statistics of the whole corpus are taken as they are
        self.model.state.numdocs = corpus.n_documents

    def sweep(self, n_sweeps: int = 1) -> None:
        for _ in range(n_sweeps):
            statistics = self.new_state()
            self.model.do_estep(self.documents, statistics)
            self.model.do_mstep(1.0, statistics, True)

    def theta_phi(self):
        theta, _ = self.model.inference(self.documents)
        return normalised(theta, self.model.state.get_lambda().T)


PEERS = {"tomotopy": Tomotopy, "lda": Lda, "scikit-learn": Sklearn, "gensim": Gensim}
