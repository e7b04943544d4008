"""The tables of a report, with numbers as rounded texts with standard errors, and dashes for missing ones."""

import json
import math
import os
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

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
    topic_descriptions,
    topic_labels,
    topic_sizes,
    topics_by_size,
)
from workbench.measures.comparison import further_scores
from workbench.measures.curves import mean_and_error
from workbench.measures.selection import grouped
from workbench.models.networks.levels import DOCUMENT
from workbench.numbers import DASH, format_interval, format_number, format_with_error
from workbench.report.captions import lineage
from workbench.report.commands import command_of
from workbench.report.files import checked_formats, put_file
from workbench.report.gathering import AnyRun, ReportedRun, gather, scores, stores_of
from workbench.runs.progress import decimals
from workbench.runs.store.provenance import versions
from workbench.tables import Column, Table, numbers
from workbench.views import RunsToDraw
from workbench.views.elements import SHORT

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
"""Maximum of moves of a run on the page; the data of the figure have all."""
N_WORDS = 12
MOST_ROWS, MOST_VALUES, VALUE_WORDS = 12, 6, 4
"""Maximum of rows of a level of a network, values of a row, and words of the topic that a value leads to."""
MOST_OPEN = 80
"""Maximum of topics that are initially expanded; paper shows all."""
SIZE_BAR, WORD_BAR = 5.0, 4.0
"""Lengths of the bar of the largest topic and of the most probable word, em."""


def label_rows(entries: list[ReportedRun], reference: str | None) -> tuple[list[dict], str, str]:
    """Return the table of results (a row per label), the reference's label, and the perplexity to which time is measured.

    The target is "" for runs on different data. ``documents`` and ``difference_documents`` are intervals over documents, ""
    without a store; the second only for a single pair, which has no standard error.
    """
    runs, held_out_scores = [entry.dataset for entry in entries], scores(entries)
    table, errors = (
        summary(runs, reference, held_out_scores),
        perplexity_errors(runs, held_out_scores),
    )
    target = reached_by_all(runs) if len(set(data_of(runs))) == 1 else math.nan
    spent_times, rows = time_to(runs, target), []
    for label_row in (
        table.assign(errors[["low", "high"]]).to_dataframe().reset_index().to_dict("records")
    ):
        is_reference, pairs = label_row["label"] == label_row["reference"], label_row["n_pairs"]
        row = {
            "label": label_row["label"],
            "n_runs": label_row["n_runs"],
            "n_pairs": DASH if is_reference or not pairs else pairs,
        }
        perplexity_digits = decimals(label_row["test_perplexity"])
        for name, digits in (DIGITS | dict.fromkeys(PERPLEXITIES, perplexity_digits)).items():
            error = label_row[f"{name}_se"]
            without_error = name in ("iteration", "updates", "n_active_topics") and not error > 0
            row[name] = format_with_error(
                label_row[name],
                math.nan if without_error else error,
                0 if without_error else digits,
            )
        rows.append(
            row
            | {
                "difference": "reference"
                if is_reference
                else format_with_error(
                    label_row["difference"],
                    label_row["difference_se"],
                    perplexity_digits,
                    sign=True,
                ),
                "documents": format_interval(
                    label_row["low"], label_row["high"], perplexity_digits
                ),
                "difference_documents": ""
                if is_reference or pairs != 1
                else format_interval(
                    label_row["difference_low"],
                    label_row["difference_high"],
                    perplexity_digits,
                    sign=True,
                ),
                "time_to": format_with_error(
                    *mean_and_error(
                        spent_times.values[spent_times["label"].values == label_row["label"]]
                    ),
                    2,
                ),
            }
        )
    target_text = (
        ""
        if math.isnan(target)
        else format_number(target, 0 if target >= 100 else decimals(target))
    )
    return rows, table.attrs["reference"], target_text


def score_table(entries: list[ReportedRun]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return score → meaning, and label → "mean ± standard error" of each score; perplexities are left out."""
    runs = [entry.dataset for entry in entries]
    scores, table = further_scores(runs), summary(runs)
    rows = {
        label: [
            format_with_error(float(table[name][index]), float(table[f"{name}_se"][index]), 3)
            for name in scores
        ]
        for index, label in enumerate(table["label"].values.tolist())
    }
    return {
        name.removeprefix("test_").replace("_", " "): f"{attrs['long_name']}, {attrs['units']}"
        for name, attrs in scores.items()
    }, rows


def run_rows(entries: list[ReportedRun]) -> list[dict]:
    """Return the table of runs, with one row per run."""
    rows = []
    for entry, last in zip(
        entries,
        final([entry.dataset for entry in entries]).to_dataframe().to_dict("records"),
        strict=True,
    ):
        digits_of = DIGITS | dict.fromkeys(PERPLEXITIES, decimals(last["test_perplexity"]))
        row, attrs = (
            {name: format_number(last[name], digits) for name, digits in digits_of.items()},
            entry.dataset.attrs,
        )
        if last["iteration"] < last["n_iterations"]:
            state = f" ({attrs['state']})" if attrs.get("state") else ""
            row["iteration"] = f"{last['iteration']:,.0f} of {last['n_iterations']:,.0f}{state}"
        rows.append(
            row
            | {
                "label": last["label"],
                "seed": entry.spec.seed,
                "name": attrs["name"],
                "lineage": lineage(entry),
                "command": command_of(entry.spec, stores_of(entries).get(entry.spec.hash)),
                "early": attrs.get("stopped_early", ""),
                "taken_on": attrs.get("taken_on", ""),
            }
        )
    return rows


def topic_tables(by_label: dict[str, xr.Dataset]) -> list[dict]:
    """Return for each label the topics of one run, largest first: number, node, label, description, size and words.

    ``bar`` is the length (em) of the bar of a topic or word, relative to the largest of the run.
    """
    tables = []
    for label, run in by_label.items():
        order = topics_by_size(run)
        words = top_words(run, N_WORDS).sel(topic=order)
        shares, highest = (
            topic_sizes(run)["share"].sel(topic=order).values,
            float(words["phi"].max()),
        )
        nodes = (
            run["node"].sel(topic=order).values.tolist()
            if "node" in run.coords
            else [""] * len(order)
        )
        labels, descriptions = topic_labels(run), topic_descriptions(run)
        topics = [
            {
                "number": topic,
                "node": node,
                "name": labels.get(topic, ""),
                "description": descriptions.get(topic, ""),
                "share": f"{100 * share:.1f} %",
                "bar": f"{SIZE_BAR * share / shares.max():.2f}",
                "words": [
                    {
                        "word": str(word),
                        "phi": f"{phi:.4f}",
                        "bar": f"{WORD_BAR * phi / highest:.2f}",
                    }
                    for word, phi in zip(
                        words["word"].values[index], words["phi"].values[index], strict=True
                    )
                ],
            }
            for index, (topic, node, share) in enumerate(zip(order, nodes, shares, strict=True))
        ]
        tables.append(
            {
                "label": label,
                "seed": spec_of(run).seed,
                "name": run.attrs["name"],
                "topics": topics,
                "iteration": int(run["snapshot_iteration"].values[-1]),
                "open": sum(len(table["topics"]) for table in tables) < MOST_OPEN,
            }
        )
    return tables


def hierarchy_tables(by_label: dict[str, xr.Dataset]) -> list[dict]:
    """Return for each label of networks the levels of one run; rows with the most tokens come first."""
    tables = []
    for label, run in by_label.items():
        if levels := mixtures(run):
            spec = spec_of(run)
            names, descriptions = _topic_names(run), dict(spec.parts()[1].describe_levels())
            tables.append(
                {
                    "label": label,
                    "seed": spec.seed,
                    "name": run.attrs["name"],
                    "levels": [
                        _level_table(mixture, name, descriptions[name], names)
                        for name, mixture in levels.items()
                    ],
                }
            )
    return tables


def _topic_names(run: xr.Dataset) -> dict[int, tuple[str, str]]:
    """Return topic number → (node, first words); the node is "" unless the network has several."""
    words = top_words(run, VALUE_WORDS)["word"]
    nodes = run["node"].values if "node" in run.coords else [""] * run.sizes["topic"]
    return {
        int(topic): (str(node), " ".join(map(str, topic_words)))
        for topic, node, topic_words in zip(run["topic"].values, nodes, words.values, strict=True)
    }


def _level_table(
    mixture: xr.Dataset, name: str, description: str, names: dict[int, tuple[str, str]]
) -> dict:
    """Return the table of one level of a network: the rows with the most tokens, and their most frequent values."""
    tokens, topics, values = (mixture[variable].values for variable in ("tokens", "topic", "value"))
    totals, rows = tokens.sum(axis=1), []
    for row in np.argsort(-totals, kind="stable")[:MOST_ROWS]:
        order = np.argsort(-tokens[row], kind="stable")[:MOST_VALUES]
        draws = []
        for value in order[tokens[row, order] > 0]:
            # not every value leads to a topic
            node, words = names.get(int(topics[row, value]), ("", ""))
            share = f"{100 * (tokens[row, value] / totals[row]):.0f} %"
            draws.append({"name": node or str(values[value]), "share": share, "words": words})
        share = f"{100 * totals[row] / max(totals.sum(), 1e-300):.1f} %"
        rows.append({"name": str(mixture["row"].values[row]), "share": share, "draws": draws})
    return {
        "title": f"{', '.join(mixture.attrs['by']) or DOCUMENT} → {mixture.attrs['draws']}",
        "name": name,
        "description": description,
        "rows": rows,
        "more": max(len(totals) - MOST_ROWS, 0),
    }


def prior_rows(entries: list[ReportedRun]) -> list[dict]:
    """Return the table of learnt hyperparameters: a row per label and hyperparameter, with method and final value."""
    if not any(learnt_by(entry.dataset) for entry in entries):
        return []
    runs = [entry.dataset for entry in entries]
    return [
        {
            "label": label,
            "name": SHORT[priors[0].name],
            "method": LEARNT[priors[0].method],
            "value": _prior_text(priors),
            "span": 0 if index else len(priors_of_runs[0]),  # rows next to the label
        }
        for label, priors_of_runs in grouped(labels_of(runs), map(hyperparameters, runs)).items()
        for index, priors in enumerate(zip(*priors_of_runs, strict=True))
    ]


def _prior_text(priors: list) -> str:
    """Return a prior as text: mean ± standard error over runs; for an alpha per topic, its range and sum."""
    mean_text, values = (
        with_figures([prior.values.sum() for prior in priors]),
        np.concatenate([prior.values for prior in priors]),
    )
    return (
        mean_text
        if len(values) == len(priors)
        else f"{values.min():.3g} to {values.max():.3g}, sum {mean_text}"
    )


def with_figures(values: Iterable[float]) -> str:
    """Return the values as "mean ± standard error", with three significant digits."""
    mean, error = mean_and_error(values)
    digits = max(2 - math.floor(math.log10(abs(mean))), 0) if mean else 2
    return format_with_error(mean, error if error > 0 else math.nan, digits)


def move_tables(entries: list[ReportedRun]) -> list[dict]:
    """Return the splits and merges of each run that tried any: a summary, and the first moves."""
    return [
        {
            "label": label,
            "seed": entry.spec.seed,
            "name": entry.dataset.attrs["name"],
            "summary": describe_moves(tried_moves),
            "more": max(len(tried_moves) - MOST_MOVES, 0),
            "moves": tried_moves[:MOST_MOVES],
        }
        for entry, label in zip(
            entries, labels_of([entry.dataset for entry in entries]), strict=True
        )
        if (tried_moves := moves(entry.dataset))
    ]


def version_rows(entries: list[ReportedRun]) -> list[tuple[str, str]]:
    """Return (package, version) as the runs recorded them; the installed versions if no run did."""
    versions_of_runs = [json.loads(entry.dataset.attrs.get("versions", "{}")) for entry in entries]
    rows = [
        (
            f"{package} (runs)",
            ", ".join(
                dict.fromkeys(
                    str(run_versions[package])
                    for run_versions in versions_of_runs
                    if package in run_versions
                )
            ),
        )
        for package in dict.fromkeys(chain(*versions_of_runs))
    ]
    return rows or [(f"{package} (this page)", version) for package, version in versions().items()]


FORMS = ("md", "tex")
LABEL = Column("label", "engine")
RESULT = [
    LABEL,
    *numbers("n_runs", label="runs"),
    *numbers("iteration", label="iterations"),
    *numbers("test_perplexity", label="held-out perplexity"),
    *numbers("documents", label="95 % over documents"),
    *numbers("difference", label="difference from {against}"),
    *numbers("n_pairs", label="pairs"),
]
COST = [
    LABEL,
    *numbers("elapsed", label="inference (s)"),
    *numbers("cpu_time", label="CPU (s)"),
    *numbers("updates", label="site updates"),
    *numbers("time_per_update", label="ns per update"),
    *numbers("time_to", label="seconds to {target}"),
]
TOPICS = [
    LABEL,
    *numbers("number", label="topic"),
    Column("node", "of"),
    *numbers("share", label="share of tokens"),
    Column("words", "most probable words", wide=True),
]
RUNS = [
    LABEL,
    Column("name", "run"),
    *numbers("seed"),
    *numbers("iteration"),
    *numbers("test_perplexity", label="held-out perplexity"),
    *numbers("test_perplexity_state", label="of the state"),
    *numbers("test_perplexity_average", label="running average"),
    *numbers("elapsed", label="inference (s)"),
    *numbers("cpu_time", label="CPU (s)"),
]


def write_tables(
    runs: AnyRun | Iterable[AnyRun],
    folder: str | os.PathLike = ".",
    forms: str | Iterable[str] = FORMS,
    reference: str | None = None,
    store: str | os.PathLike | None = None,
) -> list[Path]:
    """Write the tables of a report as Markdown and LaTeX, such as ``result.md`` and ``result.tex``; return the paths.

    ``result`` and ``cost`` have a row for each label, ``topics`` one for each topic of a run with counts of each label, and
    ``runs`` one for each run.

    Parameters
    ----------
    runs, reference, store
        See `workbench.write_report`.
    folder : path
        Created if missing; existing files are replaced.
    forms : "md", "tex" or both

    Raises
    ------
    MeasureError, StoreError, ReportError
    """
    forms = checked_formats(forms, FORMS, "tables are written")
    entries = gather(runs, store)
    labels, against, target = label_rows(entries, reference)
    first = RunsToDraw([entry.dataset for entry in entries]).first("phi", "n_kw")
    topic_rows = [
        topic | {"label": run["label"], "words": " ".join(word["word"] for word in topic["words"])}
        for run in topic_tables(first)
        for topic in run["topics"]
    ]
    tables = {
        "result": (RESULT, labels),
        "cost": (COST if target else COST[:-1], labels),
        "topics": (TOPICS, topic_rows),
        "runs": (RUNS, run_rows(entries)),
    }
    written = []
    for name, (columns, rows) in tables.items():
        table_columns = [
            column._replace(label=column.heading.format(against=against, target=target))
            for column in columns
        ]
        table = Table(table_columns, rows).without_empty_columns()
        for form in forms if rows else ():
            text = table.markdown() if form == "md" else table.latex()
            written.append(put_file(Path(folder) / f"{name}.{form}", text.encode()))
    return written
