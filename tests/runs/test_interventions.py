"""Settings that are turned while a run runs: taken in order, logged, replayed to the same bits; and branches of such runs."""

import itertools
import json
import random
import subprocess
import sys
import threading
import time
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
import twins
from same_bits import CLOCKS, same_bits

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.errors import InputError
from workbench.models.options import OptionError
from workbench.runs.execution.control import StoreControl
from workbench.runs.execution.worker import carry_on
from workbench.runs.interventions import Intervention, interventions_of
from workbench.runs.parts.laying_out import InMemoryData
from workbench.runs.spec import RunSpec, make_spec
from workbench.runs.store import status, turning, writer
from workbench.runs.store.archive import BEFORE, CHECKPOINT, iteration_of_checkpoint
from workbench.runs.store.branching import branch, branch_before
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import INTERVENTIONS, read_json, read_spec
from workbench.runs.store.turning import ask, pending, take
from workbench.runs.store.writer import RunWriter, create_run

KILLING = Path(__file__).with_name("killing.py")
SETTINGS = {"n_topics": 3, "n_iterations": 12, "burn_in": 2, "snapshot_every": 3}
WORDS_OF_PLAN = "interventions are pairs (iteration, {setting: value}), as [(50, {'r': 2})]"


class Killed(BaseException):
    """What ends a process in the middle."""


def made(store, corpora, engine="svb-cgs", **more) -> Path:
    train, test = corpora
    return create_run(store, make_spec(train, engine, test=test, **SETTINGS | more), train, test)


def computed(path, asks, kill_at=None) -> wb.Run:
    """The run of a folder after some requests were made behind iterations; killed behind one of them."""

    def on_iteration(position, scores):
        for changes in asks.get(position.iteration, ()):
            ask(path, changes)
        if position.iteration == kill_at:
            raise Killed

    try:
        carry_on(path, on_iteration)
    except Killed:
        assert kill_at
    return wb.Run(path)


def replayed(run: wb.Run, corpora, **more):
    """The run again in memory, from its log."""
    train, test = corpora
    return wb.fit(
        train,
        run.spec.engine,
        test=test,
        progress=False,
        interventions=run.spec.interventions,
        **SETTINGS | more,
    )


def assert_replays(run: wb.Run, corpora, **more):
    again = replayed(run, corpora, **more)
    same_bits(run.dataset(), again)
    assert run.dataset().attrs["spec_hash"] == again.attrs["spec_hash"] == run.spec.hash


def turns(run: wb.Run) -> list:
    return [(each.iteration, each.changes) for each in run.spec.interventions]


# ---------------------------------------------------------------------- taken, logged and replayed


def test_what_is_asked_for_is_taken_at_the_next_step_and_replayed(thirty_documents, store, at_once):
    asks = {3: [{"r": 0}], 6: [{"alpha": 0.5, "r": inf}, {"beta": 0.2}]}
    run = computed(made(store, thirty_documents), asks)
    assert turns(run) == [(4, {"r": 0.0}), (7, {"alpha": 0.5, "r": inf}), (7, {"beta": 0.2})]
    table = run.interventions
    assert table["iteration"].tolist() == [4, 7, 7, 7]
    assert table["setting"].tolist() == ["r", "alpha", "r", "beta"]
    assert table["value"].tolist() == [0.0, 0.5, inf, 0.2]
    assert all(table["when"].str.len() == 25)
    ds = run.dataset()
    assert ds["r"].values.tolist() == [1] * 3 + [0] * 3 + [inf] * 6
    assert ds["alpha"].values.tolist() == [[0.1] * 3] * 6 + [[0.5] * 3] * 6
    assert ds["beta"].values.tolist() == [0.1] * 6 + [0.2] * 6
    assert_replays(run, thirty_documents)
    train, test = thirty_documents
    of_run = wb.fit(train, "svb-cgs", test=test, progress=False, interventions=run, **SETTINGS)
    assert of_run.attrs["spec"] == replayed(run, thirty_documents).attrs["spec"]


def test_a_worker_at_work_sees_a_request_within_moments(thirty_documents, store):
    path, asked_at = made(store, thirty_documents, n_iterations=4000, record_every=100), []

    def on_iteration(position, scores):
        if position.iteration == 5:
            asked_at.append(time.monotonic())
            ask(path, {"alpha": 0.4})
        elif asked_at:
            assert time.monotonic() - asked_at[0] < 20
            if not pending(path):
                wb.Run(path).stop()

    carry_on(path, on_iteration)
    ((iteration, changes),) = turns(wb.Run(path))
    assert changes == {"alpha": 0.4} and iteration > 5
    ds = wb.Run(path).dataset()
    assert iteration in ds["iteration"].values, "the first row with them is recorded at once"


def test_a_request_that_is_taken_while_it_is_looked_at_is_seen(
    thirty_documents, store, monkeypatch
):
    path = made(store, thirty_documents)
    ask(path, {"r": 2}, "somebody")

    def read_and_take(file, *default):
        content = read_json(file, *default)
        if file.name == INTERVENTIONS:
            monkeypatch.undo()
            take(path, 5)
        return content

    for module in (status, turning):
        monkeypatch.setattr(module, "read_json", read_and_take)
    table = wb.Run(path).interventions
    assert table[["setting", "value", "who"]].values.tolist() == [["r", 2, "somebody"]]


def test_a_request_is_not_lost_while_another_is_taken(
    thirty_documents, store, at_once, monkeypatch
):
    """What comes between the look at the log and the new log."""
    path = made(store, thirty_documents)
    intervene = RunWriter.intervene

    def meanwhile(self, position):
        if position.iteration == 3:
            ask(path, {"beta": 0.3})
        spec = intervene(self, position)
        if position.iteration == 3:
            ask(path, {"alpha": 0.6})
        return spec

    monkeypatch.setattr(RunWriter, "intervene", meanwhile)
    run = computed(path, {3: [{"r": 2}]})
    assert turns(run) == [(4, {"r": 2.0}), (4, {"beta": 0.3}), (5, {"alpha": 0.6})]
    assert_replays(run, thirty_documents)


def test_a_request_that_comes_while_the_worker_asks_is_seen_the_next_time(thirty_documents, store):
    control = StoreControl(made(store, thirty_documents), lambda state: None)
    assert not control.asked()
    ask(control._path, {"r": 2})
    control._read()
    assert control.asked() and not control.asked()
    control._read()
    assert not control.asked(), "the log has not changed"


def test_all_who_ask_at_once_are_heard_while_the_worker_takes(thirty_documents, store):
    path = made(store, thirty_documents)
    values, iterations = [round(0.1 + i / 100, 2) for i in range(12)], itertools.count(1)
    threads = [threading.Thread(target=ask, args=(path, {"beta": value})) for value in values]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        take(path, next(iterations))
    take(path, next(iterations))
    made_of_them = turns(wb.Run(path))
    assert sorted(changes["beta"] for _, changes in made_of_them) == values
    assert sorted(made_of_them, key=lambda each: each[0]) == made_of_them
    ask(path, {"r": 2})
    assert wb.Run(path).interventions["iteration"].isna().tolist() == [False] * 12 + [True]


def test_a_run_turns_with_the_uniforms_of_the_step_that_follows(thirty_documents):
    (train, test), engine = thirty_documents, get_engine("svb-cgs")
    ds = wb.fit(
        train, "svb-cgs", test=test, progress=False, interventions=[(4, {"r": 3})], **SETTINGS
    )
    model, old, new = wb.LDA(3), *(make_options(engine, {"r": r}) for r in (1, 3))
    state = engine.init(train, model, old, StepContext(0, 0))
    for step in range(1, 7):
        if step == 4:
            context = StepContext(0, step, changed={"r": 1})
            state, _ = engine.retune(train, model, new, state, context)
        state, _ = engine.step(train, model, old if step < 4 else new, state, StepContext(0, step))
    counts = engine.counts(train, model, new, state)
    for name in counts:
        assert np.array_equal(ds[name].sel(snapshot=1), counts[name]), name


# ---------------------------------------------------------------------- killed and resumed


@pytest.mark.parametrize("checkpoints", [0.0, 1e9])
@pytest.mark.parametrize("kill_at", [3, 4, 6, 7])
def test_a_killed_run_makes_the_same_steps_again(
    thirty_documents, store, at_once, monkeypatch, kill_at, checkpoints
):
    """Killed between a request and its step, behind that step, and later; from a checkpoint there or from the start."""
    monkeypatch.setattr(writer, "CHECKPOINT_EVERY", checkpoints)
    path = made(store, thirty_documents)
    asks = {3: [{"r": 0}], 6: [{"alpha": 0.5}]}
    computed(path, asks, kill_at)
    run = computed(path, {each: asks[each] for each in asks if each > kill_at})
    assert turns(run) == [(4, {"r": 0.0}), (7, {"alpha": 0.5})]
    assert_replays(run, thirty_documents)


def test_a_run_killed_in_the_very_step_of_an_intervention_keeps_it(
    thirty_documents, store, at_once, monkeypatch
):
    path, step = made(store, thirty_documents), InMemoryData.step

    def killed(self, state, context):
        if context.step == 4:
            raise Killed
        return step(self, state, context)

    with monkeypatch.context() as patch:
        patch.setattr(InMemoryData, "step", killed)
        computed(path, {3: [{"r": 0}]}, kill_at=4)
    assert wb.Run(path).dataset().sizes["iteration"] == 3
    assert turns(wb.Run(path)) == [(4, {"r": 0.0})]
    ask(path, {"beta": 0.3})
    run = computed(path, {})
    assert turns(run) == [(4, {"r": 0.0}), (4, {"beta": 0.3})]
    assert_replays(run, thirty_documents)


def test_what_is_asked_of_a_killed_run_takes_effect_after_what_it_had_committed(
    thirty_documents, store, at_once
):
    path = made(store, thirty_documents)
    computed(path, {2: [{"r": 0}]}, kill_at=8)
    assert not (path / "checkpoint.npz").exists(), "it begins anew"
    wb.Run(path).retune(r=2)
    run = computed(path, {})
    assert turns(run) == [(3, {"r": 0.0}), (9, {"r": 2.0})]
    assert_replays(run, thirty_documents)


def test_what_is_asked_comes_after_what_was_planned(thirty_documents, store, at_once):
    path = made(store, thirty_documents, interventions=[(6, {"r": 0})])
    run = computed(path, {2: [{"alpha": 0.4}]})
    assert turns(run) == [(6, {"r": 0.0}), (6, {"alpha": 0.4})]
    assert_replays(run, thirty_documents)


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=pytest.mark.slow if seed == 5 else pytest.mark.long)
        for seed in range(40)
    ],
)
def test_kills_at_any_moment_of_turning_change_no_bit(seed, thirty_documents, store):
    settings = {"n_topics": 4, "n_iterations": 1500, "snapshot_every": 50}
    path, dice = made(store, thirty_documents, **settings), random.Random(seed)
    values = {"r": (0, 1, 2, inf), "alpha": (0.05, 0.1, 0.5), "beta": (0.05, 0.1, 0.3)}
    n_asked, states = 0, set()
    with subprocess.Popen(
        [sys.executable, str(KILLING), str(path), "5", str(seed)], stdout=subprocess.PIPE, text=True
    ) as killer:
        while killer.poll() is None:
            time.sleep(dice.uniform(0.0, 0.12))
            states.add(wb.Run(path).state)
            if n_asked < 20 and states & {"running", "interrupted"}:
                name = dice.choice([*values])
                ask(path, {name: dice.choice(values[name])})
                n_asked += 1
        assert killer.returncode == 0
        assert killer.stdout.read().split() == ["killed"] * 5
    assert n_asked == 20 and {"running", "interrupted"} <= states
    carry_on(path)
    run = wb.Run(path)
    # on a busy machine requests of one kill can take effect together
    least = 3 if seed == 5 else 0
    assert len(turns(run)) == 20 and len({iteration for iteration, _ in turns(run)}) > least
    assert_replays(run, thirty_documents, **settings)


# ---------------------------------------------------------------------- branches


ASKED = {4: [{"r": 2}]}


@pytest.fixture
def turned(thirty_documents, store, at_once, every_checkpoint):
    """A run of which r was turned before iteration 5, killed behind iteration 8 with a checkpoint."""
    return computed(made(store, thirty_documents), ASKED, kill_at=8)


def finished(path) -> wb.Run:
    carry_on(path)
    return wb.Run(path)


def assert_same(run: wb.Run, again) -> None:
    """The same numbers in each iteration, and the same last counts."""
    ds = run.dataset()
    for name in set(again.variables) - set(CLOCKS):
        if "iteration" in again[name].dims:
            np.testing.assert_array_equal(ds[name].values, again[name].values, err_msg=name)
    np.testing.assert_array_equal(ds["n_kw"][-1].values, again["n_kw"][-1].values)


def test_a_branch_has_the_bits_of_a_fit_with_its_settings_from_the_start(turned, thirty_documents):
    before = turned.rows()
    path = branch(turned.path, {"alpha": 0.5}, "me")
    new = wb.Run(path)
    assert [(each.iteration, each.changes) for each in new.spec.interventions] == [
        (5, {"r": 2.0}),
        (len(before) + 1, {"alpha": 0.5}),
    ]
    assert new.spec.interventions[-1].who == "me" and new.name != turned.name
    np.testing.assert_array_equal(new.rows(), before)
    reached = iteration_of_checkpoint(turned.path / CHECKPOINT)
    assert iteration_of_checkpoint(path / CHECKPOINT) == reached > 4
    assert_same(finished(path), replayed(new, thirty_documents))
    np.testing.assert_array_equal(turned.rows(), before)


def test_a_branch_has_the_texts_of_its_run(store, at_once):
    corpus = Corpus.from_texts(["red ants", "green bees"] * 5)
    path = computed(made(store, (corpus, None)), {}, kill_at=8).path
    assert wb.Run(branch(path, {"alpha": 0.5})).table.texts == corpus.table.texts


def test_the_same_branch_twice_is_one_run(turned):
    assert branch(turned.path, {"alpha": 0.5}) == branch(turned.path, {"alpha": 0.5})
    assert not list(turned.path.parent.glob("*branch*"))


def test_undoing_continues_from_before_the_last_change(turned, thirty_documents):
    path = branch_before(turned.path)
    assert iteration_of_checkpoint(path / CHECKPOINT) == len(wb.Run(path).rows()) == 4
    assert wb.Run(path).spec.interventions == ()
    assert_same(finished(path), replayed(wb.Run(path), thirty_documents))


def test_what_has_no_branch_is_one_sentence(turned, thirty_documents, store):
    plain = made(store, thirty_documents, "cgs")
    with pytest.raises(StoreError, match="nothing was turned in run"):
        branch_before(plain)
    (turned.path / BEFORE).unlink()
    with pytest.raises(StoreError, match="before iteration 5 is not there"):
        branch_before(turned.path)
    with pytest.raises(StoreError, match="has finished at iteration 12"):
        branch(finished(turned.path).path, {"alpha": 0.5})
    assert not list(store.glob("*branch*"))


# ---------------------------------------------------------------------- what begins anew


def test_the_running_average_begins_anew_behind_a_burn_in_of_its_own(thirty_documents):
    train, test = thirty_documents
    settings = {"n_topics": 3, "n_iterations": 16, "burn_in": 3, "snapshot_every": 1}
    ds = wb.fit(
        train,
        "cgs",
        test=test,
        progress=False,
        interventions=[(8, {"alpha": 0.4, "beta": 0.3})],
        **settings,
    )
    shown, state = (ds[name].values for name in ("test_perplexity", "test_perplexity_state"))
    during = np.r_[0:3, 7:10]
    assert np.array_equal(shown[during], state[during])
    assert np.all(
        np.delete(shown[:], [0, 1, 2, 3, 7, 8, 9, 10])
        != np.delete(state, [0, 1, 2, 3, 7, 8, 9, 10])
    )
    pairs = twins.pairs_of(test)
    for segment in (range(4, 8), range(11, 17)):
        tables = []
        for t in segment:
            n_dk, n_kw = (ds[name].sel(snapshot=t - 1).values for name in ("n_dk", "n_kw"))
            counts = twins.Counts(n_dk, n_kw.T, n_kw.sum(axis=1))
            priors = (0.1, 0.1) if t < 8 else (0.4, 0.3)
            tables.append(twins.predictive(counts, np.full(3, priors[0]), priors[1]))
            expected = twins.perplexity(pairs, np.mean(tables, axis=0))
            assert shown[t - 1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kill_at", [None, 1, 5])
def test_the_stop_rule_begins_anew(forty_documents, store, at_once, kill_at):
    """The bound is almost the same under the new prior, so a rule that compared with it would end the run at once."""
    train, test = forty_documents
    about = {"n_topics": 4, "n_iterations": 300, "stop_on": "bound", "stop_tolerance": 1e-4}
    end = wb.fit(train, "svb", test=test, progress=False, **about).sizes["iteration"]
    path = made(store, forty_documents, "svb", snapshot_every=50, burn_in=50, **about)
    turned = end - 2
    asks = {turned - 1: [{"alpha": 0.1000001}]}
    if kill_at:
        computed(path, asks, turned + kill_at)
        asks = {}
    run = computed(path, asks)
    assert turns(run) == [(turned, {"alpha": 0.1000001})]
    ds = run.dataset()
    reached, begins = ds.sizes["iteration"], turned - 1 + read_spec(path).warm_up
    assert begins + 11 <= reached < 300 and ds.attrs["state"] == "finished"
    bound = ds["bound"].values
    settled = [
        t
        for t in range(begins + 11, reached + 1)
        if abs(bound[t - 1] - bound[t - 11]) <= 1e-4 * abs(bound[t - 1])
    ]
    assert settled == [reached]


# ---------------------------------------------------------------------- specs


def test_a_spec_without_interventions_is_as_before(thirty_documents):
    spec = make_spec(*thirty_documents[:1], "svb-cgs", **SETTINGS)
    assert "interventions" not in json.loads(spec.to_json())
    assert RunSpec.from_json(spec.to_json()) == spec
    assert spec.held_after == 0 and spec.end_of_burn_in == 2 and spec.at(5) is spec
    turned = make_spec(
        thirty_documents[0], "svb-cgs", interventions=[(7, {"r": 0}), (4, {"r": inf})], **SETTINGS
    )
    assert replace(turned, interventions=(), name=spec.name) == spec
    assert turned.hash != spec.hash
    assert spec.label() == "svb-cgs r=1" and turned.at(4).label() == "svb-cgs r=1 r=inf from 4"
    assert turned.label() == f"svb-cgs r=1 turned 2 times ({turned.hash[:4]})"
    assert RunSpec.from_json(turned.to_json()) == turned
    assert RunSpec.from_json(turned.to_json()).hash == turned.hash
    assert [turned.at(t).parts()[2].r for t in (0, 3, 4, 6, 7, 99)] == [1, 1, inf, inf, 0, 0]
    assert (turned.held_after, turned.at(6).held_after, turned.at(3).held_after) == (6, 3, 0)
    assert (turned.end_of_burn_in, turned.at(6).end_of_burn_in) == (8, 5)


@pytest.mark.parametrize(
    "stored",
    [
        5,
        "text",
        {"a": 1},
        [5],
        [[3]],
        [[3, 4]],
        [["x", {"r": 2}]],
        [[3, {"r": "x"}]],
        [[5, {"r": 2}], [3, {"r": 1}]],
        [[0, {"r": 2}]],
        [[None, {"r": 2}]],
        [[3, {"r": 2}, "who", "when", "more"]],
    ],
)
def test_a_damaged_list_is_told_in_one_sentence(thirty_documents, stored):
    spec = make_spec(thirty_documents[0], "svb-cgs", interventions=[(3, {"r": 2})], **SETTINGS)
    text = json.dumps(json.loads(spec.to_json()) | {"interventions": stored})
    with pytest.raises(InputError) as error:
        RunSpec.from_json(text)
    assert str(error.value) == (
        f"the interventions of a run are a list in their order; got {stored!r}; it is damaged"
    )


def test_no_list_is_no_intervention():
    assert interventions_of(None) == ()
    assert interventions_of([[3, {"r": "inf"}, "me", "now"]]) == (
        Intervention(3, {"r": inf}, "me", "now"),
    )


def test_a_run_that_people_turned_is_not_reopened_as_the_plain_one(
    thirty_documents, store, at_once
):
    train, test = thirty_documents
    turned = computed(made(store, thirty_documents), {3: [{"r": 0}]})
    again = [
        wb.fit(train, "svb-cgs", test=test, store=store, progress=False, **SETTINGS) for _ in "ab"
    ]
    assert [each.attrs["name"] for each in again] == [f"{turned.name}-2"] * 2
    same_bits(again[0], wb.fit(train, "svb-cgs", test=test, progress=False, **SETTINGS))
    planned = {"interventions": [(4, {"r": 0})]}
    replay = wb.fit(train, "svb-cgs", test=test, store=store, progress=False, **SETTINGS | planned)
    same_bits(replay, turned.dataset())
    assert replay.attrs["spec_hash"] == turned.dataset().attrs["spec_hash"]
    assert len(wb.open_runs(store)) == 3


def test_a_damaged_log_is_told_and_does_not_end_the_heartbeat(thirty_documents, store):
    path, seen = made(store, thirty_documents, n_iterations=300), []

    def on_iteration(position, scores):
        if position.iteration == 3:
            (path / INTERVENTIONS).write_text("{")
        if position.iteration > 3 and not seen:
            seen.append(time.monotonic())
        if seen:
            time.sleep(0.01)
            if time.monotonic() - seen[0] > 0.3:
                wb.Run(path).stop()

    carry_on(path, on_iteration)
    assert wb.Run(path).state == "stopped"
    with pytest.raises(StoreError, match=r"interventions\.json"):
        wb.Run(path).dataset()


# ---------------------------------------------------------------------- bad input


WRONG = [
    ({"r": -1}, "option 'r' of svb-cgs must be a number of at least 0 or inf; got -1"),
    ({"r": nan}, "option 'r' of svb-cgs must be a number of at least 0 or inf; got nan"),
    ({"r": "much"}, "option 'r' of svb-cgs must be a number of at least 0 or inf; got 'much'"),
    ({"alpha": 0}, "alpha must be a number greater than 0 (at least 1e-08); got 0.0"),
    ({"alpha": "x"}, "alpha must be a number greater than 0; got 'x'"),
    ({"alpha": nan}, "alpha must be a number greater than 0; got nan"),
    ({"beta": [0.1]}, "beta must be a number greater than 0; got [0.1]"),
    ({"betta": 0.1}, "svb-cgs has no setting 'betta'; did you mean 'beta'?"),
    (
        {"n_chains": 2},
        "n_chains of svb-cgs is fixed once a run has begun; fit another with it, from this run with start=; "
        "these can be turned while it runs: alpha, beta, r",
    ),
    (
        {"n_topics": 4},
        "n_topics of svb-cgs is fixed once a run has begun; fit another with it, from this run with start=; "
        "these can be turned while it runs: alpha, beta, r",
    ),
    (
        {},
        "give a setting and its new value; of svb-cgs these can be turned while it runs: alpha, beta, r",
    ),
]


@pytest.mark.parametrize(("changes", "sentence"), WRONG, ids=[str(given) for given, _ in WRONG])
def test_a_setting_that_cannot_be_turned_is_refused_in_one_sentence(
    thirty_documents, store, changes, sentence
):
    path = made(store, thirty_documents)
    with pytest.raises(InputError) as error:
        wb.Run(path).retune(**changes)
    assert str(error.value) == sentence
    with pytest.raises(InputError) as error:
        made(store, thirty_documents, interventions=[(3, changes)])
    assert str(error.value) == sentence
    assert pending(path) == []


def test_a_setting_that_is_learnt_is_not_turned(thirty_documents, store):
    path = made(store, thirty_documents, options={"learn_alpha": "maximised"})
    with pytest.raises(OptionError) as error:
        ask(path, {"alpha": 0.2})
    assert str(error.value) == (
        "alpha of this run is maximised, so a value would not last; fit another run with it fixed"
    )
    assert ask(path, {"beta": "0.2"}) == {"beta": 0.2}


def test_a_finished_run_is_not_turned(thirty_documents, store):
    path = made(store, thirty_documents)
    carry_on(path)
    with pytest.raises(StoreError) as error:
        wb.Run(path).retune(r=2)
    assert str(error.value) == (
        f"run '{path.name}' has finished at iteration 12, so nothing of it can be turned; "
        "resume it with more iterations first, or fit another run from it with start="
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            [(0, {"r": 2})],
            "the iteration of an intervention must be a whole number of at least 1; got 0",
        ),
        (
            [(1, {"r": 2}), ("x", {"r": 2})],
            "the iteration of an intervention must be a whole number of at least 1; got 'x'",
        ),
        ("50:r=2", f"{WORDS_OF_PLAN}; got '50:r=2'"),
        ({50: {"r": 2}}, f"{WORDS_OF_PLAN}; got {{50: {{'r': 2}}}}"),
        ([(50,)], f"{WORDS_OF_PLAN}; got [(50,)]"),
        ([50], f"{WORDS_OF_PLAN}; got [50]"),
        (50, f"{WORDS_OF_PLAN}; got 50"),
        (
            [(5, "r")],
            "give a setting and its new value; of svb-cgs these can be turned while it runs: alpha, beta, r",
        ),
    ],
    ids=str,
)
def test_a_plan_that_is_none_is_refused_in_one_sentence(thirty_documents, given, sentence):
    with pytest.raises(OptionError) as error:
        wb.fit(thirty_documents[0], "svb-cgs", interventions=given, progress=False, **SETTINGS)
    assert str(error.value) == sentence
