import math
from dataclasses import replace

import pytest
from comparisons import made_up

from workbench.papers.figure import Claim
from workbench.papers.figures import KOS
from workbench.papers.numbers import Measured
from workbench.papers.verdicts import FAILS, HOLDS, UNDECIDED, judge


def one(engine, values, seed=0):
    """A run with these perplexities."""
    return Measured("kos", "", engine, 10, seed, made_up(engine, values, seed=seed))


def runs_of(**finals):
    """Runs of each engine, a seed for each final perplexity, after one iteration at twice that."""
    return [
        one(engine, [2 * value, value], seed)
        for engine, values in finals.items()
        for seed, value in enumerate(values)
    ]


def verdict(kind, runs, first="svb", second="cgs"):
    (actual,) = judge(
        replace(KOS, claims=(Claim("something", kind, first, second),)), runs, KOS.full
    )
    return actual


def test_a_difference_is_paired_by_seed_and_has_its_standard_error():
    actual = verdict("lower", runs_of(svb=[110.0, 212.0, 308.0], cgs=[100.0, 200.0, 300.0]))
    # differences 10, 12, 8: mean 10, sd 2, by hand
    assert (
        actual.difference == pytest.approx(10)
        and actual.error == pytest.approx(2 / math.sqrt(3))
        and actual.n_pairs == 3
    )
    assert actual.measured == "svb 210.0, cgs 200.0: +10.0 ± 1.2 (3 pairs)"


@pytest.mark.parametrize(
    ("differences", "outcome"),
    [
        ((-10, -12, -8), HOLDS),
        ((10, 12, 8), FAILS),
        ((-10, 2, 5), UNDECIDED),
        ((-10,), UNDECIDED),
        (
            (-5, -2, -2),
            UNDECIDED,
        ),  # three standard errors from 0, which is not enough with three runs
    ],
)
def test_lower_needs_an_interval_on_one_side_of_zero(differences, outcome):
    runs = runs_of(svb=[100.0 + d for d in differences], cgs=[100.0] * len(differences))
    assert verdict("lower", runs).outcome == outcome


@pytest.mark.parametrize(
    ("differences", "outcome"),
    [
        ((0.1, -0.1, 0.0), HOLDS),
        ((5.0, 5.2, 4.8), FAILS),
        ((-5.0, -5.2, -4.8), FAILS),
        ((3.0, -3.0, 0.5), UNDECIDED),
    ],
)
def test_level_means_within_one_percent(differences, outcome):
    runs = runs_of(svb=[100.0 + d for d in differences], cgs=[100.0] * 3)
    assert verdict("level", runs).outcome == outcome


def test_judge_compares_same_states_up_to_rounding():
    # made_up gives the state one more than the headline
    assert verdict("same", runs_of(svb=[100.0], cgs=[100.0 + 1e-8])).outcome == HOLDS
    assert verdict("same", runs_of(svb=[100.0, 100.0], cgs=[100.0, 100.001])).outcome == FAILS


def test_sooner_counts_iterations_to_the_own_final_value():
    quick, slow = [300.0, 200.5, 200.0, 200.0, 200.0], [300.0, 250.0, 220.0, 101.0, 100.5]
    assert one("svb", quick).number("converged") == 2 and one("cgs", slow).number("converged") == 4
    assert one("svb", [100.0, 300.0, 100.0]).number("converged") == 3  # it must stay there
    runs = [
        one(engine, values, seed)
        for engine, values in (("svb", quick), ("cgs", slow))
        for seed in range(3)
    ]
    actual = verdict("sooner", runs)
    assert (
        actual.outcome == HOLDS
        and actual.measured == "svb iteration 2.0, cgs iteration 4.0: -2.0 ± 0.0 (3 pairs)"
    )


def test_judge_is_undecided_without_a_pair_and_names_the_missing_engine():
    actual = verdict("lower", runs_of(svb=[100.0]))
    assert (
        actual.outcome == UNDECIDED
        and actual.measured == "no pair of runs; cgs is missing"
        and actual.n_pairs == 0
    )
