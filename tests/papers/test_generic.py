"""The table of the paper on generic topic models: what is run, the numbers made of it, and what is said of them."""

import csv
import math
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from toys import simulated

import workbench as wb
from workbench.corpus import Corpus, known_words
from workbench.papers.figure import Claim, Extent
from workbench.papers.figures import FIGURES
from workbench.papers.generic import (
    ATM,
    CLAIMS,
    FEWER,
    GIBBS,
    LDA,
    METHODS,
    MODELS,
    MORE,
    PAM,
    PUBLISHED,
    VB,
    VB_ML,
    network_for,
    pachinko_sizes,
)
from workbench.papers.numbers import UNSEEN, Measured, table
from workbench.papers.reproduce import lay_out_figure, reduced
from workbench.papers.shown import OF_RUNS, Line, lines_of, table_height, table_view
from workbench.papers.verdicts import FAILS, HOLDS, UNDECIDED, judge

FIGURE = FIGURES["generic-fig2"]
TINY = Extent(1, (2, 5), sweeps=(6, 8))


def with_authors() -> Corpus:
    """Thirty documents, by two of four authors each but one."""
    corpus = simulated(30, 12, 25)
    authors = tuple(
        ("ann", "bob", "cyd", "dee")[d % 3 : d % 3 + 1 + d % 2] for d in range(corpus.n_documents)
    )
    return corpus.with_pairs(
        corpus.indptr, corpus.words, corpus.counts, authors=authors, name="thirty"
    )


# ---------------------------------------------------------------------- what is run


@pytest.mark.parametrize(
    ("model", "learnt"),
    [
        (LDA, {"theta": "scalar", "phi": "scalar"}),
        (ATM, {"authors": "none", "theta": "scalar", "phi": "scalar"}),
        (PAM, {"theta0": "scalar", "theta1": "vector", "phi": "scalar"}),
    ],
)
def test_scalar_priors_are_learnt_and_a_vector_for_each_super_topic(model, learnt):
    network = network_for(model, 25)
    assert {level.name: level.learn for level in network.levels} == learnt
    sizes = {each.name: each.size for each in network.variables}
    assert sizes["topic"] == (10 if model == PAM else 25) and sizes.get("super", 5) == 5
    if model == PAM:
        assert network.level("theta1").groups == ("super",)


def test_other_sizes_of_pachinko_keep_the_ratio_of_the_smaller_one():
    assert [pachinko_sizes(n) for n in (10, 20, 50, 1)] == [(2, 4), (4, 8), (10, 20), (1, 1)]


def test_every_model_is_run_in_every_size_by_every_method_on_the_same_documents():
    cells = lay_out_figure(FIGURE, {"nips": with_authors()}, replace(TINY, n_seeds=2))
    assert len(cells) == 3 * 2 * 3 * 2 == FIGURE.n_runs(replace(TINY, n_seeds=2))
    for seed in (0, 1):
        own = [cell for cell in cells if cell.key_values["seed"] == seed]
        assert len({cell.spec.train for cell in own}) == 1 and {cell.spec.seed for cell in own} == {
            seed
        }
        assert own[0].train.n_documents == 27 and own[0].test is None
    assert len({cell.spec.train for cell in cells}) == 2
    lasts = {
        cell.key_values["method"]: (cell.spec.n_iterations, cell.spec.record_every)
        for cell in cells
    }
    assert lasts == {GIBBS: (8, 1), VB_ML: (6, 1), VB: (6, 1)}


def test_long_runs_of_samplers_have_a_hundred_records():
    (cell,) = [
        cell
        for cell in lay_out_figure(
            FIGURE, {"nips": with_authors()}, replace(TINY, n_topics=(2,), sweeps=(6, 500))
        )
        if (cell.key_values["model"], cell.key_values["method"]) == (LDA, GIBBS)
    ]
    assert (cell.spec.n_iterations, cell.spec.record_every, cell.spec.snapshot_every) == (
        500,
        5,
        500,
    )


def test_reduced_lists_the_reductions_of_an_extent():
    assert reduced(FIGURE, FIGURE.full) == [] == reduced(FIGURE, replace(FIGURE.full, n_seeds=3))
    assert reduced(FIGURE, replace(FIGURE.full, n_topics=(25,))) == [
        "sizes K=25, (5, 10), not K=25, (5, 10); K=100, (25, 25)"
    ]
    assert (
        reduced(FIGURE, FIGURE.quick)[0] == "200 documents, drawn at random"
        and len(reduced(FIGURE, FIGURE.quick)) == 3
    )


# ---------------------------------------------------------------------- numbers


def made_up(
    model=LDA,
    n_topics=2,
    method=VB,
    seed=0,
    same=100.0,
    objective=(-9.0, -8.0, -7.0),
    seconds=2.0,
    first=1,
):
    """A run with these bounds (or log joints) per token of ten."""
    name, n = "log_joint" if method == GIBBS else "bound", len(objective)
    run = xr.Dataset(
        {
            name: ("iteration", 10 * np.array(objective, float)),
            "cpu_time": ("iteration", 50 + seconds * np.arange(n)),
            "n_k": (("iteration", "topic"), np.full((n, 2), 5.0)),
        },
        {"iteration": np.arange(first, first + n)},
    )
    return Measured(
        "nips",
        model,
        method,
        n_topics,
        seed,
        run,
        dict(zip(UNSEEN, (same, same + 1, math.nan), strict=True)),
    )


@pytest.mark.parametrize(
    ("objective", "converged"),
    [
        ((-9, -8, -7), 3),
        ((-9, -7.005, -7), 2),
        ((-9, -7.012, -7), 3),
        ((-7, -7, -7), 1),
        ((-7, -6.9, -7), 3),
        ((-7,), 1),
    ],
)
def test_a_run_has_converged_when_its_objective_stays_within_one_percent(objective, converged):
    for method in (VB, GIBBS):
        assert made_up(method=method, objective=objective).number("converged") == converged


def test_time_is_that_of_an_iteration_times_those_until_convergence():
    each = made_up(objective=(-9, -7.1, -7, -7), seconds=3.0)
    assert [each.number(name) for name in ("converged", "seconds", "until_converged")] == [
        3,
        3.0,
        9.0,
    ]
    assert math.isnan(made_up(objective=(-7,)).number("seconds"))


def test_numbers_of_runs_that_converge_in_their_last_tenth_are_lower_bounds():
    rest = (-7.0,) * 9
    still, done = made_up(objective=(-9.0,) * 9 + (-7.0,)), made_up(objective=(-9.0, *rest))
    assert [each.number(name) for each in (still, done) for name in ("converged", "moving")] == [
        10,
        True,
        2,
        False,
    ]
    assert (
        "≥ 10" in lines_of(FIGURE, table([still]))[1]
        and "≥ 20.0" in lines_of(FIGURE, table([still]))[1]
    )
    assert "≥" not in lines_of(FIGURE, table([done]))[1]


def test_the_table_has_means_over_seeds_and_the_papers_numbers():
    rows = table(
        [made_up(n_topics=25, seed=seed, same=100.0 + 2 * seed) for seed in (0, 1)]
        + [made_up(PAM, 3)]
    )
    assert (
        rows[0].mean("foldin_same") == pytest.approx((101.0, 1.0))
        and rows[0].mean("completion")[0] == 102.0
    )
    assert len(rows[0].runs) == 2 and FIGURE.published == PUBLISHED
    _, line, other = lines_of(FIGURE, rows)
    assert (
        line.split()
        == "LDA 25 VB 2 ≥ 3 2.000 ≥ 6.0 101.0 ± 1.0 102.0 ± 1.0 – 20 164.2 0.91 1906.0".split()
    )
    assert other.split() == "PAM (1, 1) VB 1 ≥ 3 2.000 ≥ 6.0 100.0 101.0 – – – – –".split()


def judged(claim, measured, extent=TINY):
    return judge(replace(FIGURE, claims=(claim,)), measured, extent)[0]


def grid(number):
    """A run of each model, size and method, ``number`` giving its settings."""
    return [
        made_up(model, n_topics, method.label, **number(model, n_topics, method.label))
        for model in MODELS
        for n_topics in TINY.n_topics
        for method in METHODS
    ]


def test_pairs_differ_in_what_a_claim_compares_and_in_nothing_else():
    level = {LDA: 0, ATM: 10, PAM: 30, 2: 5, 5: 0, GIBBS: 0, VB: 3, VB_ML: 4}
    measured = grid(lambda *at: {"same": 100.0 + sum(level[each] for each in at)})
    actual = {
        (claim.first, claim.second): judged(claim, measured)
        for claim in CLAIMS
        if claim.kind == "lower"
    }
    assert {names: (each.difference, each.n_pairs) for names, each in actual.items()} == {
        (GIBBS, VB): (-3.0, 6),
        (GIBBS, VB_ML): (-4.0, 6),
        (VB, VB_ML): (-1.0, 6),
        (MORE, FEWER): (-5.0, 9),
        (LDA, ATM): (-10.0, 6),
        (ATM, PAM): (-20.0, 6),
    }
    assert {each.outcome for each in actual.values()} == {HOLDS}
    turned = judged(Claim("", "lower", PAM, LDA), measured)
    assert turned.outcome == FAILS and turned.difference == 30.0


def test_judge_is_undecided_about_more_topics_with_one_size():
    alone = judged(Claim("", "lower", MORE, FEWER), [made_up()], replace(TINY, n_topics=(2,)))
    assert (alone.outcome, alone.n_pairs) == (UNDECIDED, 0)


@pytest.mark.parametrize(
    ("seconds", "outcome", "message"),
    [
        (3.0, HOLDS, "3.00 times as long as Gibbs"),
        (0.5, FAILS, "0.50 times"),
        (2.0, FAILS, "2.00 times"),
    ],
)
def test_judge_compares_a_ratio_of_times_with_2(seconds, outcome, message):
    measured = grid(
        lambda model, n_topics, method: {
            "seconds": 2.0 * (seconds if method == VB else 1.0),
            "objective": (-9.0, -7.0, -7.0),  # which has come to its end
        }
    )
    verdict = judged(Claim("", "twice", VB, GIBBS), measured)
    assert verdict.outcome == outcome and message in verdict.measured and verdict.n_pairs == 6
    alone = [each for each in measured if (each.model, each.n_topics) == (LDA, 2)]
    one = judged(Claim("", "twice", VB, GIBBS), alone)
    assert (one.outcome, one.n_pairs) == (UNDECIDED, 1) and "(one pair)" in one.measured


def test_words_that_no_training_document_has_are_left_out():
    train = Corpus.from_pairs([0, 0], [0, 2], [1, 1], n_documents=1, n_words=4)
    unseen = Corpus.from_pairs([0, 0, 2, 2], [0, 1, 2, 3], [3, 1, 2, 5], n_documents=3, n_words=4)
    kept = known_words(unseen, train)
    assert (
        kept.document_tokens.tolist() == [3, 0, 2]
        and kept.words.tolist() == [0, 2]
        and kept.n_words == 4
    )


# ---------------------------------------------------------------------- the table made again


def texts(view) -> list[str]:
    return [
        str(text)
        for part in view
        for text in part.dimension_values(2)
        if type(part).__name__ == "Labels"
    ]


def test_a_table_has_every_number_with_the_papers_below_it():
    lines = [Line("iterations"), Line("25", (("3", "20"), ("4", "")))]
    view = table_view([("LDA", ("VB",)), ("ATM", ("VB",))], lines)
    assert sorted(texts(view)) == sorted(
        ["LDA", "ATM", "VB", "VB", "iterations", "25", "3", "20", "4"]
    )
    places = {
        str(row[2]): (row[0], row[1])
        for part in view
        if type(part).__name__ == "Labels"
        for row in zip(*(part.dimension_values(i) for i in range(3)), strict=True)
    }
    assert (
        places["3"][0] == places["20"][0]
        and places["3"][1] > places["20"][1]
        and places["4"][1] == places["3"][1]
    )
    assert table_height(lines) < table_height([*lines, lines[1]])


@pytest.fixture
def tiny_figure(only):
    """generic-fig2 on thirty documents with a few iterations, without processes."""
    tiny = replace(FIGURE, full=TINY, quick=replace(TINY, n_topics=(2,), n_documents=20))
    only([tiny], lambda name: with_authors())


@pytest.mark.slow
def test_reproduce_writes_figure_caption_data_and_verdicts(tiny_figure, tmp_path):
    made = wb.reproduce(
        "generic-fig2", tmp_path / "out", tmp_path / "runs", formats=["svg"], progress=False
    )
    assert [path.name for path in made.files] == [
        f"generic-fig2{end}" for end in (".svg", ".txt", ".csv", "-verdict.txt")
    ]
    caption, rows = (
        made.files[1].read_text(),
        list(csv.reader(made.files[2].read_text().splitlines())),
    )
    for expected in (
        "After Heinrich & Goesele (2009)",
        "foldin_same",
        "PAM    (1, 2)  VB_ML",
        "theta1",
        "length: 6 iterations",
        "  workbench reproduce generic-fig2\n",
        "3 of them unseen",
    ):
        assert expected in caption, caption
    assert rows[0] == OF_RUNS and len(rows) == 1 + 18 and not made.failures
    assert len(made.verdicts) == len(CLAIMS) and "Not the published extent" not in caption
    by_authors = OF_RUNS.index("perplexity, completion by known authors")
    assert {row[0] for row in rows[1:] if row[by_authors]} == {ATM}


@pytest.mark.slow
def test_reproduce_quick_names_its_reductions_and_repeats_the_same_bytes(tiny_figure, tmp_path):
    made = wb.reproduce(
        "generic-fig2", tmp_path / "out", tmp_path / "runs", True, formats=["svg"], progress=False
    )
    assert (
        "Not the published extent: 20 documents, drawn at random; sizes K=2, (1, 1), not"
        in made.files[1].read_text()
    )
    assert made.command == "workbench reproduce generic-fig2 --quick"
    more = [each for each in made.verdicts if each.claim.first == MORE]
    assert [each.n_pairs for each in more] == [0]
    again = wb.reproduce(
        "generic-fig2", tmp_path / "again", tmp_path / "runs", True, formats=["svg"], progress=False
    )
    assert [one.read_bytes() for one in made.files] == [one.read_bytes() for one in again.files]
