"""The catalog of named sets of records, which are found, verified by content, and read.

``votes`` comes with the package; the files of the others are searched in the folders that the environment variable
WORKBENCH_DATA names, and in their subfolders ``records``. data/README.md describes the origin of each.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from types import MappingProxyType

from workbench.data.names import options_in, with_options
from workbench.data.opening import bundled_folders, data_folders, path_of, read_text
from workbench.data.saving import SAVED
from workbench.errors import DataError, nearest_or_all
from workbench.records.reading import read_records
from workbench.records.records import Records

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def votes(path: Path, party: str = "drop") -> Records:
    """Return the 1984 voting records of the US House of Representatives; ``party="keep"`` adds the party as first field."""
    if party not in ("drop", "keep"):
        raise DataError.must_be("party", "drop or keep", party)
    records = read_records(path)
    return (
        records
        if party == "keep"
        else records.of_fields([field for field in records.fields if field != "party"])
    )


def words_of_text(path: Path) -> Records:
    """Return the lower-case words of a text as records; field i holds the i-th letter, missing after the word's end."""
    words = re.findall("[a-z]+", read_text(path).lower())
    if not words:
        raise DataError(f"{path} holds no word of the letters a to z; give a longer text")
    fields = [f"letter@{position + 1}" for position in range(max(map(len, words)))]
    columns = {
        field: [word[position : position + 1] for word in words]
        for position, field in enumerate(fields)
    }
    return Records.from_columns(columns, levels=dict.fromkeys(fields, LETTERS))


@dataclass(frozen=True)
class RecordSet:
    """A set of records in the catalog; the sizes are those with the default options."""

    name: str
    title: str  # a line of text for people
    file: str
    content: str  # sha256 (hex) of the records: `Records.content_hash`
    n_records: int
    n_fields: int
    n_distinct: int
    n_missing: int  # number of missing cells
    licence: str
    origin: str  # public source, as text
    make: Callable[..., Records] = read_records  # (path, options) -> the records
    bundled: bool = False

    @property
    def options(self) -> dict:
        """Return the options of `load` by name, with their defaults."""
        if self.make is read_records:
            return {}
        return {
            name: parameter.default
            for name, parameter in signature(self.make).parameters.items()
            if parameter.default is not parameter.empty
        }

    def folders(self) -> list[Path]:
        """Return the folders to search for the set's file."""
        if self.bundled:
            return bundled_folders(self.name)
        return [Path(folder, *inner) for folder in data_folders() for inner in ((), ("records",))]

    def folder(self) -> Path | None:
        """Return the first folder that holds the set's file; None if none does."""
        return next((folder for folder in self.folders() if (folder / self.file).is_file()), None)

    def whereabouts(self) -> str:
        """Return "here", or "by hand" if the file is missing and must be obtained by the user."""
        return "by hand" if self.folder() is None else "here"

    def facts(self) -> dict:
        """Return the facts about the set (name, sizes, licence, file, folder …) as values that JSON can hold."""
        names = (
            "name",
            "title",
            "n_records",
            "n_fields",
            "n_distinct",
            "n_missing",
            "licence",
            "origin",
            "content",
        )
        folder = self.folder()
        return {
            **{name: getattr(self, name) for name in names},
            "forms": [[self.file]],
            "options": self.options,
            "where": self.whereabouts(),
            "folder": None if folder is None else str(folder),
        }

    def fetch(self) -> Path:
        """Verify the set's file and return its folder; raise DataError if it is missing, since it cannot be downloaded."""
        self.load()
        return self.folder()

    def load(self, **options) -> Records:
        """Return the records, read with these options; raise DataError for a missing file or unexpected content."""
        folder = self.folder()
        if folder is None:
            raise DataError(self._advice())
        path = folder / self.file
        records = self.make(path)
        if records.content_hash != self.content:
            raise DataError(
                f"{path} is not the published {self.name!r}: content with the sha256 {self.content[:12]}… was "
                f"wanted, {records.content_hash[:12]}… came; replace it"
            )
        changed_options = {
            name: value for name, value in options.items() if value != self.options[name]
        }
        return replace(
            self.make(path, **changed_options) if changed_options else records,
            name=with_options(self.name, changed_options),
        )

    def _advice(self) -> str:
        """Return a sentence that says which file is missing and how to get it."""
        if self.bundled:
            missing = f"the bundled records {self.name!r} are missing from this installation"
            return f"{missing} ({self.file}); install workbench again"
        folders = os.pathsep.join(map(str, data_folders())) or "not set"
        return (
            f"the records {self.name!r} are not on this machine and no public address serves their file; set "
            f"WORKBENCH_DATA (now: {folders}) to a folder that holds {self.file}, from {self.origin}"
        )


INVENTORY = "psych/bfi.csv of the Python package pydataset 0.2.0; originally the R package psych"
PSYCH = "the R package psych, GPL"

RECORD_SETS = MappingProxyType(
    {
        record_set.name: record_set
        for record_set in (
            RecordSet(
                "votes",
                "votes of the US House of Representatives on 16 questions, 1984",
                "votes.csv",
                content="a8c3bd9b85b1f2b6a4c3aa10da4329581f078a0a3cc5d113cc950ee7adb9bbc6",
                n_records=435,
                n_fields=16,
                n_distinct=342,
                n_missing=392,
                licence="CC BY 4.0",
                origin='HouseVotes84 of the R package mlbench 2.1-3; originally UCI, data set "Congressional Voting Records"',
                make=votes,
                bundled=True,
            ),
            RecordSet(
                "ability",
                "items of an ability test, right or wrong",
                "ability.csv",
                content="7d6ff5e5c6f4febecb1df14bcfd33b00144cdd120814d5284bcfe0b38ff247f6",
                n_records=1_525,
                n_fields=16,
                n_distinct=1_200,
                n_missing=1_143,
                licence=PSYCH,
                origin="psych/ability.csv of the Python package pydataset 0.2.0; originally the R package psych",
            ),
            RecordSet(
                "bfi",
                "25 items of a personality inventory, six answers",
                "bfi.csv",
                content="d4f210d400a807cc3e0b79f0ecbeac5920914d059846ffd62f3a63d10ce600fc",
                n_records=2_800,
                n_fields=25,
                n_distinct=2_798,
                n_missing=508,
                licence=PSYCH,
                origin=INVENTORY,
            ),
            RecordSet(
                "bfi-n",
                "its five items on neuroticism",
                "bfi.csv",
                content="09bfca20c4ab3bb1c7d4caf646a8d8eb08d1392f19819a7b008dd70ae74f248b",
                n_records=2_800,
                n_fields=5,
                n_distinct=1_553,
                n_missing=119,
                licence=PSYCH,
                origin=INVENTORY,
                make=lambda path: read_records(path, fields=[f"N{item}" for item in range(1, 6)]),
            ),
            RecordSet(
                "soybean",
                "diseases of soybeans and what was seen of the plants",
                "soybean.csv",
                content="1cfbf9512f3f62a47c02fc2d868ae3afa0a04dc0fb0ae8170b95ca0131075425",
                n_records=683,
                n_fields=36,
                n_distinct=631,
                n_missing=2_337,
                licence="CC BY 4.0",
                origin='Soybean of the R package mlbench 2.1-3; originally UCI, data set "Soybean (Large)"',
            ),
            RecordSet(
                "words",
                "words of Alice's Adventures in Wonderland, a field a letter",
                "alice.txt",
                content="52216e742fe6c2ce77d792aef2b941ae0c6f61d1e03e6129a500564ac8e7eab9",
                n_records=27_330,
                n_fields=14,
                n_distinct=2_567,
                n_missing=274_966,
                licence="in the public domain",
                origin="the text of Project Gutenberg without its header, data/alice.txt of HIPS/pgmult",
                make=words_of_text,
            ),
        )
    }
)


def record_sets() -> Mapping[str, RecordSet]:
    """Return all record sets of the catalog by name, the bundled ones first."""
    return RECORD_SETS


def load_records(name_or_path: str | os.PathLike, **options) -> Records:
    """Return the records of a set in the catalog, by name, or those in a file.

    Parameters
    ----------
    name_or_path : str or path
        A name has precedence over a file of that name; it may include options: ``votes:party=keep``.
    **options
        Of a name: the ``options`` of its set. Of a path: see `read_records`.

    Raises
    ------
    DataError
        Neither a name nor a file, a file that is missing, invalid or not the expected one, or an unknown option.
    """
    name = str(name_or_path)
    if record_set := RECORD_SETS.get(name.split(":")[0]):
        records = record_set.load(**options_in(name, options, record_set.options))
        reading = {"data_set": records.name, "content": records.content_hash}
        return replace(records, reading={**(records.reading or {}), **reading})
    path = path_of(name_or_path)
    if SAVED.fullmatch(path.name):
        return Records.load(path)
    if not path.exists() and path.name == name:
        raise DataError(
            f"no records and no file {name!r} (a path works too); {nearest_or_all(name.lower(), RECORD_SETS)}"
        )
    return read_records(path, **options)
