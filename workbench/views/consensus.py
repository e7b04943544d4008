"""Topics on which several runs agree: in how many runs each is found, and its words with ranges over these runs."""

from collections.abc import Iterator
from itertools import combinations

import xarray as xr

from workbench.measures import consensus, top_words, topics_by_size
from workbench.measures.consensus import NEAR
from workbench.views.picture import RUN_COLUMNS, Picture, RunsToDraw, View, file_names, rows_of
from workbench.views.topics import (
    ACROSS,
    MOST_WORDS,
    TABLE_WORDS,
    fitting_on_a_page,
    topic_words_view,
    words_height,
)

COUNTS = ["phi", "n_kw", "n_k"]
"""Variables that are read of the runs; theta is large."""
OF_WORDS, OF_TOPICS = ["phi_low", "phi_high"], ["support", "n_found"]
COLUMNS = ["topic", "n_found", "n_runs", "support", "rank", "word", "phi", *OF_WORDS]
MOST_TERMS = 2 * 10**9
"""Largest sum over pairs of runs of topics × topics × words, which takes half a minute: reports have all views."""


def draw_consensus(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the topics on which the runs of a label agree, for each label with several runs of one training corpus.

    Labels with more than `MOST_TERMS` are left out; `workbench.measures.consensus` takes them.
    """
    across = ACROSS if selection.columns == 2 else 2
    several = {
        label: runs
        for label, runs in selection.by_label(*COUNTS).items()
        if len(runs) > 1
        and len({run.attrs["corpus_hash"] for run in runs}) == 1
        and _n_terms(runs) <= MOST_TERMS
    }
    for (label, runs), short in zip(several.items(), file_names(several), strict=True):
        agreement = consensus([run[COUNTS] for run in runs])
        nearest = next(run for run in runs if run.attrs["name"] == agreement.attrs["run"])
        topics, n_runs = agreement["topic"].values.tolist(), agreement.attrs["n_runs"]
        n_found = dict(zip(topics, agreement["n_found"].values.tolist(), strict=True))
        order = sorted(topics_by_size(nearest), key=n_found.get, reverse=True)
        n_topics, n_fitting = fitting_on_a_page(len(order), across)
        first_topics, n_words = order[:n_topics], min(n_fitting, MOST_WORDS, nearest.sizes["word"])
        look = selection.looks[label].colour
        words = top_words(nearest.sel(topic=topics).assign(phi=agreement["phi"]), TABLE_WORDS)
        ranges = agreement[OF_WORDS].sel(topic=words["topic"], word=words["word"]).drop_vars("word")
        table = words.assign(ranges).assign(agreement[OF_TOPICS]).assign(n_runs=n_runs)
        rows = table.sel(topic=order).to_dataframe().reset_index()[COLUMNS]
        fewer = f" The first {len(first_topics)} of {len(order)} topics are drawn; all are in the table."
        yield Picture(
            f"{view.name}-{short}",
            f"{view.title}, {label}",
            f"Topics of {nearest.attrs['name']}, the run that is nearest to the others, and in how many of the {n_runs} runs "
            f"each is found: a matched topic of another run counts up to a Jensen-Shannon distance of {NEAR:g}. Topics of most "
            "runs come first. Bars and numbers are means of p(word | topic) over the runs that have the topic, on one scale; "
            f"lines are ranges over these runs.{fewer if first_topics != order else ''}",
            [
                topic_words_view(
                    nearest, n_words, first_topics, 1.0, across, look, agreement=agreement
                )
            ],
            [*RUN_COLUMNS, *COLUMNS],
            rows_of(label, nearest, rows),
            legend=False,
            height=words_height(len(first_topics), n_words, across) + 0.1,
            runs=runs,
        )


def _n_terms(runs: list[xr.Dataset]) -> int:
    """Return the sum over pairs of runs of topics × topics × words: what the distances of their topics cost."""
    pairs = combinations((run.sizes["topic"] for run in runs), 2)
    return sum(a * b for a, b in pairs) * runs[0].sizes["word"]
