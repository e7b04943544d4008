"""Correlated topics whose words have priors of their own: against enumeration given psi, bounds, and what is inferred."""

import numpy as np
import pytest
from engines.lda.test_word_priors import CORPUS, TABLE, counts_of, log_dirichlet
from geweke import z_of
from scipy.special import logsumexp, softmax
from stepping import steps
from toys import simulated

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.engines.stick_breaking import sb_ctm
from workbench.kernels.lda.enumeration import assignments
from workbench.kernels.stick_breaking import correlated_topics, logistic_normal
from workbench.models.model import ModelError

ENGINES = ("sb-ctm", "ln-ctm", "ctm-em", "sb-ctm-vb")
SEEDS = {"seed_words": "one: a c; two: d", "seed_weight": 1.7}
PRIORS = [SEEDS, {"beta": TABLE + 0.1}]


def model_of(name, **settings):
    return get_engine(name).model(2, **{"beta": 0.3} | settings).for_data(CORPUS)


@pytest.mark.slow
@pytest.mark.parametrize("settings", PRIORS, ids=["seeds", "table"])
@pytest.mark.parametrize("name", ["sb-ctm", "ln-ctm", "drawn"])
def test_topics_are_drawn_from_their_law_given_psi(name, settings):
    """20,000 sweeps with psi as it is: p(z) is theta times the Polya probabilities of the topics, over all assignments."""
    engine = get_engine("sb-ctm" if name == "drawn" else name)
    model, options = model_of(engine.name, **settings), make_options(engine, {})
    state = engine.init(CORPUS, model, options, StepContext(0, 0))
    state.psi[:] = np.linspace(-1.5, 1.5, state.psi.size).reshape(state.psi.shape)
    theta = softmax(state.psi, axis=1) if name == "ln-ctm" else model.theta_of(state.psi)
    kernel = logistic_normal if name == "ln-ctm" else correlated_topics
    topics = assignments(CORPUS.n_tokens, 2)
    table, logs = model.word_priors(model.beta), []
    for row in topics:
        n_dk, n_kw = counts_of(row, 2)
        logs.append((n_dk * np.log(theta)).sum() + log_dirichlet(table, n_kw).sum())
    wanted = np.exp(np.array(logs) - logsumexp(logs)) @ (topics == 0)
    drawn = np.empty((20_000, CORPUS.n_tokens))
    for step in range(len(drawn)):
        context = StepContext(1, step)
        if name == "drawn":
            sb_ctm.draw_given_phi(CORPUS, model, state, context)
        else:
            sb_ctm.draw_in_order(
                CORPUS, model, state, context, kernel.draw_topics, lambda *documents: None, 1
            )
        drawn[step] = state.topics == 0
    assert z_of(drawn, wanted).max() < 4.5
    n_dk, n_kw = counts_of(state.topics, 2)
    assert state.n_wk.dtype == np.int32 and np.array_equal(state.n_wk[:, :2].T, n_kw)
    assert np.array_equal(state.n_k[:2], n_kw.sum(axis=1))


@pytest.mark.parametrize("settings", PRIORS, ids=["seeds", "table"])
@pytest.mark.parametrize("name", ["ctm-em", "sb-ctm-vb"])
def test_the_bound_never_falls(name, settings):
    engine, model = get_engine(name), model_of(name, **settings)
    options = make_options(engine, {"bound": "local"} if name == "sb-ctm-vb" else {})
    bounds = [
        engine.watch(CORPUS, model, options, state)["bound"]
        for state, _ in steps(engine, CORPUS, model, options, 30)
    ]
    assert np.diff(bounds).min() > -1e-9 and bounds[-1] > bounds[0]


@pytest.mark.parametrize("name", ENGINES)
def test_a_table_of_the_seeds_has_the_bits_of_the_seeds(name):
    model = model_of(name, **SEEDS)
    runs = [
        wb.fit(CORPUS, name, 2, n_iterations=4, progress=False, **settings)
        for settings in ({"beta": 0.3} | SEEDS, {"beta": model.word_priors(0.3)})
    ]
    for values in ("n_kw", "phi", "theta"):
        assert np.array_equal(*(run[values].values for run in runs))
    table = model.word_priors(0.3) + runs[0]["n_kw"].values[-1]
    assert runs[0]["phi"].values == pytest.approx(table / table.sum(1, keepdims=True), rel=1e-12)


@pytest.mark.parametrize("name", ENGINES)
def test_seeds_stay_in_their_topics_name_them_and_count_for_unseen_documents(name, tmp_path):
    corpus = simulated()
    words = [corpus.vocabulary[w] for w in (3, 11)]
    settings = {"n_iterations": 5, "seed_weight": 50.0, "progress": False, "store": tmp_path}
    seeds = {"first": words[:1], 3: words[1:]}
    run = wb.fit(corpus, name, 4, seed_words=seeds, test=corpus, **settings)
    assert run["phi"].sel(word=words).values.argmax(axis=0).tolist() == [0, 3]
    assert run["topic_label"].values.tolist() == ["first", "", "", ""]
    assert np.isfinite(run["test_perplexity"]).all()
    unseen = corpus.with_pairs(
        np.array([0, 1, 2]), np.array([3, 11], np.int32), np.array([99, 99]), titles=("one", "two")
    )
    theta = wb.infer(tmp_path / run.attrs["name"], unseen)["theta"].values
    assert theta.argmax(axis=1).tolist() == [0, 3]
    again = wb.open_run(run.attrs["name"], tmp_path)
    assert np.array_equal(again["phi"].values, run["phi"].values)


@pytest.mark.parametrize("name", ENGINES)
def test_a_zero_is_refused(name):
    with pytest.raises(ModelError, match="beta must be above 0 for every topic and word in this"):
        model_of(name, beta=TABLE)
