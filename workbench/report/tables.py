"""The numbers of a report as text: rounded, with standard errors, a dash where there is none."""

import json
import math
from itertools import chain

import numpy as np
import xarray as xr

from workbench.measures import (
    data_of,
    describe_moves,
    final,
    hyperparameters,
    labels_of,
    learnt_by,
    mixtures,
    moves,
    perplexity_errors,
    reached_by_all,
    spec_of,
    summary,
    time_to,
    top_words,
    topic_sizes,
    topics_by_size,
)
from workbench.measures.comparison import further_scores
from workbench.measures.intervals import mean_and_error
from workbench.measures.selection import grouped
from workbench.models.networks.levels import DOCUMENT
from workbench.numbers import DASH, format_interval, format_number, format_with_error
from workbench.report.captions import lineage
from workbench.report.commands import command_of
from workbench.report.gathering import Gathered, scores
from workbench.runs.progress import decimals
from workbench.runs.versions import versions
from workbench.views.curves import SHORT

PERPLEXITIES = ("test_perplexity", "test_perplexity_state", "test_perplexity_average")
DIGITS = dict.fromkeys(PERPLEXITIES, 1) | {
    "elapsed": 2,
    "cpu_time": 2,
    "updates": 0,
    "iteration": 0,
    "time_per_update": 1,
    "n_active_topics": 1,
}
LEARNT = {
    "posterior": "learnt, posterior mean",
    "sampled": "learnt, sampled",
    "maximised": "learnt, maximised",
    "fixed": "fixed",
}
MOST_MOVES = 200
"""Moves of a run in the page; the data of the figure have all."""
N_WORDS = 12
MOST_ROWS, MOST_VALUES, VALUE_WORDS = 12, 6, 4
"""Rows of a level of a network, values of one of them, and words of the topic that a value leads to."""
MOST_OPEN = 80
"""Topics that are shown without a click; paper shows all."""
SIZE_BAR, WORD_BAR = 5.0, 4.0
"""Lengths of the bar of the largest topic and of the line under the most probable word, em."""


def label_rows(found: list[Gathered], reference: str | None) -> tuple[list[dict], str, str]:
    """A row for each label, the reference's label, and the perplexity that times are until ("" where there is none).

    Perplexities of different data cannot be compared, so there is none. ``documents`` and ``difference_documents`` are
    intervals over documents, "" without a store; the second where there is a single pair, so no standard error.
    """
    runs, scored = [each.dataset for each in found], scores(found)
    table, errors = summary(runs, reference, scored), perplexity_errors(runs, scored)
    target = reached_by_all(runs) if len(set(data_of(runs))) == 1 else math.nan
    spent, rows = time_to(runs, target), []
    for own in (
        table.assign(errors[["low", "high"]]).to_dataframe().reset_index().to_dict("records")
    ):
        itself, pairs = own["label"] == own["reference"], own["n_pairs"]
        row = {
            "label": own["label"],
            "n_runs": own["n_runs"],
            "n_pairs": DASH if itself or not pairs else pairs,
        }
        fine = decimals(own["test_perplexity"])
        for name, digits in (DIGITS | dict.fromkeys(PERPLEXITIES, fine)).items():
            error = own[f"{name}_se"]
            exact = name in ("iteration", "updates", "n_active_topics") and not error > 0
            row[name] = format_with_error(
                own[name], math.nan if exact else error, 0 if exact else digits
            )
        rows.append(
            row
            | {
                "difference": "reference"
                if itself
                else format_with_error(own["difference"], own["difference_se"], fine, sign=True),
                "documents": format_interval(own["low"], own["high"], fine),
                "difference_documents": ""
                if itself or pairs != 1
                else format_interval(
                    own["difference_low"], own["difference_high"], fine, sign=True
                ),
                "time_to": format_with_error(
                    *mean_and_error(spent.values[spent["label"].values == own["label"]]), 2
                ),
            }
        )
    until = (
        ""
        if math.isnan(target)
        else format_number(target, 0 if target >= 100 else decimals(target))
    )
    return rows, table.attrs["reference"], until


def score_table(found: list[Gathered]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Name in words → meaning of each score beside the perplexities, and label → its means ± standard errors, in that order."""
    runs = [each.dataset for each in found]
    scores, table = further_scores(runs), summary(runs)
    rows = {
        label: [
            format_with_error(float(table[name][at]), float(table[f"{name}_se"][at]), 3)
            for name in scores
        ]
        for at, label in enumerate(table["label"].values.tolist())
    }
    return {
        heading_of(name): f"{about['long_name']}, {about['units']}"
        for name, about in scores.items()
    }, rows


def heading_of(score: str) -> str:
    """Return the name of a score as a heading has it."""
    return score.removeprefix("test_").replace("_", " ")


def run_rows(found: list[Gathered]) -> list[dict]:
    """A row for each run."""
    rows = []
    for each, last in zip(
        found,
        final([each.dataset for each in found]).to_dataframe().to_dict("records"),
        strict=True,
    ):
        shown = DIGITS | dict.fromkeys(PERPLEXITIES, decimals(last["test_perplexity"]))
        row, attrs = (
            {name: format_number(last[name], digits) for name, digits in shown.items()},
            each.dataset.attrs,
        )
        if last["iteration"] < last["n_iterations"]:
            state = f" ({attrs['state']})" if attrs.get("state") else ""
            row["iteration"] = f"{last['iteration']:,.0f} of {last['n_iterations']:,.0f}{state}"
        rows.append(
            row
            | {
                "label": last["label"],
                "seed": each.spec.seed,
                "name": attrs["name"],
                "lineage": lineage(each),
                "command": command_of(each.spec),
                "early": attrs.get("stopped_early", ""),
                "taken_on": attrs.get("taken_on", ""),
            }
        )
    return rows


def topic_tables(by_label: dict[str, xr.Dataset]) -> list[dict]:
    """The topics of a run of each label, with its counts, largest first: number, node, size and words.

    ``bar`` is the length (em) of a topic's bar and of a word's line; the longest of a run stands for its largest number.
    """
    tables = []
    for label, run in by_label.items():
        shown = topics_by_size(run)
        words = top_words(run, N_WORDS).sel(topic=shown)
        shares, highest = (
            topic_sizes(run)["share"].sel(topic=shown).values,
            float(words["phi"].max()),
        )
        nodes = (
            run["node"].sel(topic=shown).values.tolist()
            if "node" in run.coords
            else [""] * len(shown)
        )
        topics = [
            {
                "number": topic,
                "node": node,
                "share": f"{100 * share:.1f} %",
                "bar": f"{SIZE_BAR * share / shares.max():.2f}",
                "words": [
                    {
                        "word": str(word),
                        "phi": f"{phi:.4f}",
                        "bar": f"{WORD_BAR * phi / highest:.2f}",
                    }
                    for word, phi in zip(
                        words["word"].values[at], words["phi"].values[at], strict=True
                    )
                ],
            }
            for at, (topic, node, share) in enumerate(zip(shown, nodes, shares, strict=True))
        ]
        tables.append(
            {
                "label": label,
                "seed": spec_of(run).seed,
                "name": run.attrs["name"],
                "topics": topics,
                "iteration": int(run["snapshot_iteration"].values[-1]),
                "open": sum(len(one["topics"]) for one in tables) < MOST_OPEN,
            }
        )
    return tables


def hierarchy_tables(by_label: dict[str, xr.Dataset]) -> list[dict]:
    """The levels of a run of each label, with its counts, that is of a network: rows with most tokens first."""
    tables = []
    for label, run in by_label.items():
        if levels := mixtures(run):
            spec = spec_of(run)
            names, described = _topic_names(run), dict(spec.parts()[1].describe_levels())
            tables.append(
                {
                    "label": label,
                    "seed": spec.seed,
                    "name": run.attrs["name"],
                    "levels": [
                        _level_table(own, name, described[name], names)
                        for name, own in levels.items()
                    ],
                }
            )
    return tables


def _topic_names(run: xr.Dataset) -> dict[int, tuple[str, str]]:
    """Topic → what it is of, where the network has rows of several kinds, and its first words."""
    words = top_words(run, VALUE_WORDS)["word"]
    nodes = run["node"].values if "node" in run.coords else [""] * run.sizes["topic"]
    return {
        int(topic): (str(node), " ".join(map(str, own)))
        for topic, node, own in zip(run["topic"].values, nodes, words.values, strict=True)
    }


def _level_table(
    found: xr.Dataset, name: str, told: str, names: dict[int, tuple[str, str]]
) -> dict:
    tokens, topics, values = (found[each].values for each in ("tokens", "topic", "value"))
    totals, rows = tokens.sum(axis=1), []
    for at in np.argsort(-totals, kind="stable")[:MOST_ROWS]:
        order = np.argsort(-tokens[at], kind="stable")[:MOST_VALUES]
        draws = []
        for value in order[tokens[at, order] > 0]:
            # a value need not lead to a topic
            node, words = names.get(int(topics[at, value]), ("", ""))
            share = f"{100 * (tokens[at, value] / totals[at]):.0f} %"
            draws.append({"name": node or str(values[value]), "share": share, "words": words})
        share = f"{100 * totals[at] / max(totals.sum(), 1e-300):.1f} %"
        rows.append({"name": str(found["row"].values[at]), "share": share, "draws": draws})
    return {
        "title": f"{', '.join(found.attrs['by']) or DOCUMENT} → {found.attrs['draws']}",
        "name": name,
        "told": told,
        "rows": rows,
        "more": max(len(totals) - MOST_ROWS, 0),
    }


def prior_rows(found: list[Gathered]) -> list[dict]:
    """A row for each label and hyperparameter, where any run learns its own: how, and the value at the end."""
    if not any(learnt_by(each.dataset) for each in found):
        return []
    runs = [each.dataset for each in found]
    return [
        {
            "label": label,
            "name": SHORT[own[0].name],
            "how": LEARNT[own[0].how],
            "value": _prior_text(own),
            "span": 0 if at else len(of_runs[0]),  # rows that stand beside the label
        }
        for label, of_runs in grouped(labels_of(runs), map(hyperparameters, runs)).items()
        for at, own in enumerate(zip(*of_runs, strict=True))
    ]


def _prior_text(alike: list) -> str:
    """One number, with its standard error over runs; of an alpha for each topic the sum and the range."""
    told, every = (
        with_figures([one.values.sum() for one in alike]),
        np.concatenate([one.values for one in alike]),
    )
    return (
        told if len(every) == len(alike) else f"{every.min():.3g} to {every.max():.3g}, sum {told}"
    )


def with_figures(values) -> str:
    """Mean ± standard error with three figures of the mean."""
    mean, error = mean_and_error(values)
    digits = max(2 - math.floor(math.log10(abs(mean))), 0) if mean else 2
    return format_with_error(mean, error if error > 0 else math.nan, digits)


def move_tables(found: list[Gathered]) -> list[dict]:
    """The splits and merges of each run that tried some: how many, and each in words."""
    return [
        {
            "label": label,
            "seed": each.spec.seed,
            "name": each.dataset.attrs["name"],
            "told": describe_moves(tried),
            "more": max(len(tried) - MOST_MOVES, 0),
            "moves": tried[:MOST_MOVES],
        }
        for each, label in zip(found, labels_of([each.dataset for each in found]), strict=True)
        if (tried := moves(each.dataset))
    ]


def version_rows(found: list[Gathered]) -> list[tuple[str, str]]:
    """(package, version) that made the runs, as recorded, or else that wrote the page."""
    made = [json.loads(each.dataset.attrs.get("versions", "{}")) for each in found]
    rows = [
        (
            f"{package} (runs)",
            ", ".join(dict.fromkeys(str(own[package]) for own in made if package in own)),
        )
        for package in dict.fromkeys(chain(*made))
    ]
    return rows or [(f"{package} (this page)", version) for package, version in versions().items()]
