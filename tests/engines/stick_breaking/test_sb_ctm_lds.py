"""Prevalence that follows a linear system: its limits, and what is made of a run."""

import numpy as np
import pytest
from toys import dated, simulated

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking import sb_ctm_lds


def rising(n_documents=240, seed=0):
    """Documents of three topics of four words; the first goes from a tenth of the tokens to eight tenths in eight years."""
    random, year = np.random.default_rng(seed), np.arange(n_documents) % 8
    share = np.linspace(0.1, 0.8, 8)
    theta = np.stack(
        [
            random.dirichlet(10 * np.array([share[t], (1 - share[t]) / 2, (1 - share[t]) / 2]))
            for t in year
        ]
    )
    counts = np.stack([random.multinomial(50, np.repeat(row / 4, 4)) for row in theta])
    documents, words = np.nonzero(counts)
    return wb.Corpus.from_pairs(
        documents, words, counts[documents, words], times=tuple(2000 + year), name="rising"
    ), share


@pytest.mark.parametrize("documents", ["own", "shared"])
def test_a_topic_that_rises_is_found_and_unseen_documents_have_the_share_of_their_year(documents):
    corpus, share = rising()
    run = wb.fit(
        corpus, "sb-ctm-lds", 3, n_iterations=300, options={"documents": documents}, progress=False
    )
    risen = int(np.argmax(run["phi"].values[:, :4].sum(axis=1)))
    for name in ("prevalence", "expected_prevalence"):
        # 1500 tokens a year, clumped in documents
        assert np.abs(run[name][:, risen] - share).max() < 0.12
    # three documents without a token, one with one
    empty = wb.Corpus.from_pairs([3], [0], [1], n_documents=4, n_words=12)
    early, late, unknown = wb.infer(run, dated_as(empty, (2000, 2007, None, 2003)))["theta"][
        :3, risen
    ].values
    assert early < 0.3 and late > 0.65
    assert unknown == pytest.approx(late, abs=0.15)  # that of the last year; 50 draws of theta


def dated_as(corpus, times):
    return corpus.with_pairs(corpus.indptr, corpus.words, corpus.counts, times=times)


def test_documents_that_share_the_sticks_of_their_year_have_its_theta():
    corpus = dated(simulated())
    run = wb.fit(
        corpus, "sb-ctm-lds", 3, n_iterations=3, options={"documents": "shared"}, progress=False
    )
    year = np.array(corpus.times) - 1990
    assert np.array_equal(run["theta"].values, run["expected_prevalence"].values[year])


def test_one_topic_has_no_sticks_and_no_system():
    run = wb.fit(dated(simulated()), "sb-ctm-lds", 1, n_iterations=2, progress=False)
    assert run.sizes["stick"] == 0 and (run["theta"].values == 1).all()


def test_one_year_draws_the_system_from_its_prior():
    """With one state there is no step: A and b have their prior mean and Q its own."""
    engine = get_engine("sb-ctm-lds")
    corpus = dated_as(simulated(), (1990,) * 12)
    model, options, found = engine.model(2), engine.options(start_sweeps=0), []
    state = engine.init(corpus, model, options, StepContext(0, 0))
    for i in range(4000):
        state = sb_ctm_lds.with_system(corpus, model, state, StepContext(0, i))
        found.append([*state.system.ravel(), 1.0 / state.noise[0, 0]])
    found = np.array(found)
    # 1 / Q ~ Wishart(nu, 1 / scale)
    z = (found.mean(axis=0) - [1, 0, 3 / 0.1]) / (found.std(axis=0) / np.sqrt(4000))
    assert np.abs(z).max() < 4.5
