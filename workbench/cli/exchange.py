"""Commands that write files for other programs: data convert, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import workbench as wb
from workbench.cli import about
from workbench.cli.flags import CorpusName, Json, Read, RunNames, Store, Vocabulary, load_documents
from workbench.cli.printing import print_files, print_json, print_table, say, saying_warnings


@about.data.command("convert")
def convert(
    corpus: CorpusName,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write; its name says the format, .gz packs it.")],
    vocabulary: Vocabulary = None, read: Read = None,
    format: Annotated[str | None, typer.Option("--format", help="Format of OUT where its name says none.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there; never the corpus that is read.")] = False,
    json: Json = False,
) -> None:
    """Write a corpus in another format: uci, lda-c, mtx, mallet, csv, jsonl, npz."""
    from workbench.corpus.writers import files_of, losses
    from workbench.data.saving import put_files

    documents = load_documents(corpus, vocabulary, read)
    out = out.expanduser()
    prepared = files_of(documents, out, format)
    there = {path for path, data in prepared.files.items() if path.is_file() and path.read_bytes() == data}
    files = {path: data for path, data in prepared.files.items() if path == out or path not in there}
    sources = {path.resolve() for path in _sources(corpus, vocabulary)}
    for path in files:
        if path.resolve() in sources:
            raise wb.CorpusError(f"{path} is what is read and is never overwritten; choose another OUT")
    for path in files:
        if path.exists() and not path.is_dir() and not force:
            raise wb.CorpusError(f"{path} is there already; --force replaces it, or choose another OUT")
    written = put_files(files)
    for sentence in losses(prepared):
        say(sentence)
    sizes = {name: getattr(documents, name) for name in ("n_documents", "n_words", "n_pairs", "n_tokens")}
    if json:
        files = [{"path": str(path), "bytes": path.stat().st_size} for path in written]
        return print_json({"corpus": documents.name, **sizes, "files": files, "lost": prepared.lost})
    say(repr(documents))
    print_table(("written", "bytes"), [(path, f"{path.stat().st_size:,}") for path in written])


def _sources(corpus: str, vocabulary: Path | None) -> list[Path]:
    """The files that the corpus is read from: of a name of the catalog, everything that belongs to it."""
    from workbench.corpus import find_data_set, is_named

    given = [vocabulary] if vocabulary else []
    if not is_named(corpus):
        return [Path(corpus).expanduser(), *given]
    facts = find_data_set(corpus.split(":")[0]).facts()
    return [Path(facts["folder"]) / file for form in facts["forms"] for file in form] if facts.get("folder") else []


def export(
    run: RunNames,
    out: Annotated[
        Path, typer.Option("--out", help="Folder to write to; of several runs each gets a folder of its name in it.")
    ] = Path("export"),
    formats: Annotated[str, typer.Option("--format", help="csv, npz, mallet, lda-c, pyldavis, with commas.")] = "csv,npz",
    store: Store = None, json: Json = False,
) -> None:
    """Write what runs found in files that other programs read."""
    from workbench.runs.execution.run import find_run

    paths = [find_run(name, store) for name in run]
    folders = [out] if len(paths) == 1 else [out / path.name for path in paths]
    with saying_warnings():
        written = [file for path, folder in zip(paths, folders, strict=True) for file in wb.export_run(path, folder, formats)]
    print_files(written, json)
