"""The figures of the paper on CV-HDP: what is run, the numbers made of it, and what is said of them."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from toys import simulated

import workbench as wb
from workbench.corpus import data_sets, prepare
from workbench.engines import ENGINES
from workbench.papers import shown
from workbench.papers.figure import ALL, EACH, Claim, Extent
from workbench.papers.figures import FIGURES
from workbench.papers.hdp import (
    CV_HDP,
    FIVE,
    G_HDP_1,
    G_HDP_100,
    HDP_FIGURES,
    INITIALISED,
    LEARNING,
)
from workbench.papers.numbers import Measured, table
from workbench.papers.reproduce import lay_out_figure, reduced, stages
from workbench.papers.shown import against_steps, against_topics, lines_of
from workbench.papers.verdicts import judge
from workbench.runs.spec import RunSpec

TWO = FIGURES["cv-hdp-fig2"]
LOG_P, BOUND = "log_likelihood", "bound_per_token"


def one(label):
    """The algorithm of that label."""
    return next(each for each in (*FIVE, *INITIALISED, LEARNING) if each.label == label)


# ---------------------------------------------------------------------- what is run


@pytest.mark.parametrize("figure", HDP_FIGURES, ids=lambda figure: figure.name)
def test_every_record_can_be_run_and_claims_something_of_its_own_algorithms(figure):
    labels = [method.label for method in figure.methods]
    assert len(set(labels)) == len(labels) and {method.engine for method in figure.methods} <= set(
        ENGINES
    )
    assert {label for claim in figure.claims for label in (claim.first, claim.second)} <= set(
        labels
    )
    assert set(figure.specified_numbers) <= set(labels) and {
        label for _, label in figure.inferred_topics
    } <= set(labels)
    assert {method.start for method in figure.methods} <= {"", *labels}
    looks = [(method.colour, method.line) for method in figure.methods]
    assert len(set(looks)) == len(looks), "two lines that look alike"
    assert set(figure.corpora) <= set(data_sets())


def test_alpha_is_read_in_two_ways_and_beta_is_100_in_all_for_every_engine():
    cells = lay_out_figure(
        FIGURES["cv-hdp-fig2"], {"kos": simulated()}, Extent(1, (4, 5), steps=60)
    )
    specs = {(cell.key_values["method"], cell.key_values["n_topics"]): cell.spec for cell in cells}
    assert len(specs) == 7 * 2 + 2
    assert specs[f"CV-LDA, {ALL}", 4].model == {"n_topics": 4, "alpha": 0.1 / 4, "beta": 100 / 20}
    assert specs[f"CV-LDA, {EACH}", 5].model == {"n_topics": 5, "alpha": 0.1, "beta": 100 / 20}
    assert (
        specs["CV-HDP", 5].options["beta_total"] == 100 == specs["G-HDP_1", 0].options["beta_total"]
    )
    assert {
        specs[label, 4].options["init"] for label in (f"V-LDA, {ALL}", f"CV-LDA, {EACH}", "CV-HDP")
    } == {"noise"}
    assert [specs[label, 0].model["n_topics"] for label in ("G-HDP_1", "G-HDP_100")] == [1, 100]
    assert {spec.split["per"] for spec in specs.values()} == {"document"}


def test_runs_last_as_many_steps_whatever_their_topics_and_half_of_them_are_burn_in():
    cells = lay_out_figure(
        FIGURES["cv-hdp-fig2"], {"kos": simulated()}, Extent(1, (4, 5), steps=600)
    )
    by_label = {
        (cell.key_values["method"], cell.key_values["n_topics"]): cell.spec for cell in cells
    }
    assert [by_label[f"G-LDA, {ALL}", k].n_iterations for k in (4, 5)] == [150, 120]
    assert [by_label[f"G-LDA, {ALL}", k].burn_in for k in (4, 5)] == [75, 60]
    hdp = by_label["G-HDP_100", 0]
    assert (hdp.stop_on, hdp.stop_tolerance, hdp.burn_in) == (
        "steps",
        600,
        2,
    ) and hdp.n_iterations == 600
    alone = replace(FIGURES["cv-hdp-kos500"], methods=(G_HDP_1,))
    (cell,) = lay_out_figure(alone, {"kos500": simulated()}, Extent(1, (4,), sweeps=(9, 7)))
    assert (cell.spec.stop_on, cell.spec.n_iterations, cell.spec.burn_in) == (None, 7, 3)


# ---------------------------------------------------------------------- numbers


def made_up(
    label, log_p, corpus="kos", n_topics=4, seed=0, bound=None, topics=None, steps=None, n_tokens=10
):
    """A run with these log-likelihoods at iterations 1, 2, …; its bound is that of all tokens."""
    algorithm, n = one(label), len(log_p)
    of_all = n_tokens * (np.zeros(n) if bound is None else np.array(bound))
    data = {
        "test_perplexity": np.exp(-np.array(log_p)),
        "collapsed_bound" if algorithm.engine == "cvb" else "bound": None
        if algorithm.samples
        else of_all,
        "n_active_topics": topics,
        "steps": steps,
    }
    run = xr.Dataset(
        {
            name: ("iteration", np.array(values, float))
            for name, values in data.items()
            if values is not None
        }
        | {"n_k": (("iteration", "topic"), np.full((n, 1), float(n_tokens)))},
        {"iteration": np.arange(1, n + 1)},
    )
    spec = RunSpec(corpus, "train", "test", algorithm.engine, {"n_topics": n_topics})
    return Measured(corpus, "", label, n_topics, seed, run.assign_attrs(spec=spec.to_json()))


def test_bounds_are_per_training_token_and_of_the_engines_own_family():
    each = made_up(f"CV-LDA, {ALL}", [-8.0, -7.5], bound=[-9.0, -8.5])
    # svb's bound at its responsibilities
    other = each._replace(run=each.run.assign(bound=("iteration", [0.0, 0.0])))
    assert other.curve(BOUND).tolist() == [-9.0, -8.5] and other.curve(
        LOG_P
    ).tolist() == pytest.approx([-8.0, -7.5])
    assert np.isnan(
        made_up("G-HDP_1", [-8.0], n_topics=0, topics=[3], steps=[1]).curve(BOUND)
    ).all()


def test_the_table_has_means_over_seeds_with_their_standard_errors():
    measured = [
        made_up("CV-HDP", [-9.0, value], seed=seed, bound=[-9, -8], topics=[4, 3 + seed])
        for seed, value in enumerate((-7.1, -7.3))
    ]
    (row,) = table(measured)
    assert (row.corpus, row.method, row.n_topics, len(row.runs), row.mean("steps")[0]) == (
        "kos",
        "CV-HDP",
        4,
        2,
        8.0,
    )
    assert (
        row.mean(LOG_P) == pytest.approx((-7.2, 0.1))
        and row.mean(BOUND) == (-8.0, 0.0)
        and row.mean("topics") == (3.5, 0.5)
    )
    heads, line = lines_of(TWO, [row])
    assert (
        line.split() == "kos CV-HDP 4 2 −7.200 ± 0.100 −8.000 ± 0.000 3.5 ± 0.5 8".split()
        and heads.startswith("corpus")
    )


def test_against_topics_is_constant_for_methods_that_infer_their_topics():
    extent = Extent(1, (4, 8))
    measured = [made_up(f"G-LDA, {ALL}", [-7.0 - k], n_topics=k) for k in (4, 8)]
    measured.append(made_up("G-HDP_1", [-6.0], n_topics=0, topics=[5], steps=[5]))
    curves = {
        curve.label: curve
        for curve in against_topics(FIGURES["cv-hdp-fig2"], table(measured), "kos", extent, LOG_P)
    }
    assert curves[f"G-LDA, {ALL}"].y.tolist() == [-11.0, -15.0] and curves[
        "G-HDP_1"
    ].y.tolist() == [-6.0, -6.0]
    assert curves["G-HDP_1"].x.tolist() == [4, 8]
    # samplers have no bound
    assert against_topics(FIGURES["cv-hdp-fig2"], table(measured), "kos", extent, BOUND) == []


def test_curves_against_steps_go_through_the_records_and_leave_out_what_was_not_reached(
    monkeypatch,
):
    monkeypatch.setattr(shown, "POINTS", 4)
    extent = Extent(2, (4, 8), steps=16)
    measured = [
        made_up(f"G-LDA, {ALL}", [-9.0, -8.0, -7.0, -6.0], n_topics=4, seed=seed) for seed in (0, 1)
    ]
    measured += [made_up(f"G-LDA, {ALL}", [0.0, 0.0], n_topics=8)]  # more topics are not shown
    # stopped before the budget
    measured += [made_up("G-HDP_1", [-9.0, -5.0], n_topics=0, topics=[5, 5], steps=[6, 10])]
    curves = {
        curve.label: curve
        for curve in against_steps(FIGURES["cv-hdp-fig2"], measured, "kos", extent, LOG_P)
    }
    assert (
        curves[f"G-LDA, {ALL}"].x.tolist() == [4, 8, 12, 16] and curves[f"G-LDA, {ALL}"].n_runs == 2
    )
    assert curves[f"G-LDA, {ALL}"].y.tolist() == pytest.approx([-9.0, -8.0, -7.0, -6.0])
    assert curves["G-HDP_1"].x.tolist() == [8] and curves["G-HDP_1"].y.tolist() == pytest.approx(
        [-7.0]
    )


def test_bounds_are_drawn_from_a_tenth_of_the_steps_on():
    measured = [made_up("CV-HDP", [-9.0] * 15, topics=[4] * 15, bound=[-9.0] * 15)]
    (curve,) = against_steps(
        FIGURES["cv-hdp-fig2"], measured, "kos", Extent(1, (4,), steps=60), BOUND
    )
    assert curve.x[0] == 7 and curve.x[-1] == 60 and curve.y.tolist() == pytest.approx([-9.0] * 54)


def test_a_run_whose_last_iteration_falls_short_of_the_budget_by_a_part_of_its_topics_reaches_the_end(
    monkeypatch,
):
    monkeypatch.setattr(shown, "POINTS", 2)
    measured = [made_up(f"G-LDA, {ALL}", [-9.0] * 92, n_topics=130)]  # 11,960 of 12,000 steps
    (curve,) = against_steps(FIGURES["cv-hdp-fig2"], measured, "kos", Extent(1, (130,)), LOG_P)
    assert curve.x.tolist() == [6000, 12_000]


def test_test_words_and_bounds_of_a_corpus_have_axes_of_their_own():
    measured = [
        made_up(
            "CV-HDP",
            [-9.0, -7.0],
            "kos500",
            topics=[4, 4],
            bound=[-9.0, -8.0],
            steps=[5_000, 12_000],
        )
    ]
    picture, _ = shown.show(FIGURES["cv-hdp-kos500"], Extent(1, (4,), sweeps=(2, 2)), measured, {})
    names = [
        panel.traverse(lambda curve: curve.vdims[0].label, ["Curve"]) for panel in picture.panels
    ]
    assert names == [["KOS 500, log p(test)"], ["KOS 500, bound"]]


# ---------------------------------------------------------------------- verdicts


def figure_with(*claims, **more):
    return replace(
        FIGURES["cv-hdp-fig2"],
        claims=claims,
        **{"inferred_topics": {}, "specified_numbers": {}} | more,
    )


def verdict(figure, measured, whole=True):
    (actual,) = judge(figure, measured, figure.full if whole else figure.quick)
    return actual


def test_likelier_words_and_a_higher_bound_are_paired_by_corpus_topics_and_seed():
    better = [
        made_up("CV-HDP", [-7.0 - 0.1 * seed], corpus, n_topics, seed, bound=[-8.0], topics=[2])
        for corpus in ("kos", "news5")
        for n_topics in (4, 8)
        for seed in (0, 1)
    ]
    worse = [
        made_up(
            f"CV-LDA, {ALL}", [-7.5 - 0.1 * e.seed], e.corpus, e.n_topics, e.seed, bound=[-8.25]
        )
        for e in better
    ]
    for kind, difference in (("likelier", 0.5), ("bound", 0.25)):
        for pair, outcome, sign in (
            (("CV-HDP", f"CV-LDA, {ALL}"), "holds", 1),
            ((f"CV-LDA, {ALL}", "CV-HDP"), "does not hold", -1),
        ):
            actual = verdict(figure_with(Claim("better", kind, *pair)), [*better, *worse])
            assert (actual.outcome, actual.n_pairs) == (outcome, 8)
            assert actual.difference == pytest.approx(sign * difference)


def test_judge_pairs_methods_that_infer_their_topics_with_every_number_of_topics():
    measured = [made_up("G-HDP_100", [-6.0], n_topics=0, topics=[9], steps=[9])]
    measured += [made_up(f"G-LDA, {ALL}", [-7.0 - k / 100], n_topics=k) for k in (4, 8)]
    actual = verdict(figure_with(Claim("best", "likelier", "G-HDP_100", f"G-LDA, {ALL}")), measured)
    assert actual.n_pairs == 2 and actual.difference == pytest.approx(1.06)


def test_judge_compares_speed_in_steps():
    measured = [
        made_up("CV-HDP", [-9.0, -7.0, -7.0, -7.0], seed=seed, topics=[4] * 4) for seed in range(3)
    ]
    measured += [made_up(f"G-LDA, {ALL}", [-9.0, -8.0, -8.0, -6.0], seed=seed) for seed in range(3)]
    actual = verdict(figure_with(Claim("faster", "steps", "CV-HDP", f"G-LDA, {ALL}")), measured)
    assert (
        actual.outcome == "holds"
        and actual.measured == f"CV-HDP step 8, G-LDA, {ALL} step 16: -8 ± 0 (3 pairs)"
    )


def test_judge_compares_known_numbers_after_subtracting_the_common_difference():
    figure = figure_with(
        specified_numbers={"CV-HDP": (-7.5, -8.0, 0.02), f"V-LDA, {ALL}": (-7.8, None, 0.02)}
    )
    measured = [
        made_up("CV-HDP", [-7.52], topics=[4], bound=[-8.01]),
        made_up(f"V-LDA, {ALL}", [-7.84]),
    ]
    shift, likely, bound, other = judge(figure, measured, figure.full)
    assert shift.difference == pytest.approx(-0.03) and shift.outcome == "holds"
    assert (
        likely.claim.says == "log p of a test word of CV-HDP is -7.500 ± 0.02"
        and likely.difference == pytest.approx(0.01)
    )
    assert bound.difference == pytest.approx(-0.01) and other.difference == pytest.approx(-0.01)
    assert {each.outcome for each in (likely, bound, other)} == {"holds"}
    assert {each.outcome for each in judge(figure, measured, figure.quick)} == {"undecided"}
    off = [made_up("CV-HDP", [-7.45], topics=[4], bound=[-8.03]), made_up(f"V-LDA, {ALL}", [-7.84])]
    assert [each.outcome for each in judge(figure, off, figure.full)] == [
        "holds",
        *["does not hold"] * 3,
    ]
    away = [made_up("CV-HDP", [-7.55], topics=[4]), made_up(f"V-LDA, {ALL}", [-7.85])]
    assert judge(figure, away, figure.full)[0].outcome == "does not hold"


@pytest.mark.parametrize(
    ("topics", "outcome"),
    [((160, 170), "holds"), ((400, 402), "does not hold"), ((165,), "undecided")],
)
def test_judge_compares_the_number_of_topics_with_both_errors(topics, outcome):
    figure = figure_with(inferred_topics={("kos", "G-HDP_100"): (168.3, 3.9)})
    measured = [
        made_up("G-HDP_100", [-7.0], n_topics=0, seed=s, topics=[n], steps=[12_000])
        for s, n in enumerate(topics)
    ]
    actual = verdict(figure, measured)
    assert (
        actual.outcome == outcome
        and actual.claim.says == "G-HDP_100 finds 168.3 ± 3.9 topics on kos"
    )
    assert "with a token after 12,000 steps" in actual.measured


# ---------------------------------------------------------------------- made


@pytest.fixture
def tiny(only):
    """cv-hdp-fig2 and -fig3 on twelve documents, few topics and steps, without processes."""
    small = replace(G_HDP_100, n_topics=3, typical=3)
    begun = tuple(
        replace(each, start=each.start and small.label)
        for each in INITIALISED
        if each.engine == "cv-hdp"
    )
    two, three = FIGURES["cv-hdp-fig2"], FIGURES["cv-hdp-fig3"]
    extents = {
        "full": Extent(2, (2, 3), steps=12),
        "quick": Extent(1, (2,), steps=8, n_documents=6),
    }
    shown = [each for each in FIVE if each.label in ("CV-HDP", f"G-LDA, {ALL}", "G-HDP_1")]
    claims = (Claim("one is better", "likelier", "CV-HDP", f"G-LDA, {ALL}"),)
    tiny = (
        replace(
            two,
            name="two",
            corpora=("kos", "news5"),
            methods=tuple(shown),
            claims=claims,
            **extents,
        ),
        replace(three, name="three", methods=(small, *begun), claims=(), **extents),
    )
    return only(tiny, lambda name: replace(simulated(), name=name))


@pytest.mark.slow
def test_a_figure_is_made_with_its_table_its_caption_and_its_verdicts(tiny, tmp_path):
    made = wb.reproduce("two", tmp_path / "out", tmp_path / "runs", progress=False)
    # corpora, seeds, and topics of each algorithm
    assert not made.failures and len(made.runs) == 2 * 2 * (2 + 2 + 1)
    names = [path.name for path in made.files]
    assert names == ["two.svg", "two.pdf", "two.png", "two.txt", "two.csv", "two-verdict.txt"]
    caption = made.files[3].read_text()
    for expected in (
        "two: test log-likelihood and bound of LDA and HDP.",
        "12 steps",
        "alpha of LDA: 0.1 in all or 0.1 each; beta 100",
        "10 % of each document",
        "seeds of split and start: 0 to 1",
        "  workbench reproduce two\n",
        "kos     CV-HDP",
    ):
        assert expected in caption, caption
    header, *records = made.files[4].read_text().splitlines()
    assert header.split(",")[:6] == [
        "corpus",
        "algorithm",
        "topics requested",
        "seed",
        "iteration",
        "steps",
    ]
    lengths = [run.status()["iteration"] for run in made.runs]
    assert len(records) == sum(lengths) and lengths[:4] == [6, 4, 6, 4]
    assert made.verdicts[0].n_pairs == 8
    budget = [
        run.progress()["steps"].values
        for run, cell in zip(made.runs, made.cells, strict=True)
        if cell.key_values["method"] == "G-HDP_1"
    ]
    assert all(steps[-1] >= 12 and (len(steps) == 1 or steps[-2] < 12) for steps in budget)


@pytest.mark.slow
def test_stages_warm_start_from_the_last_state_of_the_sampler_with_the_same_seed(tiny, tmp_path):
    made = wb.reproduce("three", tmp_path / "out", tmp_path / "runs", progress=False)
    by_label = {
        (cell.key_values["method"], cell.key_values["seed"], cell.key_values["n_topics"]): cell.spec
        for cell in made.cells
    }
    assert len(by_label) == 2 * (1 + 2 + 2) and not made.failures
    for seed in (0, 1):
        sampler = by_label["G-HDP_100", seed, 0]
        for n_topics in (2, 3):
            begun, cold = (
                by_label["CV-HDP, from Gibbs", seed, n_topics],
                by_label["CV-HDP, at random", seed, n_topics],
            )
            assert (
                cold.start is None
                and begun.start["name"] == sampler.name
                and begun.start["hash"] == sampler.hash
            )
            assert (begun.train, begun.test, begun.seed) == (cold.train, cold.test, cold.seed)
            assert begun.train == sampler.train


def test_stages_do_not_warm_start_from_unfinished_samplers(tiny, tmp_path, monkeypatch):
    from workbench.runs.execution.run import make_runs

    figure, extent = tiny["three"], Extent(1, (2,), steps=8)
    staged = stages(figure, {"kos": simulated()}, extent, tmp_path)
    make_runs(tmp_path, next(staged), 1)  # made, and not run
    assert list(staged) == []


def test_reduced_lists_the_reductions_of_an_extent():
    figure = FIGURES["cv-hdp-kos500"]
    assert reduced(figure, figure.full) == []
    assert reduced(figure, replace(figure.quick, n_topics=(20,))) == [
        "20 topics, not 40",
        "60 iterations and 40 sweeps, not 200 and 150",
        "1 run of each algorithm, not 3",
    ]


def test_the_split_is_that_of_each_document():
    train, test, split = prepare(simulated(), 0.1, 1, per="document")
    (cell,) = [
        cell
        for cell in lay_out_figure(
            FIGURES["cv-hdp-fig2"], {"kos": simulated()}, Extent(2, (4,), steps=8)
        )
        if cell.key_values
        == {"corpus": "kos", "model": "", "method": "CV-HDP", "n_topics": 4, "seed": 1}
    ]
    assert (cell.train.content_hash, cell.test.content_hash, cell.spec.split) == (
        train.content_hash,
        test.content_hash,
        split,
    )
    assert isinstance(cell.spec, RunSpec) and cell.spec.seed == 1 and CV_HDP.label == "CV-HDP"
