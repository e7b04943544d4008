"""The command that computes the perplexity of one run under every protocol."""

from __future__ import annotations

import math
from typing import Annotated

import typer

import workbench as wb
from workbench.cli.flags import Json, Read, RunName, Store, Threads, Vocabulary, load_documents
from workbench.cli.printing import perplexity, print_json, print_table, say, saying_warnings
from workbench.tables import numbers, texts


def audit(
    run: RunName,
    unseen: Annotated[
        str | None,
        typer.Argument(
            metavar="[CORPUS]",
            help="Unseen documents, which some protocols need.",
        ),
    ] = None,
    particles: Annotated[
        int,
        typer.Option(
            "--particles",
            help="Number of particles of left-to-right estimates; 0 = leave them out.",
        ),
    ] = 20,
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of halves, Gibbs sweeps and particles.")
    ] = 0,
    threads: Threads = 1,
    store: Store = None,
    vocabulary: Vocabulary = None,
    read: Read = None,
    json: Json = False,
) -> None:
    """Compute the perplexity of a run of LDA under every protocol that papers and programs use."""
    from workbench.measures import perplexity_audit
    from workbench.runs.execution.run import find_run
    from workbench.runs.store.archive import corpora_of

    learnt = wb.open_run(run, store)
    spec = wb.RunSpec.from_json(learnt.attrs["spec"])
    train, test = corpora_of(find_run(run, store).parent, spec)
    documents = unseen and load_documents(
        unseen, vocabulary, read, learnt.attrs.get("engine"), spec.counted
    )
    with saying_warnings():
        table = perplexity_audit(learnt, train, test, documents, particles, seed, threads)
    if json:
        rows = table.astype(object).where(table.notna(), None).reset_index().to_dict("records")
        return print_json({"name": learnt.attrs["name"], "protocols": rows})
    rows = [
        (
            name,
            perplexity(row["value"])
            if row["unit"] == "perplexity"
            else f"{row['value']:.4f} {row['unit']}",
            f"{row['standard_error']:.2g}" if math.isfinite(row["standard_error"]) else "",
            row["quantity"],
            row["given"],
        )
        for name, row in table[table["note"] == ""].iterrows()
    ]
    print_table([*texts("protocol"), *numbers("perplexity", "±"), *texts("of", "given")], rows)
    for note, names in table[table["note"] != ""].groupby("note", sort=False).groups.items():
        say(f"no {', '.join(names)}: {note}")
