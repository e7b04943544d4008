"""Readers of MALLET's files: the state (.gz, every token with its topic), topic-word weights, and doc-topics."""

import gzip
import zlib
from pathlib import Path

import numpy as np

from workbench.runs.foreign.foreign_model import ForeignError, ForeignModel

ENGINE, PROGRAM = "mallet-lda", "MALLET"


def is_state(path: Path) -> bool:
    """Return whether a file begins like a state file of MALLET."""
    try:
        with gzip.open(path, "rb") as file:
            return file.read(20).startswith(b"#doc source pos")
    except (OSError, EOFError, zlib.error):
        return False


def read_state(path: Path) -> ForeignModel:
    """Return the model in MALLET's ``--output-state`` file.

    theta = (alpha_k + n_dk) / (A + N_d), phi = (beta + n_kw) / (W beta + N_k). The file omits documents without a token.
    """
    priors: dict[str, list[float]] = {}
    documents, words, topics, titles, vocabulary = [], [], [], {}, {}
    number = 1
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):  # noqa: B007 (for the error)
                if line.startswith("#"):
                    name, _, values = line[1:].partition(":")
                    if values:
                        priors[name.strip()] = [float(value) for value in values.split()]
                    continue
                document, rest = line.rstrip("\n").split(" ", 1)
                source, _, word_number, word, topic = rest.rsplit(" ", 4)
                documents.append(int(document))
                words.append(vocabulary.setdefault((int(word_number), word), len(vocabulary)))
                topics.append(int(topic))
                titles.setdefault(int(document), source)
    except (OSError, EOFError, zlib.error) as error:
        raise ForeignError(
            f"{path} ends in the middle, or is damaged ({error}); write the state again"
        ) from error
    except ValueError:
        raise ForeignError(
            f"{path}, line {number}: wanted 'doc source pos typeindex type topic'; write the state "
            "again"
        ) from None
    if not topics or not {"alpha", "beta"} <= set(priors) or min(topics) < 0 or min(documents) < 0:
        raise ForeignError(
            f"{path} has no tokens with topics, or no lines #alpha and #beta; give the file of --output-state"
        )
    alphas, beta = np.array(priors["alpha"]), priors["beta"][0]
    if max(topics) >= len(alphas):
        raise ForeignError(
            f"{path} has topic {max(topics)} and alpha of {len(alphas)} topics; write the state again"
        )
    n_dk = np.zeros((max(documents) + 1, len(alphas)))
    n_kw = np.zeros((len(alphas), len(vocabulary)))
    np.add.at(n_dk, (documents, topics), 1)
    np.add.at(n_kw, (topics, words), 1)
    theta, phi = n_dk + alphas, n_kw + beta
    cells, counts = np.unique(
        np.array(documents, np.int64) * len(vocabulary) + np.array(words), return_counts=True
    )
    return ForeignModel(
        ENGINE,
        PROGRAM,
        phi / phi.sum(axis=1, keepdims=True),
        tuple(word for _, word in vocabulary),
        theta / theta.sum(axis=1, keepdims=True),
        titles=_titles(titles, len(n_dk)),
        tokens=(
            np.searchsorted(cells, np.arange(len(n_dk) + 1) * len(vocabulary)),
            cells % len(vocabulary),
            counts,
        ),
        topic_prior=tuple(alphas.tolist()),
        word_prior=float(beta),
    )


def _titles(names: dict[int, str], n_documents: int) -> tuple[str, ...] | None:
    """Return the names of n documents, "#d" for a missing one; None if some names are equal."""
    titles = tuple(names.get(d, f"#{d}") for d in range(n_documents))
    return titles if len(set(titles)) == n_documents else None


def read_weights(path: Path) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return phi (topic, word) and the words from MALLET's ``--topic-word-weights-file``.

    Each line has a topic, a word and its weight beta + n_kw.
    """
    vocabulary, cells = {}, []
    for number, line in enumerate(_lines(path), start=1):
        try:
            topic, word, weight = line.split("\t")
            cells.append((int(topic), vocabulary.setdefault(word, len(vocabulary)), float(weight)))
        except ValueError:
            raise ForeignError(
                f"{path}, line {number}: wanted topic, word and weight between tabs; write the file "
                "again"
            ) from None
    if not cells or min(cell[0] for cell in cells) < 0:
        raise ForeignError(
            f"{path} has no weights of words; give the file of --topic-word-weights-file"
        )
    weights = np.full((max(cell[0] for cell in cells) + 1, len(vocabulary)), np.nan)
    for topic, word, weight in cells:
        weights[topic, word] = weight
    if not np.isfinite(weights).all() or weights.min() < 0 or not weights.sum(axis=1).all():
        raise ForeignError(
            f"{path} has not a weight of at least 0 for each word in each topic; write the file again"
        )
    return weights / weights.sum(axis=1, keepdims=True), tuple(vocabulary)


def read_doc_topics(path: Path) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return theta (document, topic) and the document names from MALLET's ``--output-doc-topics`` file.

    Each line has the number and name of a document, then the share of each topic, or pairs of topic and share.
    """
    rows, names = [], []
    for number, line in enumerate(_lines(path), start=1):
        if line.startswith("#"):
            continue
        cells = [*filter(None, line.split("\t" if "\t" in line else None))]
        try:
            rows.append(_shares(cells[2:]))
        except (ValueError, IndexError):
            raise ForeignError(
                f"{path}, line {number}: wanted a number, a name and the shares of topics; write the file "
                "again"
            ) from None
        names.append(cells[1])
    if not rows or len(set(map(len, rows))) > 1:
        raise ForeignError(
            f"{path} has not the same topics in each line; give the file of --output-doc-topics"
        )
    return np.array(rows), tuple(names)


def _shares(cells: list[str]) -> list[float]:
    """Return the topic proportions on a line: proportions alone, or pairs (topic, proportion) of MALLET up to 2.0.7."""
    shares, topics = [float(cell) for cell in cells], cells[::2]
    in_pairs = len(cells) % 2 == 0 and all(cell.isdigit() for cell in topics)
    if not in_pairs or set(map(int, topics)) != set(range(len(topics))):
        return shares
    return [share for _, share in sorted(zip(map(int, topics), shares[1::2], strict=True))]


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ForeignError(
            f"{path} cannot be read as a text ({error}); write the file again"
        ) from None
