"""Coherence and diversity of the topics in a table."""

from functools import lru_cache

import xarray as xr

from workbench.dashboard.shared.snapshots import Moment, counts_of
from workbench.dashboard.topics.sheet import Sheet, number_cell, sheet_row
from workbench.measures import coherence, diversity, topic_sizes, topics_by_size
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus

COLUMNS = [
    ["Topic", "the run's number of the topic"],
    ["Label", "what people call it"],
    ["Size", "share of the training tokens"],
    ["u_mass", "mean log conditional share of documents, nats; at most about 0, higher is better"],
    ["NPMI", "mean normalised mutual information of pairs of words; −1 to 1, higher is better"],
    ["c_v", "mean cosine of the words' NPMI with that of all; higher is better"],
    [
        "Diversity",
        "share of the 25 top words that is the topic's own; 1 where no other topic has them",
    ],
]
SCORES = ["u_mass", "npmi", "c_v", "diversity"]
SAID = "Of the ten likeliest words of each topic; two words are together when a training document has both."


@lru_cache(maxsize=8)
def scores_of(moment: Moment) -> xr.Dataset | None:
    """Return sizes, u_mass, npmi, c_v and diversity of the topics at the last snapshot; None before the first."""
    run = counts_of(moment)
    if run is None:
        return None
    found = coherence(run, get_corpus(moment.path.parent, Run(moment.path).spec.train))
    several = diversity(run)
    return found.assign(
        diversity=several["diversity"], share=topic_sizes(run)["share"].sel(topic=found["topic"])
    ).assign_attrs(several.attrs)


class Scores(Sheet):
    """The table of coherence and diversity."""

    def __init__(self):
        super().__init__(columns=COLUMNS, texts=[1])

    def show(self, moment: Moment, labels: dict[int, str]) -> None:
        """Show the table of a run."""
        self.fill(score_table, moment, tuple(labels.items()), waiting="Computing the coherence …")


@lru_cache(maxsize=4)
def score_table(moment: Moment, labels: tuple) -> dict:
    """Return the table, largest topic first, with means; cached for all sessions; empty before the first snapshot."""
    found = scores_of(moment)
    if found is None:
        return {"content": {}, "said": ""}
    table, names = (
        found[["share", *SCORES]].sel(topic=topics_by_size(counts_of(moment))).to_dataframe(),
        dict(labels),
    )
    rows = [
        sheet_row(
            topic, names.get(topic, ""), (share, f"{100 * share:.1f} %"), *map(number_cell, scores)
        )
        for topic, share, *scores in table[["share", *SCORES]].itertuples()
    ]
    means = [number_cell(found.attrs[f"mean_{name}"])[1] for name in SCORES]
    caption = f"coherence of the topics of {moment.path.name}"
    return {
        "content": {"rows": rows, "foot": ["mean", "", "", *means], "caption": caption},
        "said": SAID,
    }
