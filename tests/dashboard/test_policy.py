"""What visitors may do where others come in: which files they may name, how much they may ask for, and what they are told."""

import contextlib
import os
import shutil
import socket
from weakref import WeakSet

import pytest
from short_runs import short_settings

from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.page import ComparePage
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.compare.starting import (
    check_memory,
    check_waiting,
    planned_run,
    start_runs,
)
from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.policy import LOOK_ONLY, Limits, Policy, PolicyError
from workbench.dashboard.shared.run_monitor import Follower
from workbench.dashboard.shared.snapshots import labels_of_snapshot, snapshot_of
from workbench.dashboard.topics.page import TopicsPage
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.errors import InputError
from workbench.runs.execution.memory_check import predict_memory
from workbench.runs.execution.run import Run
from workbench.runs.request import FILE, RunRequest
from workbench.runs.spec import make_spec
from workbench.runs.store.archive import CORPORA, get_corpus
from workbench.runs.store.notes import read_notes
from workbench.runs.store.status import RUNNING
from workbench.runs.store.writer import RunWriter, create_run

OUTSIDE = (
    "../secret.txt",
    "a/../../secret.txt",
    "/etc/passwd",
    "//etc/passwd",
    "~/secret.txt",
    "~root/.profile",
    "link.txt",
    "folder-link",
    "folder-link/secret.txt",
    "ring",
    "texts.txt\0.png",
    "\0",
    "x" * 300,
    "x/" * 3000,
    "․․/secret.txt",
    "．．/secret.txt",
    "..∕secret.txt",
    "%2e%2e/secret.txt",
    "..\\secret.txt",
    "file:///etc/passwd",
    "http://127.0.0.1/",
    "/dev/zero",
    "/proc/self/environ",
)
"""What a visitor may type to get out of the folder of the data."""


@pytest.fixture
def folder(tmp_path):
    """A folder of data with a text in it, beside one that is nobody's business."""
    (tmp_path / "secret.txt").write_text("the secret")
    folder = tmp_path / "papers"
    (folder / "sub").mkdir(parents=True)
    for name in ("texts.txt", "sub/more.txt"):
        (folder / name).write_text("one two three")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "folder-link").symlink_to(tmp_path)
    (folder / "ring").symlink_to(folder / "ring")
    os.mkfifo(folder / "pipe")
    return folder


def of_others(folder=None, **settings) -> Policy:
    return Policy(others=True, folders=(folder.resolve(),) if folder else (), **settings)


def test_others_name_files_of_the_folders_of_the_server_alone(folder):
    policy = of_others(folder)
    assert (
        policy.place_of("texts.txt")
        == policy.place_of(str(folder / "texts.txt"))
        == folder / "texts.txt"
    )
    assert (
        policy.place_of("sub/../sub/more.txt") == folder / "sub/more.txt"
        and policy.place_of("sub") == folder / "sub"
    )
    said = "no file and no folder {}; it must lie in papers, or choose a corpus of the list"
    for typed in (*OUTSIDE, "../nothing.txt", str(folder.parent / "secret.txt")):
        with pytest.raises(PolicyError) as found:
            policy.place_of(typed)
        shown = repr(typed if len(typed) <= 100 else f"{typed[:99]}…")
        assert str(found.value) == said.format(shown), "whether it is there or not"


def test_a_pipe_and_a_device_are_read_by_nobody(folder):
    for policy, typed in (
        (of_others(folder), "pipe"),
        (Policy(), str(folder / "pipe")),
        (Policy(), "/dev/zero"),
    ):
        with pytest.raises(PolicyError, match="is neither a file nor a folder"):
            policy.place_of(typed)


def test_without_a_folder_others_name_no_file(ruled, folder):
    with pytest.raises(PolicyError, match="reads no files that visitors name"):
        of_others().place_of(str(folder / "texts.txt"))
    ruled(others=True)
    assert not any("file" in said for said in Settings().fields["corpus"].options)


def test_the_form_refuses_a_path_outside_and_starts_nothing(ruled, folder, tmp_path):
    ruled(others=True, folders=(folder.resolve(),))
    form = Settings()
    form.fields["corpus"].value = FILE
    for typed in OUTSIDE:
        form.fields["path"].value = typed
        assert "it must lie in papers" in mistakes_in(form.request())["corpus"]
        with pytest.raises(PolicyError):
            start_runs(tmp_path / "runs", form.request())
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "limits, name, value, said",
    [
        ({"topics": 50}, "n_topics", "51", "must be at most 50 on this server; got 51"),
        ({"topics": 50}, "n_topics", "10, 51", "must be at most 50 on this server; got 51"),
        ({"iterations": 100}, "n_iterations", "101", "must be at most 100 on this server; got 101"),
        (
            {"iterations": 1_000_001},
            "n_iterations",
            "1000002",
            "must be at most 1,000,001 on this server; got 1000002",
        ),
        ({"start": 3}, "n_topics", "2, 3, 4, 5", "where 3 may be started at once; take values out"),
    ],
)
def test_a_limit_that_is_hit_is_told_by_its_field(ruled, limits, name, value, said):
    form = Settings()
    form.fields["engines"].value, form.fields["n_iterations"].value = ["cgs"], "10"
    form.fields[name].value = value
    assert not mistakes_in(form.request())
    ruled(limits=Limits(**limits))
    assert mistakes_in(form.request())[name].endswith(said)


@pytest.mark.parametrize(
    "engine, name, value",
    [
        ("network-vb", "super", "51"),
        ("hmm", "n_states", "51"),
        ("hmm", "n_states", "10, 51"),
        ("bn-vb", "n_states", "51"),
        ("raw-lds", "state_dim", "51"),
    ],
)
def test_states_and_super_topics_are_limited_as_topics_are(ruled, engine, name, value):
    form, key = Settings(), RunRequest(engines=(engine,)).key_of(name, engine) or name
    form.fields["engines"].value, form.fields["n_iterations"].value = [engine], "10"
    if engine == "bn-vb":
        form.fields["corpus"].value = "votes"
    if name == "super":
        form.fields["model"].value = "pachinko"
    form.fields[key].value = value
    assert key not in mistakes_in(form.request())
    ruled(limits=Limits(topics=50))
    assert mistakes_in(form.request())[key].endswith("must be at most 50 on this server; got 51")


SIZES_OTHERWISE = {"n_chains", "n_particles", "sweep_particles", "batch", "batch_size", "partition"}
"""Chains and particles, which the limit of memory holds; parts of the data, which are no more than there are data."""


def sizing(name: str) -> set[str]:
    """The whole numbers among the options of an engine on whose size its arrays or the forecast of its memory depend."""
    train, settings = short_settings(name)

    def measured(**options):
        engine, model, own = make_spec(train, name, **settings, options=options).parts(train)
        return model.dims(train), engine.memory(train, model, own)

    def found(option: str, value: int) -> list:
        with contextlib.suppress(InputError):  # a value that it cannot have, or that has no effect
            return [measured(**{option: value})]
        return []

    whole = {
        option: about.metadata
        for option, about in options_of(get_engine(name)).items()
        if about.metadata["whole"]
    }
    values = {
        option: [(about["low"] or 0) + more for more in (2, 3, 40)]
        for option, about in whole.items()
    }
    some = {
        option: [one for value in values[option] for one in found(option, value)]
        for option in whole
    }
    return {option for option, seen in some.items() if any(one != seen[0] for one in seen)}


@pytest.mark.parametrize("name", [*ENGINES, "latent-class-em"])
def test_every_number_that_makes_a_state_larger_is_limited_as_topics_are(monkeypatch, name):
    # the example of a new family
    monkeypatch.setitem(ENGINES, "latent-class-em", "families.latent_class_em")
    marked = {
        option for option, about in options_of(get_engine(name)).items() if about.metadata["size"]
    }
    assert sizing(name) - SIZES_OTHERWISE == marked


def test_runs_beyond_what_a_page_or_the_store_may_have_are_not_started(ruled, tmp_path):
    store = tmp_path / "runs"
    page = ComparePage(store)
    page.settings.fields["engines"].value, page.settings.fields["seeds"].value = ["cgs"], "3"
    for limits, said in (
        ({"session": 2}, "2 runs may be started from one page here, and these are 3"),
        ({"waiting": 2}, "2 runs may be unfinished at a time here, and these are 3"),
        ({"memory": 0.001}, "0.001 GB may be taken at once here"),
    ):
        ruled(limits=Limits(**limits))
        page.start(page.settings.request())
        assert said in page.settings.status.object
    assert not [path for path in store.glob("[!.]*") if (path / "data.zarr").exists()]


def test_runs_that_go_on_count_among_the_unfinished(ruled, train, test, tmp_path):
    specs = [make_spec(train, "svb", name=name, test=test) for name in ("one", "two")]
    paths = [create_run(tmp_path / "runs", spec, train, test) for spec in specs]
    page = ComparePage(tmp_path / "runs")
    page._monitor.look()
    page.tick()
    page.table.chosen = ["one", "two"]
    ruled(limits=Limits(waiting=1))
    page.steering.press("resume")
    assert "1 runs may be unfinished at a time here, and these are 2" in page.steering.status.object
    assert [Run(path).state for path in paths] == ["stopped", "stopped"]


def test_runs_at_work_count_in_the_memory_that_others_may_take(ruled, train, test, tmp_path):
    specs = [make_spec(train, "svb", name=name, test=test) for name in ("one", "two")]
    one, two = (create_run(tmp_path / "runs", spec, train, test) for spec in specs)
    coming = planned_run(two)
    ruled(limits=Limits(memory=1.5e-9 * predict_memory(coming).total))
    check_memory(one.parent, [coming, coming], 1)
    with RunWriter(one) as writer:
        writer.beat(RUNNING)
        with pytest.raises(
            PolicyError,
            match=r"of memory beside 1 run at work, where 0\.\d+ GB may be taken at once here",
        ):
            check_memory(one.parent, [coming], 1)
        check_memory(one.parent, [planned_run(one)], 1)
        page = ComparePage(one.parent)
        page._monitor.look()
        page.tick()
        page.table.chosen = ["two"]
        page.steering.press("resume")
        assert "beside 1 run at work" in page.steering.status.object and Run(two).state == "stopped"
        shutil.rmtree(one.parent / CORPORA)
        get_corpus.cache_clear()
        check_memory(one.parent, [coming], 1)


def test_where_too_many_pages_are_open_another_says_so(ruled, tmp_path, monkeypatch):
    from workbench.dashboard.compare.page import page

    monkeypatch.setenv("WORKBENCH_STORE", str(tmp_path))
    # other tests have left some
    monkeypatch.setattr("workbench.dashboard.shared.shell.VIEWS", WeakSet())
    ruled(limits=Limits(pages=0))
    assert "0 pages may be open at a time here, and these are 1;" in page()[0].object.replace(
        "Pages", "pages"
    )


def test_what_is_to_be_looked_at_is_not_changed_whatever_a_browser_sends(ruled, new_run, tmp_path):
    path = new_run("seen")
    ruled(read_only=True)
    page, topics = ComparePage(path.parent), TopicsPage(path.parent)
    with pytest.raises(PolicyError, match="nothing can be started"):
        start_runs(path.parent, page.settings.request())
    page.start(page.settings.request())
    assert LOOK_ONLY in page.settings.status.object
    page.table.chosen = ["seen"]
    for action in ("resume", "stop", "pause", "remove", "remove"):
        page.steering.press(action)
    page.notes.show(page._readings, ["seen"])
    page.notes.note.value = page.notes.tag.value = "mine"
    topics.tick()
    topics.map.chosen = 0
    topics.label.value = "mine"
    assert [run.name for run in path.parent.glob("[!.]*") if (run / "data.zarr").exists()] == [
        "seen"
    ]
    assert read_notes(path).note == "" and not read_notes(path).tags and not read_notes(path).labels


def test_others_are_told_no_path_and_no_name_of_the_machine(ruled, new_run, tmp_path):
    error = ValueError(
        f"no room in {tmp_path}/runs/a-run/data.zarr; see '/etc/hosts', `~/x/y.txt` and 1/2 of http://a.org/b/c"
    )
    assert str(tmp_path) in sentence_of(error)
    ruled(others=True)
    assert (
        sentence_of(error)
        == "No room in data.zarr; see 'hosts', `y.txt` and 1/2 of http://a.org/b/c"
    )
    damaged = new_run("damaged")
    (damaged / "data.zarr/zarr.json").write_text("{")
    page = ComparePage(damaged.parent)
    page._monitor.look()
    page.tick()
    told = str(page.table.rows) + page.table.empty + ComparePage(tmp_path / "none").table.empty
    assert "damaged" in told and str(tmp_path) not in told and socket.gethostname() not in told


def test_others_are_told_no_path_of_damaged_notes(ruled, new_run, tmp_path):
    path = new_run("noted")
    (path / "notes.json").write_text("{")
    ruled(others=True)
    reading = Follower(path).look()
    told = [labels_of_snapshot(snapshot_of(reading))[1], reading.notes.note]
    assert all("notes.json" in sentence and str(tmp_path) not in sentence for sentence in told), (
        told
    )


def test_a_damaged_run_keeps_nobody_from_starting_others(ruled, new_run):
    path = new_run("damaged")
    (path / "end.json").write_text("{")
    ruled(limits=Limits(waiting=2))
    check_waiting(path.parent, 2)
    with pytest.raises(
        PolicyError, match="2 runs may be unfinished at a time here, and these are 3"
    ):
        check_waiting(path.parent, 3)
