"""Commands about pages, named data, engines and the installation: serve, data, engines, doctor."""

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
from workbench.cli.printing import (
    print_facts,
    print_json,
    print_table,
    say,
    saying_warnings,
    store_path,
)
from workbench.corpus import find_data_set, is_named
from workbench.corpus.formats.writers import files_of, losses
from workbench.corpus.quality import quality_of
from workbench.corpus.shards.sharded import is_sharded
from workbench.data.available_memory import available_memory
from workbench.data.saving import partial_of, put_files
from workbench.engines import FIRST_CHOICE, get_engine
from workbench.tables import numbers, texts

data = typer.Typer(help="Named data sets: corpora and categorical records.", no_args_is_help=True)


@data.command("list")
def list_data(json: Json = False) -> None:
    """List the named corpora and records, and whether they are here, can be fetched, or are simulated."""
    sets, records = wb.data_sets().values(), wb.record_sets().values()
    if json:
        return print_json(
            {
                "corpora": [entry.facts() for entry in sets],
                "records": [entry.facts() for entry in records],
            }
        )
    print_table(
        [*texts("name", "title"), *numbers("documents", "words", "tokens"), *texts("where")],
        [
            (
                entry.name,
                entry.title,
                *(entry.n_documents, entry.n_words, entry.n_tokens),
                entry.whereabouts(),
            )
            for entry in sets
        ],
    )
    print_table(
        [*texts("records", "title"), *numbers("records", "fields", "distinct"), *texts("where")],
        [
            (
                entry.name,
                entry.title,
                *(entry.n_records, entry.n_fields, entry.n_distinct),
                entry.whereabouts(),
            )
            for entry in records
        ],
    )
    say("`workbench data info NAME` describes one; `workbench data fetch NAME` downloads one")


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
    """Describe a named data set with its origin and licence, or how a file or folder is read."""
    of_file = (
        not is_named(name) and name not in wb.record_sets() and Path(name).expanduser().exists()
    )
    if not of_file and (vocabulary or read):
        raise wb.CorpusError(f"{name!r} is no file or folder; leave --vocabulary and --read out")
    facts = (
        _facts_of(load_training_data(name, vocabulary, read))
        if of_file
        else _data_set(name).facts()
    )
    if json:
        return print_json(facts)
    print_facts(
        [(fact, _text(value)) for fact, value in facts.items() if value not in (None, [], {})]
    )


def _facts_of(corpus) -> dict:
    """Return facts about a corpus as it was read: sizes, empty and duplicate documents, times, labels, kept columns."""
    quality, table = quality_of(corpus), corpus.table
    dated = sorted(str(time) for time in corpus.times or () if time is not None)
    return corpus.describe() | {
        "content": corpus.content_hash,
        "empty": quality and len(quality.empty),
        "repeated": quality and len(quality.repeated),
        "nearly repeated": quality and len(quality.near),
        "times": f"{dated[0]} to {dated[-1]}" if dated else None,
        "labels": len(set(corpus.labels)) if corpus.labels is not None else None,
        "texts": "kept" if table is not None and table.texts is not None else "not kept",
        "columns": list(table.metadata) if table is not None else [],
        "first words": list(corpus.vocabulary[:10]),
        "first documents": list(corpus.titles[:3]),
    }


@data.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of `workbench data list`.")],
    json: Json = False,
) -> None:
    """Download a named corpus into the cache ($WORKBENCH_CACHE) and verify it; records are only verified."""
    entry = _data_set(name)
    path = None if entry.whereabouts() == "drawn" else entry.fetch()
    if json:
        print_json(entry.facts())
    elif path is None:
        say(f"{name} is drawn when it is asked for; there is nothing to fetch")
    else:
        print(f"{name} is here, as published: {path}")


@data.command("example")
def example(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="CSV file to write.")] = Path(
        "news.csv"
    ),
    documents: Annotated[int, typer.Option("--documents", help="Number of rows.")] = 1500,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Json = False,
) -> None:
    """Write an example CSV file: simulated news with dates and categories."""
    if out.expanduser().exists() and not force:
        raise wb.CorpusError(f"{out} is there already; --force replaces it, or choose another OUT")
    path = wb.write_example_csv(out, documents)
    if json:
        return print_json({"path": str(path), "documents": documents})
    print(f"{path}: {documents:,} simulated news items")
    say(
        f"now `workbench fit {path} --read time=date --read label=category --read title=id -k 5`, and `workbench serve`"
    )


@data.command("convert")
def convert(
    corpus: CorpusName,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="File to write; its suffix sets the format, .gz compresses it. With --shards a folder.",
        ),
    ],
    vocabulary: Vocabulary = None,
    read: Read = None,
    shards: Annotated[
        bool,
        typer.Option(
            "--shards",
            help="Write a folder of shards, for corpora larger than memory; the file is read as a stream.",
        ),
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            help="With --shards: processes that count words.",
            show_default="one per core",
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", help="Format of OUT, if its suffix has none.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace existing files, except the corpus that is read."),
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Convert a corpus to another format (uci, lda-c, mtx, mallet, csv, jsonl, npz), or to a folder of shards."""
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
    unchanged = {
        path
        for path, data in prepared.files.items()
        if path.is_file() and path.read_bytes() == data
    }
    files = {
        path: data for path, data in prepared.files.items() if path == out or path not in unchanged
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
    paths = put_files(files)
    for sentence in losses(prepared):
        say(sentence)
    _print_written(documents, paths, prepared.lost_fields, json)


def _print_written(documents, paths: list[Path], lost_fields: list[str], json: bool) -> None:
    """Print the sizes of a corpus and of the files to which it was written; of a folder the sum of its files."""
    sizes = {
        name: getattr(documents, name) for name in ("n_documents", "n_words", "n_pairs", "n_tokens")
    }
    n_bytes = {
        path: sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))
        for path in paths
    }
    if json:
        files = [{"path": str(path), "bytes": size} for path, size in n_bytes.items()]
        return print_json({"corpus": documents.name, **sizes, "files": files, "lost": lost_fields})
    print(repr(documents))
    print_table([*texts("written"), *numbers("bytes")], n_bytes.items())


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
    """Write a folder of shards, reading a file as a stream; replace an existing folder only when the new one is complete."""
    from workbench.corpus.shards.kept_counts import kept_beside
    from workbench.corpus.shards.streaming import read_shards

    if out.exists() and not (force and is_sharded(out)):
        mend = (
            "; --force replaces it, or choose another OUT"
            if is_sharded(out)
            else " and has no shards; choose another OUT"
        )
        raise wb.CorpusError(f"{out} is there already{mend}")
    if out.resolve() in {path.resolve() for path in _sources(corpus, vocabulary)}:
        raise wb.CorpusError(f"{out} is what is read and is never overwritten; choose another OUT")
    folder = partial_of(out) if out.exists() else out
    try:
        if is_named(corpus) or is_sharded(Path(corpus).expanduser()):
            wb.ShardedCorpus.write(load_documents(corpus, vocabulary, read), folder)
        else:
            with saying_warnings(), _progress_bars(not quiet) as progress:
                options = reading_options(vocabulary, read)
                read_shards(
                    corpus,
                    folder,
                    processes or os.cpu_count() or 1,
                    progress,
                    kept_beside(out),
                    **options,
                )
        if folder != out:
            shutil.rmtree(out)
            os.rename(folder, out)
    finally:
        if folder != out:
            shutil.rmtree(folder, ignore_errors=True)
    _print_written(wb.ShardedCorpus.open(out), [out], [], json)


@contextlib.contextmanager
def _progress_bars(is_shown: bool):
    """Yield a callback (stage, share done from 0 to 1) that moves the progress bar of each stage."""
    from workbench.runs.progress import bar

    bars = {}

    def progress(stage: str, share: float) -> None:
        if stage not in bars:
            form = "{desc} {percentage:3.0f}% [{elapsed}, {remaining} left]"
            bars[stage] = stack.enter_context(bar(stage, 1000, is_shown, bar_format=form))
        bars[stage].update(round(1000 * share) - bars[stage].n)

    with contextlib.ExitStack() as stack:
        yield progress


def _sources(corpus: str, vocabulary: Path | None) -> list[Path]:
    """Return the files from which a corpus is read; for a named corpus all its files."""
    from workbench.runs.loading import named_set

    files, data_set = [vocabulary] if vocabulary else [], named_set(corpus)
    if data_set is None:
        return [Path(corpus).expanduser(), *files]
    facts = data_set.facts()
    return (
        [Path(facts["folder"]) / file for form in facts["forms"] for file in form]
        if facts.get("folder")
        else []
    )


def _data_set(name: str):
    """Return the named corpus or records; for an unknown name raise an error that suggests the nearest ones."""
    return wb.record_sets().get(name) or find_data_set(name)


def _text(value: object) -> str:
    """Return a fact as text for a table."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={default}" for name, default in value.items())
    if isinstance(value, list):
        separator = ", " if all(isinstance(part, str) for part in value) else "; "
        return separator.join(part if isinstance(part, str) else " + ".join(part) for part in value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _show_version(is_requested: bool) -> None:
    """Print the version and exit."""
    if is_requested:
        print(f"workbench {wb.__version__}")
        raise typer.Exit


def version(
    show: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    """Bayesian topic models, compared live."""


def engines(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="ENGINE…", help="Engines to describe with their options."),
    ] = None,
    json: Json = False,
) -> None:
    """List the engines; or describe the named engines with their options."""
    from workbench.engines.options import is_hyperparameter

    for engine_name in name or ():
        get_engine(engine_name)  # an error lists the names
    engine_facts = {
        engine_name: facts
        for engine_name, facts in wb.engines().items()
        if not name or engine_name in name
    }
    if json:
        return print_json(
            {
                "engines": [
                    {"name": engine_name, **facts} for engine_name, facts in engine_facts.items()
                ]
            }
        )
    if not name:
        rows = [
            (engine_name, facts["title"], facts["source"])
            for engine_name, facts in engine_facts.items()
        ]
        print_table(texts("", "", ""), rows)
        return say(f"{FIRST_CHOICE} `workbench engines ENGINE` describes one with its options")
    shared: dict[str, list[str]] = {}
    for name, facts in engine_facts.items():
        print(f"{name}: {facts['title']}. {facts['when']} {facts['source']}")
        of_hyperparameters = ""
        for option, option_facts in facts["options"].items():
            line = f"    --option {option}={option_facts['default']}   {option_facts['meaning']}"
            if is_hyperparameter(option):
                of_hyperparameters += f"\n{line}"
            else:
                print(line)
        if of_hyperparameters:
            shared.setdefault(of_hyperparameters, []).append(name)
    for lines, names in shared.items():
        print(f"hyperparameters of {', '.join(names)}{lines}")


def doctor(
    run: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN…", help="Runs to verify, instead of the installation."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Verify all runs of the store.")
    ] = False,
    store: Store = None,
    json: Json = False,
) -> int:
    """Check the installation; or verify every file and chunk of runs."""
    from workbench.runs.store.provenance import versions

    checks = []
    browsers = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    if run or everything:
        return _examine(run or [], everything, store, json)
    for name, check in {
        "python and packages": lambda: ", ".join(map(" ".join, versions().items())),
        "compiled kernels": _kernels,
        "store": lambda: _store(store_path(store)),
        "bundled corpus": lambda: repr(wb.load_corpus()),
        "memory": lambda: available_memory().describe(),
        "data folders": _data_folders,
        "browser for tests": lambda: next(browsers, "no Chromium; only the browser tests need one"),
    }.items():
        try:
            checks.append({"check": name, "ok": True, "finding": check()})
        except Exception as error:
            checks.append(
                {"check": name, "ok": False, "finding": f"{type(error).__name__}: {error}"}
            )
    return _print_checks(checks, json)


def _examine(names: list[str], everything: bool, store, json: bool) -> int:
    """Print the faults of runs and what can still be read of them; return 1 if there are faults."""
    from workbench.runs.afterwards.examine import examine
    from workbench.runs.execution.run import find_run
    from workbench.runs.store.places import run_paths

    paths = [
        *(find_run(name, store) for name in names),
        *(run_paths(store_path(store)) if everything else ()),
    ]
    checks, readable = [], {}
    for path in dict.fromkeys(paths):
        damage, readable[path.name] = examine(path)
        checks += [
            {"check": path.name, "ok": not damage, "finding": fault}
            for fault in damage or ["whole"]
        ]
    return _print_checks(checks, json, readable)


def _print_checks(
    checks: list[dict], json: bool, readable: dict[str, list[str]] | None = None
) -> int:
    """Print checks, and what can be read of runs, as JSON or a table (of damaged runs); return 1 if there are faults."""
    failed = dict.fromkeys(check["check"] for check in checks if not check["ok"])
    if json:
        print_json({"checks": checks} | ({} if readable is None else {"readable": readable}))
    else:
        rows = [("ok" if one["ok"] else "WRONG", one["check"], one["finding"]) for one in checks]
        if readable is not None:
            rows += [("reads", run, "; ".join(readable[run]) or "nothing of it") for run in failed]
        print_table(texts("", "", ""), rows)
    return 1 if failed else 0


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
    """Fit a run of two iterations on a few tokens, to check the installation."""
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


def _data_folders() -> str:
    setting = os.environ.get("WORKBENCH_DATA")
    if not setting:
        return "WORKBENCH_DATA is not set; only the bundled corpus is at hand"
    missing = [
        folder for folder in setting.split(os.pathsep) if folder and not Path(folder).is_dir()
    ]
    if missing:
        raise FileNotFoundError(
            f"WORKBENCH_DATA names {', '.join(missing)}, which is no folder; create it, or name another"
        )
    return "all folders of WORKBENCH_DATA are there"


OTHERS = "Access for others"


def serve(
    port: Annotated[int, typer.Option("--port", help="Port; 0 = any free port.")] = 5006,
    store: Store = None,
    show: Annotated[bool, typer.Option("--show", help="Open the pages in a browser.")] = False,
    read_only: Annotated[
        bool,
        typer.Option(
            "--read-only", help="Visitors look and download; nothing is started or changed."
        ),
    ] = False,
    max_upload: Annotated[
        float | None,
        typer.Option(
            "--max-upload",
            help="Largest upload, in MB; by default 500, and 5 where others reach the server.",
            metavar="MB",
        ),
    ] = None,
    address: Annotated[
        str,
        typer.Option(
            "--address",
            help="Address to listen on: 127.0.0.1 = this machine only; 0.0.0.0 = all networks.",
            rich_help_panel=OTHERS,
        ),
    ] = "127.0.0.1",
    origins: Annotated[
        list[str] | None,
        typer.Option(
            "--origin",
            help="Address of the server in browsers, such as https://stats.example.org; repeatable.",
            metavar="HOST",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            "--prefix",
            help="Path under which a proxy forwards requests.",
            metavar="PATH",
            rich_help_panel=OTHERS,
        ),
    ] = "",
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            help="File whose first line is the password; only you may read it.",
            metavar="FILE",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    oauth: Annotated[
        str | None,
        typer.Option(
            "--oauth",
            help="OAuth provider to sign in with: github, google, okta, generic …; its key and secret are in "
            "PANEL_OAUTH_KEY and PANEL_OAUTH_SECRET.",
            metavar="PROVIDER",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            "--user",
            help="Account of the provider that may sign in; repeatable.",
            metavar="NAME",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    no_password: Annotated[
        bool,
        typer.Option(
            "--no-password",
            help="Let anybody in who can reach the server.",
            rich_help_panel=OTHERS,
        ),
    ] = False,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data",
            help="Folder from which visitors may read corpora; repeatable.",
            metavar="DIR",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            help="Upper limit, such as topics=200: start, session, waiting (runs), pages, topics, iterations, memory (GB of "
            "all active runs); inf = no limit. Repeatable.",
            metavar="NAME=N",
            rich_help_panel=OTHERS,
        ),
    ] = None,
) -> None:
    """Serve the pages, by default to this machine only; new runs of the store appear on them."""
    from workbench.dashboard.server.serve import Serving
    from workbench.dashboard.server.serve import serve as serve_pages

    serving = Serving(
        port=port,
        address=address,
        prefix=prefix,
        origins=tuple(origins or ()),
        password_file=password_file,
        oauth=oauth,
        users=tuple(users or ()),
        no_password=no_password,
        read_only=read_only,
        data=tuple(data or ()),
        max_upload=max_upload,
        limits=tuple(limits or ()),
    )
    serve_pages(serving, store_path(store), show)
