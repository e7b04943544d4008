"""Perplexities of held-out tokens by their definitions, iteration after iteration."""

from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from workbench.corpus import Corpus
from workbench.models import LDA
from workbench.runs.scoring import Average, initial_average, score

NAMES = (
    "test_perplexity", "test_perplexity_state", "test_perplexity_average", "test_perplexity_by_document",
    "test_perplexity_joint",
)
TEST = Corpus.from_pairs([0, 0, 2], [0, 1, 1], [2, 1, 3], n_documents=4, n_words=2)  # documents 1 and 3 have no held-out token
PROBABILITIES = np.array([[0.5, 0.1, 0.2], [0.25, 0.4, 0.1], [0.3, 0.2, 0.4], [0.1, 0.1, 0.6]])  # (iteration, pair)


def scored(samples: bool, burn_in: int = 1) -> list[dict]:
    """The scores of each iteration."""
    average, found = initial_average(TEST), []
    for iteration, probability in enumerate(PROBABILITIES, 1):
        engine = SimpleNamespace(predict=lambda *given, p=probability: p, samples=lambda *given: samples)
        average, scores = score(engine, None, TEST, None, None, None, average, iteration > burn_in)
        found.append(scores)
    return found


def test_averages_of_tokens_documents_and_all_tokens_are_those_of_their_definitions():
    found = scored(True)
    assert [tuple(each) for each in found] == [NAMES] * 4
    likelihood = PROBABILITIES**TEST.counts  # (iteration, pair)
    for n in (2, 3, 4):
        taken, each = slice(1, n), likelihood[1:n]
        by_token = (TEST.counts * np.log(PROBABILITIES[taken].mean(axis=0))).sum()
        by_document = np.log((each[:, 0] * each[:, 1]).mean()) + np.log(each[:, 2].mean())
        joint, alone = np.log(each.prod(axis=1).mean()), np.log(likelihood[n - 1]).sum()
        wanted = np.exp(-np.array([by_token, alone, by_token, by_document, joint]) / 6)
        assert [found[n - 1][name] for name in NAMES] == pytest.approx(wanted, rel=1e-13)  # float64


def test_until_burn_in_is_over_all_are_those_of_the_state():
    first = scored(True)[0]
    assert len(set(first.values())) == 1


def test_an_engine_that_does_not_sample_is_scored_by_its_state_whatever_is_averaged():
    for each in scored(False):
        assert each["test_perplexity"] == each["test_perplexity_by_document"] == each["test_perplexity_joint"] == (
            each["test_perplexity_state"]
        )


def test_a_run_of_an_older_version_keeps_the_scores_that_it_had():
    engine = SimpleNamespace(predict=lambda *given: PROBABILITIES[0], samples=lambda *given: True)
    average, scores = score(engine, None, TEST, None, None, None, Average(np.zeros(3), 0), True)
    assert tuple(scores) == NAMES[:3] and average.log_of_groups is None


def test_probabilities_too_small_for_a_document_do_not_vanish():
    """A document of a million tokens: its probability is 10^-3,000,000, its perplexity 1000."""
    test = Corpus.from_pairs([0], [0], [1_000_000], n_words=1)
    engine = SimpleNamespace(predict=lambda *given: np.array([1e-3]), samples=lambda *given: True)
    _, scores = score(engine, None, test, None, None, None, initial_average(test), True)
    assert scores["test_perplexity_by_document"] == scores["test_perplexity_joint"] == pytest.approx(1000, rel=1e-12)


def test_half_the_tokens_of_documents_are_held_out_from_the_first_call_to_the_report(tmp_path):
    corpus, _ = LDA(3, 0.3, 0.2).simulate(30, 20, 25, 3)
    run = wb.compare(corpus, ["cgs"], n_topics=3, n_iterations=6, burn_in=2, holdout=0.2, holdout_per="half", progress=False)
    found = {name: float(run[name].isel(iteration=-1).squeeze()) for name in NAMES}
    assert all(np.isfinite(list(found.values()))) and len(set(found.values())) == 4  # the first is the third


