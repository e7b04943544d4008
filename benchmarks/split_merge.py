"""Does `cv-hdp` with splits and merges find the ten bars, and no more? ``python benchmarks/split_merge.py``

Pictures of 5 x 5 pixels with one to three bars each; 100 of 50 tokens and 200 of 100; truncation at 10, 20 and 40
topics; three seeds. A run is right that ends with ten topics of at least a hundredth of the tokens each, and with
a bound per token less than 2e-4 below that of a run begun at the true topics.
"""

import sys
import time

import numpy as np

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.options import make_options
from workbench.models import HDP

SIDE, BETA_TOTAL, N_ITERATIONS, NEAR = 5, 2.5, 200, 2e-4
SHAPES, TOPICS, SEEDS = ((100, 50), (200, 100)), (10, 20, 40), (0, 1, 2)


def drawn_bars(n_documents: int, n_tokens: int, seed: int) -> tuple[Corpus, WarmStart]:
    """A corpus of one to three bars per document, as likely as each other, and its true topics."""
    random = np.random.default_rng(seed)
    pixels = np.arange(SIDE**2).reshape(SIDE, SIDE)
    bars = np.vstack([pixels, pixels.T])
    triples = []
    for d in range(n_documents):
        chosen = random.choice(len(bars), random.integers(1, 4), replace=False)
        topics = chosen[random.integers(len(chosen), size=n_tokens)]
        triples += [(d, bars[k][random.integers(SIDE)], k) for k in topics]
    documents, words, topics = np.array(sorted(triples)).T
    corpus = Corpus.from_pairs(
        documents, words, np.ones_like(words), n_documents=n_documents, n_words=SIDE**2
    )
    n_dk, n_kw = np.zeros((n_documents, len(bars))), np.zeros((len(bars), SIDE**2))
    np.add.at(n_dk, (documents, topics), 1.0)
    np.add.at(n_kw, (topics, words), 1.0)
    return corpus, WarmStart(n_kw, n_dk, topics.astype(np.int32))


def padded(start: WarmStart, n_topics: int) -> WarmStart:
    """With empty topics up to a number of them."""
    more = n_topics - len(start.n_kw)
    return WarmStart(
        np.pad(start.n_kw, ((0, more), (0, 0))),
        np.pad(start.n_dk, ((0, 0), (0, more))),
        start.topics,
    )


def run(corpus, n_topics, seed, start=None, **given) -> tuple[dict, list]:
    """What is watched after the last iteration, and the moves tried."""
    engine, model = get_engine("cv-hdp"), HDP(n_topics, beta_total=BETA_TOTAL)
    options = make_options(engine, given)
    state, moves = engine.init(corpus, model, options, StepContext(seed, 0), start), []
    for iteration in range(1, N_ITERATIONS + 1):
        state, info = engine.step(corpus, model, options, state, StepContext(seed, iteration))
        moves += [info] if info["move"] else []
    return engine.watch(corpus, model, options, state), moves


def main(every: int) -> None:
    print(
        "  D   n   K seed  topics  L/token  truth     plain (topics)   splits   merges    s  right"
    )
    right = []
    for n_documents, n_tokens in SHAPES:
        for n_topics in TOPICS:
            for seed in SEEDS:
                corpus, truth = drawn_bars(n_documents, n_tokens, seed)
                best, _ = run(corpus, n_topics, seed, padded(truth, n_topics))
                plain, _ = run(corpus, n_topics, seed)
                began = time.process_time()
                found, moves = run(corpus, n_topics, seed, moves_every=every)
                seconds = time.process_time() - began
                bounds = [watched["bound"] / corpus.n_tokens for watched in (found, best, plain)]
                right.append(found["n_large_topics"] == 10 and bounds[0] > bounds[1] - NEAR)
                tried = [
                    [m["move_accepted"] for m in moves if m["move"] == kind] for kind in (1, 2)
                ]
                print(
                    f"{n_documents:>3} {n_tokens:>3} {n_topics:>3} {seed:>4} {found['n_large_topics']:>7.0f} {bounds[0]:>8.4f} "
                    f"{bounds[1]:>7.4f} {bounds[2]:>9.4f} ({plain['n_large_topics']:.0f})"
                    f"{sum(tried[0]):>8}/{len(tried[0]):<3} {sum(tried[1]):>4}/{len(tried[1]):<3} {seconds:>5.1f}  {right[-1]}",
                    flush=True,
                )
    print(f"{sum(right)} of {len(right)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
