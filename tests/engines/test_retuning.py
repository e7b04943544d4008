"""Settings that are turned while a run runs: the engine goes on from the same counts, as if it had always had them."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
import twins
import xarray as xr
from geweke import z_of
from short_runs import CLOCKS, run_of, short_settings
from stepping import states, stepped
from toys import simulated, toy_a

import workbench as wb
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options, options_of
from workbench.models import LDA, ModelError
from workbench.models.hdp import LEARNT
from workbench.models.networks.network import Network
from workbench.models.networks.shipped import generic_lda
from workbench.runs.interventions import live_settings, turnable
from workbench.runs.spec import make_spec

LIVE = [
    name
    for name in ENGINES
    # of which the network of the short runs has no priors
    if live_settings(get_engine(name)) and name != "network-vb-ml"
]
HYBRIDS = ("svb-cgs", "cvb-cgs", "cvb0-cgs")
OTHER_HYBRIDS = ("network-hybrid", "bn-hybrid")
VALUES = {
    "r": (0, inf),
    "budget_r": (0, inf),
    "budget": (0.9, 1.0),
    "kappa": (0.6, 0.9),
    "chance": (0.2, 0.9),
}
"""Two values of a setting; of others three and five times the default."""
OF_THE_START = {
    **dict.fromkeys(HYBRIDS, ("r",)),  # which tokens have a topic at all
    "adaptive-cgs": ("budget_r", "budget"),  # the same
    "cv-hdp": ("a_alpha", "b_alpha", "a_gamma", "b_gamma"),  # q begins at its prior
    # the first marginals and states are those given the priors
    **dict.fromkeys(("bn-cvb0", "bn-gibbs"), ("alpha", "beta")),
    "bn-hybrid": ("alpha", "beta", "r"),
    "network-hybrid": ("r",),
    # the weights are drawn from their prior, and the concentrations begin at the mean of theirs
    "g-hdp": ("alpha_total", "top_concentration", "a_alpha", "b_alpha", "a_gamma", "b_gamma"),
}
"""Settings that the state before the first iteration depends on."""
VARIANTS = {
    **{name: [{}] for name in LIVE},
    "svb-cgs": [
        {},
        {"n_chains": 2},
        {"schedule": "sequential", "n_chains": 2},
        {"schedule": "sequential", "phases": "interleaved"},
        {"init": "dirichlet", "learn_alpha": "maximised", "learn_after": 2, "learn_every": 1},
    ],
    "cvb-cgs": [{}, {"n_chains": 2, "cg_second_order": True}, {"phases": "interleaved"}],
    "cvb0-cgs": [{}, {"n_chains": 2, "partition": 2}, {"phases": "interleaved"}],
    "network-hybrid": [{}, {"n_chains": 2}],
    "bn-hybrid": [{}, {"n_chains": 2}],
    "adaptive-cgs": [{"refresh": 2, "average": average} for average in ("svb", "cvb0")],
    "cgs": [{"partition": 2}],
}


def two_values(name: str, setting: str) -> tuple[float, float]:
    about = options_of(get_engine(name))
    default = about[setting].default if setting in about else 0.1
    return VALUES.get(setting, (3 * default, 5 * default))


def beside(name: str, setting: str) -> dict:
    """Options with which a setting counts."""
    for of, fixed, prior, _ in LEARNT:
        if setting in prior or (setting == fixed and of != "beta"):
            return {f"learn_{of}": setting in prior}
    if (name, setting) == ("sb-ctm-vb", "kappa"):
        return {"batch": 4}
    # the first sweeps of `cgs` would know the prior
    return {"start_sweeps": 0} if "start_sweeps" in options_of(get_engine(name)) else {}


def with_settings(name: str, options: dict, setting: str = "", value: float = 0.0, **more):
    """A short run with a setting from the start."""
    given = {setting: value} if setting else {}
    of_engine = {each: given.pop(each) for each in [*given] if each in options_of(get_engine(name))}
    return run_of(name, options=options | of_engine, **given, **more)


def differing(one, other, last: int | None = None) -> list[str]:
    """The variables of both runs that differ in a bit, clocks apart; of the iterations up to ``last``."""
    names = [
        each
        for each in (*one.data_vars, *one.coords)
        if each in other and each not in CLOCKS and (last is None or "iteration" in one[each].dims)
    ]
    if last is not None:
        runs = (run[names].sel(iteration=slice(last)) for run in (one, other))
        one, other = xr.align(*runs, join="inner")  # topics may be added later
    return [name for name in names if not one[name].equals(other[name])]


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        (name, setting)
        for name in LIVE
        for setting in live_settings(get_engine(name))
        if setting not in OF_THE_START.get(name, ())
    ],
)
def test_a_setting_turned_before_the_first_iteration_is_one_from_the_start(name, setting):
    first, then = two_values(name, setting)
    options = beside(name, setting)
    turned = with_settings(name, options, setting, first, interventions=[(1, {setting: then})])
    assert differing(turned, with_settings(name, options, setting, then)) == []


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param(name, options, marks=[pytest.mark.slow] * bool(options))
        for name, each in VARIANTS.items()
        for options in each
    ],
)
def test_counts_are_kept_when_a_setting_is_turned_and_turned_again(name, options):
    engine, (train, _), plain = get_engine(name), short_settings(name), {}
    for setting in live_settings(engine):
        if setting == "alpha" and "learn_alpha" in options:
            continue
        given = beside(name, setting) | options
        (first, then), key = two_values(name, setting), tuple(beside(name, setting).items())
        if key not in plain:
            plain[key] = with_settings(name, given)
        turns = [(5, {setting: first}), (9, {setting: then})]
        run = with_settings(name, given, interventions=turns, snapshot_every=1)
        assert differing(run, plain[key], 4) == [], setting
        assert differing(run, plain[key]), f"{setting} has no effect"
        assert_all_are_counted(run, engine, train, plain[key])


def assert_all_are_counted(run, engine, train, plain):
    """Counts are none below 0 and have the sum of the tokens, or of the records of a run that was not turned."""
    if "n_cpt" in run:  # of records, each in one cell of each table
        n_counted, counted = plain["n_cpt"].values[0].sum(), ("n_cpt",)
    else:
        n_counted = train.n_tokens if engine.whole_counts else run["n_k"].sum("topic").values
        counted = ("n_kw", "n_dk") if engine.whole_counts else ("n_kw",)
    for counts in counted:
        values = run[counts].values.reshape(run.sizes["snapshot"], -1)
        np.testing.assert_allclose(values.sum(axis=1), n_counted, rtol=1e-9)  # rounding
        assert values.min() >= 0


def test_priors_of_a_bayes_net_are_turned_where_they_are_given_and_fixed():
    data, _ = short_settings("bn-vb")
    spec = make_spec(data, "bn-vb", n_iterations=1)
    assert turnable(spec) == {"alpha": 0.5, "beta": 0.5}
    assert turnable(replace(spec, options=spec.options | {"learn_priors": "maximised"})) == {}
    nodes = [
        {"name": name, "states": len(levels)}
        for name, levels in zip(data.fields, data.levels, strict=True)
    ]
    assert turnable(make_spec(data, "bn-vb", model={"name": "own", "nodes": nodes})) == {}
    assert live_settings(get_engine("bn-em")) == ()  # it maximises, without priors


@pytest.mark.parametrize(
    ("name", "options"),
    [(name, each) for name in (*HYBRIDS, *OTHER_HYBRIDS) for each in VARIANTS[name]],
)
def test_r_may_go_through_all_its_values(name, options):
    turns = [(3, {"r": 0}), (5, {"r": inf}), (7, {"r": 2}), (9, {"r": 0, "beta": 0.3})]
    run = run_of(name, options=options | {"r": 1}, interventions=turns, snapshot_every=1)
    assert_all_are_counted(run, get_engine(name), short_settings(name)[0], run)
    assert run["r"].values.tolist() == [1, 1, 0, 0, inf, inf, 2, 2, 0, 0, 0, 0]
    beta = run["beta"].values.tolist()
    assert beta == beta[:1] * 8 + [0.3] * 4 and beta[0] != 0.3


@pytest.mark.parametrize("n_chains", [1, 2])
@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (inf, 1), (1, 0), (0, inf), (0, 1)])
@pytest.mark.parametrize("name", HYBRIDS)
def test_tokens_that_stay_sampled_keep_their_topics_and_all_else_follows_the_counts(
    name, before, after, n_chains
):
    engine, corpus, model = get_engine(name), simulated(), LDA(3, 0.2, 0.1)
    given = {"n_chains": n_chains} | ({"schedule": "sequential"} if name == "svb-cgs" else {})
    old, new = (make_options(engine, given | {"r": r}) for r in (before, after))
    state = stepped(engine, corpus, model, old, 3, seed=4)
    kept = np.repeat(corpus.counts, corpus.counts) <= min(before, after)
    topics = state.topics.copy()
    totals = [
        twins.Counts(
            *((getattr(state, f"mean_{of}") + getattr(state, f"n_{of}")[s])[..., :3] for of in OF)
        )
        for s in range(len(topics))
    ]
    context = StepContext(4, 4, changed={"r": before})
    state, _ = engine.retune(corpus, model, new, state, context)
    assert len(state.topics) == (n_chains if after else 1)
    for s, chain in enumerate(state.topics):
        assert np.array_equal(chain[kept], topics[s % len(topics)][kept])
        counted = twins.sampled_counts(corpus, chain, 3, after)
        for of in OF:
            assert np.array_equal(
                getattr(state, f"n_{of}")[s][..., :3], getattr(counted, f"n_{of}")
            )
    mean = twins.Counts(*(np.mean(each, axis=0) for each in zip(*totals, strict=True)))
    gamma = np.array(
        [twins.conditional(mean, d, w, model.alphas, 0.1) for d, w, _ in twins.pairs_of(corpus)]
    )
    expected = twins.expected_counts(corpus, gamma / gamma.sum(axis=1, keepdims=True), after)
    for of in OF:
        np.testing.assert_allclose(
            getattr(state, f"mean_{of}")[..., :3], getattr(expected, f"n_{of}"), atol=1e-6
        )


OF = ("dk", "wk", "k")


def test_a_chain_whose_priors_were_turned_draws_from_the_posterior_of_the_new_ones():
    """Two tokens with the same topic: 4 standard errors of 50 batch means."""
    (corpus, model), engine = toy_a(), get_engine("cgs")
    options, turned = make_options(engine, {}), replace(model, alpha=2.0, beta=1.5)
    state = stepped(engine, corpus, model, options, 49, seed=3)
    context = StepContext(3, 50, changed={"alpha": model.alpha, "beta": model.beta})
    state, _ = engine.retune(corpus, turned, options, state, context)
    visited = states(engine, corpus, turned, options, 10_000, seed=3, state=state, first=50)
    samples = [each.topics[1:] == each.topics[0] for each in visited]
    exact, old = (
        (known.topics[:, 1:] == known.topics[:, :1]).T @ known.probability
        for known in (
            twins.enumerate_topics(corpus, each.alphas, each.beta) for each in (turned, model)
        )
    )
    assert z_of(samples, exact, 50).max() < 4
    assert np.abs(exact - old).max() > 0.1  # far apart


@pytest.mark.slow
def test_a_run_that_was_turned_ends_on_the_level_of_the_engine_that_it_became():
    """Held-out perplexities of four seeds; r = 0 stays where the sampler led, as a run that starts from one does."""
    train, test = wb.hold_out_tokens(wb.load_corpus("docstrings"), 0.1, 0)

    def ends(engine, seed, n_iterations=160, **more):
        about = {"n_iterations": n_iterations, "record_every": 80, "snapshot_every": n_iterations}
        return wb.fit(train, engine, 10, test=test, seed=seed, progress=False, **about, **more)

    runs = {name: [] for name in ("r 0", "0 inf 0", "cgs", "cgs 0", "1 inf")}
    for seed in range(4):
        runs["r 0"].append(ends("svb-cgs", seed, r=0))
        turns = [(60, {"r": inf}), (160, {"r": 0})]
        runs["0 inf 0"].append(ends("svb-cgs", seed, 240, r=0, interventions=turns))
        runs["cgs"].append(ends("cgs", seed))
        runs["cgs 0"].append(ends("svb-cgs", seed, 80, r=0, start=runs["cgs"][-1]))
        runs["1 inf"].append(ends("svb-cgs", seed, 240, r=1, interventions=[(60, {"r": inf})]))
    found = {
        name: np.array([float(run["test_perplexity_state"][-1]) for run in each])
        for name, each in runs.items()
    }

    def apart(one, other):
        """In standard errors."""
        error = np.sqrt((found[one].var(ddof=1) + found[other].var(ddof=1)) / 4)
        return (found[one].mean() - found[other].mean()) / error

    assert abs(apart("0 inf 0", "cgs 0")) < 4 and abs(apart("1 inf", "cgs")) < 4, found
    assert apart("0 inf 0", "r 0") < 4, found


def test_a_prior_that_a_network_learns_is_not_turned():
    first, *others = (network := generic_lda(3, 0.1, 0.1))["levels"]
    learns = Network(**network | {"levels": (replace(first, learn="scalar"), *others)})
    assert learns.turned(beta=0.5).levels[-1].prior == 0.5
    with pytest.raises(ModelError) as error:
        make_spec(simulated(), "network-vb", model=learns, interventions=[(2, {"alpha": 0.3})])
    assert str(error.value) == "network 'lda' has no alpha that is fixed, so none to turn"
