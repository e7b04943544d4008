"""Coverage of effects of columns that `sb-ctm` and `dmr` find in simulated corpora, and the time of a sweep with ten columns.

    python benchmarks/prevalence.py coverage sb-ctm 260     # engine, corpora of four effects each
    python benchmarks/prevalence.py time sb-ctm 5           # engine, sweeps over 10^4 documents of 100 words, K = 50

Corpora have 200 documents of 50 words, three topics of different sizes, and two columns; chains begin at the true topics. An
effect is covered if it is in the 95 % interval of its draws; that of the first 60 % of the draws is told too, and how many
independent draws these are worth.
"""

import sys
import time

import numpy as np

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.options import make_options
from workbench.kernels.stick_breaking.sticks import probabilities

BURN_IN, SWEEPS = 200, 1000
GAMMA = {
    "sb-ctm": np.array([[0.0, 0.7, -0.4], [0.9, -0.5, 0.3]]),
    "dmr": np.array([[0.3, 0.5, -0.3], [-0.2, -0.4, 0.0], [-0.9, 0.0, 0.4]]),
}
WORDS, BETA = 10, 0.1
"""Words for each topic, and the prior of words, from which the topics are drawn."""


def columns(random, n: int) -> np.ndarray:
    """(document, term): 1, one of two parties, and a number."""
    return np.column_stack([np.ones(n), random.integers(0, 2, n), random.normal(size=n)])


def corpus_of(random, theta: np.ndarray, inputs: dict, n_tokens: int) -> tuple[Corpus, np.ndarray]:
    """Documents whose topics have words drawn from their prior; the topics of their tokens."""
    n_documents, n_topics = theta.shape
    n_words = n_topics * WORDS
    phi = random.dirichlet(np.full(n_words, BETA), n_topics)
    documents = np.repeat(np.arange(n_documents), n_tokens)
    topics, words = np.empty(len(documents), np.int32), np.empty(len(documents), int)
    for d in range(n_documents):
        own = random.choice(n_topics, n_tokens, p=theta[d])
        topics[d * n_tokens : (d + 1) * n_tokens] = own
    for k in range(n_topics):
        words[topics == k] = random.choice(n_words, np.sum(topics == k), p=phi[k])
    order = np.lexsort((words, documents))
    pairs, counts = np.unique(documents * n_words + words, return_counts=True)
    corpus = Corpus.from_pairs(
        pairs // n_words, pairs % n_words, counts, n_words=n_words, inputs=inputs
    )
    return corpus, topics[order]


def effects(name: str, seed: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Draws (sweep, effect) and truth (effect,) of a corpus; None if its topics change places."""
    random = np.random.default_rng([seed, 7])
    terms, gamma = columns(random, 200), GAMMA[name]
    means = terms @ gamma.T
    if name == "sb-ctm":
        theta = probabilities(means + random.normal(0, 1.0, means.shape))
    else:
        theta = np.stack([random.dirichlet(row) for row in np.exp(means)])
    corpus, topics = corpus_of(random, theta, {"party": terms[:, 1], "x": terms[:, 2]}, 50)
    engine = get_engine(name)
    model = engine.model(n_topics=3, beta=BETA, prevalence="~ party + x").for_data(corpus)
    options, draws = make_options(engine, {}), []
    n_kw = np.zeros((3, corpus.n_words))
    np.add.at(n_kw, (topics, np.repeat(corpus.words, corpus.counts)), 1)
    start = WarmStart(n_kw, None, topics)
    state = engine.init(corpus, model, options, StepContext(seed, 0), start)
    for sweep in range(1, SWEEPS + 1):
        state, _ = engine.step(corpus, model, options, state, StepContext(seed, sweep))
        if sweep > BURN_IN:
            draws.append(engine.counts(corpus, model, options, state)["gamma"])
    overlap = np.minimum(n_kw[:, None], state.n_wk[:, :3].T).sum(axis=2)
    if (overlap.argmax(axis=0) != np.arange(3)).any():
        return None
    # two rows of each: four effects
    truth = gamma[:2, 1:].ravel()
    return np.array(draws)[:, :2, 1:].reshape(len(draws), -1), truth


def worth(draws: np.ndarray) -> np.ndarray:
    """The number of independent draws that each column of draws is worth, by batch means."""
    batches = draws[: len(draws) // 20 * 20].reshape(20, -1, draws.shape[1]).mean(axis=1)
    return draws.var(axis=0) / (batches.var(axis=0, ddof=1) / 20)


def coverage(name: str, n: int) -> None:
    """Print the coverage over corpora of n seeds."""
    inside, early, z, sizes, left_out = [], [], [], [], 0
    for seed in range(n):
        found = effects(name, seed)
        if found is None:
            left_out += 1
            continue
        draws, truth = found
        for kept, part in ((inside, draws), (early, draws[: len(draws) * 3 // 5])):
            low, high = np.quantile(part, (0.025, 0.975), axis=0)
            kept.extend((low <= truth) & (truth <= high))
        z.extend((draws.mean(axis=0) - truth) / draws.std(axis=0))
        sizes.extend(worth(draws))
    error = np.sqrt(0.95 * 0.05 / len(inside))
    print(
        f"{name}: {np.mean(inside):.1%} of {len(inside)} effects (error of a true 95 %: {error:.1%}), first 60 % of the draws "
        f"{np.mean(early):.1%}; {left_out} corpora left out; independent draws: median {np.median(sizes):.0f}, least tenth "
        f"{np.quantile(sizes, 0.1):.0f}; z: mean {np.mean(z):+.2f}, standard deviation {np.std(z):.2f}"
    )


def sweep_time(name: str, n: int) -> None:
    """Print the time of sweeps over 10^4 documents of 100 words, K = 50, ten columns, on two threads."""
    random = np.random.default_rng(1)
    n_documents, n_topics = 10_000, 50
    inputs = {f"x{j}": random.normal(size=n_documents) for j in range(10)}
    theta = random.dirichlet(np.full(n_topics, 0.1), n_documents)
    corpus, _ = corpus_of(random, theta, inputs, 100)
    engine = get_engine(name)
    for formula in ("", "~ " + " + ".join(inputs)):
        model = engine.model(n_topics=n_topics, beta=BETA, prevalence=formula).for_data(corpus)
        options = make_options(engine, {"start_sweeps": 0} if name == "sb-ctm" else {})
        state, seconds = engine.init(corpus, model, options, StepContext(0, 0, 2)), []
        for sweep in range(1, n + 2):
            began = time.perf_counter()
            state, _ = engine.step(corpus, model, options, state, StepContext(0, sweep, 2))
            seconds.append(time.perf_counter() - began)
        print(
            f"{name} {formula or 'without a formula'}: {np.median(seconds[1:]):.2f} s a sweep, {n} sweeps"
        )


if __name__ == "__main__":
    what, engine_name, number = sys.argv[1:]
    {"coverage": coverage, "time": sweep_time}[what](engine_name, int(number))
