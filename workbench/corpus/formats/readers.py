"""Read a corpus from a file or folder in any of the formats of texts and counts.

Each format has its own module with the interface of `workbench.corpus.formats.interface`; this module lists them and
chooses between them: by the first bytes of a file if they are unambiguous, else by its name, else by what the first bytes
look like. All files may be gzipped.
"""

import os
from collections.abc import Iterable, Mapping
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats import (
    fasta,
    folder,
    json_lines,
    ldac,
    mallet,
    matrix_market,
    npz,
    running_text,
    tables,
    uci,
    zipped,
)
from workbench.corpus.formats.frames import excel, parquet
from workbench.corpus.formats.interface import ReadOptions, stem_of, suffix_of, trait
from workbench.corpus.quality import DROP, KEEP, REPEATED, without_repeated
from workbench.corpus.texts.counting import TEXT_OPTIONS, as_counted
from workbench.corpus.times import LEAVE, ON_BAD
from workbench.data.encodings import DETECT
from workbench.data.opening import first_bytes, path_of, read_bytes
from workbench.data.reading import noting, of_file
from workbench.data.rows import Dialect
from workbench.errors import Named

FORMATS = {
    "lda-c": ldac,
    "uci": uci,
    "mtx": matrix_market,
    "mallet": mallet,
    "folder": folder,
    "jsonl": json_lines,
    "csv": tables,
    "fasta": fasta,
    "words": running_text,
    "parquet": parquet,
    "excel": excel,
    "zip": zipped,
    "npz": npz,
}
"""Name → format; if a file looks like two formats, the first is chosen."""


def read_corpus(
    path: str | os.PathLike,
    vocabulary: Iterable[str] | Mapping | str | os.PathLike | None = None,
    format: str | None = None,
    text: str = "text",
    title: str | None = "title",
    label: str | None = "label",
    name: str | None = None,
    inputs: str | Iterable[str] = (),
    sequence: str | None = None,
    position: str | None = None,
    document: str | Iterable[str] = "document",
    word: str = "word",
    count: str = "count",
    time: str | None = None,
    on_bad: str = LEAVE,
    repeated: str = KEEP,
    keep_text: bool = True,
    encoding: str = DETECT,
    separator: str | None = None,
    quote: str | None = '"',
    escape: str | None = None,
    comment: str | None = None,
    counted: Mapping | None = None,
    **text_options,
) -> Corpus:
    """Read a corpus of texts or of counts from a file or folder.

    Parameters
    ----------
    path : path
        Counts: a UCI bag of words; an lda-c file; a Matrix Market file, documents × words; an npz archive; a CSV file
        with the columns document, word and count, or, if inputs or sequences are asked for, with a column of counts for
        each word; a FASTA file; JSON lines with counts or tokens. Texts: a folder or a zip of ``.txt`` files, subfolders
        included; a CSV file with a header row; a Parquet or Excel file with such columns; JSON lines; a MALLET text file. The
        docstring of each format's module describes it.
    vocabulary : path or words, for counts only
        Default ``vocab.NAME.txt`` beside ``docword.NAME.txt``, ``NAME.vocab.txt`` beside another file of numbers, or
        ``w0, w1, …`` without one. Counts with words as strings need none; if it is given, its order is kept.
    format : "uci", "lda-c", "mtx", "mallet", "folder", "zip", "csv", "jsonl", "npz", "fasta", "parquet" or "excel"
        Detected by default; "words" reads a plain text as one sequence of words.
    text, title, label : str
        Columns of a CSV file, fields of JSON objects. Title and label may be missing if they have the default
        name; None leaves them out.
    name : str, default from the file's name
    inputs : str, several separated by commas, or names, optional
        Columns of a CSV file, or fields of JSON objects, with a number for each document; an npz file stores its inputs.
    sequence, position : str, optional
        The columns or fields with the name of each document's sequence, and with its position there, a whole number; without
        ``position``, documents are in the order of the file.
    time : str, optional
        The column or field with the time of each document: dates, or whole numbers such as years; see
        `workbench.corpus.times.times_of`. An empty value is a missing time.
    on_bad : "leave" or "refuse"
        A document with a value that is no date has no time, and a warning counts these; or the file is refused.
    encoding : str, default "detect"
        Encoding of CSV, JSON lines, MALLET, folders and zips of texts, such as "cp1252". By default that of a byte order mark,
        UTF-8, or (except for JSON, and with a warning) a detected one. All other formats are UTF-8.
    separator, quote, escape, comment : one character, or "tab", "space", "none"
        Special characters of a CSV file. The separator of columns is by default comma, semicolon, tab or bar, whichever the
        header has most of, or that of a first line ``sep=;``. The quote encloses texts that contain the separator. The escape
        comes before a quote (by default a backslash, if the file cannot be read otherwise). Lines that begin with the comment
        character are left out.
    counted : mapping, optional
        Options with which other texts were counted, as ``counted`` of their table: raw text is counted in the same way,
        except for ``text_options``.
    repeated : "keep" or "drop"
        Whether documents with the words of an earlier one are dropped after the words are chosen.
    keep_text : bool, default True
        Keep texts, and all other columns or fields, as ``table`` of the corpus: to be shown, searched and exported.
    document, word, count : str
        Columns of a CSV file with one row per word of a document. Several columns of ``document`` (separated by commas, or
        an iterable), such as ``state,year``, identify the document together.
    **text_options
        stop_words, min_documents, max_share, max_words, token_pattern, lowercase, accents, min_letters, ngrams, tokenizer,
        more_stop_words, segmenter, phrases: see `workbench.corpus.texts.counting.count_words`.

    Raises
    ------
    CorpusError
        The message is one sentence with the file, the line if there is one, what was expected and what the file has.
    """
    return read_request(_request(locals()))


class Request(NamedTuple):
    """The validated arguments of `read_corpus`, and the format of the file."""

    path: Path
    read_options: ReadOptions
    format: ModuleType
    name: str
    text_options: dict
    counted: Mapping | None
    # options of `read_corpus` as they were given, or their defaults
    arguments: dict

    def read(self) -> dict:
        """Read the file; return arguments of `Corpus.from_texts` for texts, of `Corpus.from_pairs` for counts."""
        options = self.text_options if trait(self.format, "TEXT_OPTIONS") else {}
        return self.format.read(self.path, self.read_options, **options)

    def reading(self, notes: dict) -> dict:
        """Return the record of how the file is read, with the ``notes`` of what was found; see `workbench.data.reading`."""
        format = next(name for name, module in FORMATS.items() if module is self.format)
        return of_file(
            self.path, self.arguments, notes | {"found": {"format": format} | notes["found"]}
        )

    def check(self, has_texts: bool) -> None:
        """Raise an error if options for texts are given but the file has counts, or a vocabulary but the file has texts."""
        if not has_texts and self.text_options and not trait(self.format, "TEXT_OPTIONS"):
            raise CorpusError(
                f"{self.path} is a bag of words, already counted; leave out {', '.join(self.text_options)}"
            )
        if has_texts and self.read_options.vocabulary is not None:
            raise CorpusError(
                f"{self.path} is raw text and makes its own vocabulary; leave vocabulary out, or prune with "
                "max_words"
            )


def request_of(path: str | os.PathLike, **options) -> Request:
    """Return the validated arguments of `read_corpus` as a request, without reading documents."""
    arguments = signature(read_corpus).bind(path, **options)
    arguments.apply_defaults()
    return _request(arguments.arguments)


def _request(arguments: Mapping) -> Request:
    path, text_options = path_of(arguments["path"]), arguments["text_options"]
    keep_text, encoding = arguments["keep_text"], arguments["encoding"]
    for option in text_options:
        CorpusError.one_of("a reader option for raw text", option, TEXT_OPTIONS)
    columns = {
        name: tuple(column.strip() for column in names.split(","))
        if isinstance(names := arguments[name], str)
        else tuple(names)
        for name in ("inputs", "document")
    }
    if not isinstance(keep_text, bool):
        raise CorpusError.must_be("keep_text", "true or false", keep_text)
    CorpusError.one_of("on_bad", arguments["on_bad"], ON_BAD)
    CorpusError.one_of("repeated", arguments["repeated"], REPEATED)
    dialect = Dialect(*(arguments[name] for name in Dialect._fields)).checked()
    read_options = ReadOptions(
        **{name: arguments[name] for name in ReadOptions._fields if name in arguments} | columns,
        dialect=dialect,
    )
    module = FORMATS[_format(path, arguments["format"], read_options)]
    accepted, own_options = trait(module, "TAKES"), trait(module, "TEXT_OPTIONS")
    table_option = next(
        (
            name
            for name in ("inputs", "sequence", "position", "time")
            if getattr(read_options, name)
        ),
        None,
    )
    restrictions = {
        "columns": (
            table_option,
            f", and times, inputs and sequences are read from tables and JSON lines; leave {table_option} out",
        ),
        "encoding": (
            encoding != DETECT,
            ", which has no encoding to choose; leave encoding out",
        ),
        "dialect": (
            dialect != Dialect(),
            f", and {', '.join(Dialect._fields)} are of CSV files; leave them out",
        ),
        "columns of counts": (
            read_options.counts != ReadOptions().counts,
            ", and columns of documents, words and counts are those of a table; leave document, word and count out",
        ),
    }
    for feature, (is_given, sentence) in restrictions.items():
        if is_given and feature not in accepted:
            raise CorpusError(f"{path} is {module.MEANING}{sentence}")
    if read_options.position is not None and read_options.sequence is None:
        raise CorpusError(
            f"{read_options.position!r} gives positions and no column gives the sequences; say which with sequence=…"
        )
    if own_options and (unused := [name for name in text_options if name not in own_options]):
        raise CorpusError(
            f"{path} is read as one sequence of words, which has no documents; leave out {', '.join(unused)}"
        )
    name = (
        arguments["name"]
        or (path.resolve().name if path.is_dir() else stem_of(path, module.SUFFIXES))
        or "corpus"
    )
    own_arguments = {
        name: value
        for name, value in arguments.items()
        if name not in ("path", "counted", "text_options")
    }
    vocabulary = arguments["vocabulary"]
    if isinstance(vocabulary, str):
        own_arguments["vocabulary"] = Path(vocabulary)
    return Request(
        path, read_options, module, name, text_options, arguments["counted"], own_arguments
    )


def read_request(request: Request) -> Corpus:
    """Return the corpus that a request describes, read from its file."""
    path, read_options = request.path, request.read_options
    with noting() as notes:
        corpus = request.read()
    request.check("texts" in corpus)
    if "texts" in corpus and not corpus["texts"]:
        raise CorpusError(f"{path} holds no document; at least one was wanted")
    corpus["reading"] = request.reading(notes)
    try:
        if "texts" not in corpus:
            corpus_read = Corpus.from_pairs(**corpus, name=request.name)
        else:
            options = as_counted(request.counted, request.text_options)
            corpus_read = Corpus.from_texts(
                **corpus, keep_text=read_options.keep_text, name=request.name, **options
            )
        return (
            without_repeated(corpus_read) if request.arguments["repeated"] == DROP else corpus_read
        )
    except CorpusError as error:
        raise error.within(f"{path}: ") from None


def named_format(path: Path) -> str | None:
    """Return the format that a file's name indicates; None for an unknown suffix."""
    if path.name.startswith("docword."):
        return "uci"
    return next(
        (name for name, format in FORMATS.items() if suffix_of(path) in format.SUFFIXES), None
    )


def has_known_format(path: Path) -> bool:
    """Return whether the path is a folder, or a file whose format its name or first bytes determine."""
    if not path.is_file():
        return path.is_dir()
    start = first_bytes(path)
    return (
        named_format(path) is not None or _format_by_bytes(start, ReadOptions(), True) is not None
    )


def _format_by_bytes(start: bytes, read_options: ReadOptions, certain: bool) -> str | None:
    """Return the first format that matches the bytes; only formats whose `CERTAIN` equals ``certain`` are tried."""
    return next(
        (
            name
            for name, format in FORMATS.items()
            if trait(format, "CERTAIN") == certain
            and trait(format, "looks_like")(start, read_options)
        ),
        None,
    )


def _format(path: Path, format: str | None, read_options: ReadOptions) -> str:
    """Return the format of a file: the option ``format``, else the one that its first bytes or its name indicate."""
    if format is not None:
        CorpusError.one_of("format", format, FORMATS)
    if not path.exists():
        raise CorpusError(f"there is no file or folder {path}; check the path")
    if format is not None:
        if (format == "folder") != path.is_dir():
            kind = "a folder" if path.is_dir() else "a file"
            raise CorpusError(
                f"{path} is {kind}; ",
                Named("format", repr(format)),
                f" wants {FORMATS[format].MEANING}",
            )
        return format
    if path.is_dir():
        return "folder"
    if path.is_fifo():
        raise CorpusError(
            f"{path} is a pipe, which can be read only once, so its format is not looked for; say which ",
            Named("format", ...),
        )
    start = first_bytes(path)
    formats = (
        _format_by_bytes(start, read_options, certain=True)
        or named_format(path)
        or _format_by_bytes(start, read_options, certain=False)
    )
    if formats is None:
        read_bytes(path)  # what cannot be read has its own sentence
        meanings = ", ".join(format.MEANING for format in FORMATS.values())
        sentence = (
            f"{path} has a format that is not recognised; wanted is one of {meanings}; say which "
        )
        raise CorpusError(sentence, Named("format", ...))
    return formats


def format_of(path: str | os.PathLike, format: str | None = None, text: str = "text") -> str:
    """Return the name of the format in which `read_corpus` reads a path; raise CorpusError if there is none."""
    return _format(path_of(path), format, ReadOptions(text=text))
