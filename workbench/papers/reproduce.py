"""A figure made again: its runs in the store, the figure with its data, and what the paper said held against it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from workbench.corpus import Corpus, hold_out_documents, load_corpus
from workbench.measures import each_run, spec_of
from workbench.papers import generic_made, hdp_made
from workbench.papers.figures import CURVES, Extent, PaperFigure, get_figure
from workbench.papers.generic import GenericExtent, GenericFigure
from workbench.papers.hdp import HdpExtent, HdpFigure
from workbench.papers.reproduction import Reproduction, verdict_lines
from workbench.papers.verdicts import judge
from workbench.report.captions import settings, statistics
from workbench.report.drawing import FORMATS
from workbench.report.figures import checked_formats, put_picture
from workbench.report.files import ReportError, put_file
from workbench.report.gathering import Gathered
from workbench.report.pictures import Picture, pictures
from workbench.runs.execution.compare import RunFailed
from workbench.runs.execution.forecast import forecast
from workbench.runs.execution.grid import Cell, lay_out
from workbench.runs.execution.sweep import failures, open_cells, run_cells, tabulate
from workbench.runs.spec import SpecError, whole
from workbench.runs.store.places import default_store
from workbench.views import perplexity_curves

SEEDED = ("held-out tokens", "inference seeds")
"""Settings that are told in a line of their own, because they go together here."""


def reproduce(
    name: str, folder="out/reproduce", store=None, quick: bool = False, seeds: int | None = None, iterations: int | None = None,
    jobs: int = 2, formats=FORMATS, progress: bool = True, topics: Iterable[int] | None = None,
) -> Reproduction:
    """Makes a figure of a paper again: runs what is missing in the store, and writes figure, data and verdicts.

    Parameters
    ----------
    name : str
        Of `workbench.papers.figures.FIGURES`.
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

    Raises
    ------
    ReportError
        An unknown figure or format, or a folder that cannot be written.
    CorpusError
        The data set is not on this machine.
    RunFailed
        When every run failed.
    SpecError, StoreError
    """
    figure, formats = get_figure(name), checked_formats(formats)
    whole("jobs", jobs, 1)
    extent = _extent(figure, quick, seeds, iterations, topics)
    folder = _folder(folder)  # hours before it is written to
    home = default_store() if store is None else Path(store)
    if isinstance(figure, (HdpFigure, GenericFigure)):
        corpora = {corpus: some_documents(load_corpus(corpus), extent.n_documents) for corpus in figure.corpora}
        maker, show = (
            (hdp_made, hdp_made.show) if isinstance(figure, HdpFigure) else
            (generic_made, partial(generic_made.show, corpora=corpora))
        )
        cells, runs = maker.run_figure(figure, corpora, extent, home, jobs, progress)
        left_out = maker.reduced(figure, extent)
    else:
        show = _show
        corpus = load_corpus(figure.corpus)
        documents = some_documents(corpus, extent.n_documents)
        cells = lay_out_figure(figure, documents, extent)
        runs = open_cells(cells, home, jobs)
        if progress:
            print(f"{name}, {documents!r}: {forecast(cells, runs, jobs)}", file=sys.stderr)
        run_cells(runs, jobs, progress)
        left_out = _reduced(figure, extent, documents.n_documents, corpus.n_documents)
    made = Reproduction(figure, quick, extent, cells, runs, left_out, failures(runs), [], [])
    if not any(run.status()["iteration"] for run in runs):
        raise RunFailed(made.failures[0] if made.failures else f"no run of {figure.name} has begun")
    picture, caption, made = show(made)
    files = put_picture(picture, folder, formats, 2, caption)
    return made._replace(files=[*files, put_file(folder / f"{figure.name}-verdict.txt", made.verdict_text.encode())])


def _extent(
    figure: PaperFigure | HdpFigure | GenericFigure, quick: bool, seeds, iterations, topics
) -> Extent | HdpExtent | GenericExtent:
    """What is run: all of it, or less, or what was asked for."""
    extent = figure.quick if quick else figure.full
    has = {of.name for of in fields(extent)}
    if iterations is not None and "n_iterations" not in has:
        raise SpecError(f"{figure.name} has a length for each algorithm; leave the iterations out")
    if topics is not None and "n_topics" not in has:
        raise SpecError(f"{figure.name} has one number of topics, {figure.n_topics}; leave the topics out")
    asked = {"n_seeds": whole("seeds", extent.n_seeds if seeds is None else seeds, 1)}
    if iterations is not None:
        asked["n_iterations"] = whole("iterations", iterations, 1)
    if topics is not None:
        asked["n_topics"] = tuple(sorted({whole("topics", n_topics, 1) for n_topics in topics}))
    return replace(extent, **asked)


def _folder(folder) -> Path:
    """The folder, made if it is not there."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(f"cannot write to {folder}: {error.strerror}; choose another folder") from error
    return Path(folder)


def lay_out_figure(figure: PaperFigure, documents: Corpus, extent: Extent) -> list[Cell]:
    """The runs of a figure as cells: every engine with every seed, which is that of the split as well."""
    return [
        cell for seed in range(extent.n_seeds)
        for cell in lay_out(
            documents, {"engine": figure.engines, "seed": [seed], "split_seed": [seed]}, options=figure.options,
            n_topics=figure.n_topics, alpha=figure.alpha, beta=figure.beta, n_iterations=extent.n_iterations,
            burn_in=figure.burn_in, holdout=figure.holdout, top_words=figure.top_words, singletons=figure.singletons,
            snapshot_every=extent.n_iterations,
        )
    ]


def some_documents(corpus: Corpus, n: int | None) -> Corpus:
    """So many documents drawn at random, always the same ones, with the whole vocabulary; None for all."""
    if n is None or n >= corpus.n_documents:
        return corpus
    _, chosen = hold_out_documents(corpus, fraction=n / corpus.n_documents, seed=0)
    return chosen.with_pairs(chosen.indptr, chosen.words, chosen.counts, name=f"{corpus.name}, {n} documents")


def _reduced(figure: PaperFigure, extent: Extent, n_documents: int, n_whole: int) -> list[str]:
    """What was left out of what is published, a clause each."""
    full, parts = figure.full, []
    if extent.n_documents != full.n_documents:
        parts.append(f"{n_documents:,} of {n_whole:,} documents, drawn at random")
    if extent.n_iterations != full.n_iterations:
        parts.append(f"{extent.n_iterations} iterations, not {full.n_iterations}")
    if extent.n_seeds != full.n_seeds:
        parts.append(f"{extent.n_seeds} run{'s' * (extent.n_seeds > 1)} of each engine, not {full.n_seeds}")
    return parts


def _show(made: Reproduction) -> tuple[Picture, str, Reproduction]:
    """The picture of whatever the runs have committed, its caption, and the same with its verdicts."""
    begun = [(cell, run) for cell, run in zip(made.cells, made.runs, strict=True) if run.status()["iteration"]]
    runs = each_run(tabulate(*map(list, zip(*begun, strict=True))))
    found = [Gathered(run, spec_of(run), (cell.train, cell.test)) for run, (cell, _) in zip(runs, begun, strict=True)]
    made = made._replace(verdicts=judge(made.figure.claims, runs))
    picture = next(one for one in pictures(runs) if one.name == made.figure.shows)
    panels = [perplexity_curves(runs)] if made.figure.shows == CURVES else picture.panels
    picture = replace(picture, name=made.figure.name, panels=panels)
    return picture, _caption(made, found), made


def _caption(made: Reproduction, found: list[Gathered]) -> str:
    figure, last = made.figure, made.extent.n_seeds - 1
    extra = [name for name in figure.engines if name not in figure.papers_engines]
    lines = [
        made.title, f"After {figure.paper}.",
        "Held-out perplexity: the state's for engines that do not sample, the running average after burn-in for those that do.",
    ]
    lines += ["Means over the seeds, with one standard error to either side."] if last else []
    lines += [f"Not in the paper: {', '.join(extra)}."] if extra else []
    lines += [figure.note] if figure.note else []
    lines += [*made.left_out, ""]
    lines += [f"{what}: {value}" for what, value in [*settings(found), *statistics(found)] if what not in SEEDED]
    lines += [
        f"held-out tokens: {100 * figure.holdout:g} % of the tokens of the corpus, drawn anew for each seed",
        "seeds of split and start: " + (f"0 to {last}" if last else "0"), "",
        "What the paper says, and what these runs say (first minus second, paired by seed; ± is one standard error, and a "
        "verdict needs the 95 % interval on one side):", *verdict_lines(made.verdicts), "", "Made by:", f"  {made.command}",
    ]
    return "\n".join(lines) + "\n"
