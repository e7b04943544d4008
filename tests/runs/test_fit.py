"""Fits and comparisons: the bits of a run, what it records, and what is refused."""

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from same_bits import CLOCKS, same_bits
from toys import simulated

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.lda.partition import by_words
from workbench.runs import loop
from workbench.runs.execution.run import extend
from workbench.runs.spec import SpecError, make_spec
from workbench.runs.store.layout import StoreError

ENGINES = [
    ("svb", {}),
    ("svb", {"schedule": "sequential"}),
    ("cgs", {}),
    ("cgs", {"scored": "sampled"}),
    ("svb-cgs", {}),
    ("svb-cgs", {"n_chains": 2}),
]


def test_a_run_does_not_go_on_with_other_documents(train, test, store):
    run = wb.fit(train, "cgs", test=test, n_iterations=3, store=store, name="mine", progress=False)
    other = wb.load_corpus("bars")
    with pytest.raises(
        wb.runs.store.layout.StoreError,
        match=r"^mine belongs to other documents than those given",
    ):
        wb.resume("mine", n_iterations=5, store=store, progress=False, corpora=(other, None))
    assert (
        wb.resume("mine", n_iterations=5, store=store, progress=False).sizes["iteration"]
        == run.sizes["iteration"] + 2
    )


def test_the_kernels_of_both_orders_are_there_before_the_clock_runs():
    """With many topics a sampler goes by documents while they hold many of them, and by words later."""
    seen = []
    engine = get_engine("cgs")._replace(
        step=lambda corpus, model, options, state, context: (
            state,
            seen.append(by_words(corpus, state, options.scan)),
        )
    )
    loop.load_kernels(engine, wb.LDA(500), engine.options())
    assert seen == [True, False]


def test_time_of_a_pause_is_no_time_of_inference():
    control, before = loop.Control(), loop.Position(0, None, None, 5000.0, 0.0, 0, None)

    def step(state, context):
        control.waited += 1000.0  # as if the step had been paused so long
        return state, {"updates": 3}

    after, _ = loop.advance(
        SimpleNamespace(seed=0, n_threads=1, start=None),
        SimpleNamespace(step=step, cpu_seconds_elsewhere=lambda: 0.0),
        before,
        control,
    )
    assert (
        4000 <= after.elapsed < 4900 and after.updates == 3
    )  # seconds of a step that does nothing


def test_time_and_updates_of_a_start_are_the_runs_own(train, test):
    setting = {"n_topics": 3, "test": test, "n_iterations": 1}
    spec = make_spec(train, "sb-ctm-vb", options={"start_sweeps": 7}, **setting)
    data = loop.InMemoryData(spec, train, test)
    data.cpu_seconds_elsewhere = iter((100.0, 103.0)).__next__  # as if others had computed for 3 s
    begun = loop.initial_position(spec, data, loop.Control())
    assert begun.updates == 7 * train.n_tokens and begun.elapsed > 0 and 3 <= begun.cpu_time < 100
    plain, swept = (
        wb.fit(train, "sb-ctm-vb", options={"start_sweeps": n}, progress=False, **setting)
        for n in (0, 7)
    )
    assert plain["updates"][0] < 7 * train.n_tokens <= swept["updates"][0]


def test_a_start_can_be_stopped(train):
    class Stopping(loop.Control):
        def __call__(self):
            raise loop.Stopped

    spec = make_spec(train, "sb-ctm-vb", n_topics=3, n_iterations=1)
    with pytest.raises(loop.Stopped):
        loop.initial_position(spec, loop.InMemoryData(spec, train, None), Stopping())


def test_an_identical_run_is_reopened_and_not_computed_again(train, test, store, monkeypatch):
    first = wb.fit(train, "cgs", test=test, n_iterations=12, store=store, progress=False)
    monkeypatch.setattr(loop, "advance", None)
    same_bits(first, wb.fit(train, "cgs", test=test, n_iterations=12, store=store, progress=False))
    same_bits(first, wb.fit(train, "cgs", test=test, n_iterations=6, store=store, progress=False))


def test_every_variable_is_named_and_has_its_dims(train, test):
    for engine, options in ENGINES:
        ds = wb.fit(
            train,
            engine,
            test=test,
            options=options,
            n_iterations=12,
            snapshot_every=5,
            progress=False,
        )
        for name, variable in ds.data_vars.items():
            assert (
                variable.dims == wb.VARIABLES[name].dims
                and variable.attrs == wb.VARIABLES[name].attrs
            )
        assert ds.iteration.values.tolist() == list(range(1, 13))
        assert ds.snapshot_iteration.values.tolist() == [5, 10, 12]
        assert ds.word.values.tolist() == list(train.vocabulary)
        np.testing.assert_allclose(ds.theta.sum("topic"), 1, rtol=1e-12)  # rounding of a sum of 10
        np.testing.assert_allclose(ds.phi.sum("word"), 1, rtol=1e-12)
        np.testing.assert_allclose(ds.n_k.sum("topic"), train.n_tokens, rtol=1e-9)  # spec A.13, 1
        np.testing.assert_allclose(ds.n_kw.sum(("topic", "word")), train.n_tokens, rtol=1e-9)
        assert np.all(np.diff(ds.elapsed) >= 0) and np.all(np.diff(ds.updates) > 0)


def test_the_headline_is_the_average_of_samplers_and_the_plug_in_of_the_others(train, test):
    cases = [
        ("svb", {}, False),
        ("cgs", {}, True),
        ("svb-cgs", {"r": 0}, False),
        ("svb-cgs", {"r": 1}, True),
    ]
    for engine, options, averaged in cases:
        ds = wb.fit(train, engine, test=test, options=options, n_iterations=15, progress=False)
        other = ds.test_perplexity_average if averaged else ds.test_perplexity_state
        np.testing.assert_array_equal(ds.test_perplexity, other)
        # burn-in 10, then one
        np.testing.assert_array_equal(
            ds.test_perplexity_average[:11], ds.test_perplexity_state[:11]
        )
        assert not np.array_equal(ds.test_perplexity_average[12:], ds.test_perplexity_state[12:])


def test_the_cadence_changes_no_number(train, test):
    every = wb.fit(train, "cgs", test=test, n_iterations=22, progress=False)
    fifth = wb.fit(train, "cgs", test=test, n_iterations=22, record_every=5, progress=False)
    assert fifth.iteration.values.tolist() == [5, 10, 15, 20, 22]
    np.testing.assert_array_equal(
        every.test_perplexity.sel(iteration=fifth.iteration), fifth.test_perplexity
    )


def test_compare_gives_every_engine_the_same_split(thirty_documents, store):
    corpus, _ = thirty_documents
    engines = ["svb", "cgs", ("svb-cgs", {"r": 2})]
    table = wb.compare(corpus, engines, n_topics=3, n_iterations=12, seeds=2, progress=False)
    assert table.sizes["run"] == 6 and table.label.values.tolist()[-1] == "svb-cgs r=2"
    assert table.seed.values.tolist() == [0, 1] * 3
    assert len({json.loads(spec)["test"] for spec in table.spec.values}) == 1


@pytest.mark.slow
def test_compare_in_a_store_has_the_same_numbers_side_by_side(thirty_documents, store):
    corpus, _ = thirty_documents
    settings = dict(engines=["svb", "cgs"], n_topics=3, n_iterations=12, progress=False)
    memory, kept = (
        wb.compare(corpus, **settings),
        wb.compare(corpus, store=store, jobs=2, **settings),
    )
    for name in set(memory.data_vars) - set(CLOCKS):
        np.testing.assert_array_equal(memory[name], kept[name], err_msg=name)


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, workbench; print([m for m in ('numba', 'panel', 'xarray', 'numpy', 'sklearn') if m in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_one_engine_may_be_given_by_its_name(train):
    table = wb.compare(train, engines="cgs", n_topics=2, n_iterations=2, progress=False)
    assert table.engine.values.tolist() == ["cgs"]


# ---------------------------------------------------------------------- compare


def test_an_unknown_setting_gets_one_sentence_with_all_that_there_are():
    with pytest.raises(SpecError, match="^no setting 'zzz'; there are corpus, engines, n_topics, "):
        wb.compare(simulated(), ["cgs"], zzz=3)


def test_what_is_no_run_is_told_by_its_kind():
    for wrong, kind in ((3, "int"), (None, "NoneType"), ([], "list")):
        with pytest.raises(
            StoreError, match=f"^a run is a Run, a path, or a name in the store; got {kind}$"
        ):
            wb.open_run(wrong)


def test_a_run_whose_end_is_moved_to_where_it_stopped_is_finished(tmp_path):
    wb.fit(simulated(), "cgs", n_topics=2, n_iterations=6, store=tmp_path, progress=False)
    (run,) = wb.open_runs(tmp_path)
    for end, state in ((9, "stopped"), (6, "finished"), (3, "finished")):
        extend(run.path, end)
        assert run.state == state
