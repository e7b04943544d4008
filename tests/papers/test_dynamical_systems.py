"""The figures of sequences: what is run, gains over training frequencies, and what is said of them."""

import csv
import math
from dataclasses import replace

import numpy as np
import pytest
from comparisons import made_up
from toys import sequenced, simulated

import workbench as wb
from workbench.corpus import prepare
from workbench.measures import each_run
from workbench.papers.dynamical_systems import (
    ALICE,
    CLIP,
    DNA,
    HMM,
    LNM,
    ORDER,
    RAW,
    REUTERS,
    SBM,
    SMALL,
)
from workbench.papers.figure import Claim, Extent
from workbench.papers.figures import FIGURES
from workbench.papers.numbers import Measured
from workbench.papers.reproduce import corpus_of_seed, lay_out_figure
from workbench.papers.verdicts import FAILS, HOLDS, UNDECIDED, judge
from workbench.runs.spec import SpecError
from workbench.views import pictures

SEQUENCES = {name: figure for name, figure in FIGURES.items() if name.startswith("lds")}


def symbols():
    """Two sequences of 30 rows of one symbol each over six; the last three rows of each are held out when prepared."""
    many = simulated(60, 6, 1)
    order = tuple(("first" if d < 30 else "second", d) for d in range(60))
    return replace(sequenced(many), sequence=order, name="symbols", held_out_rows="last 3")


@pytest.fixture
def tiny(only):
    """The figures on two sequences, two seeds of four sweeps, states of two numbers."""

    def small(method):
        size = {"n_states": 2} if method.engine == "hmm" else {"state_dim": 2}
        return replace(method, options=method.options | size)

    def shortened(figure):
        lengths = {method.label: 4 for method in figure.methods}
        short = Extent(2, (0,), lengths=lengths)
        return replace(
            figure,
            methods=tuple(map(small, figure.methods)),
            full=short,
            quick=replace(short, without=(RAW,)),
        )

    only(map(shortened, SEQUENCES.values()), lambda name: replace(symbols(), name=name))


def test_lengths_are_those_of_the_issue_and_the_paper():
    assert (
        ALICE.full.lengths[SBM] == 500
        and ALICE.full.lengths[HMM] == 300
        and ALICE.full.lengths[LNM] == 200
    )
    assert next(each for each in ALICE.methods if each.label == LNM).options == {
        "sweep_particles": 20
    }
    # window 8 is among them
    assert DNA.full.lengths[LNM] == 200 and DNA.full.n_seeds == 19 and DNA.quick.n_seeds == 9
    assert all(
        set(figure.full.lengths) == {method.label for method in figure.methods}
        for figure in (DNA, REUTERS, ALICE)
    )
    assert next(each for each in ALICE.methods if each.label == SMALL).options == {"sigma_c2": 0.1}


def test_each_seed_has_a_sequence_of_its_own_and_there_are_no_more_seeds_than_sequences():
    second = corpus_of_seed(DNA, symbols(), 1)
    assert second.n_documents == 30 and {name for name, _ in second.sequence} == {"second"}
    assert second.name == "symbols, second" and prepare(second)[1].n_tokens == 3
    with pytest.raises(
        SpecError, match="lds-fig4-dna has one run for each of 2 sequences; use at most 2 seeds"
    ):
        corpus_of_seed(DNA, symbols(), 2)
    assert corpus_of_seed(REUTERS, symbols(), 1).n_documents == 60


def test_an_order_is_part_of_the_run():
    cells = lay_out_figure(ORDER, {"reuters_sequences": symbols()}, replace(ORDER.quick, n_seeds=1))
    orders = [(cell.spec.options["order"], cell.spec.options["order_seed"]) for cell in cells]
    assert orders == [("size", 0), *(("random", seed) for seed in range(4))]


@pytest.mark.slow
@pytest.mark.parametrize("name", SEQUENCES)
def test_a_figure_of_gains_is_made_with_its_data_and_its_verdicts(name, tiny, tmp_path):
    quick = name != "lds-order"
    made = wb.reproduce(
        name, tmp_path, tmp_path / "runs", quick=quick, formats=["svg"], progress=False
    )
    run = [method.label for method in made.figure.methods if not (quick and method.label == RAW)]
    rows = list(csv.DictReader((tmp_path / f"{name}.csv").read_text().splitlines()))
    assert [row["method"] for row in rows] == [label for label in run for _ in range(2)]
    assert (
        all(math.isfinite(float(row["test_gain_joint_added"])) for row in rows)
        and not made.failures
    )
    caption = (tmp_path / f"{name}.txt").read_text()
    assert ("without raw LDS" in caption) == quick and len(made.verdicts) == len(made.figure.claims)
    assert (
        f"seeds of {'sequence' if name == 'lds-fig4-dna' else 'split'} and start: 0 to 1" in caption
    )
    assert ("standard deviation over starts" in caption) == (name == "lds-order")
    assert ("Not in the paper: raw LDS, mean" in caption) == (CLIP in run)
    if CLIP in run:
        drawn = next(
            each
            for each in pictures(each_run([one.dataset() for one in made.runs[:2]]))
            if each.name == "gains"
        )
        assert len(drawn.panels) == 3  # a report on the same runs has the panels too


def one(method: str, seed: int, gain: float, seconds: float = 1.0) -> Measured:
    """A run of two iterations with this joint gain over the 0.1 added, half over the clipped, minus it of seen words."""
    run = made_up("cgs", [10.0, 10.0], seed=seed, elapsed=[seconds, 2 * seconds])
    values = {
        "test_gain_joint_added": gain,
        "test_gain_joint_clipped": gain / 2,
        "test_gain_joint_seen": -gain,
    }
    return Measured(
        "dna",
        "",
        method,
        0,
        seed,
        run.assign(
            {name: ("iteration", [0.0, value]) for name, value in values.items()}
            | {"test_top_hits": ("iteration", [0.0, gain])}
        ),
    )


def verdict(kind: str, first: str, second: str, runs):
    (actual,) = judge(
        replace(DNA, claims=(Claim("something", kind, first, second),)), runs, DNA.quick
    )
    return actual


def test_judge_compares_a_gain_with_another_or_with_0():
    runs = [
        one(method, seed, gain + 0.01 * seed)
        for method, gain in ((SBM, 0.2), (HMM, 0.1))
        for seed in range(3)
    ]
    actual = verdict("gain", SBM, HMM, runs)
    assert (
        actual.outcome == HOLDS
        and actual.measured == "SBM-LDS 0.210, HMM 0.110: +0.100 ± 0.000 (3 pairs)"
    )
    assert verdict("gain", HMM, SBM, runs).outcome == FAILS
    alone = verdict("over added", SBM, "", runs)
    assert (
        alone.outcome == HOLDS
        and alone.measured == "SBM-LDS +0.210 ± 0.006 (3 runs)"
        and alone.n_pairs == 3
    )
    assert verdict("over clipped", SBM, "", runs).difference == pytest.approx(0.105)
    assert (
        verdict("over seen", SBM, "", runs).outcome == FAILS
        and verdict("seen", HMM, SBM, runs).outcome == HOLDS
    )
    assert verdict("over added", SBM, "", runs[:1]).outcome == UNDECIDED
    missing = verdict("over added", RAW, "", runs)
    assert (missing.outcome, missing.n_pairs) == (UNDECIDED, 0)
    assert missing.measured == "no pair of runs; raw LDS is missing"


def test_hits_are_on_a_level_within_half_a_word():
    near, far = (
        [
            one(method, seed, hits)
            for method, hits in ((SBM, 7.0), (HMM, other))
            for seed in range(3)
        ]
        for other in (6.6, 6.4)
    )
    assert (
        verdict("top level", SBM, HMM, near).outcome == HOLDS
        and verdict("top level", SBM, HMM, far).outcome == FAILS
    )


@pytest.mark.parametrize(
    ("times", "twice", "hundred"), [(1.5, FAILS, FAILS), (50, HOLDS, FAILS), (150, HOLDS, HOLDS)]
)
def test_orders_of_magnitude_are_a_hundred_times(times, twice, hundred):
    runs = []
    for method, seconds in ((LNM, times), (SBM, 1.0)):
        for seed in range(3):
            run = made_up(
                "cgs", [20.0, 10.0, *[10.0] * 8], seed=seed, elapsed=seconds * np.arange(1.0, 11.0)
            )
            runs.append(
                Measured(
                    "dna", "", method, 0, seed, run.assign(train_perplexity=run["test_perplexity"])
                )
            )
    assert (
        verdict("twice", LNM, SBM, runs).outcome == twice
        and verdict("hundred", LNM, SBM, runs).outcome == hundred
    )


def test_judge_decides_in_one_direction_for_times_that_longer_runs_would_lengthen():
    def runs(ratio, moving):
        result = []
        for method, seconds in ((LNM, ratio), (SBM, 1.0)):
            values = [20.0, 10.0, *[10.0] * 8] if method != moving else [20.0] * 9 + [10.0]
            # it comes to its end at the tenth, not at the second
            seconds = seconds / 5 if method == moving else seconds
            for seed in range(3):
                run = made_up("cgs", values, seed=seed, elapsed=seconds * np.arange(1.0, 11.0))
                result.append(Measured("dna", "", method, 0, seed, run))
        return result

    assert verdict("twice", LNM, SBM, runs(1.5, LNM)).outcome == UNDECIDED
    assert verdict("twice", LNM, SBM, runs(3.0, LNM)).outcome == HOLDS
    assert verdict("twice", LNM, SBM, runs(3.0, SBM)).outcome == UNDECIDED
    actual = verdict("twice", LNM, SBM, runs(1.5, SBM))
    assert actual.outcome == FAILS and actual.measured.endswith(
        "; longer runs of SBM-LDS may take longer (3 pairs)"
    )
