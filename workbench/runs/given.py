"""Whatever people have as data, as what an engine infers from."""

from pathlib import Path

from workbench.corpus import Corpus
from workbench.corpus.objects import COLUMNS, corpus_of
from workbench.engines import get_engine
from workbench.records import Records
from workbench.runs.loading import load_data
from workbench.runs.spec import SpecError

READ = {"text": "text", "id": "title", "label": "label", "vocabulary": "vocabulary"}
"""What `load_corpus` calls these where a file is given."""


def data_from(given, engine, *, text=None, id=None, time=None, label=None, vocabulary=None) -> Corpus | Records:
    """The data that an engine infers from; see `workbench.corpus.objects.corpus_of` for what documents may be.

    A string is a name or a path, read as `workbench.load_corpus` and `load_records` do; of a table in a file, ``text``, ``id``
    and ``label`` name its columns. For engines of records a DataFrame has a row a record. Of several engines the first counts.

    Raises
    ------
    DataError, SpecError
    """
    while isinstance(engine, list | tuple) and engine:  # names, or (name, options) pairs
        engine = engine[0]
    kind = get_engine(engine).model.data if isinstance(engine, str) else Corpus
    about = dict(zip((*COLUMNS, "vocabulary"), (text, id, time, label, vocabulary), strict=True))
    about = {name: value for name, value in about.items() if value is not None}
    if isinstance(given, Records) or (isinstance(given, Corpus) and not about):
        return given  # of another kind than the engine's it is refused with the engine
    if isinstance(given, str) and " " in given and not Path(given).exists():  # a text, and neither a name nor a path
        return corpus_of(given)
    if isinstance(given, str | Path):
        if "time" in about:
            raise SpecError("times are read from a DataFrame; read the file with pandas and give that")
        return load_data(given, kind, **{READ[name]: value for name, value in about.items()})
    if kind is Records and hasattr(given, "columns") and hasattr(given, "iloc") and not about:
        return Records.from_pandas(given)
    if kind is Records:
        raise SpecError(f"{engine} infers from Records, a DataFrame with a row a record, or a name or path; "
                        f"got a {type(given).__name__}")
    return corpus_of(given, **about)


def taken(settings: dict) -> dict:
    """What is said of the data among the settings of a run, taken out of these."""
    return {name: settings.pop(name) for name in (*COLUMNS, "vocabulary") if name in settings}
