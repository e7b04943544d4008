"""Commands about what there is: data, engines, doctor."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

import workbench as wb
from workbench.cli.flags import (
    CorpusName,
    Json,
    Quiet,
    Read,
    Store,
    Vocabulary,
    load_documents,
    load_training_data,
    reading_options,
)
from workbench.cli.printing import print_facts, print_json, print_table, say, store_path
from workbench.corpus import is_named

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name of `workbench data list`.")]

OF_HYPERPARAMETERS = ("learn_", "alpha_", "beta_", "top_concentration", "a_", "b_")
"""Beginnings of the names of options about hyperparameters."""

data = typer.Typer(
    help="Data that have a name: corpora, and categorical records.", no_args_is_help=True
)


@data.command("list")
def list_data(json: Json = False) -> None:
    """List the named corpora and records: here, fetchable, to be got by hand, or drawn when asked for."""
    sets, records = wb.data_sets().values(), wb.record_sets().values()
    if json:
        return print_json(
            {
                "corpora": [entry.facts() for entry in sets],
                "records": [entry.facts() for entry in records],
            }
        )
    print_table(
        ("name", "title", "documents", "words", "tokens", "where"),
        [
            (
                entry.name,
                entry.title,
                *map(_text, (entry.n_documents, entry.n_words, entry.n_tokens)),
                entry.whereabouts(),
            )
            for entry in sets
        ],
        left=(0, 1, 5),
    )
    print_table(
        ("records", "title", "records", "fields", "distinct", "where"),
        [
            (
                entry.name,
                entry.title,
                *map(_text, (entry.n_records, entry.n_fields, entry.n_distinct)),
                entry.whereabouts(),
            )
            for entry in records
        ],
        left=(0, 1, 5),
    )
    say("`workbench data info NAME` tells more; `workbench data fetch NAME` gets what is fetchable")


@data.command("info")
def info(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A name of `workbench data list`, or a file or folder."
        ),
    ],
    vocabulary: Vocabulary = None,
    read: Read = None,
    json: Json = False,
) -> None:
    """Say what named data are, where they come from and under which licence; or how a file or folder of one's own is read."""
    of_file = (
        not is_named(name) and name not in wb.record_sets() and Path(name).expanduser().exists()
    )
    if not of_file and (vocabulary or read):
        raise wb.CorpusError(f"{name!r} is no file or folder; leave --vocabulary and --read out")
    facts = (
        _facts_of(load_training_data(name, vocabulary, read)) if of_file else _found(name).facts()
    )
    if json:
        return print_json(facts)
    print_facts(
        [(fact, _text(value)) for fact, value in facts.items() if value not in (None, [], {})]
    )


def _facts_of(corpus) -> dict:
    """What a corpus is as it was read: sizes, what is empty or repeated, what is known of its documents, what is kept."""
    from workbench.corpus.quality import quality_of

    found, table = quality_of(corpus), corpus.table
    dated = sorted(str(time) for time in corpus.times or () if time is not None)
    return corpus.describe() | {
        "content": corpus.content_hash,
        "empty": found and len(found.empty),
        "repeated": found and len(found.repeated),
        "nearly repeated": found and len(found.near),
        "times": f"{dated[0]} to {dated[-1]}" if dated else None,
        "labels": len(set(corpus.labels)) if corpus.labels is not None else None,
        "texts": "kept" if table is not None and table.texts is not None else "not kept",
        "columns": list(table.metadata) if table is not None else [],
        "first words": list(corpus.vocabulary[:10]),
        "first documents": list(corpus.titles[:3]),
    }


@data.command("fetch")
def fetch(name: Name, json: Json = False) -> None:
    """Download a named corpus into the user's cache ($WORKBENCH_CACHE moves it), and verify it; records are verified."""
    entry = _found(name)
    if entry.whereabouts() == "drawn":
        say(f"{name} is drawn when it is asked for; there is nothing to fetch")
    else:
        say(f"{name} is here, as published: {entry.fetch()}")
    if json:
        print_json(entry.facts())


@data.command("example")
def example(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="CSV file to write.")] = Path(
        "news.csv"
    ),
    documents: Annotated[int, typer.Option("--documents", help="Rows.")] = 1500,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    json: Json = False,
) -> None:
    """Write a CSV file of simulated news with dates and categories, to try things on."""
    if out.expanduser().exists() and not force:
        raise wb.CorpusError(f"{out} is there already; --force replaces it, or choose another OUT")
    written = wb.write_example_csv(out, documents)
    if json:
        return print_json({"path": str(written), "documents": documents})
    say(
        f"{written}: {documents:,} simulated news items; now `workbench fit {written} --read time=date --read label=category "
        "--read title=id -k 5`, and `workbench serve`"
    )


@data.command("convert")
def convert(
    corpus: CorpusName,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="File to write; its name says the format, .gz packs it. With --shards a folder.",
        ),
    ],
    vocabulary: Vocabulary = None,
    read: Read = None,
    shards: Annotated[
        bool,
        typer.Option(
            "--shards",
            help="Write a folder of shards, for corpora larger than memory: the file is read as a stream.",
        ),
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes", help="That count words, with --shards.", show_default="one per core"
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", help="Format of OUT where its name says none.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace what is there; never the corpus that is read.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a corpus in another format: uci, lda-c, mtx, mallet, csv, jsonl, npz; or as a folder of shards."""
    from workbench.corpus.writers import files_of, losses
    from workbench.data.saving import put_files

    out = out.expanduser()
    if shards:
        if format is not None:
            raise wb.CorpusError("shards are a format of their own; leave --format out")
        return _convert_to_shards(corpus, out, vocabulary, read, processes, force, quiet, json)
    if processes is not None:
        raise wb.CorpusError(
            "processes count words where a folder of shards is written; give --shards, or leave --processes "
            "out"
        )
    documents = load_documents(corpus, vocabulary, read)
    prepared = files_of(documents.in_memory(), out, format)
    there = {
        path
        for path, data in prepared.files.items()
        if path.is_file() and path.read_bytes() == data
    }
    files = {
        path: data for path, data in prepared.files.items() if path == out or path not in there
    }
    sources = {path.resolve() for path in _sources(corpus, vocabulary)}
    for path in files:
        if path.resolve() in sources:
            raise wb.CorpusError(
                f"{path} is what is read and is never overwritten; choose another OUT"
            )
    for path in files:
        if path.exists() and not path.is_dir() and not force:
            raise wb.CorpusError(
                f"{path} is there already; --force replaces it, or choose another OUT"
            )
    written = put_files(files)
    for sentence in losses(prepared):
        say(sentence)
    _say_written(documents, written, prepared.lost, json)


def _say_written(documents, written: list[Path], lost: list[str], json: bool) -> None:
    """Sizes of a corpus, and of the files that were written of it; of a folder what its files take together."""
    sizes = {
        name: getattr(documents, name) for name in ("n_documents", "n_words", "n_pairs", "n_tokens")
    }
    if json:
        files = [{"path": str(path), "bytes": _bytes_of(path)} for path in written]
        return print_json({"corpus": documents.name, **sizes, "files": files, "lost": lost})
    say(repr(documents))
    print_table(("written", "bytes"), [(path, f"{_bytes_of(path):,}") for path in written])


def _bytes_of(path: Path) -> int:
    """Of a file, or of all files of a folder."""
    return (
        sum(one.stat().st_size for one in path.iterdir()) if path.is_dir() else path.stat().st_size
    )


def _convert_to_shards(
    corpus: str,
    out: Path,
    vocabulary: Path | None,
    read: list[str] | None,
    processes: int | None,
    force: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Writes a folder of shards, of a file as a stream; one that is there is replaced once the new one is whole."""
    from workbench.cli.printing import saying_warnings_at_once
    from workbench.corpus.kept_counts import kept_beside
    from workbench.corpus.sharded import is_sharded
    from workbench.corpus.streaming import read_shards
    from workbench.data.saving import partial_of

    if out.exists() and not (force and is_sharded(out)):
        mend = (
            "; --force replaces it, or choose another OUT"
            if is_sharded(out)
            else " and has no shards; choose another OUT"
        )
        raise wb.CorpusError(f"{out} is there already{mend}")
    if out.resolve() in {path.resolve() for path in _sources(corpus, vocabulary)}:
        raise wb.CorpusError(f"{out} is what is read and is never overwritten; choose another OUT")
    place = partial_of(out) if out.exists() else out
    try:
        if is_named(corpus) or is_sharded(Path(corpus).expanduser()):
            wb.ShardedCorpus.write(load_documents(corpus, vocabulary, read), place)
        else:
            with saying_warnings_at_once(), _shares(not quiet) as told:
                options = reading_options(vocabulary, read)
                read_shards(
                    corpus,
                    place,
                    processes or os.cpu_count() or 1,
                    told,
                    kept_beside(out),
                    **options,
                )
        if place != out:
            shutil.rmtree(out)
            os.rename(place, out)
    finally:
        if place != out:
            shutil.rmtree(place, ignore_errors=True)
    _say_written(wb.ShardedCorpus.open(out), [out], [], json)


@contextlib.contextmanager
def _shares(shown: bool):
    """The function that moves a bar, one for reading and one for writing, to the share that is done."""
    from workbench.runs.progress import bar

    bars = {}

    def told(what: str, share: float) -> None:
        if what not in bars:
            form = "{desc} {percentage:3.0f}% [{elapsed}, {remaining} left]"
            bars[what] = stack.enter_context(bar(what, 1000, shown, bar_format=form))
        bars[what].update(round(1000 * share) - bars[what].n)

    with contextlib.ExitStack() as stack:
        yield told


def _sources(corpus: str, vocabulary: Path | None) -> list[Path]:
    """The files that the corpus is read from: of a name of the catalog, everything that belongs to it."""
    from workbench.runs.loading import named_set

    given, found = [vocabulary] if vocabulary else [], named_set(corpus)
    if found is None:
        return [Path(corpus).expanduser(), *given]
    facts = found.facts()
    return (
        [Path(facts["folder"]) / file for form in facts["forms"] for file in form]
        if facts.get("folder")
        else []
    )


def _found(name: str):
    """The corpus or records of a name; another name is refused with the nearest ones."""
    from workbench.corpus import find_data_set

    return wb.record_sets().get(name) or find_data_set(name)


def _text(value) -> str:
    """A fact as text for a table."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={default}" for name, default in value.items())
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    if isinstance(value, list):
        return "; ".join(part if isinstance(part, str) else " + ".join(part) for part in value)
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"workbench {wb.__version__}")
        raise typer.Exit


def version(
    show: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and end.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    """Bayesian topic models, compared live."""


def engines(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="ENGINE…", help="Engines whose options are wanted."),
    ] = None,
    json: Json = False,
) -> None:
    """List the engines, a line each; or when to use those that are named, and their options."""
    from workbench.engines import FIRST_CHOICE, get_engine

    for each in name or ():
        get_engine(each)  # which says what there is
    found = {each: about for each, about in wb.engines().items() if not name or each in name}
    if json:
        return print_json({"engines": [{"name": each, **about} for each, about in found.items()]})
    if not name:
        print_table(
            ("", "", ""),
            [(each, about["title"], about["source"]) for each, about in found.items()],
            left=(0, 1, 2),
        )
        return say(
            f"{FIRST_CHOICE} `workbench engines ENGINE` says when to use one, and has its options"
        )
    shared: dict[str, list[str]] = {}
    for name, about in found.items():
        say(f"{name}: {about['title']}. {about['when']} {about['source']}")
        of_hyperparameters = ""
        for option, of in about["options"].items():
            line = f"    --option {option}={of['default']}   {of['meaning']}"
            if option.startswith(OF_HYPERPARAMETERS):
                of_hyperparameters += f"\n{line}"
            else:
                say(line)
        if of_hyperparameters:
            shared.setdefault(of_hyperparameters, []).append(name)
    for lines, names in shared.items():
        say(f"hyperparameters of {', '.join(names)}{lines}")


def doctor(
    run: Annotated[
        list[str] | None, typer.Argument(metavar="RUN…", help="Runs to examine, not the machine.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Examine all runs of the store.")
    ] = False,
    store: Store = None,
    json: Json = False,
) -> int:
    """Check that everything a run needs works on this machine; or examine runs whole: every file, every chunk."""
    checks = []
    if run or everything:
        return _examine(run or [], everything, store, json)
    for name, check in {
        "python and packages": _packages,
        "compiled kernels": _kernels,
        "store": lambda: _store(store_path(store)),
        "bundled corpus": lambda: repr(wb.load_corpus()),
        "memory": _memory,
        "data folders": _data_folders,
        "browser for tests": _browser,
    }.items():
        try:
            checks.append({"check": name, "ok": True, "finding": check()})
        except Exception as error:
            checks.append(
                {"check": name, "ok": False, "finding": f"{type(error).__name__}: {error}"}
            )
    if json:
        print_json({"checks": checks})
    else:
        _print_checks(checks)
    return 0 if all(c["ok"] for c in checks) else 1


def _examine(names: list[str], everything: bool, store, as_json: bool) -> int:
    """Prints what is wrong with runs, a line each, and what can be read of these all the same; 1 where something is wrong."""
    from workbench.runs.execution.run import find_run
    from workbench.runs.store.examine import examine
    from workbench.runs.store.layout import has_checksums
    from workbench.runs.store.places import run_paths

    paths = [
        *(find_run(name, store) for name in names),
        *(run_paths(store_path(store)) if everything else ()),
    ]
    checks, readable = [], {}
    for path in dict.fromkeys(paths):
        wrong, readable[path.name] = examine(path)
        fine = (
            ""
            if wrong
            else "whole"
            if has_checksums(path)
            else "can be read; it is from before there were checksums"
        )
        checks += [
            {"check": path.name, "ok": not wrong, "finding": said} for said in wrong or [fine]
        ]
    if as_json:
        print_json({"checks": checks, "readable": readable})
    else:
        damaged = dict.fromkeys(check["check"] for check in checks if not check["ok"])
        _print_checks(
            checks,
            [("reads", name, "; ".join(readable[name]) or "nothing of it") for name in damaged],
        )
    return 0 if all(c["ok"] for c in checks) else 1


def _print_checks(checks: list[dict], more=()) -> None:
    lines = [
        ("ok" if check["ok"] else "WRONG", check["check"], check["finding"]) for check in checks
    ]
    print_table(("", "", ""), [*lines, *more], left=(0, 1, 2))


def _packages() -> str:
    from workbench.runs.dataset import versions

    return ", ".join(f"{name} {version}" for name, version in versions().items())


def _kernels() -> str:
    import numba

    _fit_tiny()
    folder = numba.config.CACHE_DIR
    return (
        f"kept in {folder}"
        if folder
        else "compiled afresh in each process: no writable cache folder"
    )


def _fit_tiny(store: str | None = None) -> None:
    """Runs two iterations on a few tokens."""
    wb.fit(
        wb.LDA(2).simulate(4, 6, 10)[0],
        n_topics=2,
        n_iterations=2,
        progress=False,
        store=store,
    )


def _store(store: Path) -> str:
    home = next(
        folder for folder in (store.absolute(), *store.absolute().parents) if folder.exists()
    )
    with tempfile.TemporaryDirectory(dir=home, prefix=".doctor-") as folder:
        _fit_tiny(folder)
    return f"{store}: runs can be written and locked"


def _memory() -> str:
    from workbench.data.available_memory import available_memory

    return available_memory().describe()


def _data_folders() -> str:
    named = os.environ.get("WORKBENCH_DATA")
    if not named:
        return "WORKBENCH_DATA is not set; only the bundled corpus is at hand"
    missing = [folder for folder in named.split(os.pathsep) if folder and not Path(folder).is_dir()]
    if missing:
        raise FileNotFoundError(f"WORKBENCH_DATA names {', '.join(missing)}, which is no folder")
    return "all folders of WORKBENCH_DATA are there"


def _browser() -> str:
    found = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    return next(found, "no Chromium; only the browser tests need one")
