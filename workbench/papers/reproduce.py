"""A figure made again: its runs in the store, the figure with its data, and verdicts on what the paper claims."""

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from workbench.corpus import Corpus, hold_out_documents, load_corpus, prepare
from workbench.engines import get_engine
from workbench.engines.options import options_of
from workbench.numbers import format_duration
from workbench.papers.figure import (
    ALL,
    DRAW,
    EACH,
    HITS,
    NO_TOPICS,
    ONE,
    SEQUENCE,
    Claim,
    Drawing,
    Extent,
    Figure,
    Method,
)
from workbench.papers.figure_numbers import figure_numbers
from workbench.papers.figures import get_figure
from workbench.papers.generic import TABLE, format_size, network_for
from workbench.papers.numbers import measure
from workbench.papers.results import Number, read_results, result_of, write_result
from workbench.papers.shown import show
from workbench.papers.verdicts import FAILS, HOLDS, Verdict, judge, verdict_lines
from workbench.report.drawing import FORMATS
from workbench.report.figures import checked_formats, put_picture
from workbench.report.files import ReportError, put_file
from workbench.runs.execution.compare import RunFailed
from workbench.runs.execution.forecast import forecast
from workbench.runs.execution.memory_check import Planned
from workbench.runs.execution.run import Run, make_runs
from workbench.runs.execution.sweep import failures, run_cells, warmed
from workbench.runs.spec import SpecError, make_spec, whole
from workbench.runs.store.places import default_store
from workbench.runs.store.status import FINISHED


class Reproduction(NamedTuple):
    """A figure with what it was made from."""

    figure: Figure | Drawing
    quick: bool
    extent: Extent | None  # what was run of it; None where it needs no run
    cells: list[Planned]
    runs: list[Run]  # one a cell
    reduced: list[str]  # what was left out of what is published, a clause each
    failures: list[str]  # a sentence for each run that failed
    files: list[Path]
    verdicts: list[Verdict]
    numbers: list[Number]  # means of each method; none of a figure that needs no run

    @property
    def left_out(self) -> list[str]:
        """What was left out and which runs failed, in sentences; nothing where it is all there."""
        return [f"Not the published extent: {'; '.join(self.reduced)}."] * bool(
            self.reduced
        ) + self.failures

    @property
    def command(self) -> str:
        """What makes it again."""
        words = ["workbench reproduce", self.figure.name] + ["--quick"] * self.quick
        if self.extent is None:
            return " ".join(words)
        extent, base = self.extent, self.figure.quick if self.quick else self.figure.full
        words += [f"--seeds {extent.n_seeds}"] if extent.n_seeds != base.n_seeds else []
        words += (
            [f"--iterations {extent.n_iterations}"]
            if extent.n_iterations != base.n_iterations
            else []
        )
        words += (
            [f"--topics {','.join(map(str, extent.n_topics))}"]
            if extent.n_topics != base.n_topics
            else []
        )
        return " ".join(words)


def reproduce(
    name: str,
    folder="out/reproduce",
    store=None,
    quick: bool = False,
    seeds: int | None = None,
    iterations: int | None = None,
    jobs: int = 2,
    formats=FORMATS,
    progress: bool = True,
    topics: Iterable[int] | None = None,
    ledger=None,
) -> Reproduction:
    """Makes a figure of a paper again: runs what is missing in the store, and writes figure, data and verdicts.

    Parameters
    ----------
    folder : path
        Gets ``<name>`` with the endings of the formats, ``.txt`` (caption), ``.csv`` (data) and ``-verdict.txt``.
    store : path, optional
        ``WORKBENCH_STORE`` or ``./runs`` by default. Figures of the same runs share them.
    quick : bool
        Less of it, in two minutes; the caption says what was left out.
    seeds, iterations : int, optional
        Another extent than the paper's. Seed s decides the split and the start of run s of each engine. Figures that
        are budgeted by steps have no number of iterations.
    jobs : int
        Runs side by side.
    topics : whole numbers, optional
        Other numbers of topics, for a figure that has several.
    ledger : path, optional
        JSON file whose result of this figure, as much of it as is run, becomes that of these runs; none by default. See
        `workbench.papers.results`.

    Raises
    ------
    ReportError, CorpusError, RunFailed, SpecError, StoreError
        An unknown figure or format, a folder or ledger that cannot be written, a data set that is not on this machine; every
        run failed.
    """
    figure, formats = get_figure(name), checked_formats(formats)
    whole("jobs", jobs, 1)
    if ledger is not None:
        read_results(ledger)  # what is wrong with it is said before hours of runs
    if isinstance(figure, Drawing):
        if (seeds, iterations, topics) != (None, None, None):
            raise SpecError(f"{name} needs no run; leave seeds, iterations and topics out")
        return _entered(_drawn(figure, _made(folder), quick, formats), ledger)
    extent = _extent(figure, quick, seeds, iterations, topics)
    folder = _made(folder)  # hours before it is written to
    store = default_store() if store is None else Path(store)
    corpora = {corpus: load_corpus(corpus) for corpus in figure.corpora}
    left_out = reduced(figure, extent, max(corpus.n_documents for corpus in corpora.values()))
    corpora = {name: some_documents(corpus, extent.n_documents) for name, corpus in corpora.items()}
    cells, runs = [], []
    if progress:
        cost = format_duration(figure.cost(extent))
        print(
            f"{figure.name}: {figure.n_runs(extent)} runs, roughly {cost} on two cores",
            file=sys.stderr,
        )
    for stage in stages(figure, corpora, extent, store):
        opened = make_runs(store, stage, jobs)
        cells, runs = [*cells, *stage], [*runs, *opened]
        if progress:
            print(
                f"{', '.join(map(repr, corpora.values()))}: {forecast(stage, opened, jobs)}",
                file=sys.stderr,
            )
        run_cells(opened, jobs, progress)
    failed = failures(runs)
    if not any(run.status()["iteration"] for run in runs):
        raise RunFailed(failed[0] if failed else f"no run of {figure.name} has begun")
    measured = measure(figure, cells, runs, corpora)
    made = Reproduction(
        figure,
        quick,
        extent,
        cells,
        runs,
        left_out,
        failed,
        [],
        judge(figure, measured, extent),
        figure_numbers(figure, measured),
    )
    picture, lines = show(figure, extent, measured, corpora)
    verdicts = "\n".join([figure.title, *made.left_out, "", *verdict_lines(made.verdicts)]) + "\n"
    files = put_picture(picture, folder, formats, 2, caption(made, lines))
    return _entered(
        made._replace(
            files=[*files, put_file(folder / f"{figure.name}-verdict.txt", verdicts.encode())]
        ),
        ledger,
    )


def _entered(made: Reproduction, ledger) -> Reproduction:
    """The same, with its result in the ledger, where one is given."""
    return (
        made
        if ledger is None
        else made._replace(files=[*made.files, write_result(Path(ledger), result_of(made))])
    )


def _made(folder) -> Path:
    """The folder, made where it is not there."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(
            f"cannot write to {folder}: {error.strerror}; choose another folder"
        ) from error
    return folder


def _drawn(figure: Drawing, folder: Path, quick: bool, formats: list[str]) -> Reproduction:
    """A figure that needs no run, with its verdicts."""
    picture, checked = figure.draw(quick)
    verdicts = [
        Verdict(
            Claim(each.says, "computed", "", ""),
            HOLDS if each.holds else FAILS,
            each.measured,
            math.nan,
            math.nan,
            0,
        )
        for each in checked
    ]
    made = Reproduction(figure, quick, None, [], [], [figure.less] * quick, [], [], verdicts, [])
    lines = verdict_lines(verdicts)
    text = (
        "\n".join(
            [
                figure.title,
                f"After {figure.paper}{figure.where}.",
                figure.about,
                figure.note,
                *made.left_out,
                "",
                "What is claimed, and what was computed:",
                *lines,
                "",
                "Made by:",
                f"  {made.command}",
            ]
        )
        + "\n"
    )
    files = put_picture(picture, folder, formats, 2, text)
    verdict = "\n".join([figure.title, *made.left_out, "", *lines]) + "\n"
    return made._replace(
        files=[*files, put_file(folder / f"{figure.name}-verdict.txt", verdict.encode())]
    )


def _extent(figure: Figure, quick: bool, seeds, iterations, topics) -> Extent:
    """What is run: all of it, or less, or what was asked for."""
    extent = figure.quick if quick else figure.full
    if iterations is not None and extent.n_iterations is None:
        raise SpecError(f"{figure.name} has a length for each algorithm; leave the iterations out")
    if topics is not None and extent.n_topics == NO_TOPICS:
        raise SpecError(f"the models of {figure.name} have no topics; leave the topics out")
    if topics is not None and extent.n_iterations is not None:
        raise SpecError(
            f"{figure.name} has one number of topics, {extent.n_topics[0]}; leave the topics out"
        )
    return replace(
        extent,
        n_seeds=whole("seeds", extent.n_seeds if seeds is None else seeds, 1),
        n_iterations=extent.n_iterations
        if iterations is None
        else whole("iterations", iterations, 1),
        n_topics=extent.n_topics
        if topics is None
        else tuple(sorted({whole("topics", n_topics, 1) for n_topics in topics})),
    )


def some_documents(corpus: Corpus, n: int | None) -> Corpus:
    """So many documents drawn at random, always the same ones, with the whole vocabulary; None for all."""
    if n is None or n >= corpus.n_documents:
        return corpus
    _, chosen = hold_out_documents(corpus, fraction=n / corpus.n_documents, seed=0)
    return chosen.with_pairs(
        chosen.indptr, chosen.words, chosen.counts, name=f"{corpus.name}, {n} documents"
    )


def corpus_of_seed(figure: Figure, corpus: Corpus, seed: int) -> Corpus:
    """What the runs with this seed are on: other births, or another sequence, where each seed has its own."""
    if figure.of_seed == DRAW and seed:
        return load_corpus(f"{corpus.name}:{DRAW}={seed}")
    if figure.of_seed == SEQUENCE:
        names, indptr, documents = corpus.by_sequence
        if seed >= len(names):
            raise SpecError(
                f"{figure.name} has one run for each of {len(names)} sequences; ask for at most {len(names)} seeds"
            )
        return replace(
            corpus.of_documents(documents[indptr[seed] : indptr[seed + 1]]),
            name=f"{corpus.name}, {names[seed]}",
        )
    return corpus


def stages(
    figure: Figure, corpora: dict[str, Corpus], extent: Extent, store: Path
) -> Iterator[list[Planned]]:
    """The cells that begin at random; then, when these have been run, those that begin from their last states."""
    starts, cold = (
        {method.label: method.start for method in figure.methods},
        lay_out_figure(figure, corpora, extent),
    )
    first = [cell for cell in cold if not starts[cell.key_values["method"]]]
    yield first
    ended = {
        (cell.key_values["corpus"], cell.key_values["method"], cell.key_values["seed"]): store
        / cell.spec.name
        for cell in first
        if Run(store / cell.spec.name).state == FINISHED
    }
    begun = [
        cell._replace(spec=warmed(cell.spec, ended[source], cell.train, cell.test))
        for cell in cold
        if (
            source := (
                cell.key_values["corpus"],
                starts[cell.key_values["method"]],
                cell.key_values["seed"],
            )
        )
        in ended
    ]
    if begun:
        yield begun


def lay_out_figure(figure: Figure, corpora: dict[str, Corpus], extent: Extent) -> list[Planned]:
    """The runs of a figure as cells, on each corpus with each seed, which is that of the split as well."""
    cells = []
    for corpus, documents in corpora.items():
        for seed in range(extent.n_seeds):
            own = corpus_of_seed(figure, documents, seed)
            train, test, split = (
                (hold_out_documents(own, figure.holdout, seed)[0], None, None)
                if figure.split is None
                else prepare(own, figure.holdout, seed, **figure.split)
            )
            for model, method, n_topics in figure.grid(extent):
                lasts = extent.iterations(method, n_topics)
                burn_in = (
                    extent.half(method, n_topics) if figure.burn_in is None else figure.burn_in
                )
                averaged = (
                    {"average_after": burn_in}
                    if "average_after" in options_of(get_engine(method.engine))
                    else {}
                )
                spec = make_spec(
                    train,
                    method.engine,
                    test=test,
                    split=split,
                    seed=seed,
                    options=averaged | method.options,
                    n_iterations=lasts,
                    burn_in=burn_in,
                    snapshot_every=lasts,
                    record_every=1
                    if method.n_topics or not figure.n_records
                    else max(1, lasts // figure.n_records),
                    **(
                        {"stop_on": "steps", "stop_tolerance": extent.steps}
                        if method.n_topics and extent.steps
                        else {}
                    ),
                    **_model(figure, model, method, n_topics, train.n_words),
                )
                at = {
                    "corpus": corpus,
                    "model": model,
                    "method": method.label,
                    "n_topics": 0 if method.n_topics else n_topics,
                    "seed": seed,
                }
                cells.append(Planned(spec, train, test, at))
    return cells


def _model(figure: Figure, model: str, method: Method, n_topics: int, n_words: int) -> dict:
    """The network, or the number of topics and the priors of LDA; the engines of the HDP have theirs by themselves."""
    if model:
        return {"model": network_for(model, n_topics)}
    takes = get_engine(method.engine).model.takes
    priors = (
        {"beta": figure.beta if figure.beta_total is None else figure.beta_total / n_words}
        if "beta" in takes
        else {}
    )
    if method.alpha:
        priors["alpha"] = {ALL: 0.1 / n_topics, EACH: 0.1, ONE: 1.0}[method.alpha]
    return ({"n_topics": n_topics} if "n_topics" in takes else {}) | priors


def reduced(figure: Figure, extent: Extent, n_documents: int = 0) -> list[str]:
    """What an extent leaves out of what is published, a clause each; ``n_documents`` that there are."""
    full, parts = figure.full, []
    if extent.n_documents != full.n_documents:
        parts.append(
            f"{figure.documents.format(n=extent.n_documents, whole=n_documents)}, drawn at random"
        )
    if extent.n_topics != full.n_topics and figure.shows == TABLE:
        now, then = (
            "; ".join(f"K={n}, {format_size('PAM', n)}" for n in each.n_topics)
            for each in (extent, full)
        )
        parts.append(f"sizes {now}, not {then}")
    elif extent.n_topics != full.n_topics:
        now, then = (", ".join(map(str, each.n_topics)) for each in (extent, full))
        parts.append(f"{now} topics, not {then}")
    if extent.n_iterations != full.n_iterations:
        parts.append(f"{extent.n_iterations} iterations, not {full.n_iterations}")
    if extent.sweeps != full.sweeps:
        parts.append(
            f"{extent.sweeps[0]} iterations and {extent.sweeps[1]} sweeps, not {full.sweeps[0]} and {full.sweeps[1]}"
        )
    shorter = [
        f"{n} of {label}, not {full.lengths[label]}"
        for label, n in extent.lengths.items()
        if label in full.lengths and n != full.lengths[label] and label not in extent.without
    ]
    if shorter:
        parts.append(f"sweeps: {', '.join(shorter)}")
    if extent.without != full.without:
        parts.append(f"without {' and '.join(extent.without)}")
    if extent.steps != full.steps:
        parts.append(f"{extent.steps:,} steps, not {full.steps:,}")
    # a single run is what a paper has that does not give a number
    if extent.n_seeds != full.n_seeds and full.n_seeds > 1:
        parts.append(
            f"{extent.n_seeds} run{'s' * (extent.n_seeds > 1)} of {figure.each}, not {full.n_seeds}"
        )
    return parts


def caption(made: Reproduction, lines: list[str]) -> str:
    """The caption of a figure: what its numbers are, what was run, and each claim with its verdict."""
    figure, last = made.figure, made.extent.n_seeds - 1
    others = [
        method.label
        for method in figure.methods
        if figure.of_paper and method.label not in (*figure.of_paper, *made.extent.without)
    ]
    seeded = {DRAW: "births drawn", SEQUENCE: "sequence"}.get(figure.of_seed, "split")
    sides = " to either side" * (figure.shows not in (TABLE, HITS))
    return (
        "\n".join(
            [
                figure.title,
                f"After {figure.paper}{figure.where}.",
                figure.about,
                *([f"Means over the seeds, with one standard error{sides}."] if last else []),
                *([f"Not in the paper: {', '.join(others)}."] if others else []),
                *([figure.note] if figure.note else []),
                *made.left_out,
                "",
                *lines,
                *(
                    [f"held-out tokens: {100 * figure.holdout:g} {figure.held_out}"]
                    if figure.held_out
                    else []
                ),
                f"seeds of {'unseen documents' if figure.split is None else seeded} "
                f"and start: {f'0 to {last}' if last else '0'}",
                "",
                f"What the paper says, and what these runs say (first minus second, paired {figure.paired}; "
                f"± is one standard error, "
                "and a verdict needs the 95 % interval on one side):",
                *verdict_lines(made.verdicts),
                "",
                "Made by:",
                f"  {made.command}",
            ]
        )
        + "\n"
    )
