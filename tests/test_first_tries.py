"""Common tasks, called as people who know scikit-learn, tomotopy or ArviZ would guess."""

from inspect import signature
from operator import attrgetter

import numpy as np
import pytest
from toys import simulated

import workbench as wb
from workbench.engines import ENGINES
from workbench.errors import GUESSES

TASKS = {
    "a fit with the settings of scikit-learn": (
        'wb.fit(corpus, "lda", n_components=2, max_iter=2, random_state=0)',
        "did you mean 'n_topics', 'n_iterations', 'seed'",
        'wb.fit(corpus, "lda", n_topics=2, n_iterations=2, seed=0)',
    ),
    "an estimator of scikit-learn": (
        "wb.LatentDirichletAllocation(2).fit_transform(matrix)",
        "did you mean wb.sklearn.TopicModel",
        "wb.sklearn.TopicModel(2, max_iter=2).fit_transform(matrix)",
    ),
    "topics of new documents": (
        "wb.transform(run, corpus)",
        "did you mean wb.infer",
        "wb.infer(run, corpus)",
    ),
    "a test set": (
        "wb.train_test_split(corpus, 0.1)",
        "did you mean wb.hold_out_tokens",
        "wb.hold_out_tokens(corpus, 0.1)",
    ),
    "the perplexity of a test set": ("wb.perplexity(run, test)",),
    "an HDP of tomotopy": ('wb.fit(corpus, "HDP", n_topics=3, n_iterations=2)',),
    "the words of a topic": ("wb.top_words(run, topic=1, n=5)",),
    "the coherence of topics": (
        "wb.coherence(run)",
        r"give a Corpus, as coherence\(run, train\)",
        "wb.coherence(run, train)",
    ),
    "chains of a sampler in parallel": (
        'wb.compare(corpus, "gibbs", n_topics=2, n_iterations=2, chains=2, cores=1)',
        "did you mean 'seeds', 'jobs'",
        'wb.compare(corpus, "gibbs", n_topics=2, n_iterations=2, seeds=2, jobs=1)',
    ),
    "R-hat of chains": (
        "wb.rhat(chains)",
        "did you mean wb.measures.convergence",
        "wb.measures.convergence(chains)",
    ),
}
"""What is done → the first try; if it fails, what its message says, and the second try."""


@pytest.fixture(scope="module")
def names():
    """Return what the tries name."""
    corpus = simulated()
    train, test = wb.hold_out_tokens(corpus)
    asked = {"n_topics": 2, "n_iterations": 20, "progress": False, "test": test}
    chains = [wb.fit(train, "cgs", seed=seed, **asked) for seed in (0, 1)]
    matrix = np.random.default_rng(0).poisson(1.0, (6, 5))
    given = {"wb": wb, "corpus": corpus, "train": train, "test": test, "matrix": matrix}
    return given | {"chains": chains, "run": chains[0]}


@pytest.mark.parametrize("task", TASKS)
def test_common_tasks_work_at_the_first_try_or_after_one_message(task, names):
    *wrong, right = TASKS[task]
    if wrong:
        with pytest.raises((ValueError, AttributeError), match=wrong[1]):
            eval(wrong[0], names)
    assert eval(right, names) is not None


def test_what_other_programs_call_a_name_is_told_of_names_that_there_are():
    settings = {name for one in (wb.fit, wb.compare) for name in signature(one).parameters}
    for name in set(GUESSES) - settings - set(ENGINES):
        assert attrgetter(name)(wb), name


def test_measures_ask_for_the_dataset_of_a_run():
    for measure in (wb.top_words, wb.topics, wb.perplexity):
        with pytest.raises(ValueError, match=r"wanted the Dataset of a run, .*run.dataset\(\)"):
            measure(object())
