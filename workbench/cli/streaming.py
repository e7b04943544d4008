"""Commands over streams, whose documents are visited as they come and not kept: fit-stream, update."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

import workbench as wb
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
from workbench.cli.looking import print_words
from workbench.cli.printing import print_runs, saying_warnings_at_once, store_path, summary

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…",
        help="Files or folders, or names of `workbench data list`, one after the other; -: a text a line of "
        "standard input.",
    ),
]
STDIN = "-"
SAMPLE = ("text", "encoding")
"""How a sample is read of which only the vocabulary is wanted, beside the options of its words."""


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
            help="A text file with a word on each line, a run, or a corpus of some "
            "of the documents. A folder of shards, and a file of counts beside its words, has its own.",
        ),
    ] = None,
    total_documents: Annotated[
        int | None,
        typer.Option(
            "--total-documents",
            help="Documents that each batch stands for; by default those of the files, which are "
            "counted first. Of standard input it must be said.",
        ),
    ] = None,
    passes: Annotated[
        int,
        typer.Option("--passes", help="Visits of each document, in the same order; files alone."),
    ] = 1,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-o",
            metavar="NAME=VALUE",
            help="Option of online-vb, as batch_size=1000, tau0=64.",
        ),
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option(
            "--read",
            metavar="NAME=VALUE",
            help="How files are read: text=COLUMN, format=csv, stop_words=german …; of texts "
            "that give the vocabulary also min_documents=5, max_share=0.5.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the run.")] = None,
    **flags,
) -> int:
    """Fit topics to documents as they come, batch by batch, by online-vb; the documents are not kept.

    The vocabulary is fixed: words that it lacks are left out, and how many is told. Ctrl-C ends the stream after a batch: the
    documents until then make a run, and a line says how `workbench update RUN FILE… --skip N` goes on with the others.
    """
    from workbench.runs.execution.update import OF_WORDS

    reading = reading_options(None, read)
    with saying_warnings_at_once():
        vocabulary, of_words, used = _vocabulary(words, reading, flags["store"])
        if documents == [STDIN]:
            of_words |= {one: value for one, value in reading.items() if one in OF_WORDS}
            given = _documents(
                documents, {one: reading[one] for one in reading if one not in (*OF_WORDS, *used)}
            )
        else:
            given = _documents(
                documents,
                {one: reading[one] for one in reading if one not in used or one in SAMPLE},
            )
            of_words = {} if given.corpus is not None else of_words | given.of_text
            given, vocabulary = given.corpus or given, vocabulary or given.vocabulary
        if vocabulary is None:
            raise wb.DataError(
                "a stream needs its vocabulary before the first document; give it with --vocabulary: a text "
                "file with a word on each line, a run, or a corpus of some of the documents"
            )
        made = wb.fit_stream(
            given,
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
            **of_words,
        )
    status = print_runs([summary(made)], flags["json"])
    if not flags["json"]:
        print_words(made)
    return status


def update(
    run: RunName,
    documents: Files,
    skip: Annotated[
        int,
        typer.Option(
            "--skip", help="Leave out so many documents at the beginning, as those before a Ctrl-C."
        ),
    ] = 0,
    total_documents: Annotated[
        int | None,
        typer.Option(
            "--total-documents",
            help="Documents that each batch stands for; those of the run by default.",
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
    """Go on from the topics of a run of online-vb by further documents, visited once and not kept, in a run of its own."""
    from workbench.runs.execution.run import find_run
    from workbench.runs.spec import whole

    found, skip = wb.Run(find_run(run, store)), whole("skip", skip, 0)
    with saying_warnings_at_once():
        given, of_words = _documents(documents, reading_options(vocabulary, read)), {}
        if documents != [STDIN]:
            of_words = {} if given.corpus is not None else given.of_text
            given = given.corpus if given.corpus is not None and not skip else given
        made = wb.update(
            found,
            islice(given, skip, None) if skip else given,
            total_documents=total_documents,
            name=name,
            n_threads=threads,
            store=store,
            progress=not quiet,
            **of_words,
        )
    return print_runs([summary(made)], json)


def _documents(files: list[str], options: dict) -> wb.FileDocuments | Iterator[str]:
    """The documents of files, or the lines of standard input; options as `read_corpus` takes them."""
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
    given: str | None, options: dict, store: Path | None
) -> tuple[Iterable[str] | None, dict, tuple[str, ...]]:
    """(vocabulary, options that found its words, names of the options used here) of a file, run or corpus."""
    from workbench.corpus import is_named
    from workbench.corpus.companions import read_words
    from workbench.corpus.readers import has_known_format
    from workbench.corpus.sharded import is_sharded
    from workbench.corpus.text import PRUNING, TEXT_OPTIONS
    from workbench.data.opening import path_of
    from workbench.runs.store.places import is_run

    if given is None:
        return None, {}, ()
    path, in_store = path_of(given), store_path(store) / given
    if is_run(path):
        return *_of_run(path), ()
    if is_named(given) or is_sharded(path):
        corpus = wb.load_corpus(given)
        table = getattr(corpus, "table", None)
        return corpus.vocabulary, _of_words(table and dict(table.counted)), ()
    if has_known_format(path):
        own = {name: options[name] for name in (*SAMPLE, *TEXT_OPTIONS) if name in options}
        has_texts = wb.FileDocuments(
            path, **{name: own[name] for name in SAMPLE if name in own}
        ).has_texts
        corpus = wb.load_corpus(path, **own | {"keep_text": False} if has_texts else {})
        return corpus.vocabulary, {}, (*SAMPLE, *PRUNING) if has_texts else ()
    if path.exists():
        return read_words(path, None, ""), {}, ()
    if is_run(in_store):
        return *_of_run(in_store), ()
    raise wb.SpecError(
        f"there is no vocabulary {given!r}; wanted is a text file with a word on each line, a run in "
        f"{store_path(store)}, or a corpus: a file or folder, or a name of `workbench data list`"
    )


def _of_run(path: Path) -> tuple[Iterable[str], dict]:
    """The vocabulary of a run, and how its texts were counted."""
    from workbench.runs.store.archive import get_corpus

    spec = wb.Run(path).spec
    corpus = get_corpus(path.parent, spec.train)
    if isinstance(corpus, wb.Records):
        raise wb.SpecError(
            f"{path.name} is a run of records, which have no words; give a run of documents"
        )
    return corpus.vocabulary, _of_words(spec.counted)


def _of_words(counted: dict | None) -> dict:
    """The options by which words are found as they were in other texts."""
    from workbench.corpus.text import as_counted
    from workbench.runs.execution.update import OF_WORDS

    return {name: value for name, value in as_counted(counted, {}).items() if name in OF_WORDS}


def _lines(file: BinaryIO) -> Iterator[str]:
    """The lines of a file that are not empty, as texts."""
    for number, line in enumerate(file, 1):
        try:
            if text := line.decode().strip():
                yield text
        except UnicodeDecodeError:
            said = f"line {number} of standard input is not UTF-8; convert it, or give a file and --read encoding=cp1252"
            raise wb.DataError(said) from None
