"""Reproduce a figure of a paper: its runs in the store, the figure with its data, and verdicts on the paper's claims."""

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
    NO_TOPICS,
    ONE,
    SEQUENCE,
    Claim,
    Drawing,
    Extent,
    Figure,
    Method,
)
from workbench.papers.figures import get_figure
from workbench.papers.generic import TABLE, format_size, network_for
from workbench.papers.numbers import figure_numbers, measure
from workbench.papers.results import Number, read_results, result_of, write_result
from workbench.papers.shown import show
from workbench.papers.verdicts import FAILS, HOLDS, Verdict, judge, verdict_lines
from workbench.report.drawing import FORMATS
from workbench.report.figures import put_picture
from workbench.report.files import ReportError, checked_formats, put_file
from workbench.runs.execution.compare import RunFailed, Workers
from workbench.runs.execution.memory_check import Planned
from workbench.runs.execution.run import Run
from workbench.runs.execution.sweep import failures, run_groups, warmed
from workbench.runs.spec import SpecError, make_spec
from workbench.runs.store.places import default_store
from workbench.runs.store.status import FINISHED
from workbench.views import Picture


class Reproduction(NamedTuple):
    """A reproduced figure with its runs, its files, and a verdict on each claim that the paper makes about it."""

    figure: Figure | Drawing
    quick: bool
    extent: Extent | None  # the part that was run; None without runs
    cells: list[Planned]
    runs: list[Run]  # one per cell
    reduced: list[str]  # reductions of the published extent, a clause each
    failures: list[str]  # a sentence for each failed run
    files: list[Path]
    verdicts: list[Verdict]
    numbers: list[Number]  # means of each method; empty without runs

    @property
    def left_out(self) -> list[str]:
        """Return sentences on what was not run as published, and on runs that failed; [] if nothing is missing."""
        return [f"Not the published extent: {'; '.join(self.reduced)}."] * bool(
            self.reduced
        ) + self.failures

    @property
    def command(self) -> str:
        """Return the command that reproduces the figure with the same seeds, iterations and topics."""
        words = ["workbench reproduce", self.figure.name] + ["--quick"] * self.quick
        if self.extent is not None:
            default = _flags(self.figure.quick if self.quick else self.figure.full)
            words += [flag for flag in _flags(self.extent) if flag not in default]
        return " ".join(words)


def _flags(extent: Extent) -> list[str]:
    """Return the flags of the command line that ask for an extent."""
    topics = ",".join(map(str, extent.n_topics))
    return [
        f"--seeds {extent.n_seeds}",
        f"--iterations {extent.n_iterations}",
        f"--topics {topics}",
    ]


def reproduce(
    name: str,
    folder: str | Path = "out/reproduce",
    store: str | Path | None = None,
    quick: bool = False,
    seeds: int | None = None,
    iterations: int | None = None,
    jobs: int = 2,
    formats: str | Iterable[str] = FORMATS,
    progress: bool = True,
    topics: Iterable[int] | None = None,
    ledger: str | Path | None = None,
) -> Reproduction:
    """Reproduce a figure of a paper: make the missing runs, write the figure, its data, and which claims of the paper hold.

    Parameters
    ----------
    folder : path
        Receives ``<name>`` with the endings of the formats, ``.txt`` (caption), ``.csv`` (data) and ``-verdict.txt``.
    store : path, optional
        ``WORKBENCH_STORE`` or ``./runs`` by default. Figures of the same runs share them.
    quick : bool
        A reduced version, in two minutes; the caption lists the reductions.
    seeds, iterations : int, optional
        Another extent than the paper's. Seed s decides the split and the initial state of run s of each engine. Figures with
        a budget of steps have no number of iterations.
    jobs : int
        Number of parallel runs.
    topics : whole numbers, optional
        Other numbers of topics, for a figure that has several.
    ledger : path, optional
        JSON file in which the result of this figure and extent is replaced; none by default. See `workbench.papers.results`.

    Raises
    ------
    ReportError, CorpusError, RunFailed, SpecError, StoreError
        An unknown figure or format, a folder or ledger that cannot be written, a data set that is not on this machine; all runs
        failed.
    """
    figure, formats = get_figure(name), checked_formats(formats, FORMATS, "figures are written")
    SpecError.whole("jobs", jobs, 1)
    if ledger is not None:
        read_results(ledger)  # fail before hours of runs
    if isinstance(figure, Drawing):
        if (seeds, iterations, topics) != (None, None, None):
            raise SpecError(f"{name} needs no run; leave seeds, iterations and topics out")
        return _write_files(
            *_compute_drawing(figure, quick), _create_folder(folder), formats, ledger
        )
    extent = _extent(figure, quick, seeds, iterations, topics)
    folder = _create_folder(folder)  # fail before hours of runs
    store = default_store() if store is None else Path(store)
    corpora = {corpus: load_corpus(corpus) for corpus in figure.corpora}
    left_out = reduced(figure, extent, max(corpus.n_documents for corpus in corpora.values()))
    corpora = {name: some_documents(corpus, extent.n_documents) for name, corpus in corpora.items()}
    if progress:
        cost = format_duration(figure.cost(extent))
        print(
            f"{figure.name}: {figure.n_runs(extent)} runs, roughly {cost} on two cores",
            file=sys.stderr,
        )
    computed = run_groups(
        stages(figure, corpora, extent, store),
        store,
        Workers(jobs, jobs),
        progress,
        ", ".join(map(repr, corpora.values())),
    )
    cells, runs = map(list, zip(*computed, strict=True))
    failed_runs = failures(runs) or [
        f"run '{run.name}' has {run.status()['iteration']} of {run.spec.length} iterations: the same command continues it"
        for run in dict.fromkeys(runs)
        if run.state != FINISHED
    ]
    if not any(run.status()["iteration"] for run in runs):
        raise RunFailed(failed_runs[0] if failed_runs else f"no run of {figure.name} has started")
    results = measure(figure, cells, runs, corpora)
    reproduction = Reproduction(
        figure,
        quick,
        extent,
        cells,
        runs,
        left_out,
        failed_runs,
        [],
        judge(figure, results, extent),
        figure_numbers(figure, results),
    )
    picture, lines = show(figure, extent, results, corpora)
    text = caption(reproduction, lines)
    return _write_files(reproduction, picture, text, folder, formats, ledger)


def _write_files(
    reproduction: Reproduction,
    picture: Picture,
    text: str,
    folder: Path,
    formats: list[str],
    ledger: str | Path | None,
) -> Reproduction:
    """Write figure, caption, verdicts, and any ledger entry; return the reproduction with the paths of the written files."""
    name, verdicts = reproduction.figure.name, verdict_lines(reproduction.verdicts)
    lines = [reproduction.figure.title, *reproduction.left_out, "", *verdicts, ""]
    files = [
        *put_picture(picture, folder, formats, 2, text),
        put_file(folder / f"{name}-verdict.txt", "\n".join(lines).encode()),
    ]
    if ledger is not None:
        files.append(write_result(Path(ledger), result_of(reproduction)))
    return reproduction._replace(files=files)


def _create_folder(folder: str | Path) -> Path:
    """Return the folder, created if it is missing."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(
            f"cannot write to {folder}: {error.strerror}; choose another folder"
        ) from error
    return folder


def _compute_drawing(figure: Drawing, quick: bool) -> tuple[Reproduction, Picture, str]:
    """Return the reproduction of a figure that needs no runs, with the picture and the caption."""
    picture, checks = figure.draw(quick)
    picture = replace(picture, name=figure.name, title=figure.title)
    verdicts = [
        Verdict(
            Claim(text, "computed", "", ""),
            HOLDS if holds else FAILS,
            numbers_text,
            math.nan,
            math.nan,
            0,
        )
        for text, holds, numbers_text in checks
    ]
    reproduction = Reproduction(
        figure, quick, None, [], [], [figure.less] * quick, [], [], verdicts, []
    )
    return reproduction, picture, _caption(reproduction, [], [], "Claims and computed numbers:")


def _extent(
    figure: Figure,
    quick: bool,
    seeds: int | None,
    iterations: int | None,
    topics: Iterable[int] | None,
) -> Extent:
    """Return the extent to run: the figure's whole or quick extent, changed by given seeds, iterations and topics."""
    extent = figure.quick if quick else figure.full
    if iterations is not None and extent.n_iterations is None:
        raise SpecError(
            f"{figure.name} has a separate length for each algorithm; leave the iterations out"
        )
    if topics is not None and extent.n_topics == NO_TOPICS:
        raise SpecError(f"the models of {figure.name} have no topics; leave the topics out")
    if topics is not None and extent.n_iterations is not None:
        raise SpecError(
            f"{figure.name} has one number of topics, {extent.n_topics[0]}; leave the topics out"
        )
    return replace(
        extent,
        n_seeds=SpecError.whole("seeds", extent.n_seeds if seeds is None else seeds, 1),
        n_iterations=extent.n_iterations
        if iterations is None
        else SpecError.whole("iterations", iterations, 1),
        n_topics=extent.n_topics
        if topics is None
        else tuple(sorted({SpecError.whole("topics", n_topics, 1) for n_topics in topics})),
    )


def some_documents(corpus: Corpus, n: int | None) -> Corpus:
    """Return n documents of the corpus, drawn with a fixed seed, and the whole vocabulary; for None all documents."""
    if n is None or n >= corpus.n_documents:
        return corpus
    _, sample = hold_out_documents(corpus, fraction=n / corpus.n_documents, seed=0)
    return sample.with_pairs(
        sample.indptr, sample.words, sample.counts, name=f"{corpus.name}, {n} documents"
    )


def corpus_of_seed(figure: Figure, corpus: Corpus, seed: int) -> Corpus:
    """Return the corpus of one seed; where seeds differ in data, with redrawn counts or reduced to one sequence."""
    if figure.of_seed == DRAW and seed:
        return load_corpus(f"{corpus.name}:{DRAW}={seed}")
    if figure.of_seed == SEQUENCE:
        names, indptr, documents = corpus.by_sequence
        if seed >= len(names):
            raise SpecError(
                f"{figure.name} has one run for each of {len(names)} sequences; use at most {len(names)} seeds"
            )
        return replace(
            corpus.of_documents(documents[indptr[seed] : indptr[seed + 1]]),
            name=f"{corpus.name}, {names[seed]}",
        )
    return corpus


def stages(
    figure: Figure, corpora: dict[str, Corpus], extent: Extent, store: Path
) -> Iterator[list[Planned]]:
    """Yield the planned runs with random initial states; then, when finished, the runs that start from their results."""
    parent_of, all_cells = (
        {method.label: method.start for method in figure.methods},
        lay_out_figure(figure, corpora, extent),
    )
    cold_cells = [cell for cell in all_cells if not parent_of[cell.key_values["method"]]]
    yield cold_cells
    finished = {
        (cell.key_values["corpus"], cell.key_values["method"], cell.key_values["seed"]): store
        / cell.spec.name
        for cell in cold_cells
        if Run(store / cell.spec.name).state == FINISHED
    }
    warm_cells = [
        cell._replace(spec=warmed(cell.spec, finished[source], cell.train, cell.test))
        for cell in all_cells
        if (
            source := (
                cell.key_values["corpus"],
                parent_of[cell.key_values["method"]],
                cell.key_values["seed"],
            )
        )
        in finished
    ]
    if warm_cells:
        yield warm_cells


def lay_out_figure(figure: Figure, corpora: dict[str, Corpus], extent: Extent) -> list[Planned]:
    """Return the planned runs of a figure for each corpus and seed; the seed also determines the split."""
    cells = []
    for corpus, documents in corpora.items():
        for seed in range(extent.n_seeds):
            seed_corpus = corpus_of_seed(figure, documents, seed)
            train, test, split = (
                (hold_out_documents(seed_corpus, figure.holdout, seed)[0], None, None)
                if figure.split is None
                else prepare(seed_corpus, figure.holdout, seed, **figure.split)
            )
            for model, method, n_topics in figure.grid(extent):
                n_iterations = extent.iterations(method, n_topics)
                burn_in = (
                    extent.half(method, n_topics) if figure.burn_in is None else figure.burn_in
                )
                averaging = (
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
                    options=averaging | method.options,
                    n_iterations=n_iterations,
                    burn_in=burn_in,
                    snapshot_every=n_iterations,
                    record_every=1
                    if method.n_topics or not figure.n_records
                    else max(1, n_iterations // figure.n_records),
                    **(
                        {"stop_on": "steps", "stop_tolerance": extent.steps}
                        if method.n_topics and extent.steps
                        else {}
                    ),
                    **_model(figure, model, method, n_topics, train.n_words),
                )
                key_values = {
                    "corpus": corpus,
                    "model": model,
                    "method": method.label,
                    "n_topics": 0 if method.n_topics else n_topics,
                    "seed": seed,
                }
                cells.append(Planned(spec, train, test, key_values))
    return cells


def _model(figure: Figure, model: str, method: Method, n_topics: int, n_words: int) -> dict:
    """Return a run's model settings: a network; number of topics and priors of LDA; or nothing for the HDP's defaults."""
    if model:
        return {"model": network_for(model, n_topics)}
    settings = get_engine(method.engine).model.takes
    priors = (
        {"beta": figure.beta if figure.beta_total is None else figure.beta_total / n_words}
        if "beta" in settings
        else {}
    )
    if method.alpha:
        priors["alpha"] = {ALL: 0.1 / n_topics, EACH: 0.1, ONE: 1.0}[method.alpha]
    return ({"n_topics": n_topics} if "n_topics" in settings else {}) | priors


def reduced(figure: Figure, extent: Extent, n_documents: int = 0) -> list[str]:
    """Return, as one clause each, in which respects an extent is smaller than the published one."""
    full, parts = figure.full, []
    if extent.n_documents != full.n_documents:
        parts.append(
            f"{figure.documents.format(n=extent.n_documents, whole=n_documents)}, drawn at random"
        )
    if extent.n_topics != full.n_topics and figure.shows == TABLE:
        our_sizes, paper_sizes = (
            "; ".join(f"K={n}, {format_size('PAM', n)}" for n in one_extent.n_topics)
            for one_extent in (extent, full)
        )
        parts.append(f"sizes {our_sizes}, not {paper_sizes}")
    elif extent.n_topics != full.n_topics:
        our_sizes, paper_sizes = (
            ", ".join(map(str, one_extent.n_topics)) for one_extent in (extent, full)
        )
        parts.append(f"{our_sizes} topics, not {paper_sizes}")
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
    # 1 stands for a paper that gives no number of runs
    if extent.n_seeds != full.n_seeds and full.n_seeds > 1:
        parts.append(
            f"{extent.n_seeds} run{'s' * (extent.n_seeds > 1)} of {figure.each}, not {full.n_seeds}"
        )
    return parts


def caption(reproduction: Reproduction, lines: list[str]) -> str:
    """Return the caption of a figure: the meaning of its numbers, its runs, and the verdict on each claim."""
    figure, last = reproduction.figure, reproduction.extent.n_seeds - 1
    others = [
        method.label
        for method in figure.methods
        if figure.of_paper and method.label not in (*figure.of_paper, *reproduction.extent.without)
    ]
    seed_meaning = {DRAW: "births drawn", SEQUENCE: "sequence"}.get(figure.of_seed, "split")
    return _caption(
        reproduction,
        ["Means over seeds ± one standard error."] * bool(last)
        + [f"Not in the paper: {', '.join(others)}."] * bool(others),
        [
            *lines,
            *(
                [f"held-out tokens: {100 * figure.holdout:g} {figure.held_out}"]
                * bool(figure.held_out)
            ),
            f"seeds of {'unseen documents' if figure.split is None else seed_meaning} "
            f"and start: {f'0 to {last}' if last else '0'}",
            "",
        ],
        f"Claims of the paper and results of these runs (first minus second, paired {figure.paired}; "
        "± is one standard error; a verdict needs the 95 % interval on one side):",
    )


def _caption(
    reproduction: Reproduction, meaning: list[str], numbers: list[str], claims: str
) -> str:
    """Return a caption: title, meaning of the numbers, the numbers, ``claims`` with the verdicts, and the command."""
    figure = reproduction.figure
    lines = [
        figure.title,
        f"After {figure.paper}{figure.where}.",
        figure.about,
        *meaning,
        *filter(None, [figure.note]),
        *reproduction.left_out,
        "",
        *numbers,
        claims,
        *verdict_lines(reproduction.verdicts),
        "",
        "Made by:",
        f"  {reproduction.command}",
        "",
    ]
    return "\n".join(lines)
