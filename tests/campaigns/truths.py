"""What rank tests are made of: truths drawn from priors, data drawn from these, and what is ranked of truths and draws alike.

A truth has the fields of a state of its engine that are looked at. Rows of data have few tokens, one row none; what is ranked
does not depend on the names of topics or states, nor on a rotation of hidden states.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from hdp_twins import draw_hdp, draw_words
from scipy import stats
from scipy.special import gammaln, log_softmax
from toys import corpus_of_table, dense

from workbench.kernels.stick_breaking.gaussian_process import Inputs, Kernel, covariance
from workbench.kernels.stick_breaking.sticks import (
    dirichlet_moments,
    log_probabilities,
    probabilities,
)
from workbench.models import HDP
from workbench.models.dirichlet_regression import DirichletRegression
from workbench.models.stick_breaking.correlated_topics import (
    CorrelatedTopics,
    LogisticNormalTopics,
    NormalInverseWishart,
)
from workbench.models.stick_breaking.dynamic_topics import (
    DynamicTopics,
    EvolvingPrevalence,
    SystemPrior,
)
from workbench.models.stick_breaking.gaussian_process import GaussianProcess, LogisticNormalProcess
from workbench.models.stick_breaking.linear_dynamical import (
    HiddenMarkov,
    LinearDynamicalSystem,
    LogisticNormalSystem,
)
from workbench.models.supervised import (
    VARIANCE_RATE,
    VARIANCE_SHAPE,
    Responses,
    SupervisedLDA,
    class_probabilities,
)

THIN = 8
"""Sweeps from one draw to the next, where a case has no number of its own."""
LENGTHS, N_WORDS, BETA = (6, 3, 0, 5, 4), 4, 0.7
"""Tokens of the documents of a topic model, words of the vocabulary, and the prior of the words of a topic."""
OF_TOKENS = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
YEARS = np.array([0, 0, 1, 3, 3])
"""Years of these documents, from 1990 on; one has no document."""
SIZES, SEQUENCE = (3, 0, 4, 2, 5, 3, 0), tuple(("a" if t < 4 else "b", t) for t in range(7))
"""Tokens of the rows of two sequences, and their names; the second ends with a row that is to be forecast."""
INPUTS = {"year": [0.0, 1.0, 2.0, 4.0, 7.0]}


class Case(NamedTuple):
    """A sampler: engine, options, and what draws (data, model, truth's statistics) from a seed."""

    engine: str
    options: dict
    draw: object  # (seed) → (data, model, statistics of the truth)
    look: object  # (data, engine, model, options, state) → the same statistics of a state
    thin: int = THIN  # sweeps from one draw to the next


def dirichlet_multinomial(counts: np.ndarray, prior) -> float:
    """log p of draws from distributions ~ Dirichlet(prior), integrated out; counts (distribution, outcome)."""
    prior = np.broadcast_to(prior, counts.shape)
    of_rows = gammaln(prior.sum(axis=1)) - gammaln((prior + counts).sum(axis=1))
    return float(of_rows.sum() + np.sum(gammaln(prior + counts) - gammaln(prior)))


def case_of(engine: str, options: dict, draw, look, thin: int = THIN) -> Case:
    """The case of draw: (random) → (data, model, truth), and look: (data, model, truth or state) → statistics."""

    def drawn(seed):
        data, model, truth = draw(np.random.default_rng([seed, 4]))
        return data, model, look(data, model, truth)

    return Case(
        engine,
        options,
        drawn,
        lambda data, engine, model, options, state: look(data, model, state),
        thin,
    )


def counts_of(corpus, topics, n_topics: int) -> tuple[np.ndarray, np.ndarray]:
    """(n_dk, n_kw) of the topics of all tokens."""
    n_dk, n_kw = (
        np.zeros((corpus.n_documents, n_topics), int),
        np.zeros((n_topics, corpus.n_words), int),
    )
    np.add.at(n_dk, (np.repeat(corpus.documents, corpus.counts), topics), 1)
    np.add.at(n_kw, (topics, np.repeat(corpus.words, corpus.counts)), 1)
    return n_dk, n_kw


def one_of(random, p: np.ndarray) -> np.ndarray:
    """(row,) an outcome for each row of probabilities."""
    return (p.cumsum(axis=1)[:, :-1] < random.random((len(p), 1))).sum(axis=1)


def inverse_wishart(random, nu: float, scale: np.ndarray) -> np.ndarray:
    return np.reshape(stats.invwishart(nu, scale).rvs(random_state=random), scale.shape)


def draw_linear(random, prior) -> tuple[np.ndarray, np.ndarray]:
    """(what a state is multiplied by, covariance of what comes to it) from their prior."""
    noise, of_columns = (
        inverse_wishart(random, prior.nu, prior.scale),
        np.linalg.inv(np.linalg.cholesky(prior.precision)),
    )
    return prior.mean + np.linalg.cholesky(noise) @ random.normal(
        size=prior.mean.shape
    ) @ of_columns, noise


def log_determinant(matrix: np.ndarray) -> float:
    return float(np.linalg.slogdet(matrix)[1])


# ---------------------------------------------------------------------- the hierarchical Dirichlet process


def draw_of_hdp(random):
    model = HDP(3, beta_total=2.0)
    priors = model.a_alpha, model.b_alpha, model.a_gamma, model.b_gamma
    drawn = draw_hdp(random, LENGTHS, N_WORDS, model.beta_total, *priors)
    truth = SimpleNamespace(
        topics=drawn.topics,
        weights=np.array(drawn.state.weights),
        rest=drawn.state.rest,
        alpha_total=drawn.alpha,
        top_concentration=drawn.gamma,
    )
    return drawn.corpus, model, truth


def look_at_hdp(corpus, model, state):
    live, topics = np.unique(state.topics, return_inverse=True)
    n_dk, n_kw = counts_of(corpus, topics, len(live) + 1)
    weights = np.append(state.weights[live], state.rest)
    of_words = dirichlet_multinomial(n_kw, model.beta_total / corpus.n_words)
    of_topics = dirichlet_multinomial(n_dk, state.alpha_total * weights)
    return [
        of_words,
        of_topics,
        state.alpha_total,
        state.top_concentration,
        len(live),
        state.rest,
        np.sum(weights**2),
    ]


# ---------------------------------------------------------------------- correlated topics, and topics over time


class NearSticks(CorrelatedTopics):
    """The model with a prior without heavy tails: a chain comes back slowly from sticks that are far out."""

    psi_prior = NormalInverseWishart(
        np.array([-0.5, 0.0]), 2.0, 9.0, np.array([[6.0, 1.0], [1.0, 8.0]])
    )


class NearComponents(LogisticNormalTopics):
    """Likewise."""

    psi_prior = NormalInverseWishart(np.zeros(3), 2.0, 9.0, 5.0 * np.eye(3) + 1.0)


class NearEvolving(EvolvingPrevalence):
    """Likewise."""

    system_prior = SystemPrior(
        np.eye(2, 3) * 0.5, 3.0 * np.eye(3), 9.0, np.array([[2.0, 0.4], [0.4, 3.0]])
    )
    documents_prior = 9.0, np.array([[3.0, -0.5], [-0.5, 4.0]])


def draw_by_columns(random):
    """Correlated topics whose mean sticks depend on a column of the documents."""
    shape = corpus_of_table(np.ones((len(LENGTHS), N_WORDS), int))
    model = NearSticks(3, BETA, prevalence="~ year").for_data(replace(shape, inputs=INPUTS))
    gamma, sigma = draw_linear(random, model.regression_prior)
    terms = model.design.standard
    psi = np.stack([random.multivariate_normal(gamma @ row, sigma) for row in terms])
    corpus, topics = draw_words(
        random, LENGTHS, N_WORDS, BETA * N_WORDS, one_of(random, model.theta_of(psi)[OF_TOKENS])
    )
    precision = np.linalg.inv(sigma)
    truth = SimpleNamespace(
        topics=topics, psi=psi, mean=gamma, covariance=sigma, precision=precision
    )
    return replace(corpus, inputs=INPUTS), model, truth


def look_by_columns(corpus, model, state):
    means = model.design.standard @ state.mean.T
    centred = SimpleNamespace(**{name: getattr(state, name) for name in ("topics", "covariance")})
    centred.psi, centred.mean, centred.precision = state.psi, means, state.precision
    *others, _ = look_at_correlated(corpus, model, centred)
    return [*others, np.sum(state.mean[:, 0] ** 2), np.sum(state.mean[:, 1] ** 2)]


def draw_correlated(model, prior, random):
    sigma = inverse_wishart(random, prior.nu, prior.scale)
    mean = random.multivariate_normal(prior.mean, sigma / prior.kappa)
    psi = random.multivariate_normal(mean, sigma, len(LENGTHS))
    corpus, topics = draw_words(
        random, LENGTHS, N_WORDS, BETA * N_WORDS, one_of(random, model.theta_of(psi)[OF_TOKENS])
    )
    truth = SimpleNamespace(
        topics=topics, psi=psi, mean=mean, covariance=sigma, precision=np.linalg.inv(sigma)
    )
    return corpus, model, truth


def look_at_correlated(corpus, model, state):
    psi, (n_dk, n_kw) = state.psi, counts_of(corpus, state.topics, model.n_topics)
    theta, off = model.theta_of(psi), psi - state.mean
    of_tokens = np.sum(n_dk * np.log(theta)) + dirichlet_multinomial(n_kw, model.beta)
    squares = np.sum(off @ state.precision * off)
    return [
        of_tokens,
        log_determinant(state.covariance),
        squares,
        np.mean(np.sum(theta**2, axis=1)),
        np.sum(state.mean**2),
    ]


# ---------------------------------------------------------------------- supervised LDA


def draw_supervised(is_number: bool, random):
    """Topics of LDA, and a response of all documents with tokens but the last: one of three classes, or a number."""
    model = SupervisedLDA(2, 0.8, BETA, weight_scale=2.0)
    theta = random.dirichlet(model.alphas, len(LENGTHS))
    corpus, topics = draw_words(
        random, LENGTHS, N_WORDS, BETA * N_WORDS, one_of(random, theta[OF_TOKENS])
    )
    n_dk, _ = counts_of(corpus, topics, 2)
    weights = 2.0 * random.normal(size=(1 if is_number else 2, 2))
    variance = stats.invgamma(VARIANCE_SHAPE, scale=VARIANCE_RATE).rvs(random_state=random)
    fits = n_dk / np.maximum(n_dk.sum(axis=1, keepdims=True), 1) @ weights.T
    values = (
        fits[:, 0] + np.sqrt(variance) * random.normal(size=len(fits))
        if is_number
        else one_of(random, class_probabilities(fits)).astype(float)
    )
    values[-1] = np.nan
    responses = Responses(values, ("y",) if is_number else ("a", "b", "c"), 0.0, float(is_number))
    truth = SimpleNamespace(topics=topics, weights=weights, variance=variance)
    return corpus, replace(model, responses=responses), truth


def look_at_supervised(corpus, model, state):
    n_dk, n_kw = counts_of(corpus, state.topics, 2)
    weights, values = state.weights[:, :2], model.responses.values
    fits = n_dk / np.maximum(n_dk.sum(axis=1, keepdims=True), 1) @ weights.T
    has = np.isfinite(values) & (n_dk.sum(axis=1) > 0)
    if model.responses.is_number:
        of_responses = [np.sum((fits[has, 0] - values[has]) ** 2), state.variance]
    else:
        p = class_probabilities(fits[has])
        of_responses = [np.sum(np.log(p[np.arange(len(p)), values[has].astype(int)]))]
    return [
        dirichlet_multinomial(n_dk, 0.8) + dirichlet_multinomial(n_kw, BETA),
        *of_responses,
        np.sum(weights**2),
        np.prod(weights[0]),
    ]


def draw_regression(random):
    """LDA whose prior of topics depends on a column of the documents."""
    shape = corpus_of_table(np.ones((len(LENGTHS), N_WORDS), int))
    model = DirichletRegression(2, 0.6, BETA, prevalence="~ year", effect_scale=0.8)
    model = model.for_data(replace(shape, inputs=INPUTS))
    means = model.prior_means
    coefficients = means + 0.8 * random.normal(size=means.shape)
    alphas = model.alphas_at(coefficients, model.design.standard)
    theta = np.stack([random.dirichlet(row) for row in alphas])
    corpus, topics = draw_words(
        random, LENGTHS, N_WORDS, BETA * N_WORDS, one_of(random, theta[OF_TOKENS])
    )
    return (
        replace(corpus, inputs=INPUTS),
        model,
        SimpleNamespace(topics=topics, coefficients=coefficients),
    )


def look_at_regression(corpus, model, state):
    n_dk, n_kw = counts_of(corpus, state.topics, 2)
    alphas = model.alphas_at(state.coefficients, model.design.standard)
    return [
        dirichlet_multinomial(n_dk, alphas) + dirichlet_multinomial(n_kw, BETA),
        np.sum(state.coefficients[:, 0]),
        np.sum(state.coefficients[:, 1]),
        np.prod(state.coefficients[:, 1]),
    ]


def draw_evolving(documents: str, random):
    model = NearEvolving(3, BETA, documents=documents)
    mean, first = model.first_year
    system, noise = draw_linear(random, model.system_prior)
    states = [random.multivariate_normal(mean, first)]
    for _ in range(YEARS.max()):
        states.append(random.multivariate_normal(system @ np.append(states[-1], 1.0), noise))
    sigma, sticks = inverse_wishart(random, *model.documents_prior), np.array(states)[YEARS]
    if documents == "own":
        sticks = sticks + random.multivariate_normal(np.zeros(2), sigma, len(YEARS))
    corpus, topics = draw_words(
        random, LENGTHS, N_WORDS, BETA * N_WORDS, one_of(random, probabilities(sticks)[OF_TOKENS])
    )
    return (
        corpus_of_table(dense(corpus), times=tuple(1990 + YEARS)),
        model,
        SimpleNamespace(
            topics=topics,
            sticks=sticks,
            states=np.array(states),
            covariance=sigma,
            system=system,
            noise=noise,
        ),
    )


def look_at_evolving(corpus, model, state):
    n_dk, n_kw = counts_of(corpus, state.topics, model.n_topics)
    of_tokens = np.sum(n_dk * log_probabilities(state.sticks)) + dirichlet_multinomial(
        n_kw, model.beta
    )
    return [
        of_tokens,
        log_determinant(state.noise),
        log_determinant(state.covariance),
        np.trace(state.system[:, :-1]),
        np.sum(np.diff(state.states, axis=0) ** 2),
        np.sum(state.sticks**2),
        np.sum(state.states[2] ** 2),
    ]


def draw_drifting(random):
    """A truth and data whose words stand by decreasing tokens, as they do on the stick: all others are drawn anew."""
    model, counts = DynamicTopics(2, 0.6, learn_q=True, a_q=3.0, b_q=1.0), np.array([0, 1])
    while np.any(np.diff(counts) > 0):
        variance = stats.invgamma(model.a_q, scale=model.b_q).rvs(random_state=random)
        mean, first = (np.broadcast_to(each[:, None], (2, 2)) for each in model.first_year(3))
        sticks = [random.normal(mean, np.sqrt(first))]
        for _ in range(YEARS.max()):
            sticks.append(random.normal(sticks[-1], np.sqrt(variance)))
        topics = one_of(random, random.dirichlet(model.alphas, len(LENGTHS))[OF_TOKENS])
        phi = probabilities(np.array(sticks).transpose(0, 2, 1))  # (year, topic, word)
        words = one_of(random, phi[YEARS[OF_TOKENS], topics])
        counts = np.bincount(words, minlength=3)
    table, order = np.zeros((len(LENGTHS), 3), int), np.lexsort((words, OF_TOKENS))
    np.add.at(table, (OF_TOKENS, words), 1)
    truth = SimpleNamespace(topics=topics[order], sticks=np.array(sticks), variance=variance)
    return corpus_of_table(table, times=tuple(1990 + YEARS)), model, truth


def look_at_drifting(corpus, model, state):
    n_dk, _ = counts_of(corpus, state.topics, model.n_topics)
    logs = log_probabilities(state.sticks.transpose(0, 2, 1))
    documents, words = (
        np.repeat(corpus.documents, corpus.counts),
        np.repeat(corpus.words, corpus.counts),
    )
    steps = np.diff(state.sticks, axis=0)
    return [
        logs[YEARS[documents], state.topics, words].sum(),
        dirichlet_multinomial(n_dk, model.alphas),
        state.variance,
        np.sum(steps**2),
        np.sum(state.sticks[0] ** 2),
        np.sum(state.sticks[2]),
    ]


# ---------------------------------------------------------------------- sequences


def draw_hidden_markov(random):
    model = HiddenMarkov(2, BETA)
    first, transitions = random.dirichlet(np.ones(2)), random.dirichlet(np.ones(2), 2)
    emissions, states = random.dirichlet(np.full(3, BETA), 2), []
    for t, (name, _) in enumerate(SEQUENCE):
        begins = t == 0 or SEQUENCE[t - 1][0] != name
        states.append(random.choice(2, p=first if begins else transitions[states[-1]]))
    truth = SimpleNamespace(
        states=np.array(states),
        first_state=first,
        transitions=transitions,
        log_emissions=np.log(emissions).T,
    )
    return (
        corpus_of_table(random.multinomial(SIZES, emissions[states]), sequence=SEQUENCE),
        model,
        truth,
    )


def look_at_hidden_markov(corpus, model, state):
    words, states = np.zeros((2, corpus.n_words), int), state.states.astype(int)
    np.add.at(words, states, dense(corpus))
    first, steps = np.bincount(states[[0, 4]], minlength=2), np.zeros((2, 2), int)
    np.add.at(steps, (states[[0, 1, 2, 4, 5]], states[[1, 2, 3, 5, 6]]), 1)
    of_states = dirichlet_multinomial(steps, 1.0) + dirichlet_multinomial(first[None], 1.0)
    return [
        dirichlet_multinomial(words, model.alpha0) + of_states,
        np.sum(words.T * state.log_emissions),
        np.sum(steps * np.log(state.transitions)),
        np.trace(state.transitions),
        np.sum(np.exp(2 * state.log_emissions)),
        np.sum(first * np.log(state.first_state)),
    ]


SYSTEM_PRIOR = SystemPrior(
    0.3 * np.eye(2), 3.0 * np.eye(2), 9.0, np.array([[2.0, 0.4], [0.4, 3.0]])
)


class NearSystem(LinearDynamicalSystem):
    """The model with a prior without heavy tails, as for sticks."""

    system_prior = SYSTEM_PRIOR


class NearLogisticNormalSystem(LogisticNormalSystem):
    """Likewise."""

    system_prior = SYSTEM_PRIOR


def draw_system(model, log_p, random):
    """log_p : of the words given psi."""
    system, noise = draw_linear(random, model.system_prior)
    variance = stats.invgamma(model.a_sigma_c2, scale=model.b_sigma_c2).rvs(random_state=random)
    offset, states = model.offset_of(SimpleNamespace(n_words=3)), []
    loadings = np.sqrt(variance) * random.normal(size=(len(offset), model.state_dim))
    for t, (name, _) in enumerate(SEQUENCE):
        begins = t == 0 or SEQUENCE[t - 1][0] != name
        of_state = model.first_state if begins else (system @ states[-1], noise)
        states.append(random.multivariate_normal(*of_state))
    psi = np.array(states) @ loadings.T + offset
    truth = SimpleNamespace(
        states=np.array(states), loadings=loadings, system=system, noise=noise, sigma_c2=variance
    )
    return (
        corpus_of_table(random.multinomial(SIZES, np.exp(log_p(psi))), sequence=SEQUENCE),
        model,
        truth,
    )


def look_at_system(log_p, corpus, model, state):
    psi, steps = state.states @ state.loadings.T, np.array([1, 2, 3, 5, 6])
    off = state.states[steps] - state.states[steps - 1] @ state.system.T
    return [
        np.sum(dense(corpus) * log_p(psi + model.offset_of(corpus))),
        state.sigma_c2,
        log_determinant(state.noise),
        np.trace(state.system),
        np.sum(psi[:6] ** 2),
        psi[6, 0],
        np.sum(state.states**2),
        np.sum(state.loadings**2) / state.sigma_c2,
        np.sum(off * np.linalg.solve(state.noise, off.T).T),
    ]


# ---------------------------------------------------------------------- Gaussian processes over rows


def draw_process(model, log_p, sampled: bool, random):
    """sampled : whether the length and the scale are from their prior too."""
    inputs, kernel = (
        Inputs(np.array(INPUTS["year"])[:, None], np.zeros((5, 0))),
        np.array(model.kernel),
    )
    if sampled:
        kernel[[0, 2]] *= np.exp(random.normal(size=2))
    root = np.linalg.cholesky(covariance(inputs, Kernel(*kernel)) + 1e-9 * kernel[2] * np.eye(5))
    mean = dirichlet_moments(np.full(3, 2.0))[0] if model.psi_dim == "stick" else np.zeros(3)
    psi = mean + root @ random.normal(size=(5, len(mean)))
    truth = SimpleNamespace(psi=psi, mean=mean, kernel=kernel, prediction=psi[2:3])
    return (
        corpus_of_table(random.multinomial(LENGTHS, np.exp(log_p(psi))), inputs=INPUTS),
        model,
        truth,
    )


def look_at_process(log_p, sampled: bool, corpus, model, state):
    of_words, off = np.sum(dense(corpus) * log_p(state.psi)), state.psi - state.mean
    neighbours = np.sum((off[1] - off[0]) ** 2)
    of_prediction = [state.prediction[0, 0]] if model.psi_dim == "stick" else []
    return [
        of_words,
        np.sum(off**2),
        neighbours,
        off[2, 0],
        *of_prediction,
        *state.kernel[[0, 2] if sampled else []],
    ]


def system_case(engine: str, model, log_p, options: dict) -> Case:
    return case_of(
        engine, options, partial(draw_system, model, log_p), partial(look_at_system, log_p), thin=20
    )


def process_case(engine: str, model, log_p, kernel: str) -> Case:
    sampled = kernel == "sampled"
    draw, look = (
        partial(draw_process, model, log_p, sampled),
        partial(look_at_process, log_p, sampled),
    )
    return case_of(engine, {"kernel": kernel}, draw, look)


CTM, LN_CTM = NearSticks(3, BETA), NearComponents(3, BETA)
PROCESS = {"length_time": 3.0, "scale": 1.5, "order": "vocabulary", "mean": "paper-code"}
SYSTEM = {
    "state_dim": 2,
    "learn_sigma_c2": True,
    "a_sigma_c2": 3.0,
    "b_sigma_c2": 2.0,
    "offset": "uniform",
    "order": "vocabulary",
}
"""The mean of a process, the offset of a system and the order of words would come from the data otherwise."""
LDS, LN_LDS = NearSystem(**SYSTEM), NearLogisticNormalSystem(**SYSTEM)
GP, LN_GP = GaussianProcess(**PROCESS), LogisticNormalProcess(**PROCESS)
SOFTMAX = partial(log_softmax, axis=-1)
OF_STICKS = (
    partial(draw_correlated, CTM, CTM.psi_prior),
    look_at_correlated,
)
OF_COMPONENTS = (
    partial(draw_correlated, LN_CTM, LN_CTM.psi_prior),
    look_at_correlated,
)
MORE = {
    "g-hdp": case_of("g-hdp", {}, draw_of_hdp, look_at_hdp),
    "slda, classes": case_of("slda", {}, partial(draw_supervised, False), look_at_supervised),
    "slda, numbers": case_of("slda", {}, partial(draw_supervised, True), look_at_supervised),
    "dmr": case_of("dmr", {}, draw_regression, look_at_regression),
    "sb-ctm": case_of("sb-ctm", {}, *OF_STICKS, thin=40),
    "sb-ctm, topics drawn": case_of("sb-ctm", {"topics": "drawn"}, *OF_STICKS, thin=40),
    "sb-ctm, prevalence": case_of("sb-ctm", {}, draw_by_columns, look_by_columns, thin=40),
    "ln-ctm": case_of("ln-ctm", {}, *OF_COMPONENTS, thin=40),
    "sb-ctm-lds, own": case_of(
        "sb-ctm-lds", {}, partial(draw_evolving, "own"), look_at_evolving, thin=100
    ),
    "sb-ctm-lds, shared": case_of(
        "sb-ctm-lds", {}, partial(draw_evolving, "shared"), look_at_evolving, thin=30
    ),
    "sb-dtm": case_of("sb-dtm", {}, draw_drifting, look_at_drifting),
    "hmm": case_of("hmm", {}, draw_hidden_markov, look_at_hidden_markov),
    "sbm-lds": system_case("sbm-lds", LDS, log_probabilities, {}),
    "lnm-lds": system_case("lnm-lds", LN_LDS, SOFTMAX, {"sweep_particles": 20}),
    "sbm-gp": process_case("sbm-gp", GP, log_probabilities, "given"),
    "sbm-gp, kernel sampled": process_case("sbm-gp", GP, log_probabilities, "sampled"),
    "lnm-gp": process_case("lnm-gp", LN_GP, SOFTMAX, "given"),
}
"""Samplers of the hierarchical Dirichlet process, of topics that are correlated or drift, of sequences and of processes."""
