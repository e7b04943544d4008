"""Online variational Bayes beside that of the peers: one pass over the same documents in batches of 256.

`online-vb`, scikit-learn's `partial_fit` and gensim's LdaModel and LdaMulticore (one worker) go once through the documents, in
one random order, from a random start, with tau0 = 10, kappa = 0.7, alpha = beta = 0.1, no prior learnt. Each fits a
document as it does by default: ours in at most 20 steps, gensim in 50, scikit-learn in 100, until n_dk changes by less than
0.001 on average. Spark draws each of its 20 batches as a twentieth of all documents, its default, since every batch reads all;
it runs on one thread, and reads the documents before the clock starts. Times are CPU times, with those of processes that were
started (LdaMulticore, the Java machine of Spark). Contenders take turns, a pass each; a round has an order and starts of its
own. The perplexity is that of held-out tokens (a tenth) after the pass, with the training documents fitted anew to the topics
by each in its own way.
"""

from __future__ import annotations

import resource
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
from corpora import corpus_called
from ours import LeftOut, Ours, normalised
from peers import ALPHA, BETA, Gensim, Sklearn, sparse_counts, wanted
from records import markdown

from workbench.corpus import hold_out_tokens, synthetic
from workbench.engines.engine import StepContext
from workbench.engines.lda import online_vb
from workbench.engines.lda.fold_in import LearntTopics, by_variational_bayes, mixture_probability
from workbench.models import Priors
from workbench.runs.scoring import perplexity

NAME = "online"
TITLE = "Online variational Bayes"
BATCH, TAU0, KAPPA = 256, 10.0, 0.7
CORPORA = {"kos": 40, "zipf": 100}
"""Corpus → topics; zipf has 10^6 tokens of 30,000 words."""
N_ROUNDS = 5


class OnlineVb:
    """`online-vb`: its first pass."""

    def __init__(self, corpus, n_topics: int, seed: int, order: list[np.ndarray]):
        self.ours, self.order = (
            Ours("online-vb", corpus, n_topics, seed, given={"batch_size": BATCH}),
            order,
        )

    def go(self) -> None:
        self.ours.sweep()

    def theta_phi(self):
        state, corpus = self.ours.state, self.ours.corpus
        priors = Priors(state.alpha, state.beta)
        n_kw = self.ours.engine.counts(corpus, self.ours.model, self.ours.options, state)["n_kw"]
        learnt = LearntTopics(priors, n_kw)
        return by_variational_bayes(learnt, None, corpus, self.ours.context(0)), priors.phi(n_kw).T


class PartialFit(Sklearn):
    """scikit-learn: `partial_fit` with each batch."""

    def __init__(self, corpus, n_topics: int, seed: int, order: list[np.ndarray]):
        decomposition = wanted("sklearn.decomposition")
        self.counts, self.order = sparse_counts(corpus, np.float64), order
        self.model = decomposition.LatentDirichletAllocation(
            n_topics,
            doc_topic_prior=ALPHA,
            topic_word_prior=BETA,
            learning_offset=TAU0,
            learning_decay=KAPPA,
            total_samples=corpus.n_documents,
            random_state=seed,
            n_jobs=1,
        )

    def go(self) -> None:
        for rows in self.order:
            self.model.partial_fit(self.counts[rows])


class Update(Gensim):
    """gensim: `update` with all documents, in chunks as large as the largest batch."""

    model_class = "LdaModel", "gensim.models.ldamodel", {"update_every": 1}

    def __init__(self, corpus, n_topics: int, seed: int, order: list[np.ndarray]):
        super().__init__(corpus, n_topics, seed)  # its documents
        name, module, more = self.model_class
        self.in_order = [self.documents[d] for rows in order for d in rows]
        self.model = getattr(wanted(module), name)(
            None,
            n_topics,
            id2word=self.model.id2word,
            alpha=ALPHA,
            eta=BETA,
            decay=KAPPA,
            offset=TAU0,
            eval_every=None,
            chunksize=max(map(len, order)),
            dtype=np.float64,
            random_state=seed,
            **more,
        )

    def go(self) -> None:
        self.model.update(self.in_order)


class Multicore(Update):
    """The same by LdaMulticore with one worker."""

    model_class = "LdaMulticore", "gensim.models.ldamulticore", {"workers": 1, "batch": False}


class Spark:
    """pyspark.ml's LDA, optimizer="online", with one thread; a session of its own, that ends with the process."""

    def __init__(self, corpus, n_topics: int, seed: int, order: list[np.ndarray]):
        clustering, sql, datasets = (
            wanted("pyspark.ml.clustering"),
            wanted("pyspark.sql"),
            wanted("sklearn.datasets"),
        )
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "4g",
            "spark.driver.maxResultSize": "2g",
        }
        session = sql.SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "documents.libsvm"
            rows = sparse_counts(corpus, np.int64)
            datasets.dump_svmlight_file(
                rows, np.arange(corpus.n_documents), str(path), zero_based=False
            )
            read = (
                session.read.format("libsvm").option("numFeatures", corpus.n_words).load(str(path))
            )
            self.documents = read.persist()
            self.documents.count()  # reads them
        self.lda = clustering.LDA(
            k=n_topics,
            optimizer="online",
            maxIter=20,
            subsamplingRate=0.05,
            learningOffset=TAU0,
            learningDecay=KAPPA,
            docConcentration=[ALPHA],
            topicConcentration=BETA,
            optimizeDocConcentration=False,
            seed=seed,
        )

    def go(self) -> None:
        self.model = self.lda.fit(self.documents)

    def theta_phi(self):
        rows = self.model.transform(self.documents).select("label", "topicDistribution").collect()
        theta = np.array(
            [
                row["topicDistribution"].toArray()
                for row in sorted(rows, key=lambda row: row["label"])
            ]
        )
        self.documents.unpersist()
        return normalised(theta, self.model.topicsMatrix().toArray())


CONTENDERS = {
    "online-vb": OnlineVb,
    "scikit-learn, partial_fit": PartialFit,
    "gensim, LdaModel": Update,
    "gensim, LdaMulticore": Multicore,
    "pyspark, online": Spark,
}


def cells(plan):
    """(name, rough seconds, what measures it) of every corpus."""
    for name in plan.corpora[:1] if plan.quick else CORPORA:
        yield name, 60, partial(measure, name, plan)


def measure(name: str, plan) -> list[dict]:
    try:
        corpus = corpus_of(name)
    except LeftOut as why:
        return [{"corpus": name, "contender": "all", "left_out": str(why)}]
    n_topics = CORPORA.get(name, 10)
    train, test = hold_out_tokens(corpus, fraction=0.1, seed=0)
    options = online_vb.Options(batch_size=BATCH)
    about = {
        "corpus": name,
        "n_topics": n_topics,
        "n_words": corpus.n_words,
        "n_documents": corpus.n_documents,
    }
    rows = []
    for round_ in range(-1, min(N_ROUNDS, plan.rounds)):  # the first compiles, and does not count
        order = online_vb.batches_of(train, options, StepContext(round_ + 1, 1))
        for contender, make in CONTENDERS.items():
            try:
                made = make(train, n_topics, round_ + 1, order)
            except LeftOut as why:
                rows += [{"contender": contender, "left_out": str(why)}] if round_ == 0 else []
                continue
            before = cpu_seconds()
            made.go()
            cpu = cpu_seconds() - before
            if round_ >= 0:
                found = perplexity(test, mixture_probability(*made.theta_phi(), test))
                rows.append(
                    {"contender": contender, "round": round_, "cpu": cpu, "perplexity": found}
                )
    return [about | {"n_tokens": train.n_tokens} | row for row in rows]


def corpus_of(name: str):
    """The corpus of a name."""
    if name != "zipf":
        return corpus_called(name)
    return synthetic.zipf(n_documents=5000, n_words=30_000, tokens_per_document=157, n_topics=100)[
        0
    ]


def cpu_seconds() -> float:
    """Of this process and of those that it started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    alive = [each.cpu_times() for each in psutil.Process().children(recursive=True)]
    return (
        time.process_time()
        + ended.ru_utime
        + ended.ru_stime
        + sum(each.user + each.system for each in alive)
    )


def told(rows: pd.DataFrame) -> str:
    """A table for each corpus: CPU microseconds a token, how many times those of `online-vb`, perplexity."""
    parts, done = [__doc__.split("\n\n", 1)[1].strip()], rows.dropna(subset=["cpu"])
    for corpus, own in done.groupby("corpus", sort=False):
        first, times = (
            own.iloc[0],
            own.pivot_table(index="round", columns="contender", values="cpu"),
        )
        lines = []
        for name, of_one in own.groupby("contender", sort=False):
            ratio = (times[name] / times["online-vb"]).median()
            micros = of_one["cpu"].median() / first["n_tokens"] * 1e6
            lines.append(
                [name, f"{micros:.2f}", f"{ratio:.1f}", f"{of_one['perplexity'].median():,.0f}"]
            )
        size = f"{first['n_documents']:,} documents, {first['n_words']:,} words, {first['n_tokens']:,} tokens"
        heads = [
            f"{corpus}: {size}, K={first['n_topics']}",
            "CPU µs a token",
            "times online-vb",
            "perplexity",
        ]
        parts.append(markdown(heads, lines))
    missing = rows[rows["left_out"].notna()] if "left_out" in rows else rows[:0]
    parts += [
        f"{row['contender']} on {row['corpus']} is left out: {row['left_out']}."
        for _, row in missing.iterrows()
    ]
    return "\n\n".join(parts)
