"""A named data set: its published facts, the files that hold it, and how it is found, verified and fetched.

A data set is accepted in any of its forms, recompressed or not, if the corpus read from it (with titles, authors,
labels and times) has the published hash.
"""

import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from platformdirs import user_cache_path

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.readers import read_corpus
from workbench.data.names import with_options
from workbench.data.opening import bundled_folders, data_folders
from workbench.numbers import join_words

PATIENCE = 30
"""Seconds without a byte after which a server counts as silent."""
BLOCK = 1 << 16


def cache_folder() -> Path:
    """Return the folder for cached files: WORKBENCH_CACHE, else the user's cache folder."""
    return Path(os.environ.get("WORKBENCH_CACHE") or user_cache_path("workbench"))


def fetch_files(
    urls: Sequence[str], files: Sequence[str], folder: Path, progress: bool = True
) -> None:
    """Download files: each from its own address or, given one address for several files, from its tar archive."""
    if len(urls) == len(files):
        for url, file in zip(urls, files, strict=True):
            _download(url, folder / file, progress)
        return
    (url,) = urls
    archive = folder / "archive.tar"
    _download(url, archive, progress)
    _unpack(url, archive, files, folder)
    archive.unlink()


def _download(url: str, path: Path, progress: bool) -> None:
    import requests
    from tqdm import tqdm

    mend = "; try again later, or get the file by hand"
    try:
        with requests.get(url, stream=True, timeout=PATIENCE) as answer, open(path, "wb") as file:
            answer.raise_for_status()
            size = int(answer.headers.get("content-length", 0)) or None
            with tqdm(
                desc=path.name,
                total=size,
                unit="B",
                unit_scale=True,
                leave=False,
                disable=not progress,
            ) as bar:
                for block in answer.iter_content(BLOCK):
                    bar.update(file.write(block))
    except requests.HTTPError as error:
        raise CorpusError(
            f"{url} answers {error.response.status_code} {error.response.reason}{mend}"
        ) from None
    except requests.Timeout:
        raise CorpusError(f"{url} is silent for {PATIENCE} seconds{mend}") from None
    except requests.exceptions.ChunkedEncodingError:
        raise CorpusError(f"the download of {url} breaks off{mend}") from None
    except requests.ConnectionError as error:
        reason = re.search(r"\[Errno [^]]*] ([^()'\"]+)", str(error))
        detail = f" ({reason.group(1).strip()})" if reason else ""
        raise CorpusError(
            f"{url} cannot be reached{detail}; check the network, or get the file by hand"
        ) from None
    except requests.RequestException as error:
        raise CorpusError(f"the download of {url} fails ({type(error).__name__}){mend}") from None
    except OSError as error:
        raise CorpusError(
            f"{path.parent} cannot be written ({error.strerror}); make room, or move WORKBENCH_CACHE"
        ) from None


def _unpack(url: str, archive: Path, files: Sequence[str], folder: Path) -> None:
    """Extract the named files from the archive at ``url`` into the folder, ignoring the archive's subfolders."""
    try:
        with tarfile.open(archive) as tar:
            members = {
                Path(member.name).name: member for member in tar.getmembers() if member.isfile()
            }
            for file in files:
                if file not in members:
                    raise CorpusError(f"the archive at {url} has no {file}; get the files by hand")
                (folder / file).write_bytes(tar.extractfile(members[file]).read())
    except (tarfile.TarError, EOFError, OSError) as error:
        raise CorpusError(
            f"{url} serves no whole tar archive ({error}); try again later, or get the files by hand"
        ) from None


SIZES = ("documents", "words", "pairs", "tokens")


@dataclass(frozen=True)
class Form:
    """Files that hold a data set: the file of counts, then the vocabulary, then companion files."""

    files: tuple[str, ...]
    about: Callable[..., dict] | None = None  # companion paths → titles, authors, labels, times
    # public addresses: one per file, or one of an archive with all files
    urls: tuple[str, ...] = ()

    def read(self, folder: Path, name: str) -> Corpus:
        """Return the corpus in the files of a folder without verifying its content."""
        counts, vocabulary, *others = (folder / file for file in self.files)
        corpus = read_corpus(counts, vocabulary=vocabulary, name=name)
        if self.about is None:
            return corpus
        try:
            return replace(corpus, **self.about(*others))
        except CorpusError as error:
            raise CorpusError(f"the files beside {counts} do not belong to it: {error}") from None


@dataclass(frozen=True)
class DataSet:
    """A published data set, with sizes counted in its files; ``agreement`` compares them with the published sizes."""

    name: str
    title: str  # a line of text for people
    forms: tuple[Form, ...]  # the preferred form first
    content: str  # sha256 (hex) of the corpus: `Corpus.content_hash`
    n_documents: int
    n_words: int
    n_pairs: int
    n_tokens: int
    agreement: str
    licence: str
    origin: str  # public source, as text
    bundled: bool = False
    # its published parts; the title of a document begins with the name of its part
    parts: tuple[str, ...] = ()

    @property
    def options(self) -> dict:
        """Return the options of `load` by name, with their defaults."""
        return {"part": "all"} if self.parts else {}

    def folders(self) -> list[Path]:
        """Return the folders to search: the package's for bundled data, else those of WORKBENCH_DATA and the cache."""
        if self.bundled:
            return bundled_folders(self.name)
        return [*data_folders(), cache_folder() / "data" / self.name]

    def folder(self) -> Path | None:
        """Return the first folder that holds all files of one form of the data set; None if none does."""
        return next((folder for folder, _ in self._complete_folders()), None)

    def whereabouts(self) -> str:
        """Return "here" if a folder has the files, else "fetchable" (by download) or "by hand" (the user must get them)."""
        if self.folder() is not None:
            return "here"
        return "fetchable" if any(form.urls for form in self.forms) else "by hand"

    def facts(self) -> dict:
        """Return the facts about the data set (name, sizes, licence, files, folder …) as values that JSON can hold."""
        names = (
            "name",
            "title",
            "n_documents",
            "n_words",
            "n_pairs",
            "n_tokens",
            "agreement",
            "licence",
            "origin",
            "content",
        )
        folder = self.folder()
        return {
            **{name: getattr(self, name) for name in names},
            "forms": [list(form.files) for form in self.forms],
            "urls": [url for form in self.forms for url in form.urls],
            "options": self.options,
            "where": self.whereabouts(),
            "folder": None if folder is None else str(folder),
        }

    def load(self, part: str = "all") -> Corpus:
        """Return the corpus, or its part ``part``, from the first files found whose content is the published one.

        Raise CorpusError if the files are missing, cannot be read, or hold something else than was published.
        """
        CorpusError.one_of("part", part, ("all", *self.parts))
        corpus = self._verified()[1]
        if part == "all":
            return corpus
        documents = [d for d, title in enumerate(corpus.titles) if title.split("/")[0] == part]
        # named so that `load_corpus` finds it: ``news20:part=train``
        return replace(corpus.of_documents(documents), name=with_options(self.name, {"part": part}))

    def fetch(self, progress: bool = True) -> Path:
        """Return the folder with the files of the data set; download them into the user's cache if they are missing.

        Files are verified before they get their final names. ``progress`` shows a bar for each file on stderr.
        WORKBENCH_CACHE moves the cache. Raise CorpusError if there is no public address, if it cannot be reached,
        or if it serves something else than the published data set.
        """
        form = next((form for form in self.forms if form.urls), None)
        try:
            return self._verified()[0]
        except CorpusError:
            if form is None:
                raise
        home = cache_folder() / "data"
        try:
            home.mkdir(parents=True, exist_ok=True)
            partial = tempfile.TemporaryDirectory(
                prefix=f".{self.name}-", dir=home, ignore_cleanup_errors=True
            )
        except OSError as error:
            raise CorpusError(
                f"{home} cannot be written ({error.strerror}); let WORKBENCH_CACHE name another folder"
            ) from None
        with partial as folder:
            fetch_files(form.urls, form.files, Path(folder), progress)
            try:
                self._checked(Path(folder), form, "try again later, or get the files by hand")
            except CorpusError as error:
                fault = str(error).replace(f"{folder}{os.sep}", "")
                raise CorpusError(
                    f"what came from {join_words(form.urls)} cannot be used: {fault}"
                ) from None
            (home / self.name).mkdir(exist_ok=True)
            for file in form.files:
                os.replace(Path(folder, file), home / self.name / file)
        return home / self.name

    def _complete_folders(self) -> list[tuple[Path, Form]]:
        """Return all pairs (folder, form) where every file of the form is in the folder."""
        return [
            (folder, form)
            for folder in self.folders()
            for form in self.forms
            if all((folder / file).is_file() for file in form.files)
        ]

    def _verified(self) -> tuple[Path, Corpus]:
        """Return the first folder whose files hold the published content, and the corpus read from them."""
        first_error = None
        for folder, form in self._complete_folders():
            try:
                return folder, self._checked(folder, form)
            except CorpusError as error:
                first_error = first_error or error
        raise first_error or CorpusError(self._how_to_get())

    def _checked(self, folder: Path, form: Form, mend: str = "replace or remove it") -> Corpus:
        """Return the corpus in a folder; raise an error unless its content is the published one."""
        corpus = form.read(folder, self.name)
        if corpus.content_hash == self.content:
            return corpus
        expected, actual = (
            join_words([f"{getattr(data, f'n_{unit}'):,} {unit}" for unit in SIZES])
            for data in (self, corpus)
        )
        difference = f"{expected} were wanted, {actual} came"
        if actual == expected:
            difference = f"content with the sha256 {self.content[:12]}… was wanted, {corpus.content_hash[:12]}… came"
        raise CorpusError(
            f"{folder / form.files[0]} with {join_words(form.files[1:])} beside it is not the published {self.name!r}: "
            f"{difference}; {mend}"
        )

    def _how_to_get(self) -> str:
        """Return a sentence that says which files are missing and how to get them."""
        files = " or ".join(join_words(form.files) for form in self.forms)
        if self.bundled:
            return f"the bundled data set {self.name!r} is missing from this installation ({files}); install workbench again"
        for folder in self.folders():
            for form in self.forms:
                existing = [file for file in form.files if (folder / file).is_file()]
                if form.files[0] in existing:
                    missing = [file for file in form.files if file not in existing]
                    return (
                        f"{folder} has {join_words(existing)} of the data set {self.name!r} but not "
                        f"{join_words(missing)}; put it there"
                    )
        data_path = os.pathsep.join(map(str, data_folders())) or "not set"
        by_hand = f"set WORKBENCH_DATA (now: {data_path}) to a folder that holds {files}, from {self.origin}"
        missing = f"the data set {self.name!r} is not on this machine"
        if self.whereabouts() == "fetchable":
            return f"{missing}; `workbench data fetch {self.name}` gets it, or {by_hand}"
        return f"{missing} and no public address serves its files; {by_hand}"
