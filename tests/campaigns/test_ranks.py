"""Rank tests of samplers: the truth that data were drawn from has any rank among draws of its posterior equally often.

Cook, Gelman & Rubin (2006); Talts et al. (2018). Truth and data from the prior, then a chain on the data; what is ranked
does not tell states of other names apart: the log joint of hidden states and data, and whatever else is learnt, as priors.
``make torture CAMPAIGNS=ranks`` draws 2,000 truths for each sampler; number of truths, first seed and samplers can be given.
`raw-lds`, whose data are shares that no corpus of counts has, is left to Geweke's test in its own tests.
"""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from campaigns.truths import MORE, Case, dirichlet_multinomial
from scipy import stats

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import split_options
from workbench.models import LDA
from workbench.models.bayes_nets.simulated import draw_records
from workbench.models.networks.network import Network
from workbench.models.networks.shipped import author_topic, pachinko
from workbench.records import Records

N_DRAWS, BURN_IN, BINS = 15, 5, 8
"""Draws that a truth is ranked among, how many more go before them, and bins of the ranks."""
A, B = 4.0, 5.0
"""Shape and rate of the prior of a prior that is learnt."""
LEAST = 1e-4
"""A smaller p-value is a failure: of a hundred, whose seeds are fixed, hardly one is so by chance."""


def joint(n_dk, n_kw, alpha, beta) -> float:
    """log p(words, topics)."""
    return dirichlet_multinomial(n_dk, alpha) + dirichlet_multinomial(n_kw, beta)


def draw_topics(learnt: bool, seed: int):
    """A tiny corpus of LDA; learnt: its alpha and beta from their priors too."""
    random = np.random.default_rng([seed, 1])
    alpha, beta = random.gamma(A, 1 / B, 2) if learnt else (0.6, 0.4)
    model = LDA(3, float(alpha), float(beta))
    corpus, truth = model.simulate(5, 6, 8, seed)
    told = joint(truth["n_dk"], truth["n_kw"], alpha, beta)
    return corpus, model, [told, *([alpha, beta] if learnt else [])]


def look_at_topics(learnt: bool, corpus, engine, model, options, state):
    found = engine.counts(corpus, model, options, state)
    alpha, beta = (state.alpha, state.beta) if learnt else (model.alphas, model.beta)
    return [joint(found["n_dk"], found["n_kw"], alpha, beta), *([alpha[0], beta] if learnt else [])]


AUTHORS = (("ann",), ("ann", "bob"), ("bob", "cleo"), ("cleo",), ("ann", "cleo"))
NETWORKS = {
    "pachinko": (Network(**pachinko(3, 2, 0.6, 0.4)), None),
    "author-topic": (Network(**author_topic(3, 0.6, 0.4)), AUTHORS),
}
"""Networks of mixture levels, and the authors of their five documents."""


def draw_paths(network: str, seed: int):
    """A tiny corpus of a network of mixture levels."""
    net, authors = NETWORKS[network]
    corpus, truth = net.simulate(5, 6, 8, seed, authors)
    return corpus, net.for_data(corpus), [joint_of_levels(net, truth)]


def joint_of_levels(net, counts: dict) -> float:
    """log p of words and paths but for the choice of an author, each as likely as the others of a document."""
    named = {
        level.name: counts["n_kw" if level is net.levels[-1] else f"n_{level.name}"]
        for level in net.levels
        if level.kind == "dirichlet"
    }
    return sum(
        dirichlet_multinomial(found.reshape(-1, found.shape[-1]), net.level(name).prior)
        for name, found in named.items()
    )


def look_at_paths(corpus, engine, model, options, state):
    return [joint_of_levels(model, engine.counts(corpus, model, options, state))]


def draw_nodes(network: str, seed: int):
    """A few records of a network whose tables are from their priors; its hidden nodes are left out."""
    fields, levels = ("a", "b", "c"), (("x", "y"),) * 3
    shape = Records(np.zeros((1, 3), int), [1], fields, levels)
    net = get_engine("bn-gibbs").model(network=network, alpha=0.8, beta=0.5)
    made, random = net.for_data(shape), np.random.default_rng([seed, 2])
    tables = random.gamma(made.tables.alpha)
    tables /= made.tables.sum_rows(tables)[made.tables.row_of]
    complete = draw_records(made, tables, 8, seed)
    records = complete.of_fields(fields)
    return records, net.for_data(records), [log_joint_of(made, counts_of(made, complete))]


def counts_of(net, complete: Records) -> np.ndarray:
    """(table cell,) how often each came in complete records: node after node, in plain Python."""
    at, found = {field: i for i, field in enumerate(complete.fields)}, np.zeros(net.tables.n_cells)
    starts = dict(zip(net.tables.names, net.tables.starts, strict=False))
    by_name = {node.name: node for node in net.nodes}
    for row, n in zip(complete.values, complete.multiplicities, strict=True):
        for node in net.nodes:
            cell = 0
            for parent in node.parents:
                cell = cell * by_name[parent].n_states + row[at[parent]]
            found[starts[node.cpt] + cell * node.n_states + row[at[node.name]]] += n
    return found


def log_joint_of(net, counts: np.ndarray) -> float:
    """log p of complete records, tables integrated out."""
    rows = net.tables.row_of
    return sum(
        dirichlet_multinomial(counts[None, rows == row], net.tables.alpha[None, rows == row])
        for row in np.unique(rows)
    )


def look_at_nodes(records, engine, model, options, state):
    return [log_joint_of(model, state.counts)]


LEARN = {
    "learn_alpha": "sampled",
    "learn_beta": "sampled",
    "alpha_form": "symmetric",
    "learn_after": 1,
    "learn_every": 1,
    "a_alpha": A,
    "b_alpha": B,
    "a_beta": A,
    "b_beta": B,
}
FIXED = {"learn_after": 10**6}
"""A prior of pachinko would be maximised otherwise, and truths are drawn from one that is not."""
CASES = {
    "cgs": Case("cgs", {}, partial(draw_topics, False), partial(look_at_topics, False)),
    "cgs, words in order": Case(
        "cgs", {"scan": "words"}, partial(draw_topics, False), partial(look_at_topics, False)
    ),
    "cgs, priors learnt": Case(
        "cgs", LEARN, partial(draw_topics, True), partial(look_at_topics, True)
    ),
    **{
        f"network-gibbs, {name}": Case(
            "network-gibbs", FIXED, partial(draw_paths, name), look_at_paths
        )
        for name in NETWORKS
    },
    "bn-gibbs": Case("bn-gibbs", {}, partial(draw_nodes, "latent-class"), look_at_nodes),
    "bn-gibbs, tied": Case("bn-gibbs", {}, partial(draw_nodes, "hmm"), look_at_nodes),
    "bn-gibbs, tied, tables drawn": Case(
        "bn-gibbs", {"tables": "drawn"}, partial(draw_nodes, "hmm"), look_at_nodes
    ),
    **MORE,
}
QUICK = {name: 60 if name in MORE else 150 for name in CASES}
"""Truths in an ordinary run of the tests."""
SEEN = (
    "cgs",
    *(f"network-gibbs, {name}" for name in NETWORKS),
    "g-hdp",
    "sb-dtm",
    "hmm",
    "sbm-lds",
    "lnm-lds",
    "sbm-gp",
    "lnm-gp",
)
"""Samplers of which so few truths show that their prior of words is another one."""


def of_other_words(model):
    """The model with three times its prior of words, or of the variance that they follow from."""
    if isinstance(model, LDA):
        return LDA(model.n_topics, model.alphas, model.beta * 3)
    if hasattr(model, "levels"):
        words = model.levels[-1]
        return replace(model, levels=(*model.levels[:-1], replace(words, prior=words.prior * 3)))
    name = next(
        name
        for name in ("beta_total", "beta", "alpha0", "b_q", "b_sigma_c2", "scale")
        if hasattr(model, name)
    )
    return replace(model, **{name: getattr(model, name) * 3})


def ranks_of(case: Case, n_truths: int, planted=lambda model: model, first: int = 0) -> np.ndarray:
    """(truth, statistic) how many draws of the posterior lie below the truth, for truths of seeds from ``first`` on.

    ``planted`` changes the model for the sampler, not for the truth and not for what is ranked. Few records have few
    different counts: of draws as high as the truth, any number may be below it.
    """
    engine, found = get_engine(case.engine), []
    for seed in range(first, first + n_truths):
        data, model, truth = case.draw(seed)
        _, options = split_options(engine, case.options)
        sampled = planted(model)
        state = engine.init(data, sampled, options, StepContext(seed, 0))
        below, as_high = np.zeros(len(truth), int), np.zeros(len(truth), int)
        for sweep in range(1, (BURN_IN + N_DRAWS) * case.thin + 1):
            state, _ = engine.step(data, sampled, options, state, StepContext(seed, sweep))
            if sweep > BURN_IN * case.thin and sweep % case.thin == 0:
                values = np.array(case.look(data, engine, model, options, state))
                equal = np.isclose(values, truth, rtol=1e-10, atol=1e-10)
                as_high += equal
                below += (values < truth) & ~equal
        found.append(below + np.random.default_rng([seed, 3]).integers(as_high + 1))
    return np.array(found)


def p_values(ranks: np.ndarray) -> list[float]:
    """Of the chi-square test that all ranks are equally frequent, one for each statistic."""
    return [
        float(stats.chisquare(np.histogram(own, BINS, (-0.5, N_DRAWS + 0.5))[0]).pvalue)
        for own in ranks.T
    ]


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_the_truth_has_any_rank_equally_often(name):
    found = p_values(ranks_of(CASES[name], QUICK[name]))
    assert min(found) > LEAST, found


@pytest.mark.long
@pytest.mark.parametrize("name", SEEN)
def test_a_sampler_with_another_prior_is_seen(name):
    assert min(p_values(ranks_of(CASES[name], QUICK[name], planted=of_other_words))) < LEAST


def main(n_truths: int, first: int = 0, *names: str) -> None:
    """Prints a row for each sampler; ends with 1 if one fails."""
    print("| sampler | truths | p-values |\n|---|---:|---|")
    worst = 1.0
    for name in names or CASES:
        found = p_values(ranks_of(CASES[name], n_truths, first=first))
        worst = min(worst, *found)
        print(f"| {name} | {n_truths:,} | {', '.join(f'{p:.3f}' for p in found)} |", flush=True)
    sys.exit(worst < LEAST)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3] or [2000]), *sys.argv[3:])
