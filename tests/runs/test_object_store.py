"""Runs in an object store: what is written last, what comes back, and what is refused."""

import shutil
import sys

import fsspec
import pytest
from same_bits import same_bits

import workbench as wb
from workbench.cli import main
from workbench.corpus import ShardedCorpus
from workbench.corpus import shard_writer as writing
from workbench.errors import InputError
from workbench.runs.store.layout import StoreError
from workbench.runs.store.lock import Lock
from workbench.runs.store.object_store import LAST
from workbench.runs.store.status import set_state

TEXTS = [
    "sun beach sand sun sea",
    "sea sand beach swim sun",
    "snow ski mountain snow",
    "mountain ski slope snow",
]


@pytest.fixture
def memory():
    """A URL in memory, empty before and afterwards."""
    files = fsspec.filesystem("memory")
    yield "memory://bucket/runs"
    if files.exists("/bucket"):
        files.rm("/bucket", recursive=True)


@pytest.fixture
def store(tmp_path):
    """A store with a finished run of texts with columns, ``talk``, and one that began from it, ``later``."""
    corpus = wb.Corpus.from_texts(TEXTS, titles=list("abcd"))
    train, test = wb.hold_out_tokens(corpus, 0.2, 0)
    settings = dict(n_topics=2, n_iterations=5, store=tmp_path / "runs", progress=False, test=test)
    wb.fit(train, "cgs", name="talk", **settings)
    wb.fit(train, "cgs", name="later", start=wb.Run(tmp_path / "runs" / "talk"), **settings)
    return tmp_path / "runs"


def there(url: str) -> list[str]:
    """Names of all files at a URL."""
    files, path = fsspec.core.url_to_fs(url)
    return sorted(name[len(path) + 1 :] for name in files.find(path))


@pytest.mark.parametrize("name", ["talk", "later"])
@pytest.mark.parametrize("scheme", ["memory", "file"])
def test_a_run_comes_back_as_it_was_and_goes_on(store, memory, tmp_path, name, scheme):
    url = memory if scheme == "memory" else f"file://{tmp_path}/bucket/runs"
    written = wb.export_run(name, url, store=store)
    assert (
        sorted(written) == [f"{url}/{each}" for each in there(url)]
        and f"{url}/{name}/{LAST}" == written[-1]
    )
    assert not [each for each in written if each.endswith(("lock", "worker.log", ".partial"))]
    back = wb.import_run(f"{url}/{name}", tmp_path / "other")
    same_bits(wb.open_run(name, store), wb.open_run(back))
    assert (wb.Run(back).table is None) == (wb.Run(store / name).table is None)
    assert (
        sorted(each.name for each in (tmp_path / "other").iterdir() if "partial" in each.name) == []
    )
    same_bits(wb.resume(name, 9, store, progress=False), wb.resume(back, 9, progress=False))


def test_a_corpus_in_shards_goes_with_its_run(tmp_path, memory, monkeypatch):
    monkeypatch.setattr(writing, "SHARD_PAIRS", 4)
    sharded = ShardedCorpus.write(wb.Corpus.from_texts(TEXTS), tmp_path / "shards")
    wb.fit(
        sharded,
        "svb",
        n_topics=2,
        n_iterations=3,
        store=tmp_path / "runs",
        name="many",
        progress=False,
    )
    wb.export_run("many", memory, store=tmp_path / "runs")
    back = wb.import_run(f"{memory}/many", tmp_path / "other")
    shutil.rmtree(tmp_path / "runs")
    assert (
        wb.open_run(back).sizes["document"] == 4
        and wb.resume(back, 5, progress=False).sizes["iteration"] == 5
    )


def test_what_makes_a_run_is_written_last_and_half_of_one_is_none(
    store, memory, tmp_path, monkeypatch
):
    files, put, n = fsspec.filesystem("memory"), type(fsspec.filesystem("memory")).put_file, []

    def fails(self, source, target, **more):
        n.append(target)
        if target.endswith(f"talk/{LAST}"):
            raise OSError("the network is gone")
        return put(self, source, target, **more)

    monkeypatch.setattr(type(files), "put_file", fails)
    with pytest.raises(
        StoreError, match=r"cannot be read or written \(OSError: the network is gone\)"
    ):
        wb.export_run("talk", memory, store=store)
    assert {*there(memory)} | {f"talk/{LAST}"} == {each.removeprefix("/bucket/runs/") for each in n}
    with pytest.raises(StoreError, match="there is no run at .*, or not the whole of it"):
        wb.import_run(f"{memory}/talk", tmp_path / "other")
    monkeypatch.undo()
    wb.export_run("talk", memory, store=store)
    with pytest.raises(StoreError, match="there is a run 'talk' at memory://bucket/runs already"):
        wb.export_run("talk", memory, store=store)
    monkeypatch.setattr(
        type(files), "get_file", lambda *given, **more: (_ for _ in ()).throw(OSError("gone"))
    )
    with pytest.raises(StoreError, match="cannot be read or written"):
        wb.import_run(f"{memory}/talk", tmp_path / "other")
    assert not (tmp_path / "other").exists() or not [*(tmp_path / "other").iterdir()]
    monkeypatch.undo()
    wb.import_run(f"{memory}/talk", tmp_path / "other")
    with pytest.raises(StoreError, match="there is a run 'talk' in .* already"):
        wb.import_run(f"{memory}/talk", tmp_path / "other")


def test_a_run_that_is_at_work_or_interrupted_is_refused(store, memory):
    with (
        Lock(store / "talk" / "lock"),
        pytest.raises(StoreError, match="is being written by another process; stop it there"),
    ):
        wb.export_run("talk", memory, store=store)
    set_state(store / "talk", "running")
    said = "is interrupted, and only a run that is finished or stopped is exported; let it end, or stop it"
    with pytest.raises(StoreError, match=said):
        wb.export_run("talk", memory, store=store)
    assert there(memory) == []


@pytest.mark.parametrize(
    "url, sentence",
    [
        ("nowhere://bucket", "is no address that fsspec knows"),
        ("s3://bucket/runs", "needs a package that is not installed: .*s3fs"),
    ],
)
def test_what_cannot_be_reached_is_a_sentence(store, url, sentence, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(InputError, match=sentence):
        wb.export_run("talk", url, store=store)
    with pytest.raises(InputError, match="a URL takes a run as it is; leave the format out"):
        wb.export_run("talk", url, "csv", store=store)


def test_commands_export_and_import_runs(store, memory, tmp_path, capsys):
    assert main(["export", "talk", "later", "--store", str(store), "--out", memory]) == 0
    assert capsys.readouterr().err.splitlines() == [f"{memory}/talk", f"{memory}/later"]
    other = str(tmp_path / "other")
    assert main(["import", f"{memory}/talk", f"{memory}/later", "--store", other]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"{other}/talk: finished",
        f"{other}/later: finished",
    ]
    assert main(["import", f"{memory}/nobody", "--store", other]) == 2
