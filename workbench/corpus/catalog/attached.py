"""Titles, years, authors and labels of the documents of published data sets, read from files beside the counts.

Each function takes the paths of a form's further files and returns fields of a `Corpus`; see `published` for
who uses which.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import CorpusError
from workbench.corpus.formats.npz import read_arrays
from workbench.data.opening import read_lines


def titles(path: Path) -> dict:
    """Return the titles in a file with a title a line."""
    return {"titles": read_lines(path, None, "lines")}


def years_titles_authors(documents: Path, authors_of: Path, names: Path) -> dict:
    """Read lines ``year TAB title`` (``year/name`` is a title that begins with its year), and the authors, see `_authors`."""
    rows = [line.split("\t") for line in read_lines(documents, None, "lines")]
    try:
        years = [int(row[0].split("/")[0]) for row in rows]
    except ValueError as error:
        raise CorpusError(f"{documents}: each line must begin with a year ({error})") from None
    return {
        "titles": [row[-1] for row in rows],
        "times": years,
        "authors": _authors(authors_of, names),
    }


def ids_and_topics(path: Path) -> dict:
    """Read lines ``id TAB split TAB topics``: the id becomes the title, the topics, blanks between them, the label."""
    rows = [line.split("\t") for line in read_lines(path, None, "lines")]
    return {"titles": [row[0] for row in rows], "labels": [row[-1] for row in rows]}


def newsgroups(labels: Path, groups: Path) -> dict:
    """Return the group as label and ``part/group/number`` of the message as title: ``train/alt.atheism/49960``."""
    named = read_lines(groups, None, "lines")
    ids, train, numbers = read_arrays(labels, ("label", "train", "file_id")).values()
    of_documents = [named[group] for group in ids]
    places = zip(np.where(train, "train", "test"), of_documents, numbers, strict=True)
    return {
        "labels": of_documents,
        "titles": [f"{part}/{group}/{number}" for part, group, number in places],
    }


def _authors(path: Path, names: Path) -> list[tuple[str, ...]]:
    """(document,) names: the authors of document d are ``indices[indptr[d]:indptr[d + 1]]``, each a line of the names."""
    named = read_lines(names, None, "names")
    indptr, indices = read_arrays(path, ("indptr", "indices")).values()
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(named):
        raise CorpusError(
            f"{path}: author ids must lie in 0..{len(named) - 1}, the lines of {names.name}"
        )
    return [
        tuple(named[author] for author in indices[start:end]) for start, end in pairwise(indptr)
    ]
