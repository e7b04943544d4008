"""Data by name or path, of the type that a model believes in."""

from pathlib import Path

from workbench.corpus import Corpus, data_sets, load_corpus
from workbench.corpus.catalog.data_set import DataSet
from workbench.data.names import options_in
from workbench.errors import DataError
from workbench.models.bayes_nets.simulated import SIMULATED, SimulatedSet
from workbench.records import Records, catalog
from workbench.records.catalog import RecordSet


def record_sets() -> dict[str, RecordSet | SimulatedSet]:
    """Name → records, everything in the catalog of records: the bundled ones first, simulated ones last."""
    return {**catalog.record_sets(), **SIMULATED}


def load_records(name_or_path: str | Path, **options) -> Records:
    """Return the records of that name, drawn if it is of simulated ones, or those in a file.

    Parameters
    ----------
    name_or_path : str or path
        A name comes before a file of that name; options may stand in it: ``votes:party=keep``, ``alarm:n_records=200:seed=1``.
    **options
        Of a name: the ``options`` of its set. Of a path: see `read_records`.

    Raises
    ------
    DataError
        Neither a name nor a file, a file that is missing or is another, an unknown option, or whatever is wrong with the file.
    ModelError
        Of simulated records, without pgmpy.
    """
    if simulated := SIMULATED.get(str(name_or_path).split(":")[0]):
        return simulated.load(**options_in(name_or_path, options, simulated.options))
    return catalog.load_records(name_or_path, **options)


LOADERS = {Corpus: load_corpus, Records: load_records}
CATALOGS = {Corpus: data_sets, Records: record_sets}
ROWS = {Corpus: "documents", Records: "records"}
"""What the rows of a data type are, for people."""


def named_sets() -> dict[str, DataSet | RecordSet | SimulatedSet]:
    """Name → data set, everything in the catalogs of all data types."""
    return {name: data_set for catalog in CATALOGS.values() for name, data_set in catalog().items()}


def named_set(name_or_path: str | Path) -> DataSet | RecordSet | SimulatedSet | None:
    """Return the data set of a name, with options or without; None for any other name."""
    return named_sets().get(name_or_path.split(":")[0]) if isinstance(name_or_path, str) else None


def kind_of(name_or_path: str | Path) -> type | None:
    """Return the data type of a name of a catalog; None for any other name."""
    data_set = named_set(name_or_path)
    return data_set and next(
        kind for kind, catalog in CATALOGS.items() if data_set.name in catalog()
    )


def check_kind(name_or_path: str | Path, kind: type) -> None:
    """Refuse a name of data of another type."""
    if (actual := kind_of(name_or_path)) not in (None, kind):
        raise DataError(
            f"{name_or_path!r} is a data set of {ROWS[actual]}, and {ROWS[kind]} were wanted; choose other data, or "
            f"an engine for {ROWS[actual]}"
        )


def load_data(name_or_path: str | Path, kind: type = Corpus, **options) -> Corpus | Records:
    """Return the data of a name or path, read with the options of `load_corpus` or `load_records`; kind: `data` of a model."""
    check_kind(name_or_path, kind)
    return LOADERS[kind](name_or_path, **options)
