"""Data by name or path, of the type that a model believes in."""

from workbench.corpus import Corpus, load_corpus
from workbench.records import Records, load_records

LOADERS = {Corpus: load_corpus, Records: load_records}


def load_data(name_or_path, kind: type = Corpus, **options) -> Corpus | Records:
    """The data of a name or path, read with the options of `load_corpus` or `load_records`; kind: `data` of a model."""
    return LOADERS[kind](name_or_path, **options)
