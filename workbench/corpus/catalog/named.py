"""The catalog of named corpora: published ones, ones prepared from these, and simulated ones.

The bundled one, ``docstrings``, comes with the package. The files of the others are looked for in the folders
that the environment variable WORKBENCH_DATA names, then where `workbench data fetch` puts them; nothing is
ever downloaded unless that is asked for.
"""

from __future__ import annotations

import os
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbench.corpus.catalog.data_set import DataSet
from workbench.corpus.catalog.published import COVARIATE_SETS, DOCSTRINGS, PREPARED, PUBLISHED
from workbench.corpus.catalog.synthetic import DRAWN, DrawnSet
from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.readers import FORMATS, read_corpus
from workbench.corpus.shards.sharded import ShardedCorpus, is_sharded
from workbench.data.names import options_in
from workbench.data.opening import path_of
from workbench.data.saving import SAVED
from workbench.errors import nearest_or_all

if TYPE_CHECKING:
    from typing import Unpack

    from workbench.choices import CorpusSettings, DataName

DATA_SETS = MappingProxyType(
    {data_set.name: data_set for data_set in (*PUBLISHED, *PREPARED, *COVARIATE_SETS, *DRAWN)}
)
DEFAULT = DOCSTRINGS.name


def data_sets() -> dict[str, DataSet | DrawnSet]:
    """Return all data sets of the catalog by name: the default one first, synthetic ones last."""
    return dict(DATA_SETS)


def is_named(name: object) -> bool:
    """Return whether the text is a name of the catalog, with options (``bars:side=4``) or without."""
    return isinstance(name, str) and name.split(":")[0] in DATA_SETS


def load_corpus(
    name_or_path: DataName | str | os.PathLike = DEFAULT,
    fetch: bool = False,
    **options: Unpack[CorpusSettings],
) -> Corpus | ShardedCorpus:
    """Return the corpus with that name in the catalog, or the one read from a path in any supported format.

    A folder of shards is opened as a `ShardedCorpus`, without reading its documents.

    Parameters
    ----------
    name_or_path : str or path, default "docstrings", which is always there
        A name of the catalog has precedence over a file of that name; write ``./name`` for the file. The name
        may include options: ``news20:part=train``, ``bars:side=4:seed=1``.
    fetch : bool, default False
        Download a data set that is not on this machine; otherwise the network is never used.
    **options
        For a path: see `workbench.corpus.formats.readers.read_corpus`. For a name: the ``options`` of its data set.

    Raises
    ------
    CorpusError
        Neither a name nor a path, files that are missing, invalid or not the published ones, or an unknown
        option.
    """
    if not isinstance(name_or_path, (str, os.PathLike)) or not str(name_or_path):
        raise CorpusError(
            f"load_corpus wants a name ({', '.join(DATA_SETS)}) or a path; got {name_or_path!r}"
        )
    # ``counted``, how another corpus was counted, is of use for texts only
    own_options = {name: value for name, value in options.items() if name != "counted"}
    if is_named(name_or_path):
        data_set = DATA_SETS[name_or_path.split(":")[0]]
        own_options = options_in(name_or_path, own_options, data_set.options)
        if fetch and data_set.whereabouts() != "drawn":
            data_set.fetch()
        corpus = data_set.load(**own_options)
        reading = {"data_set": corpus.name, "content": corpus.content_hash}
        return replace(corpus, reading={**(corpus.reading or {}), **reading})
    path = path_of(name_or_path)
    if not path.exists() and path.name == str(name_or_path):
        formats = ", ".join(format.MEANING for format in FORMATS.values())
        raise CorpusError(
            f"no data set and no file {path.name!r} (a path works too: {formats}, a folder of shards); "
            f"{nearest_or_all(path.name.lower(), DATA_SETS)}"
        )
    if is_sharded(path):
        if own_options:
            raise CorpusError(
                f"{path} is a sharded corpus, already counted; leave out {', '.join(own_options)}"
            )
        shards = ShardedCorpus.open(path)
        shards.reading = {**(shards.reading or {}), "shards": str(path.resolve())}
        return shards
    if SAVED.fullmatch(path.name):
        return Corpus.load(path)
    return read_corpus(path, **options)


def find_data_set(name: str) -> DataSet | DrawnSet:
    """Return the catalog's data set of that name; for an unknown name raise an error that suggests similar ones."""
    if name not in DATA_SETS:
        raise CorpusError(f"no data set {name!r}; {nearest_or_all(name.lower(), DATA_SETS)}")
    return DATA_SETS[name]
