"""The named data sets: what they are, which files they consist of, and what their publishers say of them.

The bundled one, ``docstrings``, comes with the package. The files of the others are looked for in the
folders that the environment variable WORKBENCH_DATA names; wherever a file is found, its checksum is
verified before it is read.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.readers import read_corpus

PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class DataFile:
    """A file of a data set and the sha256 (hex) of its bytes."""

    name: str
    sha256: str


@dataclass(frozen=True)
class DataSet:
    """A data set of the catalog; the first file is the one to read, the others lie beside it."""

    name: str
    title: str           # one line for people
    files: tuple[DataFile, ...]
    n_documents: int     # the statistics as published
    n_words: int
    n_pairs: int
    n_tokens: int
    licence: str
    origin: str          # where anyone can get it, in words
    bundled: bool = False

    def folders(self) -> list[Path]:
        """Where its files are looked for: in the package, or in the folders of WORKBENCH_DATA."""
        if self.bundled:
            return [PACKAGE / "_data" / self.name, PACKAGE.parent / "data" / self.name]  # installed; in a clone
        return [Path(folder) for folder in os.environ.get("WORKBENCH_DATA", "").split(os.pathsep) if folder]

    def folder(self) -> Path | None:
        """The first folder that holds all its files; None when there is none."""
        for folder in self.folders():
            if all((folder / file.name).is_file() for file in self.files):
                return folder
        return None

    def load(self) -> Corpus:
        """The corpus, from files whose checksums are right.

        Raises
        ------
        CorpusError
            The files are nowhere, or one of them is not the published one.
        """
        folder = self.folder()
        if folder is None:
            raise CorpusError(self._how_to_get())
        for file in self.files:
            found = hashlib.sha256((folder / file.name).read_bytes()).hexdigest()
            if found != file.sha256:
                raise CorpusError(
                    f"{folder / file.name} is not the published file of {self.name!r}: its sha256 is {found[:12]}… "
                    f"where {file.sha256[:12]}… was wanted; replace it"
                )
        return read_corpus(folder / self.files[0].name, name=self.name)

    def _how_to_get(self) -> str:
        """One sentence about files that are missing."""
        wanted = " and ".join(file.name for file in self.files)
        if self.bundled:
            return f"the bundled data set {self.name!r} is missing from this installation ({wanted}); install workbench again"
        looked = os.pathsep.join(map(str, self.folders())) or "not set"
        return (
            f"the data set {self.name!r} is not on this machine; set WORKBENCH_DATA (now: {looked}) to a folder that holds "
            f"{wanted}, from {self.origin}"
        )


DOCSTRINGS = DataSet(
    name="docstrings",
    title="docstrings of numpy, scipy, pandas, xarray, scikit-learn and networkx",
    files=(
        DataFile("docword.docstrings.txt.gz", "e3609692b34e85d57fe1dc4237ed718c4fd765793c2ed5503883d1976293a8aa"),
        DataFile("vocab.docstrings.txt", "469f4822a6e6d4a51db25a53094dbac45cd251c6ad0ed5f66530f76e24eec06c"),
        DataFile("titles.docstrings.txt", "93b149a97b121b3c844a67c8c5811a9a7adea199589a4c4a5a9ebe35c9c883cc"),
        DataFile("labels.docstrings.txt", "ae539999539a2ab3fa6682e7b83f80223b6839249b097807d9f85a91b3b79440"),
    ),
    n_documents=3_753,
    n_words=3_908,
    n_pairs=181_760,
    n_tokens=298_356,
    licence="BSD-3-Clause; xarray Apache-2.0",
    origin="the six packages, by data/make_docstrings.py",
    bundled=True,
)

KOS = DataSet(
    name="kos",
    title="blog entries of dailykos.com, 2004",
    files=(
        DataFile("docword.kos.txt.gz", "6439c39f2fccb4876563e4b4c9628974d8ccbeada43d661292a5024911389e30"),
        DataFile("vocab.kos.txt", "623b7b969793b32c4ea7d1ae8cd2e9ed99038bf51628f33f52349f9485aeab8e"),
    ),
    n_documents=3_430,
    n_words=6_906,
    n_pairs=353_160,
    n_tokens=467_714,
    licence="CC BY 4.0 according to its repository; the text belongs to its authors",
    origin='the UCI Machine Learning Repository, data set "Bag of Words"',
)

DATA_SETS = MappingProxyType({data_set.name: data_set for data_set in (DOCSTRINGS, KOS)})
DEFAULT = DOCSTRINGS.name


def data_sets() -> Mapping[str, DataSet]:
    """Name → data set, everything in the catalog, the default first."""
    return DATA_SETS


def load_corpus(name_or_path: str | os.PathLike = DEFAULT, **options) -> Corpus:
    """The corpus of that name in the catalog, or at that path in any format that the readers know.

    Parameters
    ----------
    name_or_path : str or path, default "docstrings", which is always there
        A name of the catalog comes before a file of that name; write ``./name`` for the file.
    **options
        For a path: see `workbench.corpus.readers.read_corpus`. A data set of the catalog takes none.

    Raises
    ------
    CorpusError
        Neither a name nor a path, files that are missing or not the published ones, or whatever is
        wrong with the file.
    """
    if not isinstance(name_or_path, (str, os.PathLike)) or not str(name_or_path):
        raise CorpusError(f"load_corpus wants a name ({', '.join(DATA_SETS)}) or a path; got {name_or_path!r}")
    if name_or_path in DATA_SETS:
        if options:
            raise CorpusError(
                f"the data set {name_or_path!r} is read as published, without {', '.join(options)}; leave the options out"
            )
        return DATA_SETS[name_or_path].load()
    path = Path(name_or_path).expanduser()
    if not path.exists() and path.name == str(name_or_path):
        raise CorpusError(_unknown(path.name))
    return read_corpus(path, **options)


def _unknown(name: str) -> str:
    """The sentence about a name that is neither in the catalog nor a file."""
    near = difflib.get_close_matches(name.lower(), DATA_SETS, n=3, cutoff=0.5)
    meant = f", perhaps {' or '.join(repr(other) for other in near)}" if near else ""
    return (
        f"no data set and no file {name!r}{meant}; there are {', '.join(DATA_SETS)}, and a path works too: "
        "a UCI bag of words, a folder of .txt files, a CSV or a JSON lines file"
    )
