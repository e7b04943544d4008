"""Commands about runs that are stored: what they are, what steers them, and what is made of them."""

import math
import os
import warnings
from pathlib import Path
from typing import Annotated

import typer

import workbench as wb
from workbench.cli.flags import (
    FORMATS,
    Formats,
    Json,
    Read,
    RunName,
    RunNames,
    Store,
    load_documents,
    parse_alpha,
    split_pairs,
)
from workbench.cli.printing import (
    print_facts,
    print_files,
    print_json,
    print_runs,
    print_table,
    say,
    saying_warnings,
    store_path,
    summary,
)
from workbench.corpus.formats.interface import read_words
from workbench.errors import InputError
from workbench.tables import numbers, texts

SHOWN_TOPICS, SHOWN_WORDS = 20, 8
"""Numbers of topics, and of words of each, that are printed at the end of a fit."""
LARGE = 2 * 10**7
"""Size of a snapshot, in numbers, from which it is not read just to print topics."""


def topics(
    run: RunName,
    words: Annotated[int, typer.Option("--words", help="Number of words per topic.")] = 10,
    relevance: Annotated[
        float,
        typer.Option(
            "--relevance",
            help="1 ranks words by probability, 0 by lift over the whole corpus.",
        ),
    ] = 1.0,
    store: Store = None,
    json: Json = False,
) -> None:
    """Show the topics of a run, largest first, with their share of the tokens, label and words."""
    from workbench.measures.tables import topic_entries

    dataset = find(run, store).edited()
    entries = topic_entries(dataset, words, relevance)
    if json:
        return print_json(
            {"name": dataset.attrs["name"], "relevance": relevance, "topics": entries}
        )
    _print_topics(entries)


def documents(
    run: RunName,
    topic: Annotated[
        int | None,
        typer.Option(
            "--topic", metavar="TOPIC", help="Number of the topic in the run; default: all topics."
        ),
    ] = None,
    number: Annotated[int, typer.Option("--number", help="Number of documents per topic.")] = 5,
    store: Store = None,
    json: Json = False,
) -> None:
    """Show the most representative documents of a topic, or of every topic, largest first."""
    dataset = find(run, store).edited()
    names = {"share": "theta"}  # in JSON, as since the first version
    best = wb.top_documents(dataset, topic, number).rename(columns=names)
    best = best[["topic", "title", "document", "theta", "n_tokens", "n_topic_tokens"]].to_dict(
        "records"
    )
    if json:
        return print_json({"name": dataset.attrs["name"], "documents": best})
    columns = [
        *numbers("topic"),
        *texts("title"),
        *numbers("share", kind="share", digits=1),
        *numbers("tokens"),
    ]
    print_table(
        columns,
        [
            (document["topic"], document["title"], document["theta"], document["n_tokens"])
            for document in best
        ],
    )
    if not best:
        say("no document has a token of it")


def print_words(run: "wb.Run") -> None:
    """Print the largest topics of a run with their words; nothing if it lacks topics or words, or its snapshot is large."""
    from workbench.measures.tables import topic_entries

    if max(map(math.prod, run.shapes().values()), default=0) > LARGE:
        return say(f"`workbench topics {run.name}` has the words of its topics")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about notes, of which others tell
            dataset = run.edited()
    except wb.SpecError as error:  # its corpus is not there
        return say(str(error))
    if not {"phi", "n_kw"} <= set(dataset) or not dataset.sizes.get("snapshot"):
        return
    entries = topic_entries(dataset, SHOWN_WORDS)
    _print_topics(entries[:SHOWN_TOPICS])
    if len(entries) > SHOWN_TOPICS:
        say(
            f"and {len(entries) - SHOWN_TOPICS} smaller ones; `workbench topics {run.name}` has all"
        )


def _print_topics(entries: list[dict]) -> None:
    """Print topics as a table, with labels if there are any."""
    columns = [
        *numbers("topic"),
        *numbers("share", kind="share", digits=1),
        *texts(*(["label"] if any(entry["label"] for entry in entries) else [])),
        *texts("words"),
    ]
    print_table(columns, [entry | {"words": " ".join(entry["words"])} for entry in entries])


def find(run: str, store: Path | None):
    """Return the `Run` with a name in the store, or at a path."""
    from workbench.runs.execution.run import find_run

    return wb.Run(find_run(run, store))


def runs(
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", help="List only runs with this tag; repeatable, and then with all of them."
        ),
    ] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """List the runs of a store."""
    from workbench.runs.store.places import run_paths

    home = store_path(store)
    if os.path.isfile(home):
        raise InputError(f"{home} is a file; --store takes the folder of the runs")
    if store is not None and not os.path.lexists(home):
        raise InputError(f"there is no folder {home}; --store takes the folder of the runs")
    summaries, paths = [], run_paths(home)
    for path in paths:
        try:
            run = wb.Run(path)
            if set(tag or ()) <= set(_notes(run).tags):
                summaries.append(summary(run))
        except InputError as error:  # one damaged run does not hide the others
            say(f"{path.name} cannot be read: {error}")
    print_runs(summaries, json)
    if not paths and not json:
        say(f"no runs in {home}; `workbench compare docstrings` makes some")
    elif tag and not summaries and not json:
        say(
            f"no run in {home} has the tag {' and '.join(tag)}; `workbench note RUN --tag {tag[0]}` gives it"
        )


def _notes(run: "wb.Run"):
    """Return the notes of a run; print a line on stderr and return empty notes if they cannot be read."""
    from workbench.runs.store.notes import NoteError, Notes

    try:
        return run.notes
    except NoteError as error:
        say(str(error))
        return Notes()


def labels_by_topic(run: "wb.Run", notes) -> dict[int, str]:
    """Return labels by topic number; if the corpus of the run is missing, print a line on stderr and return {}."""
    from workbench.runs.store.notes import labels_of_topics

    try:
        return labels_of_topics(notes, run.dataset()) if notes.labels else {}
    except wb.SpecError as error:
        say(str(error))
        return {}


def _note_rows(notes, labels: dict[int, str]) -> list[tuple[str, str]]:
    """Return table rows of note, tags and labels, each label after the number of its topic."""
    label_text = "; ".join(f"{topic} {label}" for topic, label in labels.items())
    return [("note", notes.note), ("tags", ", ".join(notes.tags)), ("labels", label_text)]


def show(run: RunName, store: Store = None, json: Json = False) -> None:
    """Show the settings, state and path of a run."""
    from workbench.corpus import split_in_words
    from workbench.runs.reading import rows_about
    from workbench.runs.store.status import LOST

    stored_run = find(run, store)
    status, spec, notes = stored_run.status(), stored_run.spec, _notes(stored_run)
    labels = labels_by_topic(stored_run, notes)
    if json:
        print_json(
            summary(stored_run)
            | {
                "note": notes.note,
                "tags": notes.tags,
                "labels": labels,
                "status": status,
                "spec": spec.settings(),
                "made_by": stored_run.provenance(),
            }
        )
        return
    time_text = f", {status['time_left']:,.1f} s left" if status["time_left"] else ""
    split = split_in_words(spec.split) if spec.split else "no split recorded"
    print_facts(
        [
            ("run", stored_run.name),
            (
                "state",
                f"{status['state']}, iteration {status['iteration']} of {status['n_iterations']}{time_text}",
            ),
            ("corpus", f"{spec.corpus}; {split}"),
            *rows_about(spec.reading),
            ("engine", spec.label()),
            *_model_rows(spec),
            ("seed", spec.seed),
            ("hash", spec.hash),
            ("path", stored_run.path),
            ("provenance", stored_run.describe_provenance()),
            *_note_rows(notes, labels),
            ("message", status["message"]),
            (
                "next",
                f"`workbench resume {stored_run.name}` continues from its last checkpoint"
                if status["state"] == LOST
                else "",
            ),
        ]
    )
    print_runs([summary(stored_run)], False)
    print_words(stored_run)


def _model_rows(spec: "wb.RunSpec") -> list[tuple[str, str]]:
    """Return table rows about the model: its settings in one row, or its description."""
    if spec.model and not spec.parts()[1].network_name:
        return [("model", ", ".join(f"{name} {value}" for name, value in spec.model.items()))]
    (first, text), *others = spec.parts()[1].describe() or [("", "")]
    return [
        ("model", f"{first}: {text}"),
        *((f"  {name.removeprefix('level ')}", text) for name, text in others),
    ]


def pause(run: RunNames, store: Store = None, json: Json = False) -> None:
    """Pause runs after their current step."""
    _request([find(name, store) for name in run], "pause", json)


def stop(run: RunNames, store: Store = None, json: Json = False) -> None:
    """Stop runs after their current step; they can be resumed."""
    _request([find(name, store) for name in run], "stop", json)


def retune(
    run: RunName,
    settings: Annotated[
        list[str], typer.Argument(metavar="NAME=VALUE…", help="As r=2 alpha=0.05.")
    ],
    store: Store = None,
    json: Json = False,
) -> None:
    """Turn priors, r and other live settings of a run while it runs; its chain continues from the same counts."""
    message = "a setting is turned as name=value, as in r=2"
    stored_run = find(run, store)
    values = stored_run.retune(**dict(split_pairs(settings, message, "settings")))
    values_text = ", ".join(f"{name}={value:g}" for name, value in values.items())
    say(f"asked {stored_run.name} for {values_text}")
    if json:
        print_runs([summary(stored_run)], json)


def branch(
    run: RunName,
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="CHANGE…",
            help="As r=2 alpha=0.05 'merge 3 7' 'drop 5' 'split 2' 'add 1' 'omit said mr' 'omit-document 3'.",
        ),
    ],
    store: Store = None,
    json: Json = False,
) -> None:
    """Start a run that continues from the present counts of a run, with settings turned, topics edited or words left out."""
    edits = [change for change in changes if "=" not in change or change.startswith("omit ")]
    message = "a setting is turned as name=value, as in r=2"
    values = split_pairs([change for change in changes if change not in edits], message, "settings")
    new_run = find(run, store).branch(*edits, **dict(values))
    say(f"started {new_run.name}")
    if json:
        print_runs([summary(new_run)], json)


def edit(
    run: RunName,
    edits: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EDIT]…", help="As 'merge 3 7' 'hide 5' 'order 4 2' 'colour 3 #1f77b4'."
        ),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last edit.")] = False,
    redo: Annotated[bool, typer.Option("--redo", help="Redo the edit undone last.")] = False,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Take the edits of this file, an edition.json, instead."),
    ] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Merge, hide, order, colour and describe topics in all that shows them; the run stays. Without an edit, list the edits."""
    stored_run = find(run, store)
    request_by_flag = {
        "--undo": undo,
        "--redo": redo,
        "--from": source is not None,
        "an edit": bool(edits),
    }
    if len(names := [name for name, is_given in request_by_flag.items() if is_given]) > 1:
        raise InputError(f"one change at a time: {names[0]} or {names[1]}")
    if undo:
        stored_run.undo_edit()
    elif redo:
        stored_run.redo_edit()
    elif source is not None:
        stored_run.import_edition(source)
    elif edits:
        stored_run.edit(*edits)
    edition = stored_run.edition
    if json:
        return print_json({"name": stored_run.name} | edition.as_json())
    print_table(texts("edit", "by", "when"), list(edition.edits))
    if not edition.edits:
        say(
            f"no edit of {stored_run.name}; `workbench edit {stored_run.name} 'merge 3 7'` makes one"
        )


def _request(runs: list, request: str, json: bool) -> None:
    """Ask active runs to pause or stop."""
    from workbench.runs.execution.run import ENDED

    for run in runs:
        status = run.status()
        if status["state"] in ENDED:
            say(
                f"{run.name} is {status['state']} at iteration {status['iteration']}; there is nothing to {request}"
            )
        else:
            getattr(run, request)()
            say(f"asked {run.name} to {request}")
    if json:
        print_runs([summary(run) for run in runs], json)


def remove(
    run: RunNames,
    store: Store = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    json: Json = False,
) -> int:
    """Delete runs that are not active."""
    from workbench.runs.execution.run import find_run
    from workbench.runs.store.writer import remove_run

    # a damaged run can be deleted, though not opened
    paths = [find_run(name, store) for name in run]
    if not yes and not _confirmed(f"delete {', '.join(path.name for path in paths)}?"):
        say("nothing was removed; --yes deletes without asking")
        return 1
    for path in paths:
        remove_run(path)
        say(f"removed {path.name}")
    if json:
        print_json({"removed": [path.name for path in paths]})
    return 0


def _confirmed(question: str) -> bool:
    """Ask a yes-no question and return the answer; False without an interactive terminal."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        say("")
        return False


def figures(
    run: RunNames,
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.")] = Path("figures"),
    formats: Formats = FORMATS,
    store: Store = None,
    json: Json = False,
) -> None:
    """Write figures that compare runs; the same runs give the same bytes."""
    print_files(wb.save_figures([find(name, store) for name in run], out, formats), json)


def report(
    run: RunNames,
    out: Annotated[Path, typer.Option("--out", help="File to write.")] = Path("report.html"),
    tables: Annotated[
        str,
        typer.Option(
            "--tables", help="Also write its tables beside it, as md or tex, separated by commas."
        ),
    ] = "",
    audience: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="researchers|readers",
            help="researchers: compare engines. readers: the topics of the first run, with passages of documents, for people "
            "who know no topic models; further runs say which topics are found again.",
        ),
    ] = "researchers",
    store: Store = None,
    json: Json = False,
) -> None:
    """Write a self-contained HTML report about runs."""
    runs = [find(name, store) for name in run]
    files = wb.write_tables(runs, out.parent, tables) if tables else []
    report = wb.write_report(runs, out, audience=audience, progress=True)
    print_files([report, *files], json)


def export(
    run: RunNames,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Folder to write to; of several runs each gets a folder of its name in it.",
        ),
    ] = Path("export"),
    formats: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Formats, separated by commas: csv, long, npz, netcdf, zarr, mallet, lda-c, pyldavis; default: csv,npz.",
        ),
    ] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Write the results of runs to files that other programs read."""
    from workbench.runs.execution.run import find_run

    paths = [find_run(name, store) for name in run]
    folders = [out if len(paths) == 1 else out / path.name for path in paths]
    with saying_warnings():
        files = [
            file
            for path, folder in zip(paths, folders, strict=True)
            for file in wb.export_run(path, folder, formats)
        ]
    print_files(files, json)


def import_(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL…",
            help="Files of other programs: .bin of tomotopy, a saved LdaModel of gensim, the state or the topic-word weights "
            "of MALLET, phi as .npz or .csv.",
        ),
    ],
    like: Annotated[
        str | None,
        typer.Option(
            "--like",
            metavar="RUN",
            help="Run with the same training and test set as the model.",
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            metavar="CORPUS",
            help="Full corpus; the model was trained on its training split. Alternative to --like.",
        ),
    ] = None,
    holdout: Annotated[
        float,
        typer.Option("--holdout", help="With --corpus: share of its tokens that was held out."),
    ] = 0.1,
    split_seed: Annotated[
        int, typer.Option("--split-seed", help="With --corpus: seed of the held-out split.")
    ] = 0,
    theta: Annotated[
        Path | None,
        typer.Option(
            "--theta", help="Theta of the training documents: a CSV file, or doc-topics of MALLET."
        ),
    ] = None,
    words: Annotated[
        Path | None,
        typer.Option(
            "--words", help="Text file with the word of each column of phi, one per line."
        ),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            "--alpha",
            help="Document-topic prior, if the model file has none: a number, or one per topic.",
        ),
    ] = None,
    beta: Annotated[
        float | None, typer.Option("--beta", help="Topic-word prior, if the model file has none.")
    ] = None,
    leave_out: Annotated[
        bool,
        typer.Option(
            "--leave-out",
            help="Drop words that are not in the model from training and test set.",
        ),
    ] = False,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Allow unpickling a gensim model; a pickle can run any code."),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", help="Replicate number, if you import several models of one program."
        ),
    ] = 0,
    name: Annotated[str | None, typer.Option("--name", help="Name of the run.")] = None,
    read: Read = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Import models of other programs as runs.

    See 'Models of other programs' in the documentation.
    """
    settings = dict(
        like=like,
        theta=theta,
        alpha=parse_alpha(alpha),
        beta=beta,
        trust=trust,
        seed=seed,
        name=name,
    )
    settings["unknown"] = "leave out" if leave_out else "refuse"
    if corpus is not None:
        train, test, split = wb.prepare(load_documents(corpus, None, read), holdout, split_seed)
        settings |= {"corpus": train, "test": test, "split": split}
    if words is not None:
        settings["words"] = read_words(words, None, "")
    with saying_warnings():
        new_runs = [wb.Run(wb.import_run(source, store_path(store), **settings)) for source in what]
    for run in new_runs:
        say(f"{run.path}: {run.state}")
    print_runs([summary(run) for run in new_runs], json)


def note(
    run: RunName,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help='Text of the note; "" deletes the note.')
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Tag to add; repeatable.")] = None,
    untag: Annotated[
        list[str] | None, typer.Option("--untag", help="Tag to remove; repeatable.")
    ] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Write a note or tags of a run; without either, show them."""
    stored_run = find(run, store)
    tags = None
    if tag or untag:
        before, removed_tags = stored_run.notes.tags, untag or ()
        if unknown := [name for name in removed_tags if name not in before]:
            raise InputError(
                f"{stored_run.name} has no tag '{unknown[0]}'; it has {', '.join(before) or 'none'}"
            )
        tags = [name for name in (*before, *(tag or ())) if name not in removed_tags]
    _print_notes(
        stored_run,
        stored_run.annotate(text, tags)
        if text is not None or tags is not None
        else stored_run.notes,
        json,
    )


def label(
    run: RunName,
    topic: Annotated[
        int | None, typer.Argument(metavar="[TOPIC]", help="Number of the topic in the run.")
    ] = None,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help='Label; "" removes it.')
    ] = None,
    suggested: Annotated[
        bool,
        typer.Option("--suggested", help="Label topics that have none by what is suggested."),
    ] = False,
    store: Store = None,
    json: Json = False,
) -> None:
    """Label a topic of a run; without a text, list suggested labels."""
    labelled = find(run, store)
    if text is None:
        return _suggest_labels(labelled, topic, suggested, json)
    if suggested:
        raise InputError("a topic gets one label; give the text, or --suggested without a text")
    _print_notes(labelled, labelled.label(topic, text), json)


def _suggest_labels(run: "wb.Run", topic: int | None, accepts: bool, json: bool) -> None:
    """Print suggested labels of one topic or of all, or give each topic without a label the first that no other has."""
    from workbench.measures import suggested_names
    from workbench.runs.store.notes import label_topic

    dataset = run.edited()
    found = suggested_names(dataset, run.readable_table, topic=topic)["name"]
    names = {
        each: [name for name in found.sel(topic=each).values.tolist() if name]
        for each in found["topic"].values.tolist()
    }
    if accepts:
        labels = labels_by_topic(run, run.notes)
        for each in [each for each in names if each not in labels]:
            free = [name for name in names[each] if name not in labels.values()]
            if free:
                label_topic(run.path, dataset, each, free[0])
                labels[each] = free[0]
        return _print_notes(run, run.notes, json)
    if json:
        return print_json({"name": run.name, "suggested": names})
    columns = [*numbers("topic"), *texts("suggested labels")]
    print_table(columns, [(each, "; ".join(some)) for each, some in names.items()])


def _print_notes(run: "wb.Run", notes, json: bool) -> None:
    """Print note, tags and labels of a run."""
    labels = labels_by_topic(run, notes)
    if json:
        print_json({"name": run.name, "note": notes.note, "tags": notes.tags, "labels": labels})
    elif notes.note or notes.tags or labels:
        print_facts([("run", run.name), *_note_rows(notes, labels)])
    else:
        say(
            f'nothing is written about {run.name}; `workbench note {run.name} "…" --tag …` writes something'
        )
