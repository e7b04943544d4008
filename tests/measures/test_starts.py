"""Starts that stay behind the best known bound of their engine."""

from comparisons import made_up

from workbench.measures.starts import starts_behind


def ended(bound, seed=0, init="smooth", engine="svb", **about):
    run = made_up(engine, [9.0, 8.0], seed=seed, options={"init": init}, **about)
    return run.assign(bound=("iteration", [bound - 1.0, bound]))


def test_a_start_that_ends_lower_by_more_than_the_spread_is_told():
    best = [ended(-100.0 - seed, seed) for seed in (0, 1)]
    worse = [ended(-7100.0 - seed, seed, "dirichlet") for seed in (0, 1)]
    assert starts_behind([*best, *worse]) == [
        "svb from init=dirichlet stays 7,000 nats below its best known bound: begin from init=smooth"
    ]
    assert not starts_behind([*best, *(run.assign_attrs(unfinished="1 of 2") for run in worse)])
    assert not starts_behind([*best, *(ended(-100.2 - seed, seed, "noise") for seed in (0, 1))])


def test_only_starts_of_one_engine_on_the_same_data_are_compared():
    best = ended(-100.0)
    assert not starts_behind([best, ended(-900.0, engine="vb", init="dirichlet")])
    assert not starts_behind([best, ended(-900.0, init="dirichlet", train="t1")])
    assert not starts_behind([best, made_up("cgs", [8.0])])
