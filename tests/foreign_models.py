"""A small corpus with held-out tokens, models of other programs that were fit on it, and what these predict themselves."""

import warnings
from functools import cache
from itertools import pairwise

import numpy as np
from missing import skip_without_program
from toys import dense

import workbench as wb

N_TOPICS = 3
SPLIT = {"fraction": 0.2, "seed": 0, "per": "corpus"}


@cache
def split_corpus():
    """Training and test corpus: 24 documents over 30 words, of which each training document has some."""
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.full(30, 1.0), N_TOPICS)
    counts = np.array(
        [rng.multinomial(40, rng.dirichlet(np.full(N_TOPICS, 0.5)) @ topics) for _ in range(24)]
    )
    counts += counts.sum(axis=0) < 10  # so that each word has a training token
    d, w = np.nonzero(counts)
    corpus = wb.Corpus.from_pairs(
        d, w, counts[d, w], vocabulary=[f"word{w}" for w in range(30)], name="toy"
    )
    return wb.hold_out_tokens(corpus, 0.2, 0)


def texts_of(corpus) -> list[list[str]]:
    """The tokens of each document, as words."""
    return [
        [
            corpus.vocabulary[w]
            for w, n in zip(corpus.words[a:b], corpus.counts[a:b], strict=True)
            for _ in range(n)
        ]
        for a, b in pairwise(corpus.indptr)
    ]


def bags_of(corpus) -> list[list[tuple[int, int]]]:
    """The counts of each document, as gensim takes them."""
    return [
        list(zip(corpus.words[a:b].tolist(), corpus.counts[a:b].tolist(), strict=True))
        for a, b in pairwise(corpus.indptr)
    ]


def own_perplexity(theta, phi, words) -> float:
    """exp of the mean negative log of sum_k theta_dk phi_kw over the held-out tokens, in plain NumPy."""
    train, test = split_corpus()
    place = {word: at for at, word in enumerate(words)}
    phi = np.asarray(phi, float)[:, [place[word] for word in train.vocabulary]]
    probability = (np.asarray(theta, float)[test.documents] * phi.T[test.words]).sum(axis=1)
    return float(np.exp(-(test.counts @ np.log(probability)) / test.n_tokens))


def tomotopy_model(kind: str, **more):
    """A model of tomotopy on the training corpus; its documents are in `docs`."""
    skip_without_program("tomotopy")
    with warnings.catch_warnings():
        # of its compiled part, about itself: as errors they hide it
        warnings.simplefilter("ignore")
        import tomotopy

    sizes = {"HDPModel": {"initial_k": 2}, "PAModel": {"k1": 2, "k2": N_TOPICS}}.get(
        kind, {"k": N_TOPICS}
    )
    model = getattr(tomotopy, kind)(seed=1, **sizes, **more)
    for text in texts_of(split_corpus()[0]):
        model.add_doc(text)
    model.train(30, workers=1)
    return model


def of_tomotopy(kind: str, model):
    """theta and phi as a model of tomotopy says them, and its words."""
    topics = [
        k
        for k in range(model.k2 if kind == "PAModel" else model.k)
        if kind != "HDPModel" or model.is_live_topic(k)
    ]
    theta = np.array(
        [(d.get_sub_topic_dist() if kind == "PAModel" else d.get_topic_dist()) for d in model.docs]
    )[:, topics]
    return theta, np.array([model.get_topic_word_dist(k) for k in topics]), list(model.used_vocabs)


@cache
def gensim_model():
    skip_without_program("gensim")
    from gensim.models import LdaModel

    train, _ = split_corpus()
    return LdaModel(
        bags_of(train),
        num_topics=N_TOPICS,
        id2word=dict(enumerate(train.vocabulary)),
        passes=3,
        random_state=1,
    )


@cache
def sklearn_model():
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(N_TOPICS, max_iter=5, random_state=0).fit(
        dense(split_corpus()[0])
    )


@cache
def tables():
    """theta and phi that no program made."""
    rng = np.random.default_rng(7)
    return rng.dirichlet(np.ones(N_TOPICS), 24), rng.dirichlet(np.full(30, 0.5), N_TOPICS)
