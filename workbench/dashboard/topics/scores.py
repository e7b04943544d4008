"""Coherence and diversity of the topics, in a table."""

from __future__ import annotations

from functools import lru_cache

import xarray as xr

from workbench.dashboard.shared.snapshots import Moment, counts_of, topic_colour
from workbench.dashboard.topics.filler import Filler
from workbench.dashboard.topics.sheet import Sheet, number, sheet_row
from workbench.measures import coherence, diversity, topic_sizes, topics_by_size
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus

COLUMNS = [
    ("Topic", "the run's number of the topic"), ("Label", "what people call it"), ("Size", "share of the training tokens"),
    ("u_mass", "mean log conditional share of documents, nats; at most about 0, higher is better"),
    ("NPMI", "mean normalised mutual information of pairs of words; −1 to 1, higher is better"),
    ("c_v", "mean cosine of the words' NPMI with that of all; higher is better"),
    ("Diversity", "share of the 25 top words that is the topic's own; 1 where no other topic has them"),
]
SAID = "Of the ten likeliest words of each topic; two words are together when a training document has both."


@lru_cache(maxsize=8)
def scores_of(moment: Moment) -> xr.Dataset | None:
    """Sizes, u_mass, npmi, c_v and diversity of the topics at the last snapshot; None before the first."""
    run = counts_of(moment)
    if run is None:
        return None
    found = coherence(run, get_corpus(moment.path.parent, Run(moment.path).spec.train))
    several = diversity(run)
    return found.assign(
        diversity=several["diversity"], share=topic_sizes(run)["share"].sel(topic=found["topic"])
    ).assign_attrs(several.attrs)


class Scores(Filler):
    """The table of a run's scores."""

    def __init__(self):
        self.sheet = Sheet(columns=[list(column) for column in COLUMNS], texts=[1])
        super().__init__(self.sheet, "content")

    def show(self, moment: Moment, labels: dict[int, str]) -> None:
        """Brings the table to a run."""
        self.fill(_scores_now, moment, tuple(labels.items()), waiting="Computing the coherence …")


@lru_cache(maxsize=4)
def _scores_now(moment: Moment, labels: tuple) -> dict:
    """The same for every session that shows this run now."""
    content = score_table(moment, dict(labels))
    return {"content": content, "said": SAID if content else ""}


def score_table(moment: Moment, labels: dict[int, str]) -> dict:
    """Rows, largest topic first, and the means; nothing before the first snapshot."""
    found = scores_of(moment)
    if found is None:
        return {}
    rows = []
    for topic in topics_by_size(counts_of(moment)):
        one = found.sel(topic=topic)
        share, label = float(one["share"]), labels.get(topic, "")
        scores = [number(float(one[name])) for name in ("u_mass", "npmi", "c_v", "diversity")]
        rows.append(sheet_row(
            topic, [(topic, str(topic)), (label, label), (share, f"{100 * share:.1f} %"), *scores], topic_colour(topic)
        ))
    means = [number(found.attrs[f"mean_{name}"])[1] for name in ("u_mass", "npmi", "c_v", "diversity")]
    return {"rows": rows, "foot": ["mean", "", "", *means], "caption": f"coherence of the topics of {moment.path.name}"}
