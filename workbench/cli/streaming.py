"""Commands over streams, whose documents are visited in batches and not kept: fit-stream, update."""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

import workbench as wb
from workbench.cli import INTERRUPTED
from workbench.cli.flags import (
    Json,
    Quiet,
    Read,
    RunName,
    Store,
    Threads,
    Vocabulary,
    parse_alpha,
    parse_options,
    reading_options,
    with_settings,
)
from workbench.cli.printing import print_runs, saying_warnings, store_path, summary
from workbench.cli.stored import find, print_words
from workbench.corpus import is_named
from workbench.corpus.formats.interface import read_words
from workbench.corpus.formats.readers import has_known_format
from workbench.corpus.shards.sharded import is_sharded
from workbench.corpus.texts.counting import PRUNING, TEXT_OPTIONS, as_counted
from workbench.data.opening import path_of

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…",
        help="Files, folders or names of `workbench data list`, read in this order; - reads one text per line from "
        "standard input.",
    ),
]
STDIN = "-"
SAMPLE = ("text", "encoding")
"""Options, besides those of words, with which a sample is read to get its vocabulary."""


@partial(
    with_settings, only=("n_topics", "alpha", "beta", "seed", "n_threads", "store", "quiet", "json")
)
def fit_stream(
    documents: Files,
    words: Annotated[
        str | None,
        typer.Option(
            "--vocabulary",
            metavar="FILE|RUN|CORPUS",
            help="Text file with one word per line, a run, or a corpus that is a sample of "
            "the documents. Not needed for a folder of shards, or a file of counts beside its vocabulary.",
        ),
    ] = None,
    total_documents: Annotated[
        int | None,
        typer.Option(
            "--total-documents",
            help="Number of documents in the stream; default: those of the files, which are "
            "counted first. Required for standard input.",
        ),
    ] = None,
    passes: Annotated[
        int,
        typer.Option(
            "--passes",
            help="Number of visits of each document, in the same order; not for standard input.",
        ),
    ] = 1,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-o",
            metavar="NAME=VALUE",
            help="Option of online-vb, such as batch_size=1000, tau0=64.",
        ),
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option(
            "--read",
            metavar="NAME=VALUE",
            help="How to read the files: text=COLUMN, format=csv, stop_words=german …; for texts "
            "that provide the vocabulary also min_documents=5, max_share=0.5.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the run.")] = None,
    **flags,
) -> int:
    """Fit topics to a stream of documents in batches, by online-vb; the documents are not kept.

    The vocabulary is fixed; other words are left out and counted. Ctrl-C stops after the current batch and saves a run. It
    prints the command that continues: `workbench update RUN FILE… --skip N`.
    """
    from workbench.corpus.texts.words import OF_WORDS

    reading = reading_options(None, read)
    with saying_warnings():
        vocabulary, word_options, used_options = _vocabulary(words, reading, flags["store"])
        if documents == [STDIN]:
            word_options |= {
                option: value for option, value in reading.items() if option in OF_WORDS
            }
            stream = _documents(
                documents,
                {
                    option: reading[option]
                    for option in reading
                    if option not in (*OF_WORDS, *used_options)
                },
            )
        else:
            stream = _documents(
                documents,
                {
                    option: reading[option]
                    for option in reading
                    if option not in used_options or option in SAMPLE
                },
            )
            word_options = {} if stream.corpus is not None else word_options | stream.of_text
            stream, vocabulary = stream.corpus or stream, vocabulary or stream.vocabulary
        if vocabulary is None:
            raise wb.DataError(
                "a stream needs its vocabulary before the first document; give it with --vocabulary: a text "
                "file with a word on each line, a run, or a corpus of some of the documents"
            )
        fitted, exit_status = _run_and_status(
            wb.fit_stream,
            stream,
            vocabulary,
            flags["n_topics"],
            parse_alpha(flags["alpha"]),
            flags["beta"],
            total_documents=total_documents,
            passes=passes,
            options=parse_options(options),
            seed=flags["seed"],
            name=name,
            n_threads=flags["n_threads"],
            store=store_path(flags["store"]),
            progress=not flags["quiet"],
            **word_options,
        )
    status = print_runs([summary(fitted)], flags["json"]) or exit_status
    if not flags["json"]:
        print_words(fitted)
    return status


def update(
    run: RunName,
    documents: Files,
    skip: Annotated[
        int,
        typer.Option(
            "--skip",
            help="Number of documents to skip at the beginning, such as those read before a Ctrl-C.",
        ),
    ] = 0,
    total_documents: Annotated[
        int | None,
        typer.Option(
            "--total-documents",
            help="Number of documents in the stream; default: that of the run.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the new run.")] = None,
    threads: Threads = 1,
    store: Store = None,
    vocabulary: Vocabulary = None,
    read: Read = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Continue a run of online-vb with further documents, visited once and not kept, as a new run."""
    old_run, skip = find(run, store), wb.SpecError.whole("skip", skip, 0)
    with saying_warnings():
        stream, word_options = _documents(documents, reading_options(vocabulary, read)), {}
        if documents != [STDIN]:
            word_options = {} if stream.corpus is not None else stream.of_text
            stream = stream.corpus if stream.corpus is not None and not skip else stream
        new_run, exit_status = _run_and_status(
            wb.update,
            old_run,
            islice(stream, skip, None) if skip else stream,
            total_documents=total_documents,
            name=name,
            n_threads=threads,
            store=store,
            progress=not quiet,
            **word_options,
        )
    return print_runs([summary(new_run)], json) or exit_status


def _run_and_status(
    function: Callable[..., "wb.Run"], *arguments, **settings
) -> tuple["wb.Run", int]:
    """Call `fit_stream` or `update`; return the run, and the exit status: that of Ctrl-C if it stopped the stream."""
    try:
        return function(*arguments, **settings), 0
    except wb.Interrupted as stop:
        if stop.result is None:
            raise
        return stop.result, INTERRUPTED


def _documents(files: list[str], options: dict) -> wb.FileDocuments | Iterator[str]:
    """Return the documents of files, or the lines of standard input; options as `read_corpus` takes them."""
    if STDIN not in files:
        return wb.FileDocuments(*files, **options)
    if len(files) > 1:
        raise wb.SpecError(
            "standard input is a stream of its own; leave the files out, or write them into it: cat FILES | …"
        )
    if options:
        raise wb.SpecError(
            "standard input is a text on each line; leave out --vocabulary and --read, or give a file"
        )
    return _lines(sys.stdin.buffer)


def _vocabulary(
    file: str | None, options: dict, store: Path | None
) -> tuple[Iterable[str] | None, dict, tuple[str, ...]]:
    """Return a vocabulary, the options that find its words in texts, and the names of options used only to read it."""
    from workbench.runs.store.places import is_run

    if file is None:
        return None, {}, ()
    path, in_store = path_of(file), store_path(store) / file
    if is_run(path):
        return *_run_vocabulary(path), ()
    if is_named(file) or is_sharded(path):
        corpus = wb.load_corpus(file)
        table = getattr(corpus, "table", None)
        return corpus.vocabulary, _word_options(table and dict(table.counted)), ()
    if has_known_format(path):
        reading = {name: options[name] for name in (*SAMPLE, *TEXT_OPTIONS) if name in options}
        has_texts = wb.FileDocuments(
            path, **{name: reading[name] for name in SAMPLE if name in reading}
        ).has_texts
        corpus = wb.load_corpus(path, **reading | {"keep_text": False} if has_texts else {})
        return corpus.vocabulary, {}, (*SAMPLE, *PRUNING) if has_texts else ()
    if path.exists():
        return read_words(path, None, ""), {}, ()
    if is_run(in_store):
        return *_run_vocabulary(in_store), ()
    raise wb.SpecError(
        f"there is no vocabulary {file!r}; wanted is a text file with a word on each line, a run in "
        f"{store_path(store)}, or a corpus: a file or folder, or a name of `workbench data list`"
    )


def _run_vocabulary(path: Path) -> tuple[Iterable[str], dict]:
    """Return the vocabulary of a run, and how its texts were counted."""
    from workbench.runs.store.archive import get_corpus

    spec = wb.Run(path).spec
    corpus = get_corpus(path.parent, spec.train)
    if isinstance(corpus, wb.Records):
        raise wb.SpecError(
            f"{path.name} is a run of records, which have no words; give a run of documents"
        )
    return corpus.vocabulary, _word_options(spec.counted)


def _word_options(counted: dict | None) -> dict:
    """Return those options of counting texts that determine which words are found in a text."""
    from workbench.corpus.texts.words import OF_WORDS

    return {name: value for name, value in as_counted(counted, {}).items() if name in OF_WORDS}


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield the non-empty lines of a file as texts."""
    for number, line in enumerate(file, 1):
        try:
            if text := line.decode().strip():
                yield text
        except UnicodeDecodeError:
            sentence = f"line {number} of standard input is not UTF-8; convert it, or give a file and --read encoding=cp1252"
            raise wb.DataError(sentence) from None
