import json
import math
from dataclasses import replace

import numpy as np
import pytest
from comparisons import made_up, tiny_comparison
from toys import simulated

import workbench as wb
from workbench.corpus import SINGLETONS, CorpusError
from workbench.engines import ENGINES
from workbench.measures import each_run
from workbench.papers.figure import Claim, Extent
from workbench.papers.figures import DRAWINGS, FIGURES, KOS
from workbench.papers.numbers import Measured
from workbench.papers.reproduce import lay_out_figure, some_documents
from workbench.papers.results import read_results
from workbench.papers.verdicts import FAILS, HOLDS, UNDECIDED, judge
from workbench.report.files import ReportError
from workbench.runs.execution.sweep import run_cells
from workbench.runs.spec import SpecError
from workbench.views import pictures

ENGINES_OF_LDA = {
    name: figure for name, figure in FIGURES.items() if name.startswith(("hybrid", "cvb"))
}


@pytest.fixture
def tiny_figures(only):
    """tiny-fig3 to tiny-fig10 on twelve documents: 12 and 8 iterations, two seeds and one, without processes."""
    tiny = (
        replace(
            figure,
            name=name.replace("hybrid", "tiny"),
            full=Extent(2, (2,), 12),
            quick=Extent(1, (2,), 8, n_documents=6),
            split=figure.split | ({"top_words": 10} if "top_words" in figure.split else {}),
            beta=0.3,
        )
        for name, figure in ENGINES_OF_LDA.items()
    )
    return only(tiny, lambda name: replace(simulated(), name=name))


def test_the_table_is_that_of_the_paper():
    paper = {
        name: FIGURES[f"hybrid-{name}"]
        for name in ("fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10")
    }
    assert [figure.full.n_seeds for figure in paper.values()] == [20, 20, 17, 17, 14, 4, 20, 12]
    assert {(figure.corpus, figure.full.n_topics) for figure in paper.values()} == {
        ("kos", (10,)),
        ("nips", (40,)),
    }
    cells = lay_out_figure(paper["fig3"], {"kos": simulated()}, paper["fig3"].full)
    specs = [cell.spec for cell in cells]
    assert {(spec.model["alpha"], spec.model["beta"]) for spec in specs} == {(0.1, 0.1)}
    assert {(spec.split["fraction"], spec.burn_in) for spec in specs} == {(0.1, 10)}
    assert {figure.full.n_iterations for figure in paper.values()} == {300}
    assert [paper["fig7"].split, paper["fig8"].split] == [{"top_words": 3000}, {"top_words": 6000}]
    assert [paper["fig9"].split, paper["fig10"].split] == [
        {"singletons": "train"},
        {"singletons": "both-own"},
    ]


def test_every_record_can_be_run():
    for name, figure in FIGURES.items():
        assert name == figure.name and 0 < figure.cost(figure.quick) < 150 < figure.cost(
            figure.full
        )
    for figure in ENGINES_OF_LDA.values():
        engines = {method.engine for method in figure.methods}
        assert engines <= set(ENGINES) and figure.split.get("singletons", "keep") in SINGLETONS
        assert {
            engine for claim in figure.claims for engine in (claim.first, claim.second)
        } <= engines


@pytest.mark.slow
def test_a_figure_is_made_with_its_data_its_caption_and_its_verdicts(tiny_figures, tmp_path):
    made = wb.reproduce(
        "tiny-fig3",
        tmp_path / "out",
        tmp_path / "runs",
        progress=False,
        ledger=tmp_path / "ledger.json",
    )
    names = [
        *(f"tiny-fig3.{ending}" for ending in ("svg", "pdf", "png", "txt", "csv")),
        "tiny-fig3-verdict.txt",
    ]
    assert [path.name for path in made.files] == [*names, "ledger.json"]
    caption = made.files[3].read_text()
    for expected in (
        "tiny-fig3: KOS, perplexity against iterations.",
        "After Welling, Teh & Kappen (2008)",
        "Not in the paper: vb, cvb0, ",
        "iterations: 12\n",
        "seeds of split and start: 0 to 1\n",
        "10 % of the tokens of the corpus, drawn anew for each seed",
        "CVB/CGS lies on top of CGS; cvb-cgs ",
        "  workbench reproduce tiny-fig3\n",
    ):
        assert expected in caption, caption
    assert "Not the published extent" not in caption
    table = made.files[4].read_text().splitlines()
    assert len(table) == 1 + 8 * 2 * 12  # engines, seeds, iterations
    assert len(made.verdicts) == len(made.figure.claims) and not made.failures
    assert (
        {run.spec.split["seed"] for run in made.runs}
        == {0, 1}
        == {run.spec.seed for run in made.runs}
    )
    (result,) = read_results(tmp_path / "ledger.json")
    assert (result.extent, result.left_out, result.command) == (
        "whole",
        "",
        "workbench reproduce tiny-fig3",
    )
    assert [(one.verdict, one.measured) for one in result.outcomes] == [
        (one.outcome, one.measured) for one in made.verdicts
    ]
    for number, method in zip(result.numbers, made.figure.methods, strict=True):
        last = [
            float(run.progress()["test_perplexity"][-1])
            for run in made.runs
            if run.spec.engine == method.engine
        ]
        assert (number.of, number.n) == (method.label, 2)
        assert number.value == pytest.approx(np.mean(last)) and number.error == pytest.approx(
            np.std(last, ddof=1) / 2**0.5
        )


@pytest.mark.slow
def test_figures_of_the_same_runs_share_them_and_give_the_same_bytes_again(
    tiny_figures, tmp_path, monkeypatch
):
    first = wb.reproduce(
        "tiny-fig3", tmp_path / "out", tmp_path / "runs", quick=True, progress=False
    )
    before = [path.read_bytes() for path in first.files]
    # nothing is computed from here on
    monkeypatch.setattr("workbench.runs.execution.run.launch", None)
    again = wb.reproduce(
        "tiny-fig3", tmp_path / "out", tmp_path / "runs", quick=True, progress=False
    )
    assert [path.read_bytes() for path in again.files] == before
    finals = wb.reproduce(
        "tiny-fig4", tmp_path / "out", tmp_path / "runs", quick=True, progress=False
    )
    assert len(finals.files[4].read_text().splitlines()) == 1 + 8


@pytest.mark.slow
def test_captions_list_reductions(tiny_figures, tmp_path):
    made = wb.reproduce(
        "tiny-fig7", tmp_path / "out", tmp_path / "runs", quick=True, iterations=5, progress=False
    )
    caption = made.files[3].read_text()
    left_out = (
        "6 of 12 documents, drawn at random; 5 iterations, not 12; 1 run of each engine, not 2"
    )
    assert f"Not the published extent: {left_out}." in caption
    assert "  workbench reproduce tiny-fig7 --quick --iterations 5\n" in caption
    assert "vocabulary: the 10 most frequent words" in caption and made.cells[0].train.n_words == 10
    # one seed has no standard error
    assert all(verdict.outcome == "undecided" for verdict in made.verdicts)


@pytest.mark.slow
def test_without_singletons_a_hybrid_is_its_parent_but_for_the_average(tiny_figures, tmp_path):
    made = wb.reproduce("tiny-fig9", tmp_path / "out", tmp_path / "runs", seeds=1, progress=False)
    assert [verdict.outcome for verdict in made.verdicts] == ["holds", "holds"]
    assert (
        "holds: without singletons a hybrid differs from its parent only by averaging"
        in made.files[5].read_text()
    )


@pytest.mark.slow
def test_reproduce_names_failed_runs_in_its_files(tiny_figures, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.runs.execution.sweep.run_cells", _with_a_broken_corpus)
    made = wb.reproduce("tiny-fig4", tmp_path / "out", tmp_path / "runs", progress=False)
    assert (
        len(made.failures) == 8 and "the corpus of this run is not in the store" in made.failures[0]
    )
    assert made.failures[0] in made.files[3].read_text() and {
        verdict.n_pairs for verdict in made.verdicts
    } == {1}


@pytest.mark.slow
def test_reproduce_names_runs_that_were_stopped_and_continues_them(
    tiny_figures, tmp_path, monkeypatch
):
    where = {"store": tmp_path / "runs", "ledger": tmp_path / "ledger.json", "progress": False}
    with monkeypatch.context() as patch:
        patch.setattr("workbench.runs.execution.sweep.run_cells", _with_a_stop)
        made = wb.reproduce("tiny-fig4", tmp_path / "out", **where)
    (told,) = made.failures
    assert told.endswith("of 12 iterations: the same command continues it")
    (result,) = read_results(where["ledger"])
    assert (result.extent, result.left_out) == ("part", told)
    assert not wb.reproduce("tiny-fig4", tmp_path / "out", **where).failures
    assert {result.extent for result in read_results(where["ledger"])} == {"part", "whole"}


def _with_a_stop(runs, jobs, progress, client):
    """Runs all but the last, which is stopped before it begins."""
    run_cells(runs[:-1], jobs, progress, client)
    runs[-1].stop()


def _with_a_broken_corpus(runs, jobs, progress, client):
    """Runs all, when the training corpus of the first split is gone."""
    (runs[0].path.parent / ".corpora" / f"{runs[0].spec.train}.npz").unlink()
    run_cells(runs, jobs, progress, client)


def test_some_documents_are_whole_documents_and_always_the_same():
    corpus = simulated()
    chosen = some_documents(corpus, 5)
    assert (
        chosen.n_documents == 5
        and chosen.vocabulary == corpus.vocabulary
        and chosen.name == "simulated, 5 documents"
    )
    assert (
        set(chosen.titles) < set(corpus.titles)
        and chosen.content_hash == some_documents(corpus, 5).content_hash
    )
    assert some_documents(corpus, 12) is corpus


WRONG = [
    (
        ("hybrid-fig33",),
        {},
        ReportError,
        "no figure 'hybrid-fig33' to reproduce; did you mean 'hybrid-fig3'?",
    ),
    (("zzz",), {}, ReportError, "no figure 'zzz' to reproduce; there are hybrid-fig3, hybrid-fig4"),
    (
        ("hybrid-fig3",),
        {"seeds": 0},
        SpecError,
        "seeds must be a whole number of at least 1; got 0",
    ),
    (
        ("hybrid-fig3",),
        {"iterations": 0},
        SpecError,
        "iterations must be a whole number of at least 1; got 0",
    ),
    (
        ("hybrid-fig3",),
        {"topics": [5]},
        SpecError,
        "hybrid-fig3 has one number of topics, 10; leave the topics out",
    ),
    (
        ("cv-hdp-fig2",),
        {"topics": [0]},
        SpecError,
        "topics must be a whole number of at least 1; got 0",
    ),
    (
        ("cv-hdp-fig2",),
        {"iterations": 5},
        SpecError,
        "cv-hdp-fig2 has a separate length for each algorithm; leave the iterations out",
    ),
    (("hybrid-fig3",), {"jobs": 0}, SpecError, "jobs must be a whole number of at least 1; got 0"),
    (
        ("hybrid-fig3",),
        {"formats": ["gif"]},
        ReportError,
        "figures are written as svg, pdf, png; got 'gif'",
    ),
    (
        ("hybrid-fig3", "a-file"),
        {},
        ReportError,
        "cannot write to a-file: File exists; choose another folder",
    ),
]


@pytest.mark.parametrize(
    ("names", "beside", "error", "sentence"), WRONG, ids=[row[3][:40] for row in WRONG]
)
def test_reproduce_refuses_wrong_arguments_before_any_run(
    names, beside, error, sentence, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("")
    with pytest.raises(error) as actual:
        wb.reproduce(*names, **beside)
    assert sentence in str(actual.value) and not (tmp_path / "runs").exists()


def test_reproduce_names_a_missing_data_set(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    with pytest.raises(CorpusError, match="the data set 'nips' is not on this machine"):
        wb.reproduce("hybrid-fig5", tmp_path / "out", tmp_path / "runs")


def test_figures_name_existing_views():
    shown = {figure.shows for figure in ENGINES_OF_LDA.values()}
    assert shown <= {one.name for one in pictures(each_run(tiny_comparison()))}


@pytest.mark.slow
def test_the_command_line_lists_and_reproduces_figures(tiny_figures, tmp_path, monkeypatch, capsys):
    from workbench.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["figures"]
    assert [figure["name"] for figure in listed] == [*tiny_figures, *DRAWINGS] and listed[0][
        "quick"
    ]["runs"] == 8
    assert main(["reproduce"]) == 0 and "tiny-fig10" in capsys.readouterr().out
    assert (
        main(
            ["reproduce", "tiny-fig4", "--quick", "-q", "--format", "svg", "--out", "out", "--json"]
        )
        == 0
    )
    (figure,) = json.loads(capsys.readouterr().out)["figures"]
    made = [f"out/tiny-fig4{ending}" for ending in (".svg", ".txt", ".csv", "-verdict.txt")]
    assert figure["files"] == [*made, "runs/ledger.json"]
    assert (
        len(figure["runs"]) == 8
        and figure["claims"][0]["outcome"] == "undecided"
        and figure["claims"][0]["error"] is None
    )


# ---------------------------------------------------------------------- verdicts


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
    ("kind", "differences", "outcome"),
    [
        ("lower", (-10, -12, -8), HOLDS),
        ("lower", (10, 12, 8), FAILS),
        ("lower", (-10, 2, 5), UNDECIDED),
        ("lower", (-10,), UNDECIDED),
        # three standard errors from 0, which is not enough with three runs
        ("lower", (-5, -2, -2), UNDECIDED),
        ("level", (0.1, -0.1, 0.0), HOLDS),
        ("level", (5.0, 5.2, 4.8), FAILS),
        ("level", (-5.0, -5.2, -4.8), FAILS),
        ("level", (3.0, -3.0, 0.5), UNDECIDED),
    ],
)
def test_lower_needs_an_interval_on_one_side_of_zero_and_level_one_within_one_percent(
    kind, differences, outcome
):
    runs = runs_of(svb=[100.0 + d for d in differences], cgs=[100.0] * len(differences))
    assert verdict(kind, runs).outcome == outcome


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
