"""Read a model of another program with the right reader, chosen by the module of an object or the first bytes of a file."""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from workbench.runs.foreign import mallet, tables, tomotopy
from workbench.runs.foreign.foreign_model import ForeignError, ForeignModel

PICKLED = (b"\x80", b"x\x9c", b"x\x01", b"x\xda", b"ZF")
"""First bytes of pickles, and of pickles compressed by joblib."""
WANTED = (
    "a model of tomotopy, gensim or scikit-learn, phi as an array or DataFrame, or a file: .bin of tomotopy, the "
    "state or topic-word weights of MALLET, .npz, .csv"
)


def read(source, theta=None, words=None, trust: bool = False) -> ForeignModel:
    """Return a model of another program from an object, arrays or a file.

    theta, words : for a model that does not have them
    """
    if isinstance(source, str | os.PathLike):
        foreign = _read_file(Path(source), trust)
    elif isinstance(source, np.ndarray | pd.DataFrame | list | tuple):
        foreign = tables.read_array(source)
    else:
        foreign = _read_object(source)
    if theta is not None and foreign.theta is None:
        beside, titles = _theta(theta)
        foreign = foreign._replace(theta=beside, titles=titles)
    return foreign if words is None else foreign._replace(words=tuple(map(str, words)))


def _read_object(model: object) -> ForeignModel:
    """Return a model from an object of another program."""
    kinds = [f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(model).__mro__]
    if kinds[0].startswith("tomotopy."):
        from workbench.runs.foreign.tomotopy import read_model
    elif "gensim.LdaModel" in kinds:
        from workbench.runs.foreign.gensim import read_model
    elif "sklearn.LatentDirichletAllocation" in kinds:
        from workbench.runs.foreign.sklearn import read_model
    else:
        raise ForeignError(
            f"what is imported is {WANTED}; got a {kinds[0]}; give its theta and phi as arrays"
        )
    return read_model(model)


def _read_file(path: Path, trust: bool) -> ForeignModel:
    """Return a model from a file, whose first bytes identify the program."""
    try:
        with open(path, "rb") as file:
            start = file.read(400)
    except OSError as error:
        raise ForeignError(f"{path} cannot be read ({error.strerror}); give {WANTED}") from error
    if start.startswith(b"PK"):
        return tables.read_npz(path)
    if start[:4] in tomotopy.STARTS:
        return tomotopy.read_file(path, tomotopy.STARTS[start[:4]])
    if start.startswith(b"\x1f\x8b"):
        if mallet.is_state(path):
            return mallet.read_state(path)
        raise ForeignError(
            f"{path} is packed and no state of MALLET, or damaged; give the file of --output-state as it was "
            "written"
        )
    if start.startswith(PICKLED):
        return _read_pickle(path, start, trust)
    cells = start.split(b"\n", 1)[0].split(b"\t")
    if len(cells) == 3 and cells[0].isdigit():  # topic, word and weight between tabs
        return ForeignModel(mallet.ENGINE, mallet.PROGRAM, *mallet.read_weights(path))
    if path.suffix.lower() == ".csv":
        return tables.read_csv(path)
    raise ForeignError(f"{path} is no model that is known here; give {WANTED}")


def _read_pickle(path: Path, start: bytes, trust: bool) -> ForeignModel:
    """Return a gensim model from a pickle; raise ForeignError unless ``trust``, as loading a pickle can run any code."""
    if b"gensim" not in start:
        raise ForeignError(
            f"{path} is a pickle, which runs whatever was written into it when it is opened, so it is not "
            "opened here; if you trust it, load it yourself (joblib.load, pickle.load) and give the model"
        )
    if not trust:
        raise ForeignError(
            f"{path} is a model of gensim, which is kept as a pickle and runs whatever was written into it "
            "when it is opened; if you trust it, say trust=True (--trust), or load it yourself and give the "
            "model"
        )
    from workbench.runs.foreign.gensim import read_file

    return read_file(path)


def _theta(theta) -> tuple:
    """Return theta and the names of its documents (None: unknown) from an array, a table, a CSV file or MALLET's doc-topics."""
    if isinstance(theta, pd.DataFrame):
        return theta.to_numpy(), tables.names_of_rows(theta.index)
    if not isinstance(theta, str | os.PathLike):
        return theta, None
    path = Path(theta)
    if path.suffix.lower() == ".csv":
        table, titles = tables.read_table(path)
        return table.to_numpy(), titles
    rows, titles = mallet.read_doc_topics(path)
    return rows, titles if len(set(titles)) == len(titles) else None
