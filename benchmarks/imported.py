"""Models of tomotopy, gensim and scikit-learn on KOS beside ours: is their perplexity that of their own distributions?

``python benchmarks/imported.py [STORE]``: K = 20, alpha = beta = 0.1, a tenth of the tokens held out. Each model is fitted on
the training tokens, its theta and phi are read by its own methods and scored in plain NumPy, and it is imported as a run; three
engines of ours are fitted on the same split.
"""

import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

import workbench as wb

N_TOPICS, PRIOR = 20, 0.1
OURS = ("cgs", "svb", "cv-hdp")


def own_perplexity(theta, phi, words, train, test) -> float:
    """exp of the mean negative log of sum_k theta_dk phi_kw over the held-out tokens."""
    place = {word: at for at, word in enumerate(words)}
    phi = np.asarray(phi, float)[:, [place[word] for word in train.vocabulary]]
    probability = np.einsum(
        "pk,kp->p", np.asarray(theta, float)[test.documents], phi[:, test.words]
    )
    return float(np.exp(-(test.counts @ np.log(probability)) / test.n_tokens))


def of_tomotopy(train) -> tuple:
    """A model of tomotopy, its theta, phi and words."""
    import tomotopy

    model = tomotopy.LDAModel(k=N_TOPICS, alpha=PRIOR, eta=PRIOR, seed=1)
    for first, last in pairwise(train.indptr):
        model.add_doc(
            np.repeat(
                np.array(train.vocabulary)[train.words[first:last]], train.counts[first:last]
            ).tolist()
        )
    model.train(200, workers=1)
    phi = [model.get_topic_word_dist(k) for k in range(N_TOPICS)]
    return (
        model,
        np.array([document.get_topic_dist() for document in model.docs]),
        phi,
        list(model.used_vocabs),
    )


def of_gensim(train) -> tuple:
    """A model of gensim, its theta (its own inference, begun from the seed that an import takes), phi and words."""
    from gensim.models import LdaModel

    bags = [
        list(zip(train.words[first:last].tolist(), train.counts[first:last].tolist(), strict=True))
        for first, last in pairwise(train.indptr)
    ]
    names = dict(enumerate(train.vocabulary))
    model = LdaModel(
        bags,
        num_topics=N_TOPICS,
        id2word=names,
        alpha=[PRIOR] * N_TOPICS,
        eta=PRIOR,
        passes=5,
        random_state=1,
    )
    model.random_state = np.random.RandomState(0)
    gamma = np.asarray(model.inference(bags)[0], float)
    return model, gamma / gamma.sum(axis=1, keepdims=True), model.get_topics(), train.vocabulary


def of_sklearn(train) -> tuple:
    """A model of scikit-learn, its theta, phi and words."""
    from sklearn.decomposition import LatentDirichletAllocation

    counts = csr_matrix(
        (train.counts.astype(float), train.words, train.indptr), (train.n_documents, train.n_words)
    )
    model = LatentDirichletAllocation(
        N_TOPICS, doc_topic_prior=PRIOR, topic_word_prior=PRIOR, random_state=1
    ).fit(counts)
    return (
        model,
        model.transform(counts),
        model.components_ / model.components_.sum(axis=1, keepdims=True),
        train.vocabulary,
    )


def make_runs(store: Path) -> list[tuple[str, float, float]]:
    """Ours and theirs in a store; of theirs the name, the perplexity of the run, and that of their own distributions."""
    corpus = wb.load_corpus("kos")
    settings = {
        "n_topics": N_TOPICS,
        "alpha": PRIOR,
        "beta": PRIOR,
        "n_iterations": 200,
        "store": store,
        "progress": False,
    }
    like = str(wb.compare(corpus, OURS, **settings)["run"].values[0])
    train, test, _ = wb.prepare(corpus)
    found = []
    for fitted in (of_tomotopy, of_gensim, of_sklearn):
        model, *own = fitted(train)
        run = wb.Run(wb.import_run(model, store, like=like))
        found.append(
            (
                run.name,
                float(run.progress()["test_perplexity"][-1]),
                own_perplexity(*own, train, test),
            )
        )
    return found


def main(store: Path) -> None:
    for name, imported, own in make_runs(store):
        print(f"{name:32} {imported:12.6f} {own:12.6f} {abs(imported - own):8.1e}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "runs")
