"""Load data by name or path, as the data type (Corpus or Records) that a model needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.corpus import Corpus, data_sets, load_corpus
from workbench.corpus.catalog.data_set import DataSet
from workbench.data.names import options_in, with_options
from workbench.errors import DataError
from workbench.models.bayes_nets.simulated import SIMULATED, SimulatedSet
from workbench.records import Records, catalog
from workbench.records.catalog import RecordSet

if TYPE_CHECKING:
    from typing import Unpack

    from workbench.choices import RecordName, RecordSettings


def record_sets() -> dict[str, RecordSet | SimulatedSet]:
    """Return all named sets of records, keyed by name: bundled ones first, simulated ones last."""
    return {**catalog.record_sets(), **SIMULATED}


def load_records(
    name_or_path: RecordName | str | Path, **options: Unpack[RecordSettings]
) -> Records:
    """Return the records of a named set, drawn if the set is a simulated one, or those in a file.

    Parameters
    ----------
    name_or_path : str or path
        A name takes precedence over a file; it may contain options: ``votes:party=keep``, ``alarm:n_records=200:seed=1``.
    **options
        For a name, the ``options`` of its set; for a path, see `read_records`.

    Raises
    ------
    DataError
        There is no such name or file, an option is unknown, or the file is invalid or not the expected one.
    ModelError
        The records are simulated, and pgmpy is not installed.
    """
    if simulated := SIMULATED.get(str(name_or_path).split(":")[0]):
        options = options_in(name_or_path, options, simulated.options)
        reading = {"data_set": with_options(simulated.name, options)}
        return replace(simulated.load(**options), reading=reading)
    return catalog.load_records(name_or_path, **options)


LOADERS = {Corpus: load_corpus, Records: load_records}
CATALOGS = {Corpus: data_sets, Records: record_sets}
ROWS = {Corpus: "documents", Records: "records"}
"""What the rows of a data type are called in messages."""


def named_sets() -> dict[str, DataSet | RecordSet | SimulatedSet]:
    """Return the data sets of all catalogs, keyed by name."""
    return {name: data_set for catalog in CATALOGS.values() for name, data_set in catalog().items()}


def named_set(name_or_path: str | Path) -> DataSet | RecordSet | SimulatedSet | None:
    """Return the data set with a name, which may be followed by options; None for a path or an unknown name."""
    return named_sets().get(name_or_path.split(":")[0]) if isinstance(name_or_path, str) else None


def kind_of(name_or_path: str | Path) -> type | None:
    """Return the data type (Corpus or Records) of a named data set; None for an unknown name."""
    data_set = named_set(name_or_path)
    return data_set and next(
        kind for kind, catalog in CATALOGS.items() if data_set.name in catalog()
    )


def check_kind(name_or_path: str | Path, kind: type) -> None:
    """Raise DataError if a named data set has another data type than ``kind``."""
    if (actual := kind_of(name_or_path)) not in (None, kind):
        raise DataError(
            f"{name_or_path!r} is a data set of {ROWS[actual]}, and {ROWS[kind]} were wanted; choose other data, or "
            f"an engine for {ROWS[actual]}"
        )


def load_data(name_or_path: str | Path, kind: type = Corpus, **options) -> Corpus | Records:
    """Return the data with a name or at a path as the type ``kind``; options are those of `load_corpus` or `load_records`."""
    check_kind(name_or_path, kind)
    return LOADERS[kind](name_or_path, **options)
