"""Reader of tomotopy's models (LDA, HDP, correlated topics, pachinko): theta and phi from its own methods."""

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from workbench.data.saving import read_arrays, write_arrays
from workbench.errors import shown
from workbench.runs.foreign.foreign_model import ForeignError, ForeignModel, one_per_topic

KINDS = {
    "LDAModel": "tomotopy-lda",
    "PAModel": "tomotopy-pa",
    "HDPModel": "tomotopy-hdp",
    "CTModel": "tomotopy-ct",
}
"""Class → engine, in the order in which they are tried on a file: no class accepts a file of a later class."""
STARTS = {b"LDA\0": ("LDAModel", "PAModel", "HDPModel"), b"CTM\0": ("CTModel",)}
"""First bytes of a file → classes that may have written it."""
PATIENCE, BYTES_PER_SECOND = 30.0, 2e6
"""Time limit of reading a file: seconds, plus one for this many bytes; tomotopy may not return from a damaged file."""


def read_model(model) -> ForeignModel:
    """Return the topics and documents of a tomotopy model; of an HDP only topics that have a token.

    The topics of a pachinko model are its lower ones, since p(w | d) is a mixture of these.
    """
    import tomotopy

    kind = type(model).__name__
    if kind not in KINDS:
        raise ForeignError(
            f"of tomotopy {', '.join(KINDS)} are read; got a {kind}; give its theta and phi as arrays"
        )
    if not len(model.docs):
        raise ForeignError(
            f"this {kind} has no documents, so there is no theta of the training documents; save it with "
            "full=True"
        )
    pachinko, n_topics = kind == "PAModel", model.k2 if kind == "PAModel" else model.k
    topics = [k for k in range(n_topics) if kind != "HDPModel" or model.is_live_topic(k)]
    theta, bags = [], []
    for document in model.docs:
        of_document = document.get_sub_topic_dist() if pachinko else document.get_topic_dist()
        theta.append(np.asarray(of_document, np.float64)[topics])
        words = np.asarray(document.words, np.int64)
        bags.append(np.unique(words[words < len(model.used_vocabs)], return_counts=True))
    phi = np.array([model.get_topic_word_dist(k) for k in topics], np.float64)
    return ForeignModel(
        KINDS[kind],
        f"tomotopy {tomotopy.__version__}",
        phi,
        tuple(map(str, model.used_vocabs)),
        np.array(theta),
        tokens=_joined(bags),
        topic_prior=one_per_topic(model.alpha, len(topics)) if kind == "LDAModel" else None,
        word_prior=float(model.eta),
        iterations=int(model.global_step),
    )


def _joined(bags: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indptr, words and counts of several documents, given (words, counts) of each."""
    indptr = np.cumsum([0, *(len(words) for words, _ in bags)])
    return indptr, *(np.concatenate(arrays) for arrays in zip(*bags, strict=True))


def read_file(path: Path, kinds: tuple[str, ...]) -> ForeignModel:
    """Return the topics in a file saved by tomotopy, trying the classes that `STARTS` lists for its first bytes.

    The file is read in a separate process: from a damaged file tomotopy crashes, or does not return.
    """
    if find_spec("tomotopy") is None:
        raise ForeignError(
            f"{path} is a model of tomotopy, which is not installed; pip install tomotopy"
        )
    patience = PATIENCE + path.stat().st_size / BYTES_PER_SECOND
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            arrays_file = Path(folder) / "found.npz"
            command = [
                sys.executable,
                "-c",
                f"from {__name__} import write_found; write_found()",
                kind,
                str(path),
                str(arrays_file),
            ]
            try:
                process = subprocess.run(command, capture_output=True, timeout=patience, text=True)
            except subprocess.TimeoutExpired:
                continue
            if process.returncode == 0:
                return _foreign_model(read_arrays(arrays_file))
            if process.returncode == 2:
                raise ForeignError(f"{path}: {shown(process.stdout)}")
    raise ForeignError(
        f"{path} cannot be read as a model of tomotopy ({', '.join(kinds)}); it is damaged or incomplete; "
        "save it again"
    )


def write_found() -> None:
    """Load the model file named on the command line and write its arrays to a file; runs in `read_file`'s child process.

    Exits with 1 if the file is of another class, or with 2 after printing an error message.
    """
    kind, path, file = sys.argv[1:]
    import tomotopy

    try:
        foreign = read_model(getattr(tomotopy, kind).load(path))
    except ForeignError as error:
        print(error)
        sys.exit(2)
    if not np.allclose(foreign.phi.sum(axis=1), 1, atol=1e-2):
        sys.exit(1)  # the file is of a model of another class
    indptr, words, counts = foreign.tokens
    write_arrays(
        Path(file),
        {
            "about": np.array([foreign.engine, foreign.program]),
            "phi": foreign.phi,
            "theta": foreign.theta,
            "words": np.array(foreign.words),
            "indptr": indptr,
            "pairs": np.array([words, counts]),
            "alpha": np.array(foreign.topic_prior or ()),
            "beta": np.array(foreign.word_prior),
            "iterations": np.array(foreign.iterations),
        },
    )


def _foreign_model(arrays: dict) -> ForeignModel:
    engine, program = map(str, arrays["about"])
    return ForeignModel(
        engine,
        program,
        arrays["phi"],
        tuple(map(str, arrays["words"])),
        arrays["theta"],
        tokens=(arrays["indptr"], *arrays["pairs"]),
        topic_prior=tuple(arrays["alpha"].tolist()) or None,
        word_prior=float(arrays["beta"]),
        iterations=int(arrays["iterations"]),
    )
