"""Figures of the topics beside their words: the map, how coherent they are, and which are the same in two runs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import coherence, labels_of, match_topics, spec_of, topic_flow, topic_map
from workbench.report.drawing import option
from workbench.report.picture import Picture, by_label, file_names, shown_of
from workbench.report.topic_captions import flow_told, map_told
from workbench.views import coherence_view, names_of_topics, topic_flow_view, topic_list_view, topic_map_view
from workbench.views.flow import LETTERS
from workbench.views.style import looks
from workbench.views.topic_map import map_height

MOST_FLOWS = 4
MOST_PAIRS = 5_000_000
"""Pairs of a corpus that the flow is computed for: half a minute for 100 topics."""
MEASURES = ("npmi", "c_v", "u_mass")
PLACES = ("x", "y", "n_k", "share")
Named = tuple[str, xr.Dataset]
"""A run and what it is called beside others."""


def topic_pictures(runs: list[xr.Dataset], columns: int, corpora: Mapping[str, Corpus]) -> list[Picture]:
    """A map for each label, and where the training tokens are at hand (by their hash) coherence and flows.

    Flows are those between the first runs of labels that follow each other, at most four; of a single label between its
    first two.
    """
    own: dict[str, list[xr.Dataset]] = {}
    for label, members in by_label(runs).items():
        if whole := [run for run in members if "phi" in run and "n_kw" in run]:
            own[label] = whole
    style, found = looks(labels_of(runs)), []
    for (label, members), short in zip(own.items(), file_names(own), strict=True):
        found.append(_map(members[0], label, short, style[label].colour))
    known = {label: members for label, members in own.items() if spec_of(members[0]).train in corpora}
    if known:
        found.append(_coherence({label: members[0] for label, members in known.items()}, style, corpora, columns))
    pairs = _pairs(known, corpora)
    for (left, right), short in zip(pairs, file_names([f"{left[0]}-to-{right[0]}" for left, right in pairs]), strict=True):
        colour = style[next(label for label, members in known.items() if left[1] is members[0])].colour
        found.append(_flow(left, right, corpora[spec_of(left[1]).train], short, colour, columns))
    return found


def _pairs(known: dict[str, list[xr.Dataset]], corpora: Mapping[str, Corpus]) -> list[tuple[Named, Named]]:
    """Runs whose topics are set beside each other."""
    named = [(label, members[0]) for label, members in known.items()]
    if len(known) == 1:
        named = [(f"{label}, seed {spec_of(run).seed}", run) for label, members in known.items() for run in members[:2]]
    pairs = [(left, right) for left, right in pairwise(named) if spec_of(left[1]).train == spec_of(right[1]).train]
    return [pair for pair in pairs if corpora[spec_of(pair[0][1]).train].n_pairs <= MOST_PAIRS][:MOST_FLOWS]


def _map(run: xr.Dataset, label: str, short: str, colour: str) -> Picture:
    points, names, seed = topic_map(run), names_of_topics(run, 5, 80), spec_of(run).seed
    rows = [
        [label, run.attrs["name"], seed, topic, *(float(points[name].sel(topic=topic)) for name in PLACES),
         names[topic].split(" · ", 1)[1]]
        for topic in points["topic"].values.tolist()
    ]
    return Picture(
        f"topic-map-{short}", f"Map of the topics, {label}",
        map_told(run, points), [topic_map_view(points, colour), topic_list_view(run)],
        ["label", "run", "seed", "topic", *PLACES, "name"], rows, legend=False, height=map_height(len(rows)), runs=[run],
    )


def _coherence(runs: dict[str, xr.Dataset], style: dict, corpora: Mapping[str, Corpus], columns: int) -> Picture:
    shown, left_out = shown_of(runs)
    rows, panels, letters = [], [], 16 if columns == 2 and len(shown) > 2 else 28
    for label, run in runs.items():
        found = coherence(run, corpora[spec_of(run).train])
        rows += [
            [label, run.attrs["name"], spec_of(run).seed, topic, *(float(found[name].sel(topic=topic)) for name in MEASURES)]
            for topic in found["topic"].values.tolist()
        ]
        if label in shown:
            names = names_of_topics(run, 3, letters)
            panels.append(coherence_view(found, "npmi", names, style[label].colour, style[label].marker, label))
    return Picture(
        "coherence", "Coherence of the topics",
        "How well the ten most probable words of each topic go together in the training documents: the mean normalised "
        "pointwise mutual information of their pairs, where two words are together when a document has both; from -1 to 1, "
        "higher is better. A row for each topic, named by its first words, the most coherent first; the dotted line is the "
        f"mean over topics. One run of each label; the table has c_v and u_mass (nats) too.{left_out}",
        panels, ["label", "run", "seed", "topic", *MEASURES], rows, legend=False,
        height=max(option(panel, "fig_inches")[1] for panel in panels), runs=list(runs.values()),
    )


def _flow(a: Named, b: Named, corpus: Corpus, name: str, colour: str, columns: int) -> Picture:
    (left, a), (right, b) = a, b
    flow, matches = topic_flow(a, b, corpus), match_topics(a, b)
    matched, far = ({topic: float(matches[name].sel(topic=topic)) for topic in matches["topic"].values.tolist()}
                    for name in ("matched", "distance"))
    rows = [
        [left, topic, right, other, float(flow.sel(topic=topic, other=other)), int(matched[topic] == other),
         far[topic] if matched[topic] == other else ""]
        for topic in flow["topic"].values.tolist() for other in flow["other"].values.tolist()
    ]
    letters = LETTERS if columns == 1 else 2 * LETTERS
    names = tuple(names_of_topics(run, 3 if columns == 1 else 5, letters) for run in (a, b))
    view = topic_flow_view(flow, matches, (left, right), names, lambda topic: colour, letters)
    return Picture(
        f"topic-flow-{name}", f"Topics of {left} and {right}", flow_told(left, right),
        [view], ["left", "topic", "right", "other", "tokens", "matched", "distance"], rows, legend=False,
        height=option(view, "fig_inches")[1], runs=[a, b],
    )
