"""Labels of documents, and which values of a variable they allow in each document.

The values of a variable of size "labels" belong to the labels of the corpus, ``per_label`` to each, after ``background``
values that belong to none. A document draws from the values of its labels and from those that belong to none; a document
without labels draws from all.

Ramage, Hall, Nallapati & Manning (2009), "Labeled LDA"; Ramage, Manning & Dumais (2011), "Partially labeled topic models".
"""

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from workbench.models.model import ModelError
from workbench.models.networks.levels import Variable

SEPARATOR = ";"
"""What separates the labels of a document in a text."""
MOST_NAMED = 3
"""Maximum of labels that a sentence names."""
MISSING = ("None", "nan", "NaN", "NaT", "<NA>")
"""What objects other than texts show that stand for no value, so that pandas is not needed."""


def labels_in(entry: object) -> tuple[str, ...]:
    """Return the labels in a document's entry, each once; those of a set are sorted, and None and NaN are no label.

    entry : a list, array or set of labels, a text that shows a list, or labels separated by semicolons
    """
    if isinstance(entry, str) and entry.startswith("[") and entry.endswith("]"):
        # of a label in brackets, or in thousands of them
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            entry = ast.literal_eval(entry)
    if isinstance(entry, np.ndarray):
        entry = list(np.ravel(entry))
    elif isinstance(entry, set | frozenset):
        entry = sorted(entry, key=str)
    elif not isinstance(entry, list | tuple):
        entry = () if _is_missing(entry) else str(entry).split(SEPARATOR)
    names = (str(name).strip() for name in entry if not _is_missing(name))
    return tuple(dict.fromkeys(filter(None, names)))


def _is_missing(value: object) -> bool:
    return not isinstance(value, str) and str(value) in MISSING


def labels_by_document(corpus) -> list[tuple[str, ...]]:
    """Return the labels of each document; none of any where the corpus has no labels."""
    return [labels_in(entry) for entry in corpus.labels or [None] * corpus.n_documents]


def label_names(prefix: str, corpus) -> tuple[str, ...]:
    """Return the sorted names of a corpus's labels.

    prefix : how error messages begin

    Raises
    ------
    ModelError
        If there are no labels, or all documents with labels have the same.
    """
    label_sets = {frozenset(names) for names in labels_by_document(corpus) if names}
    if not label_sets:
        raise ModelError(
            f"{prefix} needs the labels of documents, and {corpus.name!r} has none; name their column when you load it, "
            'as label="topics", or take a network without'
        )
    if len(label_sets) == 1:
        names = ", ".join(sorted(*label_sets))
        raise ModelError(
            f"{prefix} needs documents with different labels, and every document of {corpus.name!r} that has any has "
            f"{names}; take model 'lda'"
        )
    return tuple(sorted(set().union(*label_sets)))


def caution_about_labels(corpus) -> list[str]:
    """Return a sentence on the labels that at most one document with words has; none if there is no such label."""
    n_documents: Counter[str] = Counter()
    for names, n_tokens in zip(labels_by_document(corpus), corpus.document_tokens, strict=True):
        n_documents.update(dict.fromkeys(names, min(int(n_tokens), 1)))
    rare = sorted(name for name, n in n_documents.items() if n <= 1)
    if not rare:
        return []
    named = ", ".join(map(repr, rare[:MOST_NAMED]))
    more = f" and {len(rare) - MOST_NAMED:,} more" if len(rare) > MOST_NAMED else ""
    return [
        f"{len(rare):,} of the {len(n_documents):,} labels of {corpus.name!r} have fewer than two documents with words, so "
        f"their topics cannot be distinguished from these documents: {named}{more}; join such labels, or leave them out"
    ]


def with_label_names(variable: Variable, names: Sequence[str]) -> Variable:
    """Return the variable with its values named and numbered by these labels."""
    n = variable.per_label
    labels = ("",) * variable.background + tuple(name for name in names for _ in range(n))
    values = [
        *(f"background {i + 1}" for i in range(variable.background)),
        *(name if n == 1 else f"{name} {i + 1}" for name in names for i in range(n)),
    ]
    return replace(variable, size=len(labels), values=_distinct(values), labels=labels)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, those that repeat an earlier one with primes behind, as a label may be called "background 1"."""
    used: list[str] = []
    for name in names:
        while name in used:
            name += "'"
        used.append(name)
    return tuple(used)


def allowed_values(variable: Variable, corpus) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct sets of allowed values, (set, value) bool, and the number of each document's set, (document,)."""
    of_values, numbers, rows = np.array(variable.labels, object), {}, []
    known = set(variable.labels) - {""}
    label_sets = [frozenset(names) & known for names in labels_by_document(corpus)]
    for names in dict.fromkeys(label_sets):
        numbers[names] = len(rows)
        rows.append(np.isin(of_values, ["", *names]) if names else np.ones(variable.size, bool))
    return np.array(rows), np.array([numbers[names] for names in label_sets], np.int64)
