"""TopicModel beside scikit-learn's LatentDirichletAllocation, each as the last step of the same pipeline.

A pipeline of CountVectorizer and an estimator is fitted to nine tenths of the documents, as texts; a tenth is unseen. Half of
the words of each unseen document, drawn at random, are transformed, the other half is scored: perplexity is exp of the mean
negative log of sum_k theta_dk phi_kw, with theta as transformed and phi the rows of `components_` divided by their sums; words
without a place in the vocabulary are left out. Both have alpha = beta = 0.1, learn no prior and use one thread; all else is as
it is by default, but for what stands beside a name: TopicModel takes 100 iterations of `svb-cgs`, LatentDirichletAllocation 10
of batch variational Bayes. Times are CPU times of `fit`, with the words counted, and of `transform`. Contenders take turns; a
round has a split and starts of its own.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pandas as pd
from corpora import corpus_called
from ours import LeftOut
from peers import ALPHA, BETA
from records import markdown

from workbench.corpus import hold_out_documents, split_halves

NAME = "scikit_learn"
TITLE = "As a scikit-learn estimator"
CORPORA = {"kos": 20, "docstrings": 20}
"""Corpus → topics."""
N_ROUNDS = 5
PEERS = {
    "LatentDirichletAllocation": {},
    "LatentDirichletAllocation, max_iter=50": {"max_iter": 50},
    "LatentDirichletAllocation, online": {"learning_method": "online"},
}
OURS = {
    "TopicModel": {},
    "TopicModel, cvb0": {"engine": "cvb0"},
    "TopicModel, cgs": {"engine": "cgs"},
    "TopicModel, vb": {"engine": "vb"},
    "TopicModel, online-vb, max_iter=10": {"engine": "online-vb", "max_iter": 10},
}


def cells(plan):
    """(name, rough seconds, what measures it) of every corpus."""
    for name in plan.corpora[:1] if plan.quick else CORPORA:
        yield name, 300, partial(measure, name, plan)


def measure(name: str, plan) -> list[dict]:
    try:
        corpus = corpus_called(name)
    except LeftOut as why:
        return [{"corpus": name, "contender": "all", "left_out": str(why)}]
    n_topics, rows = CORPORA.get(name, 10), []
    about = {
        "corpus": name,
        "n_topics": n_topics,
        "n_words": corpus.n_words,
        "n_documents": corpus.n_documents,
    }
    few = corpus.of_documents(range(min(50, corpus.n_documents)))
    for contender in (*PEERS, *OURS):  # compiles, and does not count
        measured(contender, few, split_halves(few, 0), 2, 0)
    for round_ in range(min(N_ROUNDS, plan.rounds)):
        train, unseen = hold_out_documents(corpus, 0.1, round_)
        halves = split_halves(unseen, round_)
        for contender in (*PEERS, *OURS):
            found = measured(contender, train, halves, n_topics, round_)
            rows.append(
                about
                | {"n_tokens": train.n_tokens, "contender": contender, "round": round_}
                | found
            )
    return rows


def measured(contender: str, train, halves, n_topics: int, seed: int) -> dict:
    """CPU seconds of fit and transform of a contender, and its perplexity of the second half of unseen documents."""
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    from workbench.sklearn import TopicModel

    kind, given = (TopicModel, OURS) if contender in OURS else (LatentDirichletAllocation, PEERS)
    model = kind(
        n_topics,
        doc_topic_prior=ALPHA,
        topic_word_prior=BETA,
        random_state=seed,
        **given[contender],
    )
    pipeline = make_pipeline(CountVectorizer(analyzer=str.split), model)
    texts, (observed, scored) = texts_of(train), map(texts_of, halves)
    began = time.process_time()
    pipeline.fit(texts)
    fitted = time.process_time()
    theta = pipeline.transform(observed)
    done = time.process_time()
    phi, cells = (
        model.components_ / model.components_.sum(axis=1, keepdims=True),
        pipeline[0].transform(scored).tocoo(),
    )
    probability = np.einsum("ik,ki->i", theta[cells.row], phi[:, cells.col])
    perplexity = float(np.exp(-np.sum(cells.data * np.log(probability)) / cells.data.sum()))
    return {"cpu": fitted - began, "cpu_transform": done - fitted, "perplexity": perplexity}


def texts_of(corpus) -> list[str]:
    """Documents as texts, their words with blanks between them."""
    words = np.array(corpus.vocabulary, dtype=object)
    return [
        " ".join(np.repeat(words[corpus.words[first:last]], corpus.counts[first:last]))
        for first, last in zip(corpus.indptr[:-1], corpus.indptr[1:], strict=True)
    ]


def told(rows: pd.DataFrame) -> str:
    """A table for each corpus: CPU seconds of fit and transform, perplexity with its range."""
    parts, done = [__doc__.split("\n\n", 1)[1].strip()], rows.dropna(subset=["cpu"])
    for corpus, own in done.groupby("corpus", sort=False):
        first, lines = own.iloc[0], []
        for name, of_one in own.groupby("contender", sort=False):
            middle, found = of_one.median(numeric_only=True), of_one["perplexity"]
            lines.append(
                [
                    name,
                    f"{middle['cpu']:.2f}",
                    f"{middle['cpu_transform']:.2f}",
                    f"{middle['perplexity']:,.0f}",
                    f"{found.min():,.0f} to {found.max():,.0f}",
                ]
            )
        size = f"{first['n_documents']:,} documents, {first['n_words']:,} words"
        heads = [
            f"{corpus}: {size}, K={first['n_topics']}",
            "fit, CPU s",
            "transform, CPU s",
            "perplexity",
            "of the rounds",
        ]
        parts.append(markdown(heads, lines))
    missing = rows[rows["left_out"].notna()] if "left_out" in rows else rows[:0]
    parts += [f"{row['corpus']} is left out: {row['left_out']}." for _, row in missing.iterrows()]
    return "\n\n".join(parts)
