"""The rule that ends a run early: off by default, the same end however the run was interrupted, and what is refused."""

import pytest
from runs.stopped import compute_until

import workbench as wb
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on
from workbench.runs.spec import SpecError, make_spec
from workbench.runs.stopping import StopRule
from workbench.runs.store.status import FINISHED, read_spec, set_end, settle
from workbench.runs.store.writer import RunWriter, create_run

SETTLES = {"n_topics": 4, "n_iterations": 300, "stop_on": "bound", "stop_tolerance": 1e-5}


@pytest.fixture(scope="module")
def halves(forty_documents):
    return forty_documents


def test_a_number_has_settled_when_it_changed_little_over_ten_iterations():
    rule = StopRule("bound", 0.01)
    assert not rule.settled([])
    # nine iterations apart
    assert not rule.settled([(iteration, 100.0) for iteration in range(1, 11)])
    assert rule.settled([(iteration, 100.0) for iteration in range(1, 12)])
    assert rule.settled(
        [(1, 99.01), *((iteration, 0.0) for iteration in range(2, 11)), (11, 100.0)]
    )
    assert not rule.settled([(1, 98.9), *((iteration, 100.0) for iteration in range(2, 12))])
    assert rule.settled([(5, -100.0), (10, -100.5), (20, -101.0)])  # recorded every fifth iteration
    assert not rule.settled([(iteration, float("nan")) for iteration in range(1, 30)])


@pytest.mark.parametrize("stored", [True, False])
def test_a_run_ends_where_its_bound_has_settled(train, test, tmp_path, stored):
    ds = wb.fit(
        train, "svb", test=test, progress=False, store=tmp_path if stored else None, **SETTLES
    )
    end, bound = ds.sizes["iteration"], ds["bound"].values
    change = abs(bound[10:] - bound[:-10]) / abs(bound[10:])
    assert 11 <= end < 300
    assert change[-1] <= 1e-5 and (change[:-1] > 1e-5).all()
    assert ds.attrs["state"] == FINISHED
    assert (
        ds.attrs["stopped_early"]
        == f"ended after iteration {end}: bound changed by at most 1e-05 in 10 iterations"
    )
    assert ds["snapshot_iteration"][-1] == end


def test_the_average_perplexity_is_looked_at_after_burn_in(train, test):
    settings = {
        "n_topics": 4,
        "n_iterations": 100,
        "stop_on": "perplexity",
        "stop_tolerance": 1e9,
        "burn_in": 20,
    }
    ds = wb.fit(train, "cgs", test=test, progress=False, **settings)
    assert ds.sizes["iteration"] == 31  # 21 is the first that counts


@pytest.mark.parametrize(
    ("engine", "record_every", "end"), [("cv-hdp", 1, 8), ("cv-hdp", 3, 9), ("g-hdp", 1, None)]
)
def test_a_run_ends_when_its_steps_are_used_up(train, engine, record_every, end):
    ds = wb.fit(
        train,
        engine,
        n_topics=4,
        n_iterations=100,
        stop_on="steps",
        stop_tolerance=32,
        record_every=record_every,
        progress=False,
    )
    steps, ended = ds["steps"].values, int(ds["iteration"][-1])
    assert steps[-1] >= 32 > steps[-2] and end in (ended, None)
    assert (
        ds.attrs["stopped_early"] == f"ended after iteration {ended}: 32 steps were taken"
        and ds.attrs["state"] == FINISHED
    )


def test_stop_on_looks_at_recorded_iterations(train):
    ds = wb.fit(train, "svb", progress=False, record_every=4, **SETTLES)
    assert ds["iteration"].values[-1] % 4 == 0 and ds.attrs["state"] == FINISHED


def test_asked_again_the_run_is_reopened_and_not_extended(train, test, tmp_path):
    first, again = (
        wb.fit(train, "svb", test=test, progress=False, store=tmp_path, **SETTLES) for _ in range(2)
    )
    assert first.identical(again)
    assert (
        wb.Run(tmp_path / first.attrs["name"]).status()["n_iterations"] == first.sizes["iteration"]
    )


def test_without_the_rule_or_with_another_it_goes_on(train, test, tmp_path):
    early = wb.fit(train, "svb", test=test, progress=False, store=tmp_path, **SETTLES)
    stricter = wb.fit(
        train,
        "svb",
        test=test,
        progress=False,
        store=tmp_path,
        **(SETTLES | {"stop_tolerance": 1e-7}),
    )
    assert stricter.sizes["iteration"] > early.sizes["iteration"]
    free = {name: value for name, value in SETTLES.items() if not name.startswith("stop")}
    assert (
        wb.fit(train, "svb", test=test, progress=False, store=tmp_path, **free).sizes["iteration"]
        == 300
    )


def test_an_end_that_is_moved_by_hand_is_an_end_without_a_rule(train, test, tmp_path):
    early = wb.fit(train, "svb", test=test, progress=False, store=tmp_path, **SETTLES)
    more = wb.resume(
        early.attrs["name"],
        n_iterations=early.sizes["iteration"] + 25,
        store=tmp_path,
        progress=False,
    )
    assert more.sizes["iteration"] == early.sizes["iteration"] + 25
    assert "stopped_early" not in more.attrs


def test_an_interrupted_run_ends_where_an_uninterrupted_one_does(train, test, tmp_path):
    """What the rule looks at is read again from what was committed."""
    expected = wb.fit(train, "svb", test=test, progress=False, **SETTLES)
    path = create_run(tmp_path, make_spec(train, "svb", test=test, **SETTLES), train, test)
    for until in (7, 23, expected.sizes["iteration"] - 1):
        compute_until(path, (train, test), until)
    assert Run(path).dataset().sizes["iteration"] == expected.sizes["iteration"] - 1
    carry_on(path)
    ds = wb.Run(path).dataset()
    assert ds.sizes["iteration"] == expected.sizes["iteration"] and ds.attrs["state"] == FINISHED


def test_a_run_that_was_killed_before_it_could_say_so_has_ended_where_it_settled(
    train, test, tmp_path, monkeypatch
):
    expected = wb.fit(train, "svb", test=test, progress=False, **SETTLES)
    path = create_run(tmp_path, make_spec(train, "svb", test=test, **SETTLES), train, test)
    with monkeypatch.context() as patch:
        patch.setattr(
            RunWriter, "settle", lambda self, iteration: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            carry_on(path)
    carry_on(path)
    ds = wb.Run(path).dataset()
    assert ds.sizes["iteration"] == expected.sizes["iteration"] and ds.attrs["state"] == FINISHED


def test_an_end_that_was_moved_while_the_run_was_at_work_stands(train, test, tmp_path):
    spec = make_spec(train, "svb", test=test, **SETTLES)
    path = create_run(tmp_path, spec, train, test)
    set_end(path, 120)  # by hand, so without a rule
    settle(path, 7, spec.rule)
    assert read_spec(path).n_iterations == 120 and read_spec(path).rule is None


WRONG = [
    (
        {"engine": "cgs", "stop_on": "bound"},
        "cgs has no bound to stop on; stop on perplexity, or choose vb, svb, online-vb",
    ),
    (
        {"engine": "svb", "stop_on": "luck"},
        "stop_on must be one of bound, perplexity, steps, or None; got 'luck'",
    ),
    (
        {"engine": "cgs", "stop_on": "steps"},
        "cgs counts no steps to stop on; set its iterations, or choose cv-hdp or g-hdp",
    ),
    (
        {"engine": "svb", "stop_on": "perplexity"},
        "there is no test set, so no perplexity to stop on; hold out some tokens",
    ),
    (
        {"engine": "svb", "stop_on": "bound", "stop_tolerance": -1},
        "stop_tolerance must be a number of at least 0; got -1",
    ),
    (
        {"engine": "svb", "stop_on": "bound", "stop_tolerance": "x"},
        "stop_tolerance must be a number of at least 0; got 'x'",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_a_rule_that_cannot_be_followed_is_refused(train, given, sentence):
    with pytest.raises(SpecError) as error:
        make_spec(train, **given)
    assert str(error.value).startswith(sentence)
