"""NumPy archives of counts in coordinate form: arrays ``doc``, ``word`` and ``count``, ids from 0, in any order.

``NAME.vocab.txt`` beside ``NAME.npz`` is the vocabulary. Files written by this package hold all fields: ``shape`` (documents,
words), ``vocabulary`` and ``titles`` as arrays of text, ``inputs`` as an array of numbers, and ``about``, JSON with labels,
authors, times, the names of the inputs and the sequence. Nothing is pickled, and nothing pickled is read.
"""

import io
import json
import math
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import INT32_MAX, Corpus, CorpusError
from workbench.corpus.formats.interface import (
    Prepared,
    ReadOptions,
    about_counts,
    find_words,
    stem_of,
)
from workbench.data.available_memory import check_fits
from workbench.data.opening import read_bytes
from workbench.data.saving import encoded
from workbench.numbers import join_words

MEANING = "a NumPy archive of counts"
SUFFIXES = (".npz",)
CERTAIN = True
ZIP_MAGIC = b"PK\x03\x04"
TRIPLES = ("doc", "word", "count")
BESIDES = ("shape", "vocabulary", "titles", "about", "inputs")
FURTHER = ("labels", "authors", "times", "input_names", "sequence")


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether the file begins like a zip archive, which an npz file is."""
    return start.startswith(ZIP_MAGIC)


def read(path: Path, read_options: ReadOptions) -> dict:
    """Return the counts and other fields in an npz file; repeated entries of a document and word are summed.

    The vocabulary is that of the option, else of the file, else of a companion file; titles are those of the last two.
    """
    arrays = read_arrays(path, TRIPLES, BESIDES)
    for name in TRIPLES:
        if arrays[name].dtype.kind not in "iuf" or arrays[name].ndim != 1:
            raise CorpusError(
                f"{path}: {name} must be one-dimensional and of numbers; it is {arrays[name].dtype} "
                f"with {arrays[name].ndim} dimensions"
            )
    stem = stem_of(path, SUFFIXES)
    try:
        n_documents, n_words = map(int, arrays["shape"]) if "shape" in arrays else (None, None)
        texts = {
            array_name: [str(value) for value in arrays[array_name]]
            for array_name in ("vocabulary", "titles")
            if array_name in arrays
        }
        further = dict(json.loads(str(arrays["about"]))) if "about" in arrays else {}
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise CorpusError(
            f"{path}: shape, vocabulary, titles or about are not what workbench writes ({error}); "
            "leave them out of the file"
        ) from None
    own_words = texts.pop("vocabulary", None)
    words = find_words(
        path,
        stem,
        own_words if read_options.vocabulary is None else read_options.vocabulary,
        n_words,
    )
    n_documents = _size(
        path,
        arrays,
        "doc",
        len(texts.get("titles", ())) or None if n_documents is None else n_documents,
    )
    n_words = _size(
        path, arrays, "word", (len(words) if words else None) if n_words is None else n_words
    )
    texts |= {name: further[name] for name in FURTHER if name in further}
    if "inputs" in arrays and "input_names" in texts:
        texts["inputs"] = arrays["inputs"]
    rows = dict(zip(("documents", "words", "counts"), map(arrays.get, TRIPLES), strict=True))
    return rows | about_counts(path, stem, n_documents, n_words, words, **texts)


def write(corpus: Corpus, path: Path, vocabulary: bool) -> Prepared:
    """Return the npz file to be written, with all fields; only authors and times that JSON cannot hold are lost."""
    further, lost = {}, []
    for name in FURTHER:
        try:
            if getattr(corpus, name):
                json.dumps(getattr(corpus, name))
                further[name] = getattr(corpus, name)
        except TypeError:
            lost.append(f"{name} (they are neither text nor numbers)")
    strings = {"titles": corpus.titles} | ({"vocabulary": corpus.vocabulary} if vocabulary else {})
    for array_name, texts in strings.items():
        encoded("".join(texts), path)
        if bad_text := next((text for text in texts if text.endswith("\0")), None):
            raise CorpusError(
                f"{path} cannot hold {bad_text!r} in its {array_name}, whose last character is a null; take it out"
            )
    file = io.BytesIO()
    np.savez_compressed(
        file,
        doc=corpus.documents,
        word=corpus.words,
        count=corpus.counts,
        shape=np.array([corpus.n_documents, corpus.n_words]),
        about=np.array(json.dumps(further)),
        **{array_name: np.array(texts, dtype=np.str_) for array_name, texts in strings.items()},
        **({} if corpus.inputs is None else {"inputs": corpus.inputs}),
    )
    return Prepared({path: file.getvalue()}, lost)


def read_arrays(
    path: Path, required: Sequence[str], besides: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """Return the arrays ``required``, and those of ``besides`` that the file has, keyed by name.

    Raise an error for a missing array, a damaged file and pickled objects. An array whose size differs from its header
    is detected before memory is allocated.
    """
    data = read_bytes(path)
    if not data.startswith(ZIP_MAGIC):
        raise CorpusError(
            f"{path} is not an npz file, which begins with the bytes PK; numpy.savez_compressed writes one"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            members = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
            if missing := [name for name in required if name not in members]:
                raise CorpusError(
                    f"{path}: arrays {join_words(required)} were wanted; there is no {missing[0]}, but "
                    f"{', '.join(members) or 'nothing'}"
                )
            arrays = {name: members[name] for name in (*required, *besides) if name in members}
            check_fits(
                sum(info.file_size for info in arrays.values()),
                f"{path}",
                "give a part of it, or more memory",
            )
            return {name: _array(file, info, f"{path}: {name}") for name, info in arrays.items()}
    except CorpusError:
        raise
    except Exception as error:  # whatever zipfile and numpy make of a damaged file
        raise CorpusError(
            f"{path} is a damaged npz file ({error or type(error).__name__}); fetch it again"
        ) from None


def _array(file: zipfile.ZipFile, info: zipfile.ZipInfo, place: str) -> np.ndarray:
    """Return the array stored as one member of an npz file."""
    with file.open(info) as member:
        version = np.lib.format.read_magic(member)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        shape, _, kind = read_header.get(version, np.lib.format.read_array_header_2_0)(member)
        if kind.hasobject:
            raise CorpusError(
                f"{place} holds pickled objects, which are not read; write its strings with dtype=str"
            )
        n_promised, n_present = math.prod(shape) * kind.itemsize, info.file_size - member.tell()
    if n_promised != n_present:
        raise CorpusError(
            f"{place} promises {n_promised} bytes and {n_present} came; the file is damaged, fetch it again"
        )
    with file.open(info) as member:
        array = np.lib.format.read_array(member, allow_pickle=False)
    if (
        kind.kind == "U"
        and array.nbytes
        and array.reshape(-1).view(kind.byteorder + "u4").max() > sys.maxunicode
    ):
        raise CorpusError(
            f"{place} has characters that there are not; the file is damaged, fetch it again"
        )
    return array


def _size(path: Path, arrays: dict[str, np.ndarray], name: str, size: int | None) -> int:
    """Return the number of documents or words: ``size`` if given, else the largest id plus one."""
    ids = arrays[name]
    bad_entries = np.flatnonzero(~((ids >= 0) & (ids < (INT32_MAX if size is None else size))))
    if len(bad_entries):
        highest = INT32_MAX - 1 if size is None else size - 1
        raise CorpusError(
            f"{path}: the ids in {name} must lie in 0..{highest}; entry {bad_entries[0]} has {ids[bad_entries[0]]}"
        )
    return int(ids.max(initial=-1)) + 1 if size is None else size
