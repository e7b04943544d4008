"""Log-likelihoods and bounds of 500 documents of KOS against those of slow reference programs (spec of the HDP, 17).

K = 40, beta = 100 in all, alpha of LDA 0.1 in all or 0.1 each, a tenth of each document held out, three seeds for split
and inference; 200 iterations of variational engines, 150 sweeps of samplers, of which the second half is averaged. The
bands are those that the specification asks for: 0.02, which is twice the range of its seeds, and 0.05 for the HDP sampler
(0.025 there). Test words are as hard to guess as a split has made them, for all algorithms alike: over 40 of our splits the
mean log p under one fixed model has a deviation of 0.016, so the mean over algorithms may be off by 0.04, three deviations
of a difference of two means over three splits, and each algorithm is held to 0.02 beside that. Bounds are of training
words and are held as they are. Run with ``-s`` to see the figures.

They take minutes, and cannot change while `test_short_runs.py` passes: engines give the numbers that they gave.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from missing import skip_without

from workbench.corpus import data_sets, load_corpus
from workbench.engines.engine import StepContext
from workbench.measures import bound_of
from workbench.papers.figures import FIGURES
from workbench.papers.reproduce import lay_out_figure

FIGURE = FIGURES["cv-hdp-kos500"]
KNOWN = {  # log p of a test word, bound per token
    "V-LDA, 0.1 in all": (-7.838, -8.782),
    "V-LDA, 0.1 each": (-7.774, -8.406),
    "CV-LDA, 0.1 in all": (-7.738, -8.185),
    "CV-LDA, 0.1 each": (-7.638, -7.977),
    "CV-HDP": (-7.576, -7.964),
    "G-LDA, 0.1 in all": (-7.485, None),
    "G-LDA, 0.1 each": (-7.357, None),
    "G-HDP_1": (-7.292, None),
    "G-HDP_100": (-7.191, None),
    "CV-HDP, beta and tau learnt": (-7.64, -8.30),
}
SAMPLERS_OF_THE_HDP = ("G-HDP_1", "G-HDP_100")
LAST = "CV-HDP, beta and tau learnt"
"""The slowest, known to two digits, and told of without seeds: one seed is enough."""

# two minutes on two cores, more on busy ones
pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]


def measured(cell):
    """(log p of a test word, bound per training token or NaN) at the end of a run."""
    engine, model, options = cell.spec.parts()
    state, seed = (
        engine.init(cell.train, model, options, StepContext(cell.spec.seed, 0)),
        cell.spec.seed,
    )
    samples, average = engine.samples(cell.train, options), np.zeros(cell.test.n_pairs)
    for iteration in range(1, cell.spec.n_iterations + 1):
        state, _ = engine.step(cell.train, model, options, state, StepContext(seed, iteration))
        if samples and iteration > cell.spec.burn_in:
            probability = engine.predict(cell.train, model, options, state, cell.test)
            average += (probability - average) / (iteration - cell.spec.burn_in)
    probability = (
        average if samples else engine.predict(cell.train, model, options, state, cell.test)
    )
    watched = engine.watch(cell.train, model, options, state)
    bound = watched.get(bound_of(watched), np.nan)
    return np.sum(
        cell.test.counts * np.log(probability)
    ) / cell.test.n_tokens, bound / cell.train.n_tokens


@pytest.fixture(scope="module")
def table():
    """{algorithm: (seed, [log p of a test word, bound])}, printed as it comes; two runs at a time, in threads."""
    if data_sets()["kos500"].folder() is None:
        skip_without("WORKBENCH_DATA names no folder with docword.kos.txt.gz and vocab.kos.txt")
    began, waiting = time.perf_counter(), {}
    cells = lay_out_figure(FIGURE, {"kos500": load_corpus("kos500")}, FIGURE.full)
    assert {cell.spec.n_iterations for cell in cells} == {200, 150} and {
        cell.spec.burn_in for cell in cells
    } == {100, 75}
    assert {(cell.train.n_tokens, cell.test.n_tokens, cell.train.n_words) for cell in cells} == {
        (59_920, 6_401, 6_253)
    }
    with ThreadPoolExecutor(2) as pool:
        for cell in cells:
            if cell.key_values["method"] != LAST or cell.key_values["seed"] == 0:
                waiting.setdefault(cell.key_values["method"], []).append(
                    pool.submit(measured, cell)
                )
        found = {}
        for label, futures in waiting.items():
            found[label] = np.array([future.result() for future in futures])
            print(
                f"\n{label}: {found[label].round(3).tolist()}; means {found[label].mean(axis=0).round(3)}",
                flush=True,
            )
    print(f"{time.perf_counter() - began:.0f} s")
    return found


def common_difference(table):
    """How much likelier the test words are than the reference's, mean over the algorithms that have every seed."""
    return np.mean(
        [table[label][:, 0].mean() - KNOWN[label][0] for label in KNOWN if label != LAST]
    )


def test_test_words_are_as_likely_as_the_references_as_far_as_splits_agree(table):
    print(f"\ncommon difference {common_difference(table):+.3f}")
    assert abs(common_difference(table)) < 0.04


@pytest.mark.parametrize("label", KNOWN)
def test_mean_log_likelihood_and_bound_are_those_of_the_reference(table, label):
    test, bound = table[label].mean(axis=0)
    within = 0.05 if label in SAMPLERS_OF_THE_HDP else 0.02
    if label == LAST:  # its one seed beside CV-HDP with that seed
        assert test - table["CV-HDP"][0, 0] == pytest.approx(
            KNOWN[LAST][0] - KNOWN["CV-HDP"][0], abs=0.04
        )
    else:
        assert test - common_difference(table) == pytest.approx(KNOWN[label][0], abs=within)
    if KNOWN[label][1] is not None:
        assert bound == pytest.approx(KNOWN[label][1], abs=within)


@pytest.mark.parametrize("alpha", ["0.1 in all", "0.1 each"])
def test_algorithms_stand_in_the_order_of_the_papers_legend_for_every_seed(table, alpha):
    best_first = [
        "G-HDP_100",
        "G-HDP_1",
        f"G-LDA, {alpha}",
        "CV-HDP",
        f"CV-LDA, {alpha}",
        f"V-LDA, {alpha}",
    ]
    test = np.array([table[label][:, 0] for label in best_first])
    assert test.shape == (6, 3) and np.all(np.diff(test, axis=0) < 0), test.round(3)


@pytest.mark.parametrize("alpha", ["0.1 in all", "0.1 each"])
def test_bounds_stand_in_the_order_of_the_paper_for_every_seed(table, alpha):
    bounds = np.array(
        [table[label][:, 1] for label in ("CV-HDP", f"CV-LDA, {alpha}", f"V-LDA, {alpha}")]
    )
    assert np.all(np.diff(bounds, axis=0) < 0), bounds.round(3)


def test_the_record_of_the_figure_has_the_numbers_of_the_specification():
    assert {label: (test, bound) for label, (test, bound, _) in FIGURE.known.items()} == KNOWN
