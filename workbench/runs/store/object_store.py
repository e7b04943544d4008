"""Ended runs in an object store (S3 and whatever else fsspec reaches), which has neither locks nor a rename.

A URL is that of a store: ``URL/<run>/…`` and ``URL/.corpora/…`` have the files of `workbench.runs.store.layout`, without locks
and logs. The file by which a run is known to be there, ``data.zarr/zarr.json``, is written last. Nothing is computed there: a
run is brought into a store on a disk (`import_run`), or copied there by any other program.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from workbench.corpus.document_table import SUFFIX
from workbench.data.saving import partial_of
from workbench.errors import InputError, not_installed, shown
from workbench.runs.spec import RunSpec
from workbench.runs.store.archive import CORPORA, WARM_STARTS
from workbench.runs.store.layout import StoreError
from workbench.runs.store.places import DATA, default_store
from workbench.runs.store.reader import RunReader
from workbench.runs.store.status import FINISHED, STOPPED
from workbench.runs.store.writer import lock_run

LAST = f"{DATA}/zarr.json"
"""The file by which a run is known: it is there when all others are."""
LEFT_OUT = ("lock", "worker.log")
"""What only a run at work needs."""


def is_url(place) -> bool:
    """Is a place an address that fsspec knows, as s3://bucket/runs?"""
    return isinstance(place, str) and "://" in place


def upload_run(path: Path, url: str) -> list[str]:
    """Writes an ended run with its corpora to the store at a URL; returns the addresses of all its files.

    Raises
    ------
    StoreError
        A run that is at work, paused, waiting, interrupted or failed; a name that is taken there; a URL that cannot be
        written, or whose package is missing.
    """
    reader = RunReader(path)
    state = reader.status()["state"]
    if state not in (FINISHED, STOPPED):
        raise StoreError(
            f"run '{path.name}' is {state}, and only a run that is finished or stopped is exported; let it end, "
            "or stop it"
        )
    with _reached(url) as (files, home), lock_run(path):
        if files.exists(f"{home}/{path.name}/{LAST}"):
            raise StoreError(
                f"there is a run '{path.name}' at {url} already; delete it there, or choose another place"
            )
        local, here = _file_system("file://"), str(path.parent.resolve())
        data = _data_of(local, here, reader.spec)
        own = [
            name
            for name in _inside(local, here, path.name)
            if not name.endswith((*LEFT_OUT, ".partial"))
        ]
        names = [*data, *sorted(own, key=lambda name: (name == f"{path.name}/{LAST}", name))]
        for name in names:
            source, target = f"{here}/{name}", f"{home}/{name}"
            if (
                name in data
                and files.exists(target)
                and files.size(target) == os.path.getsize(source)
            ):
                continue  # named by its content
            files.makedirs(target.rpartition("/")[0], exist_ok=True)
            files.put_file(source, target)
    return [f"{url.rstrip('/')}/{name}" for name in names]


def import_run(url: str | Path, store: str | Path | None = None) -> Path:
    """Brings a run that was exported to a URL, with its corpora, into a store on a disk; returns its folder.

    Parameters
    ----------
    url : str
        Address of the run, as ``s3://bucket/runs/NAME``, or a path.
    store : path, default ``WORKBENCH_STORE`` or ``./runs``

    Raises
    ------
    StoreError
        No run there, or not the whole of it; a name that is taken in the store; what cannot be read or written. Of the run
        nothing is left then.
    """
    home = Path(store if store is not None else default_store())
    with _reached(str(url)) as (files, source):
        theirs, _, name = source.rpartition("/")
        if not files.exists(f"{source}/{LAST}"):
            raise StoreError(
                f"there is no run at {url}, or not the whole of it; give the address of a run, as "
                "s3://bucket/runs/NAME"
            )
        if (home / name).exists():
            raise StoreError(
                f"there is a run '{name}' in {home} already; remove it, or choose another store with --store"
            )
        partial = partial_of(home / name)
        try:
            for each in _inside(files, theirs, name):
                _bring(files, f"{theirs}/{each}", partial / each.removeprefix(f"{name}/"))
            for each in _data_of(files, theirs, RunReader(partial).spec):
                if not (home / each).exists():
                    part = partial_of(home / each)
                    try:
                        _bring(files, f"{theirs}/{each}", part)
                        os.replace(part, home / each)
                    finally:
                        part.unlink(missing_ok=True)
            os.rename(partial, home / name)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return home / name


def _data_of(files, home: str, spec: RunSpec) -> list[str]:
    """Names in a store of the files with the data of a run, the corpora in shards folder by folder, and what it began from."""
    found = []
    for content in filter(None, (spec.train, spec.test, spec.table)):
        stem = f"{CORPORA}/{content}"
        found += [
            name for name in (f"{stem}.npz", f"{stem}{SUFFIX}") if files.exists(f"{home}/{name}")
        ]
        found += _inside(files, home, stem)
    return found + ([f"{WARM_STARTS}/{spec.start['counts']}.npz"] if spec.start else [])


def _inside(files, home: str, folder: str) -> list[str]:
    """Names in a store of all files in a folder of it; none where there is no such folder."""
    if not files.isdir(f"{home}/{folder}"):
        return []
    return sorted(
        name[name.index(f"{home.lstrip('/')}/{folder}/") + len(home.lstrip("/")) + 1 :]
        for name in files.find(f"{home}/{folder}")
    )


def _bring(files, remote: str, local: Path) -> None:
    local.parent.mkdir(parents=True, exist_ok=True)
    files.get_file(remote, str(local))


@contextlib.contextmanager
def _reached(url: str) -> Iterator[tuple]:
    """The file system of a URL, and its path there; whatever goes wrong with them is a StoreError."""
    files = _file_system(url)
    try:
        yield files, files._strip_protocol(url).rstrip("/")
    except InputError:
        raise
    except Exception as error:  # each file system has errors of its own
        raise StoreError(
            f"{url} cannot be read or written ({type(error).__name__}: {shown(error)}); see to the address, the "
            "rights there, and the network"
        ) from error


def _file_system(url: str):
    """The file system of fsspec for a URL, or a sentence that names what is missing."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise StoreError(not_installed("object stores", "fsspec", "scale")) from error
    try:
        return url_to_fs(url)[0]
    except ImportError as error:
        raise StoreError(f"{url} needs a package that is not installed: {error}") from error
    except ValueError as error:
        raise StoreError(
            f"{url} is no address that fsspec knows ({error}); give one as s3://bucket/runs"
        ) from error
