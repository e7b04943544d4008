"""Commands that compute more from a run: topics of unseen documents, a bound on log p(words), perplexities by protocol."""

import csv
import io
import math
from pathlib import Path
from typing import Annotated

import typer

import workbench as wb
from workbench.cli.flags import (
    CorpusName,
    Inferring,
    Json,
    Quiet,
    Read,
    RunName,
    Store,
    Threads,
    Vocabulary,
    load_documents,
)
from workbench.cli.printing import perplexity, print_json, print_table, say, saying_warnings
from workbench.cli.stored import find
from workbench.tables import numbers, texts

SHOWN_DOCUMENTS, SHOWN_TOPICS, SHOWN_WORDS = 20, 3, 4
"""Largest numbers of rows, topics and words in the table for people."""


def infer(
    run: RunName,
    corpus: CorpusName,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            metavar="theta|document_completion|foldin_same",
            help="theta = topics of the documents; document_completion = perplexity of one half of each document given the "
            "other; foldin_same = perplexity of the same tokens that theta is fitted to.",
        ),
    ] = "theta",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="CSV file for theta and the columns of the file, one row per document; for records one row per hidden node.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the halves and of the Gibbs sweeps.")
    ] = 0,
    threads: Threads = 1,
    scheduler: Inferring = None,
    store: Store = None,
    vocabulary: Vocabulary = None,
    read: Read = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Infer the topics of unseen documents, or their perplexity; for records infer the hidden nodes."""
    from workbench.runs.afterwards.infer import PROTOCOLS

    wb.SpecError.one_of("protocol", protocol, ("theta", *PROTOCOLS))
    if out is not None and protocol != "theta":
        raise wb.SpecError(
            f"--out writes theta, and --protocol {protocol} gives one number; leave one of them out"
        )
    if scheduler is not None and protocol != "theta":
        raise wb.SpecError(
            f"a cluster infers theta, and --protocol {protocol} is scored here; leave --scheduler out"
        )
    dataset = wb.open_run(run, store)
    counted = wb.RunSpec.from_json(dataset.attrs["spec"]).counted
    documents = load_documents(corpus, vocabulary, read, dataset.attrs.get("engine"), counted)
    if isinstance(documents, wb.Records):
        if scheduler is not None:
            raise wb.SpecError("records are inferred by this process; leave --scheduler out")
        return _infer_records(dataset, documents, protocol, out, threads, json)
    if protocol != "theta":
        score = wb.document_completion(dataset, documents, seed, protocol, threads)
        if json:
            return print_json(score)
        return print(
            f"perplexity {score['perplexity']:,.1f} by {score['protocol']} ({score['meaning']}): {score['n_scored']:,} tokens "
            f"of {score['n_documents']:,} documents scored, {score['n_skipped']:,} documents skipped, "
            f"{score['out_of_vocabulary']:.1%} of the tokens unknown to {score['run']}"
        )
    with saying_warnings():
        if out is not None:
            written = wb.infer_to_file(
                dataset, documents, out, seed, threads, client=scheduler, progress=not quiet
            )
        else:
            inferred = wb.infer(
                dataset, documents, seed, threads, client=scheduler, progress=not quiet
            )
    if json:
        print_json(
            written
            if out is not None
            else dict(inferred.attrs) | {"documents": _documents(inferred)}
        )
    elif out is not None:
        print(f"{out}: theta of {written['n_documents']:,} documents")
    else:
        _print_topics(dataset, inferred)


def _infer_records(
    dataset, records, protocol: str, out: Path | None, threads: int, json: bool
) -> None:
    """Print or write the posterior of the hidden nodes of records."""
    if protocol != "theta":
        raise wb.SpecError(f"--protocol {protocol} is of documents; of records leave it out")
    inferred = wb.infer(dataset, records, n_threads=threads)
    of_record = [inferred[name].values.tolist() for name in ("multiplicity", "log_probability")]
    rows = [
        [record, *record_values, node, *p]
        for record, (*record_values, ps) in enumerate(
            zip(*of_record, inferred["posterior"].values.tolist(), strict=True)
        )
        for node, p in zip(inferred["node"].values.tolist(), ps, strict=True)
    ]
    states = [f"state {k}" for k in inferred["state"].values]
    header = ["record", "multiplicity", "log_probability", "node", *states]
    if out is not None:
        _write_rows([header, *rows], out)
    if json:
        content = (
            {"path": str(out)}
            if out
            else {"rows": [dict(zip(header, row, strict=True)) for row in rows]}
        )
        print_json(dict(inferred.attrs) | content)
    elif out is not None:
        print(f"{out}: hidden nodes of {inferred.sizes['record']:,} distinct records")
    else:
        columns = [
            *texts("record"),
            *numbers("multiplicity"),
            *numbers("log_probability", digits=1),
            *numbers("node"),
            *numbers(*states, digits=3),
        ]
        print_table(columns, rows[:SHOWN_DOCUMENTS])
        if len(rows) > SHOWN_DOCUMENTS:
            say(f"and {len(rows) - SHOWN_DOCUMENTS:,} rows more; --out FILE writes them all")


def _write_rows(rows: list[list], path: Path) -> None:
    """Write a CSV file with all digits, atomically."""
    from workbench.report.files import put_file

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    put_file(path, text.getvalue().encode())


def _documents(inferred) -> list[dict]:
    """Return a dict per document: title, tokens, share of unknown words, theta."""
    names = "document", "n_tokens", "out_of_vocabulary", "theta"
    return [
        dict(zip(names, row, strict=True))
        for row in zip(*(inferred[name].values.tolist() for name in names), strict=True)
    ]


def _print_topics(dataset, inferred) -> None:
    """Print the first documents with their largest topics and these topics' top words."""
    from workbench.measures import top_words

    words = [" ".join(row) for row in top_words(dataset, SHOWN_WORDS)["word"].values.astype(str)]
    rows = []
    for document in _documents(inferred)[:SHOWN_DOCUMENTS]:
        theta = document["theta"]
        largest = sorted(range(len(theta)), key=lambda k, theta=theta: -theta[k])[:SHOWN_TOPICS]
        topics = "; ".join(f"{theta[k]:.0%} topic {k}: {words[k]}" for k in largest)
        rows.append(
            (
                document["document"],
                document["n_tokens"],
                document["out_of_vocabulary"],
                topics,
            )
        )
    columns = [
        *texts("document"),
        *numbers("tokens"),
        *numbers("unknown", kind="share", digits=1),
        *texts(f"{min(SHOWN_TOPICS, len(words))} largest topics"),
    ]
    print_table(columns, rows)
    n_more = inferred.sizes["document"] - len(rows)
    if n_more:
        say(f"and {n_more:,} documents more; --out FILE.csv writes them all")
    print(
        f"{inferred.attrs['out_of_vocabulary']:.1%} of the tokens are unknown to {inferred.attrs['run']}; perplexity of the "
        f"others {perplexity(inferred.attrs['perplexity_foldin_same'])} by foldin_same, fitted to the tokens that are scored"
    )


def bound(
    run: RunName,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="ais|bracket|exact",
            help="Annealed importance sampling, Gibbs samples, or enumeration.",
        ),
    ] = "ais",
    runs: Annotated[
        int,
        typer.Option(
            "--runs", help="Number of annealing runs; their spread gives the standard error."
        ),
    ] = 4,
    temperatures: Annotated[
        int, typer.Option("--temperatures", help="Number of temperatures of each annealing run.")
    ] = 500,
    sweeps: Annotated[
        int, typer.Option("--sweeps", help="With bracket: number of Gibbs sweeps.")
    ] = 100,
    burn_in: Annotated[
        int, typer.Option("--burn-in", help="With bracket: number of discarded Gibbs sweeps.")
    ] = 20,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the bound, not of the run.")] = 0,
    threads: Threads = 1,
    store: Store = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Estimate a lower bound on the log evidence at the last checkpoint of a hybrid run."""
    from workbench.runs.afterwards.bound import METHODS

    estimate = wb.hybrid_bound(
        run,
        method,
        seed,
        runs,
        temperatures,
        sweeps,
        burn_in,
        threads,
        store,
        progress=not (quiet or method == "exact"),
    )
    if json:
        return print_json(estimate)
    value = (
        f"from {estimate['low']:,.1f} to {estimate['high']:,.1f}"
        if method == "bracket"
        else f"{estimate['bound']:,.1f}"
    )
    value += " nats"
    if method == "ais":
        error = (
            f"standard error {estimate['standard_error']:,.1f}"
            if runs > 1
            else "no standard error from one run"
        )
        value += f", {error}, {estimate['effective_runs']:.1f} of {runs} runs count"
    print(
        f"log p(words) >= B, {value}: {METHODS[method]}; {estimate['run']} at iteration {estimate['iteration']}, "
        f"{estimate['n_sampled']:,} sampled tokens"
    )


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
    from workbench.runs.store.archive import corpora_of

    audited_run = find(run, store)
    dataset, spec = audited_run.dataset(), audited_run.spec
    train, test = corpora_of(audited_run.path.parent, spec)
    documents = unseen and load_documents(unseen, vocabulary, read, spec.engine, spec.counted)
    with saying_warnings():
        table = perplexity_audit(dataset, train, test, documents, particles, seed, threads)
    if json:
        rows = table.astype(object).where(table.notna(), None).reset_index().to_dict("records")
        return print_json({"name": dataset.attrs["name"], "protocols": rows})
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
