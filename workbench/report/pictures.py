"""Which figures a set of runs makes: panels, caption, and the data behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import (
    bound_of,
    data_of,
    final,
    in_papers_order,
    labels_of,
    paired_differences,
    spec_of,
    top_words,
    topic_sizes,
    topics_by_size,
)
from workbench.models import VARIABLES
from workbench.report.drawing import option
from workbench.report.inference_pictures import inference_pictures
from workbench.report.networks import network_pictures
from workbench.report.picture import Picture, band_told, by_label, file_names, records, shown_of
from workbench.report.topic_captions import sizes_told, words_told
from workbench.report.topic_pictures import topic_pictures
from workbench.views import (
    bound_curves,
    differences_view,
    final_perplexities,
    objective_curves,
    objectives_of,
    perplexity_curves,
    state_and_average,
    topic_size_curves,
    topic_words_view,
)
from workbench.views.style import looks
from workbench.views.topics import ACROSS, ROW, words_height

CLOCKS = {"iteration": "iterations", "elapsed": "seconds", "updates": "updates", "steps": "steps"}
PERPLEXITIES = ("test_perplexity", "test_perplexity_state", "test_perplexity_average")
MOST_TOPICS, MOST_WORDS, FEWEST_WORDS, TABLE_WORDS = 40, 10, 4, 20
PAGE = 8.5
"""Height that a figure of words may have, inches: one page of paper."""


def pictures(
    runs: list[xr.Dataset], columns: int = 2, corpora: Mapping[str, Corpus] | None = None
) -> list[Picture]:
    """The figures of the runs, drawn apart for each data: perplexities of different data share no axis.

    Final perplexities, their paired differences (of repeated runs) and their curves against each clock (where something is
    held out), the bound and its kin, whatever is learnt beside topics (see `workbench.report.inference_pictures`), networks,
    topic sizes, and of one run a label that has its counts the topics' words and map; with ``corpora`` (training tokens by
    their hash) also coherence and what topics two runs share (see `workbench.report.topic_pictures`).
    """
    corpora = corpora or {}
    by_data: dict[str, list[xr.Dataset]] = {}
    for run, data in zip(runs, data_of(runs), strict=True):
        by_data.setdefault(data, []).append(run)
    if len(by_data) == 1:
        return _pictures(in_papers_order(runs), columns, corpora)
    return [
        replace(
            picture, name=f"{picture.name}-{short}", title=f"{picture.title}, {data}", caption=f"On {data}. {picture.caption}",
            runs=picture.runs or own,
        )
        for (data, own), short in zip(by_data.items(), file_names(by_data), strict=True)
        for picture in _pictures(in_papers_order(own), columns, corpora)
    ]


def _pictures(runs: list[xr.Dataset], columns: int, corpora: Mapping[str, Corpus]) -> list[Picture]:
    found = []
    if any("test_perplexity" in run for run in runs):
        clocks = [clock for clock in CLOCKS if clock != "steps" or _steps_matter(runs)]
        found += [_ordering(runs), *_differences(runs), *(_perplexity(runs, clock) for clock in clocks)]
        found.append(_state_and_average(runs))
    objectives = objectives_of(runs)
    if "bound" in objectives:
        found.append(_bound(runs))
    if others := [name for name in objectives if name != "bound"]:
        found.append(_objectives(runs, others))
    return [
        *found, *inference_pictures(runs), *network_pictures(runs), _sizes(runs), *_words(runs, columns),
        *topic_pictures(runs, columns, corpora),
    ]


def _steps_matter(runs: list[xr.Dataset]) -> bool:
    """Are steps something else than iterations in another unit?"""
    return any("steps" in run for run in runs) or len({spec_of(run).model["n_topics"] for run in runs}) > 1


def _ordering(runs: list[xr.Dataset]) -> Picture:
    last = final(runs)
    repeated = len(set(labels_of(runs))) < len(runs)
    how = "large marks are means over the runs of a label with one standard error to either side, small ones its runs" if (
        repeated) else "one run each, so no standard error"
    names = (*PERPLEXITIES, "iteration", "elapsed", "cpu_time", "updates")
    return Picture(
        "ordering", "Final perplexity of each engine",
        f"Held-out perplexity at the last iteration (running average for engines that sample, state for the others): {how}. "
        "Engines in the order of Welling, Teh & Kappen (2008): variational, hybrid, Gibbs; then those of the HDP.",
        [final_perplexities(runs)], ["label", "run", "seed", *names],
        [
            [str(last["label"].values[at]), str(last["run"].values[at]), int(last["seed"].values[at])]
            + [last[name].values[at].item() for name in names]
            for at in range(last.sizes["run"])
        ],
        legend=False, height=0.5 + 0.26 * len(set(labels_of(runs))),
    )


def _differences(runs: list[xr.Dataset]) -> list[Picture]:
    """Nothing where no difference has an interval: labels with one run each."""
    found = paired_differences(runs)
    names = ("difference", "difference_se", "difference_low", "difference_high", "n_pairs")
    if not np.isfinite(found["difference_low"].values[found["label"].values != found["reference"].values]).any():
        return []
    view = differences_view(runs)
    return [Picture(
        "differences", "Paired differences of held-out perplexity",
        f"How much higher the final held-out perplexity is than that of {found.attrs['reference']}, run by run on the same "
        "split with the same seed: means over these pairs with Student's 95 % interval, which is over seeds and splits, not "
        "over documents. Left of the dotted line is better.",
        [view], ["label", "reference", *names],
        [[str(label), str(found["reference"].sel(label=label).item()), *(found[name].sel(label=label).item() for name in names)]
         for label in found["label"].values],
        legend=False, height=option(view, "fig_inches")[1],
    )]


def _perplexity(runs: list[xr.Dataset], clock: str) -> Picture:
    against = CLOCKS[clock]
    how = "" if clock == "iteration" else f" {VARIABLES[clock].name}: {VARIABLES[clock].meaning}."
    return Picture(
        f"perplexity-by-{against}",
        f"Held-out perplexity against {against}",
        "Held-out perplexity of the current state (first panel) and of the running average of p(w|d) after burn-in (second "
        f"panel) against {against}.{how}{band_told(runs)}",
        [perplexity_curves(runs, which, clock) for which in ("state", "average")],
        *records(runs, [*PERPLEXITIES, *(["steps"] if clock == "steps" else [])]),
    )


def _state_and_average(runs: list[xr.Dataset]) -> Picture:
    scored = {label: own for label, own in by_label(runs).items() if "test_perplexity" in own[0]}
    shown, left_out = shown_of(scored)
    return Picture(
        "state-and-average", "State and running average of each engine",
        "Held-out perplexity of the current state beside that of the running average of p(w|d), a panel for each label, "
        "from the end of burn-in on (until then both are the same): the gap is what averaging gains."
        f"{band_told(runs)}{left_out}",
        [state_and_average(own, title=label) for label, own in shown.items()],
        *records(runs, PERPLEXITIES),
    )


def _bound(runs: list[xr.Dataset]) -> Picture:
    names = [name for name in ("bound", "collapsed_bound") if any(name in run for run in runs)]
    meanings = " ".join(f"{name}: {VARIABLES[name].meaning} ({VARIABLES[name].unit})." for name in names)
    collapsed = " Of engines that have both, the collapsed bound is drawn, which is the one to compare with other collapsed " \
        "engines, and the legend says so." if any(bound_of(run) == "collapsed_bound" for run in runs) else ""
    return Picture(
        "bound", "Variational bounds",
        "Bounds divided by the number of training tokens, against iterations and against seconds of inference; engines without "
        f"a bound are not drawn.{collapsed} {meanings}{band_told(runs)}",
        [bound_curves(runs, clock) for clock in ("iteration", "elapsed")],
        *records(runs, [*names, "bound_per_token"]),
    )


def _objectives(runs: list[xr.Dataset], names: list[str]) -> Picture:
    meanings = " ".join(f"{name}: {VARIABLES[name].meaning} ({VARIABLES[name].unit})." for name in names)
    return Picture(
        "objectives", "Log joint and objective",
        f"What the engines that sample climb, one quantity a panel; they are not comparable across panels. "
        f"{meanings}{band_told(runs)}",
        [objective_curves(runs, name) for name in names],
        *records(runs, names),
    )


def _sizes(runs: list[xr.Dataset]) -> Picture:
    first = {label: own[0] for label, own in by_label(runs).items()}
    style, (shown, left_out) = looks(first), shown_of(first)
    rows = [
        [label, run.attrs["name"], spec_of(run).seed, int(iteration), topic, float(tokens)]
        for label, run in first.items()
        for iteration, sizes in zip(run["iteration"].values, run["n_k"].values, strict=True)
        for topic, tokens in zip(run["topic"].values.tolist(), sizes, strict=True)
    ]
    return Picture(
        "topic-sizes", "Topic sizes",
        f"{sizes_told('one run of each label')}{left_out}",
        [topic_size_curves(run, style[label].colour, label) for label, run in shown.items()],
        ["label", "run", "seed", "iteration", "topic", "n_k"], rows, legend=False, runs=list(first.values()),
    )


def _words(runs: list[xr.Dataset], columns: int) -> list[Picture]:
    """One figure a label: the words of its first run that has its counts."""
    with_counts = {
        label: next((run for run in own if "phi" in run and "n_kw" in run), None) for label, own in by_label(runs).items()
    }
    style, across = looks(with_counts), ACROSS if columns == 2 else 2
    found = []
    for (label, run), short in zip(with_counts.items(), file_names(with_counts), strict=True):
        if run is None:
            continue
        sizes, words = topic_sizes(run), top_words(run, TABLE_WORDS)
        largest = topics_by_size(run)
        shown = largest[:MOST_TOPICS]
        room = PAGE / ROW / math.ceil(len(shown) / across) - 1.8
        n_words = min(max(int(room), FEWEST_WORDS), MOST_WORDS, words.sizes["rank"])
        fewer = f" The {len(shown)} largest of {len(largest)} topics; all are in the table." if largest != shown else ""
        rows = [
            [label, run.attrs["name"], spec_of(run).seed, topic, float(sizes["share"].sel(topic=topic)), rank, str(word), phi]
            for topic in largest
            for rank, word, phi in zip(
                words["rank"].values.tolist(), words["word"].sel(topic=topic).values,
                words["phi"].sel(topic=topic).values.tolist(), strict=True,
            )
        ]
        found.append(Picture(
            f"topic-words-{short}", f"Words of the topics, {label}",
            f"{words_told(run)}{fewer}",
            [topic_words_view(run, n_words, shown, across=across, colour=style[label].colour)],
            ["label", "run", "seed", "topic", "share", "rank", "word", "phi"], rows, legend=False,
            height=words_height(len(shown), n_words, across) + 0.1, runs=[run],
        ))
    return found
