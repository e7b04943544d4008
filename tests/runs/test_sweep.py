"""Sweeps: what a grid lays out, what is run again, warm starts, and what is refused."""

import math
import signal
import subprocess
import sys

import numpy as np
import pytest
from clusters import until
from same_process import working_here
from toys import simulated

import workbench as wb
from workbench.measures import each_run, numbers_by_k, recommend_k
from workbench.models.options import OptionError
from workbench.runs.execution import forecast as outlook_module
from workbench.runs.execution.forecast import forecast
from workbench.runs.execution.run import make_runs
from workbench.runs.execution.sweep import failures, lay_out, run_cells, tabulate

QUIET = {"progress": False, "n_iterations": 12}


@pytest.fixture
def here(monkeypatch):
    """Runs need no process of their own."""
    working_here(monkeypatch)


@pytest.mark.slow
def test_a_sweep_has_the_numbers_of_fit_under_the_keys_of_its_grid(store):
    corpus, grid = simulated(), {"r": [0, "inf"], "n_topics": [2, 3]}
    swept = wb.sweep(corpus, grid, store=store, jobs=2, **QUIET)
    assert swept.sizes["run"] == 4 and swept.r.values.tolist() == [0, 0, np.inf, np.inf]
    assert swept.state.values.tolist() == ["finished"] * 4
    cube = swept.set_index(run=[*grid]).unstack("run")
    assert cube.test_perplexity.sizes == {"iteration": 12, "r": 2, "n_topics": 2}
    train, test = wb.hold_out_tokens(corpus, fraction=0.1, seed=0)
    alone = wb.fit(train, "svb-cgs", n_topics=3, test=test, options={"r": "inf"}, **QUIET)
    np.testing.assert_array_equal(
        cube.test_perplexity.sel(r=np.inf, n_topics=3), alone.test_perplexity
    )


@pytest.mark.parametrize(
    ("grid", "settings"),
    [({"r": [1, 2]}, {"n_topics": 2}), ({"n_topics": [2, 3]}, {"engine": "svb", "warm": True})],
    ids=["cold", "warm"],
)
def test_a_sweep_asked_for_again_computes_nothing_and_a_larger_one_the_rest(
    here, store, monkeypatch, grid, settings
):
    ((key, values),) = grid.items()
    settings = settings | {"store": store} | QUIET
    first = wb.sweep(simulated(), grid, **settings)
    with monkeypatch.context() as patched:  # what would be started fails
        patched.setattr("workbench.runs.execution.run.launch", None)
        again = wb.sweep(simulated(), {key: values[::-1]}, **settings).sortby(key)
    np.testing.assert_array_equal(first.test_perplexity, again.test_perplexity)
    np.testing.assert_array_equal(first.elapsed, again.elapsed)
    wb.sweep(simulated(), {key: [*values, 5]}, **settings)
    assert len(wb.open_runs(store)) == 3


def test_one_run_stands_in_cells_of_several_lengths_and_in_those_of_an_option_that_it_lacks(
    here, store
):
    grid = {"engine": ["svb", "svb-cgs"], "n_iterations": [5, 12], "r": [1, 2]}
    swept = wb.sweep(simulated(), grid, n_topics=2, store=store, progress=False, jobs=2)
    assert swept.sizes["run"] == 8 and len(wb.open_runs(store)) == 3
    assert swept.test_perplexity.notnull().sum("iteration").values.tolist() == [5, 5, 12, 12] * 2
    assert len(each_run(swept)) == 3


def test_a_run_that_fails_takes_no_other_along(here, store):
    cells = lay_out(simulated(), {"split_seed": [0, 1, 2]}, "cgs", n_topics=2, n_iterations=12)
    runs = make_runs(store, cells, 1)
    (store / ".corpora" / f"{cells[1].spec.train}.npz").unlink()
    run_cells(runs, 1, progress=False)
    assert [run.state for run in runs] == ["finished", "failed", "finished"]
    (why,) = failures(runs)
    assert (
        why.startswith(f"run '{runs[1].name}' failed: ")
        and "the corpus of this run is not in the store" in why
    )
    swept = tabulate(cells, runs)
    assert swept.state.values.tolist() == ["finished", "failed", "finished"]
    assert swept.test_perplexity.notnull().sum("iteration").values.tolist() == [12, 0, 12]


def test_the_bar_tells_how_many_runs_are_done_and_what_is_left(here, store, capsys):
    wb.sweep(simulated(), {"r": [1, 2]}, n_topics=2, n_iterations=12, store=store)
    told = capsys.readouterr().err
    assert "2 cells, 2 runs; up to " in told and " on disk, about 250 MB of memory\n" in told
    assert "2 of 2 runs: 100%" in told and "24/24" in told


@pytest.mark.slow
def test_a_long_sweep_is_timed_before_it_starts(store, monkeypatch):
    cells = lay_out(simulated(), {"r": [1, 2], "n_topics": [2, 4]}, n_iterations=1000)
    runs = make_runs(store, cells, 1)
    assert forecast(cells, runs, 2).startswith("4 cells, 4 runs; up to ")
    monkeypatch.setattr(outlook_module, "LONG", 0)
    monkeypatch.setattr(outlook_module, "one_iteration", lambda cell: 0.4)
    # at K = 4 an iteration of 0.4 s, at K = 2 half of that; both for 1000 iterations and twice, two at a time
    assert forecast(cells, runs, 2).endswith("; about 10 min 00 s, 2 at a time")
    monkeypatch.undo()
    assert 0 < outlook_module.one_iteration(cells[0]) < 10


def test_the_steps_of_a_rule_bound_what_a_run_takes(store):
    tokens = wb.hold_out_tokens(simulated(), 0.1, 0)[0].n_tokens
    for n_iterations, visits in ((1000, 400), (50, 50 * 5)):
        (cell,) = lay_out(
            simulated(),
            {"n_topics": [5]},
            "g-hdp",
            n_iterations=n_iterations,
            stop_on="steps",
            stop_tolerance=400,
        )
        (run,) = make_runs(store, [cell], 1)
        assert outlook_module._visits(run, cell) == visits * tokens


@pytest.mark.slow
def test_the_time_of_a_sweep_leaves_out_finished_runs(here, store):
    cells = lay_out(simulated(), {"r": [1, 2]}, n_topics=2, n_iterations=12)
    runs = make_runs(store, cells, 1)
    run_cells(runs[:1], 1, progress=False)
    assert forecast(cells, runs, 1).startswith("2 cells, 2 runs, 1 of them finished before; up to ")
    run_cells(runs, 1, progress=False)
    assert forecast(cells, runs, 1) == "2 cells, 2 runs, 2 of them finished before"


@pytest.mark.slow
def test_ctrl_c_stops_a_sweep_and_the_same_command_goes_on(store, tmp_path):
    command = [
        sys.executable,
        "-m",
        "workbench",
        "sweep",
        "docstrings",
        "-g",
        "r=1,2,3",
        "-k",
        "5",
        "-j",
        "2",
    ]
    command += ["--store", str(store), "-n"]
    with subprocess.Popen(
        [*command, "100000"], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        until(lambda: sum(run.status()["iteration"] > 3 for run in wb.open_runs(store)) >= 2)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1]
    assert (
        process.returncode == 130
        and "interrupted; recorded iterations are kept, and the same command resumes" in told
    )
    assert sorted(run.state for run in wb.open_runs(store)) == ["stopped"] * 3
    reached = max(run.status()["iteration"] for run in wb.open_runs(store))
    again = subprocess.run([*command, str(reached)], capture_output=True, text=True, cwd=tmp_path)
    assert again.returncode == 0 and {run.state for run in wb.open_runs(store)} == {"finished"}


def test_a_run_that_its_rule_ended_is_whole_in_the_table(here, tmp_path):
    """Its spec lasts to where it ended, so nothing calls it unfinished."""
    joined = wb.sweep(
        simulated(),
        {"init": ["dirichlet", "hard", "Hard"]},
        engine="svb",
        n_topics=3,
        n_iterations=200,
        stop_on="bound",
        stop_tolerance=1e-3,
        store=tmp_path,
        progress=False,
    )
    reached = np.isfinite(joined["bound"]).sum("iteration").values
    assert [
        wb.RunSpec.from_json(spec).n_iterations for spec in joined["spec"].values
    ] == reached.tolist()
    assert max(reached) < 200 and reached[1] == reached[2]  # two spellings of one value are one run


# ---------------------------------------------------------------------- warm


def begun_from(swept):
    """(number of topics, seed) → (number of topics, seed) of the run that it began from, or None."""
    specs = [wb.RunSpec.from_json(spec) for spec in swept["spec"].values]
    by_name = {spec.name: (spec.model["n_topics"], spec.seed) for spec in specs}
    return {by_name[spec.name]: spec.start and by_name[spec.start["name"]] for spec in specs}


def test_a_warm_sweep_goes_from_few_topics_to_many_seed_by_seed(here, store):
    swept = wb.sweep(
        simulated(), {"n_topics": [4, 2, 3]}, "cgs", seeds=2, warm=True, store=store, **QUIET
    )
    assert begun_from(swept) == {
        (k, seed): None if k == 2 else (k - 1, seed) for k in (2, 3, 4) for seed in (0, 1)
    }
    cold = wb.sweep(simulated(), {"n_topics": [2, 3]}, "cgs", seeds=2, store=store, **QUIET)
    assert recommend_k(cold) == recommend_k(numbers_by_k(cold)) and recommend_k(cold).n_topics == 2
    smallest = swept.isel(run=swept.n_topics.values == 2), cold.isel(run=cold.n_topics.values == 2)
    np.testing.assert_array_equal(*(each.test_perplexity for each in smallest))
    larger = wb.open_run(
        next(
            name for name, k in zip(swept.run.values, swept.n_topics.values, strict=True) if k == 3
        ),
        store,
    )
    assert (
        larger.sizes["topic"] == 3
        and wb.RunSpec.from_json(larger.attrs["spec"]).start["iteration"] == 12
    )


def test_other_keys_of_the_grid_keep_to_themselves(here, store):
    grid = {"engine": ["svb", "cgs"], "n_topics": [2, 3], "split_seed": [0, 1]}
    swept = wb.sweep(simulated(), grid, warm=True, store=store, **QUIET)
    specs = {spec.name: spec for spec in map(wb.RunSpec.from_json, swept["spec"].values)}
    warm = [spec for spec in specs.values() if spec.start]
    assert len(specs) == 8 and len(warm) == 4
    for spec in warm:
        smaller = specs[spec.start["name"]]
        assert (smaller.engine, smaller.train, smaller.model["n_topics"]) == (
            spec.engine,
            spec.train,
            2,
        )


def test_nothing_is_begun_from_a_run_that_failed(here, store, monkeypatch):
    monkeypatch.setattr("workbench.runs.execution.worker.iterate", _failing_for_seed_1)
    with pytest.warns(UserWarning, match="failed: ZeroDivisionError"):
        swept = wb.sweep(
            simulated(), {"n_topics": [2, 3]}, "cgs", seeds=2, warm=True, store=store, **QUIET
        )
    assert sorted(begun_from(swept)) == [(2, 0), (2, 1), (3, 0)]


def _failing_for_seed_1(spec, *others):
    from workbench.runs.loop import iterate

    return 1 / 0 if spec.seed == 1 else iterate(spec, *others)


@pytest.mark.parametrize(
    ("grid", "sentence"),
    [
        (
            {"r": [1, 2]},
            "a warm sweep goes from few topics to many; give topics in the grid, as topics=10,20,40",
        ),
        (
            {"n_topics": [2], "n_iterations": [5, 9]},
            "a warm sweep has one number of iterations; take iterations out of the grid",
        ),
        ({"n_topics": [2, "many"]}, "topics must be a whole number of at least 1; got 'many'"),
        ({"n_topics": [2, 70_000]}, "topics must be a whole number from 1 to 65535; got 70000"),
    ],
)
def test_a_wrong_warm_sweep_is_refused_before_anything_runs(store, grid, sentence):
    with pytest.raises(ValueError) as refused:
        wb.sweep(simulated(), grid, "svb-cgs", warm=True, store=store, **QUIET)
    assert str(refused.value) == sentence and not wb.open_runs(store)


# ---------------------------------------------------------------------- grids


def test_every_combination_is_a_cell_the_last_key_varying_fastest():
    cells = lay_out(simulated(), {"r": [0, "inf"], "topics": [2, 3]}, beta=0.3)
    assert [cell.key_values for cell in cells] == [
        {"r": 0, "n_topics": 2},
        {"r": 0, "n_topics": 3},
        {"r": math.inf, "n_topics": 2},
        {"r": math.inf, "n_topics": 3},
    ]
    assert [(cell.spec.options["r"], cell.spec.model["n_topics"]) for cell in cells] == [
        (0, 2),
        (0, 3),
        ("inf", 2),
        ("inf", 3),
    ]
    assert {cell.spec.model["beta"] for cell in cells} == {0.3} and {
        cell.spec.engine for cell in cells
    } == {"svb-cgs"}


def test_settings_of_the_split_are_keys_too():
    cells = lay_out(
        simulated(),
        {"split_seed": [0, 1], "top_words": ["none", 10], "singletons": ["keep", "train"]},
        "cgs",
        n_topics=2,
    )
    assert [cell.train.n_words for cell in cells] == [20, 20, 10, 10] * 2
    assert (
        len({cell.spec.train for cell in cells}) == 8
        and len({cell.spec.test for cell in cells}) == 4
    )
    assert cells[-1].spec.split == {
        "fraction": 0.1,
        "seed": 1,
        "per": "corpus",
        "top_words": 10,
        "singletons": "train",
    }
    cells = lay_out(simulated(), {"merge": [1, 3], "repeat": [1, 2]}, "cgs", n_topics=2)
    assert [
        (cell.train.n_documents, cell.train.n_tokens + cell.test.n_tokens) for cell in cells
    ] == [(12, 180), (12, 360), (4, 180), (4, 360)]
    assert len({cell.spec.hash for cell in cells}) == 4


def test_an_engine_without_the_option_has_one_run_in_all_its_cells():
    cells = lay_out(simulated(), {"r": [1, 2, 1.0], "engine": ["svb", "svb-cgs"]}, n_topics=2)
    assert [(cell.key_values["r"], cell.key_values["engine"]) for cell in cells] == [
        (1, "svb"),
        (1, "svb-cgs"),
        (2, "svb"),
        (2, "svb-cgs"),
    ]
    assert len({cell.spec.hash for cell in cells}) == 3 and cells[0].spec == cells[2].spec


def test_seeds_are_a_key_like_any_other():
    by_number = lay_out(simulated(), {"n_topics": [2]}, seeds=3, seed=5)
    assert [cell.key_values for cell in by_number] == [
        {"n_topics": 2, "seed": seed} for seed in (5, 6, 7)
    ]
    by_key = lay_out(simulated(), {"n_topics": [2], "seed": range(5, 8)})
    assert [cell.spec for cell in by_key] == [cell.spec for cell in by_number]


def test_shared_options_go_to_the_engines_that_have_them():
    cells = lay_out(simulated(), {"engine": ["cgs", "svb-cgs"]}, options={"r": 3}, n_topics=2)
    assert "r" not in cells[0].spec.options and cells[1].spec.options["r"] == 3


def test_a_vector_of_alpha_is_one_value():
    cells = lay_out(simulated(), {"alpha": [0.1, [0.1, 0.2]]}, n_topics=2)
    assert [cell.spec.model["alpha"] for cell in cells] == [0.1, [0.1, 0.2]]


def test_a_share_of_each_document_is_another_split_than_one_of_the_corpus():
    whole, each = lay_out(simulated(), {"holdout_per": ["corpus", "document"]}, "cgs")
    assert [cell.spec.split["per"] for cell in (whole, each)] == ["corpus", "document"]
    assert each.test.document_tokens.tolist() == [1] * 12 != whole.test.document_tokens.tolist()


def test_alpha_goes_to_the_engines_that_have_it():
    lda, hdp = lay_out(simulated(), {"engine": ["cgs", "g-hdp"]}, alpha=0.3, beta=0.2)
    assert lda.spec.model == {"n_topics": 10, "alpha": 0.3, "beta": 0.2} and hdp.spec.model == {
        "n_topics": 10
    }


WRONG = [
    ({}, {}, wb.SpecError, "a grid is a dict of lists, as {'n_topics': [10, 20]}; got {}"),
    (
        {"n_topic": [2]},
        {},
        wb.SpecError,
        "no key 'n_topic' for a grid of svb-cgs; did you mean 'n_topics'?",
    ),
    (
        {"zzz": [2]},
        {"engine": "cgs"},
        wb.SpecError,
        "no key 'zzz' for a grid of cgs; there are engine, n_topics, alpha",
    ),
    ({"r": [1]}, {"engine": "cgs"}, wb.SpecError, "no key 'r' for a grid of cgs"),
    ({"r": []}, {}, wb.SpecError, "'r' has no value in the grid; give it at least one"),
    (
        {"topics": [2], "n_topics": [3]},
        {},
        wb.SpecError,
        "the grid has 'n_topics' twice; put its values into one list",
    ),
    (
        {"n_topics": [2]},
        {"n_topics": 3},
        wb.SpecError,
        "'n_topics' is both in the grid and a separate argument; leave one out",
    ),
    (
        {"r": [1]},
        {"options": {"r": 2}},
        wb.SpecError,
        "'r' is both in the grid and a separate argument",
    ),
    (
        {"seed": [1]},
        {"seeds": 2},
        wb.SpecError,
        "'seed' is both in the grid and a separate argument",
    ),
    ({"r": [1]}, {"seeds": 0}, wb.SpecError, "seeds must be a whole number of at least 1; got 0"),
    ({"r": [1]}, {"n_topic": 3}, wb.SpecError, "no setting 'n_topic'; did you mean 'n_topics'?"),
    (
        {"holdout_per": ["word"]},
        {},
        wb.CorpusError,
        "per must be one of corpus, document, half; got 'word'",
    ),
    (
        {"alpha": [0.1]},
        {"engine": "cv-hdp"},
        wb.SpecError,
        "cv-hdp has no alpha per topic; leave it out, and set the option",
    ),
    (
        {"r": [-2]},
        {},
        OptionError,
        "option 'r' of svb-cgs must be a number of at least 0 or inf; got -2",
    ),
    ({"engine": ["sbv"]}, {}, OptionError, "no engine 'sbv'"),
]


@pytest.mark.parametrize(
    ("grid", "beside", "error", "sentence"), WRONG, ids=[row[3][:50] for row in WRONG]
)
def test_a_wrong_grid_gets_one_sentence(grid, beside, error, sentence):
    with pytest.raises(error) as told:
        lay_out(simulated(), grid, **beside)
    assert sentence in str(told.value) and "\n" not in str(told.value)
