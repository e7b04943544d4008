import errno
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr
from campaigns.file_operations import operations
from same_bits import same_bits
from short_runs import short_settings

import workbench as wb
from workbench.corpus.document_table import SUFFIX
from workbench.measures.selection import spec_of
from workbench.runs.afterwards.examine import examine
from workbench.runs.execution.bounded_reading import read_bounded
from workbench.runs.execution.control import StoreControl
from workbench.runs.execution.fit import resume
from workbench.runs.execution.worker import carry_on
from workbench.runs.spec import RunSpec, SpecError, make_spec
from workbench.runs.store import writer
from workbench.runs.store.archive import CORPORA, get_corpus, get_table
from workbench.runs.store.counts import SnapshotGone
from workbench.runs.store.layout import SCHEMA, StoreError, describe_run
from workbench.runs.store.places import DATA, run_paths
from workbench.runs.store.status import read_json, read_status, set_end
from workbench.runs.store.writer import RunWriter, create_run

GOLDEN = Path(__file__).parents[1] / "golden" / "store"


@pytest.fixture
def run(train, test, store):
    """A finished run of 12 iterations."""
    wb.fit(train, "cgs", n_topics=3, test=test, n_iterations=12, store=store, progress=False)
    return wb.open_runs(store)[0]


def test_the_folder_is_an_xarray_dataset(run):
    raw = xr.open_zarr(run.path / DATA, consolidated=False, chunks=None)
    n_rows, n_snapshots, _ = raw.committed.values
    assert (n_rows, n_snapshots) == (12, 1)
    np.testing.assert_array_equal(raw.numbers[:n_rows, 0], np.arange(1, 13))
    assert raw.n_kw[0].sum() == run.dataset().n_k[-1].sum()


def test_a_store_that_cannot_be_written_is_refused(train, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        StoreError, match="cannot write to the store .*; choose another with --store"
    ):
        wb.fit(train, "cgs", n_iterations=2, store=tmp_path / "file", progress=False)


def test_a_file_system_without_locks_is_refused(run, monkeypatch):
    def no_locks(*args, **kwargs):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("workbench.runs.store.lock.fcntl.flock", no_locks)
    with pytest.raises(
        StoreError, match="cannot be locked: .* have no locks .*; choose a store on a local disk"
    ):
        carry_on(run.path)


def test_a_run_has_one_writer(run):
    code = (
        "import sys, time; from workbench.runs.store.writer import RunWriter\n"
        "with RunWriter(sys.argv[1]): print('in', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(run.path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "in\n"
        for attempt in (lambda: carry_on(run.path), run.remove):
            with pytest.raises(
                StoreError,
                match=f"run '{run.name}' is being written by another process; stop it there first",
            ):
                attempt()
        other.kill()
    run.remove()  # the lock of a killed process is free
    assert not run.path.exists()


def test_open_run_refuses_what_is_no_run(tmp_path, run):
    with pytest.raises(
        StoreError, match="is not a run; `workbench runs` lists the runs of a store"
    ):
        wb.Run(tmp_path)
    (run.path / DATA / "zarr.json").write_text("{")
    with pytest.raises(StoreError, match="is damaged: data.zarr/zarr.json cannot be read"):
        wb.Run(run.path)


@pytest.mark.parametrize("schema", [SCHEMA + 1, 0, None])
def test_open_run_refuses_a_store_of_another_schema(run, schema):
    zarr.open_group(str(run.path / DATA)).attrs["schema"] = schema
    sentence = (
        rf"has the store schema {schema!r}, and workbench \S+ reads schema {SCHEMA}; "
        "open it with the version that wrote it"
    )
    with pytest.raises(StoreError, match=sentence):
        wb.open_run(run.path)


def test_a_missing_or_damaged_corpus_is_said_so(run, store):
    corpora = sorted((store / ".corpora").iterdir())
    for path in corpora:
        path.write_bytes(path.read_bytes()[:100])
    get_corpus.cache_clear()
    with pytest.raises(SpecError, match="is damaged .*; delete it and fit the run again"):
        run.dataset()
    for path in corpora:
        path.unlink()
    with pytest.raises(
        SpecError, match="the corpus of this run is not in the store; expected the file"
    ):
        run.dataset()
    assert run.progress().sizes["iteration"] == 12  # the curve needs no corpus


def test_a_folder_of_corpora_that_may_not_be_looked_into_is_said_so(run, monkeypatch):
    def refusing(path, **more):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "stat", refusing)
    for reads in (get_corpus, get_table):
        with pytest.raises(SpecError, match="cannot be read: Permission denied"):
            reads.__wrapped__(run.path.parent, "0" * 64)


def test_leftovers_of_a_killed_writer_are_deleted(run):
    leftover = run.path / DATA / "numbers" / "c" / "0" / "0.abc.partial"
    leftover.write_text("half a chunk")
    with RunWriter(run.path):
        assert not leftover.exists()


@pytest.mark.parametrize("damage", ["truncated", "missing", "nonsense"])
def test_a_run_without_its_checkpoint_begins_anew_and_repeats_itself(train, test, run, damage):
    path = run.path / "checkpoint.npz"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] if damage == "truncated" else b"nonsense")
    if damage == "missing":
        path.unlink()
    resumed = wb.resume(run, n_iterations=20, progress=False)
    whole = wb.fit(train, "cgs", n_topics=3, test=test, n_iterations=20, progress=False)
    np.testing.assert_array_equal(resumed.test_perplexity, whole.test_perplexity)


def test_a_run_that_does_not_repeat_itself_is_not_continued(run):
    numbers = zarr.open_group(str(run.path / DATA))["numbers"]
    numbers[5, 4] = numbers[5, 4] + 1e-12
    (run.path / "checkpoint.npz").unlink()
    with pytest.raises(
        StoreError,
        match="does not reproduce its iteration 6: its kernels or its machine have changed",
    ):
        wb.resume(run, n_iterations=20, progress=False)
    assert run.state == "failed" and run.progress().sizes["iteration"] == 12


def test_old_snapshots_are_thinned_within_the_budget(train, store):
    spec = make_spec(train, "cgs", n_topics=3, n_iterations=40, snapshot_every=2)
    bytes_of_one = 8 * 3 * (train.n_documents + train.n_words)
    path = create_run(store, spec, train, None, budget=6 * bytes_of_one)
    carry_on(path)
    ds = wb.open_run(path)
    assert ds.sizes["snapshot"] <= 6 and ds.snapshot_iteration.values[-1] == 40
    np.testing.assert_array_equal(ds.n_kw.sum(("topic", "word")), train.n_tokens)
    assert len(list((path / DATA / "n_kw" / "c").iterdir())) == ds.sizes["snapshot"]


def test_a_snapshot_that_was_dropped_is_not_read_as_zeros(train, store):
    spec = make_spec(train, "cgs", n_topics=3, n_iterations=4, snapshot_every=2)
    path = create_run(store, spec, train, None, budget=1)
    carry_on(path)
    held, read = wb.open_run(path), wb.open_run(path)
    first = read.n_kw.load().isel(snapshot=0).values
    resume(path, n_iterations=10, progress=False)
    with pytest.raises(
        SnapshotGone,
        match=f"run '{path.name}' has deleted its snapshot of iteration 2 since this Dataset was read",
    ):
        held.n_kw.isel(snapshot=0).load()
    np.testing.assert_array_equal(read.n_kw.isel(snapshot=0), first)


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"engine": "cgs9"}, "engine 'cgs9' of the run is not in this version of workbench"),
        ({"options": {"heat": 3.0}}, "the run has settings that cgs does not take here"),
        ({"model": {"n_topics": 3, "tau": 1.0}}, "the run has settings that cgs does not take"),
    ],
)
def test_a_run_of_another_version_is_shown_as_it_is_and_not_computed_with(
    undrawn, run, store, change, refused, monkeypatch
):
    monkeypatch.setattr("workbench.engines.OF_RUNS", OF_RUNS := {})
    monkeypatch.setattr("workbench.runs.spec.OF_RUNS", OF_RUNS)
    before, here = run.dataset(), store / "other"
    shutil.copytree(run.path, here)
    put_about(here, lambda about, spec: spec.update(change))
    found = wb.open_run("other", store)
    assert len(wb.open_runs(store)) == 2 and (found["n_kw"] == before["n_kw"]).all()
    assert (found["test_perplexity"] == before["test_perplexity"]).all()
    for compute in (
        lambda: wb.resume(here, n_iterations=20, progress=False),
        lambda: wb.top_words(found),
    ):
        with pytest.raises(SpecError, match=f"{refused}.*; open it with the version that wrote it"):
            compute()
    assert [spec_of(each).seed for each in (before, found)] == [0, 0]
    wb.write_report([before, found], store / "report.html")


def test_a_run_that_cannot_be_read_hides_no_other(run, store):
    here = store / "other"
    shutil.copytree(run.path, here)
    put_about(here, lambda about, spec: spec.update(seed="x"))
    with pytest.warns(UserWarning, match="seed must be a whole number"):
        assert [each.name for each in wb.open_runs(store)] == [run.name]


def put_about(path: Path, change) -> None:
    """Change the attributes of a run and its spec as another version would have written them."""
    group = zarr.open_group(path / DATA)
    about = {name: value for name, value in group.attrs.items() if name != "checksum"}
    change(about, spec := json.loads(about["spec"]))
    describe_run(group, about | {"spec": json.dumps(spec)})


def test_a_file_with_other_values_than_its_checksum_is_refused(run):
    path = run.path / "status.json"
    path.write_text(path.read_text().replace('"iteration": 12', '"iteration": 11'))
    with pytest.raises(StoreError, match=r"status\.json does not have the checksum it was written"):
        read_json(path)


def test_a_status_that_is_damaged_is_told_and_taken_from_the_rows(run, store):
    (run.path / "status.json").write_text("{")
    with pytest.raises(StoreError):
        read_json(run.path / "status.json")
    status = read_status(run.path)
    assert (status["state"], status["iteration"]) == (
        "finished",
        12,
    ) and "status.json cannot be read" in status["message"]
    with RunWriter(run.path):
        assert read_status(run.path)["state"] == "running"
    set_end(run.path, 20)
    status = read_status(run.path)
    assert (status["state"], status["iteration"]) == (
        "interrupted",
        12,
    ) and "status.json cannot be read" in status["message"]
    same_bits(wb.resume(run, progress=False), wb.open_run(run.path))
    assert read_status(run.path)["state"] == "finished" and not read_status(run.path)["message"]


@pytest.mark.parametrize(
    "file", ["status.json", "end.json", "kernels.json", "control.json", "notes.json"]
)
def test_what_the_system_says_of_a_file_is_in_the_sentence(run, file, monkeypatch):
    (run.path / file).unlink(missing_ok=True)
    (run.path / file).mkdir()
    with pytest.raises(
        StoreError,
        match=rf"run '{run.name}' is damaged: {file} cannot be read \(Is a directory\); `workbench",
    ):
        read_json(run.path / file)
    assert read_json(run.path / file, {"told": 1}) == {"told": 1}

    def failing(path):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "read_bytes", failing)
    for reads, name in (
        (lambda: read_json(run.path / file), file),
        (lambda: wb.Run(run.path), "data.zarr/zarr.json"),
    ):
        with pytest.raises(StoreError, match=rf"{name} cannot be read \(Input/output error\)"):
            reads()


def test_a_run_whose_commit_counter_is_gone_is_not_continued(run):
    committed = run.path / DATA / "committed" / "c" / "0"
    committed.unlink()
    before = {file: file.read_bytes() for file in run.path.rglob("*") if file.is_file()}
    for go_on in (
        lambda: wb.resume(run, n_iterations=20, progress=False),
        lambda: wb.resume(run, progress=False),
    ):
        with pytest.raises(
            StoreError,
            match="is damaged: the chunk data.zarr/committed/0 is gone; `workbench doctor",
        ):
            go_on()
    assert before == {file: file.read_bytes() for file in run.path.rglob("*") if file.is_file()}


def test_a_run_whose_checkpoint_is_ahead_of_its_rows_is_not_continued(train, test, run, store):
    longer = wb.fit(
        train, "cgs", n_topics=3, test=test, n_iterations=20, store=store / "longer", progress=False
    )
    (path,) = run_paths(store / "longer")
    shutil.copy(path / "checkpoint.npz", run.path)
    before = {file: file.read_bytes() for file in (run.path / DATA).rglob("*") if file.is_file()}
    with pytest.raises(
        StoreError, match="is damaged: its checkpoint is of iteration 20 and its rows end with 12"
    ):
        wb.resume(run, n_iterations=30, progress=False)
    assert before == {
        file: file.read_bytes() for file in (run.path / DATA).rglob("*") if file.is_file()
    }
    (run.path / "checkpoint.npz").unlink()
    wb.resume(run, n_iterations=20, progress=False)
    np.testing.assert_array_equal(run.progress()["test_perplexity"], longer["test_perplexity"])


def test_leftovers_of_a_killed_creation_are_deleted_after_a_day(train, test, run, store):
    left = [store / f".{name}-{16 * '0'}.partial" for name in ("old", "new")] + [
        store / CORPORA / ".x.npz-0.partial"
    ]
    for folder in left[:2]:
        shutil.copytree(run.path, folder)
    left[2].write_bytes(b"some of it")
    for old in (left[0], left[2]):
        os.utime(old, times=2 * (time.time() - 25 * 3600,))
    wb.fit(train, "cgs", n_topics=4, test=test, n_iterations=2, store=store, progress=False)
    assert [path.exists() for path in left] == [False, True, False] and len(
        wb.open_runs(store)
    ) == 2


def test_a_half_made_run_is_not_listed(run, store):
    shutil.copytree(run.path, store / f".{run.name}-1.partial")
    (store / "empty").mkdir()
    assert [other.name for other in wb.open_runs(store)] == [run.name]
    assert wb.open_runs(store / "nowhere") == []


def test_what_a_failed_start_still_writes_is_in_the_way_of_no_later_one(tmp_path, monkeypatch):
    """Of several files that zarr writes at once one may fail, and others be written when the start was given up."""
    train, settings = short_settings("svb")
    spec = make_spec(train, "svb", **settings)
    make_arrays, places = writer._make_arrays, []

    def failing(place, *others):
        places.append(place)
        if len(places) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        make_arrays(places[0], *others)  # now the first one's are written
        make_arrays(place, *others)

    monkeypatch.setattr(writer, "_make_arrays", failing)
    with pytest.raises(StoreError, match="cannot write to the store .*: No space left on device"):
        create_run(tmp_path, spec, train, settings["test"])
    carry_on(create_run(tmp_path, spec, train, settings["test"]))
    assert [run.state for run in wb.open_runs(tmp_path)] == ["finished"]


def test_a_disk_that_is_full_before_the_first_iteration_says_how_to_go_on(run):
    def full(operation, do):
        if "control.json" in operation.path:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), operation.path)
        return do()

    said = "cannot be written: No space left on device .*it is kept up to iteration 12; free space there, then resume it with"
    with operations(full), pytest.raises(StoreError, match=said):
        wb.resume(run, n_iterations=14, progress=False)
    assert wb.resume(run, n_iterations=14, progress=False).sizes["iteration"] == 14


def test_a_run_that_cannot_get_its_name_is_told_as_such(tmp_path, monkeypatch):
    def full(self, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    train, settings = short_settings("svb")
    spec = make_spec(train, "svb", **settings)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", full)
        with pytest.raises(
            StoreError, match="cannot write to the store .*: No space left on device"
        ):
            create_run(tmp_path, spec, train, settings["test"])
    assert (
        wb.open_runs(tmp_path) == []
        and create_run(tmp_path, spec, train, settings["test"]).is_dir()
    )


def test_the_golden_store_has_the_numbers_it_was_written_with_and_its_runs_are_resumed(tmp_path):
    """`python tests/golden/make.py` wrote it; a change of the layout raises SCHEMA and writes it anew."""
    shutil.copytree(GOLDEN, tmp_path / "store")
    expected = json.loads((GOLDEN / "expected.json").read_text())
    for run in wb.open_runs(tmp_path / "store"):
        ds, known = run.dataset(), expected.pop(run.name)
        assert ds.attrs["state"] == "finished" and ds.attrs["spec_hash"] == known["spec_hash"]
        for name, values in known["final"].items():
            np.testing.assert_allclose(ds[name].values[..., -1], values, rtol=0)
        np.testing.assert_allclose(ds.phi.values[0, :5], known["phi"], rtol=1e-15)
        assert list(ds.word.values[:3]) == known["words"]
        after = wb.resume(run, n_iterations=15, progress=False)
        assert after["iteration"].values[-1] == 15
        # rounding
        np.testing.assert_allclose(
            after["n_k"].sum("topic"), ds["n_k"].sum("topic").values[0], rtol=1e-12
        )
        np.testing.assert_array_equal(
            after["test_perplexity"].sel(iteration=ds["iteration"]), ds["test_perplexity"]
        )
    assert not expected


def test_the_store_is_named_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_STORE", str(tmp_path / "elsewhere"))
    from workbench.runs.execution.run import default_store

    assert default_store() == tmp_path / "elsewhere"
    monkeypatch.delenv("WORKBENCH_STORE")
    assert default_store() == Path("runs") and not os.environ.get("WORKBENCH_STORE")


def test_threads_make_runs_side_by_side(train, tmp_path):

    def fit(seed):
        try:
            return wb.fit(
                train,
                "cgs",
                n_topics=2,
                n_iterations=2,
                seed=seed,
                store=tmp_path / "s",
                progress=False,
            ).sizes
        except StoreError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(fit, [0, 0, *range(6)]))
    assert all(isinstance(one, str) or one["iteration"] == 2 for one in told)
    assert all("is being written by another process" in one for one in told if isinstance(one, str))
    assert [run.state for run in wb.open_runs(tmp_path / "s")] == ["finished"] * 6


def test_a_pause_does_not_slow_the_estimate_of_the_time_left(run):
    with RunWriter(run.path) as writer:
        writer.iteration, writer._start_iteration = 5, 1
        writer.beat("paused")
        writer.beat("running")
    assert run.status()["time_left"] is None


def test_a_thinned_snapshot_does_not_come_back_after_a_resume(train, test, store):
    path = create_run(store, make_spec(train, "svb", n_topics=2), train, None, budget=1)
    counts = {"n_kw": np.ones((2, train.n_words)), "n_dk": np.ones((train.n_documents, 2))}
    # a second life begins before the first snapshot
    for iterations in (range(5, 31, 5), range(5, 11, 5)):
        with RunWriter(path) as writer:
            for iteration in iterations:
                writer.snapshot(iteration, counts)
    kept = wb.open_run(path).snapshot_iteration.values
    assert kept[-1] == 30 and np.all(np.diff(kept) > 0)


def test_a_heartbeat_outlives_a_disk_that_is_full_for_a_moment(run, monkeypatch):
    beaten = []

    def beat(state):
        beaten.append(state)
        if len(beaten) == 1:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.runs.execution.control.BEAT_EVERY", 0.1)
    with StoreControl(run.path, beat):
        time.sleep(0.8)
    assert len(beaten) > 1


# ---------------------------------------------------------------------- the texts of the documents

TEXTS = ("The red ant sees a red bee.", "A green bee!", "", "green ants, red bees")


def fitted(store, engine="cvb0", **options):
    """The run of an engine on the texts."""
    corpus = wb.Corpus.from_texts(TEXTS, **options)
    wb.fit(corpus, engine, n_topics=2, n_iterations=2, store=store, name=engine, progress=False)
    return wb.Run(store / engine)


def test_a_store_keeps_the_texts_of_all_its_runs_once(tmp_path):
    runs = [fitted(tmp_path, engine) for engine in ("cvb0", "vb")]
    assert len([*(tmp_path / CORPORA).glob(f"*{SUFFIX}")]) == 1
    for run in runs:
        assert (
            run.table.texts == TEXTS
            and RunSpec.from_json(run.spec.to_json()).table == run.spec.table
        )
        assert get_corpus(tmp_path, run.spec.train).table is None  # a worker reads no text


def test_a_run_whose_texts_are_not_kept_has_none(tmp_path):
    run = fitted(tmp_path, keep_text=False)
    assert (
        run.table is None
        and run.spec.table is None
        and not [*(tmp_path / CORPORA).glob(f"*{SUFFIX}")]
    )
    assert examine(run.path).readable[:2] == ["settings", "data"]


def test_texts_are_no_part_of_what_decides_a_run(tmp_path):
    kept, left = fitted(tmp_path / "a"), fitted(tmp_path / "b", keep_text=False)
    assert kept.spec.hash == left.spec.hash and kept.dataset()["phi"].equals(left.dataset()["phi"])


def test_damaged_texts_are_one_sentence_and_hide_nothing_else(tmp_path):
    run = fitted(tmp_path)
    assert examine(run.path) == ([], ["settings", "data", "texts", *examine(run.path).readable[3:]])
    file = next((tmp_path / CORPORA).glob(f"*{SUFFIX}"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(
        SpecError, match=rf"{file.name} is damaged .*; delete it and fit the run again"
    ):
        _ = run.table
    wrong, readable = examine(run.path)
    assert (
        len(wrong) == 1 and file.name in wrong[0] and "texts" not in readable and "data" in readable
    )
    assert run.dataset().sizes["document"] == len(TEXTS)
    file.unlink()
    with pytest.raises(
        SpecError, match="the texts of this run are not in the store; expected the file"
    ):
        _ = run.table


def test_what_a_page_reads_has_its_texts(tmp_path):
    (tmp_path / "a.csv").write_text("text,kind\nThe red ant.,x\nA green bee!,y\n")
    found = read_bounded(tmp_path / "a.csv")
    assert found.table.columns == {"text": ("The red ant.", "A green bee!"), "kind": ("x", "y")}
    assert (
        read_bounded(tmp_path / "a.csv", keep_text=False).table is None
        and read_bounded("bars").table is None
    )
