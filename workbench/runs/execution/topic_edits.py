"""A run that continues from the counts of another, with topics merged, dropped, split or added, or with words left out.

Edits are written as ``merge 3 7``, ``drop 5``, ``split 2`` and ``add 2``; topics have the numbers that they have in the run.
What is left out of the data is written as in `omissions`. Both change the shape of all that a run records, so it is another
run that continues, not the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from workbench.corpus import Corpus, CorpusError
from workbench.data.blocks import sum_groups
from workbench.data.reading import of_changed
from workbench.engines.engine import WarmStart
from workbench.models.lda import check_topics
from workbench.models.options import OptionError
from workbench.runs.execution.memory_check import Planned
from workbench.runs.execution.omissions import omissions_of, split_edits, weights_of
from workbench.runs.execution.warm_start import warm_start_now
from workbench.runs.interventions import checked_changes
from workbench.runs.spec import RunSpec, SpecError, plain
from workbench.runs.store.archive import corpora_of, counts_hash, get_table
from workbench.runs.store.branching import refuse_shards
from workbench.runs.store.edition import split_edit
from workbench.runs.store.status import read_spec

EDITS = "merge 3 7, drop 5, split 2, add 1, omit said or omit-document 3"
SWEEPS = 50
"""Largest number of sweeps of each part of `halves`."""
SMOOTHING = 0.01
"""Pseudo-count of each word in the means."""


def takes_edits(spec: RunSpec) -> bool:
    """Return whether topics of a run can be edited: its model can begin from counts, and its corpus is not in shards."""
    return spec.parts()[1].warm_starts and not spec.shards


def branch_of_topics(path: Path, edits: Sequence[str], changes: Mapping) -> Planned:
    """Return a planned run that begins with the last counts of a stored run, with topics edited and settings changed.

    It has the other settings of that run, and counts its iterations from 1.

    Raises
    ------
    OptionError
        For an invalid edit, or a setting that cannot be turned.
    CorpusError
        No token is left, or none that is held out.
    SpecError, StoreError
        The run has no counts yet, its model cannot begin from counts, or its corpus is in shards.
    """
    spec = read_spec(path)
    refuse_shards(path, spec)
    if not spec.parts()[1].warm_starts:
        raise SpecError(
            f"topics of a run of {spec.engine} cannot be edited: it cannot begin from counts"
        )
    if spec.options.get("seed_words"):
        raise SpecError(
            "topics of a run with seed words cannot be edited: the words belong to topics by number; fit a run with other "
            "seed_words",
        )
    train, test = corpora_of(path.parent, spec)
    start, origin = warm_start_now(path, train)
    topic_edits, data_edits = split_edits(edits)
    edits_by_topic, omissions = (
        edits_of(topic_edits, len(start.n_kw)),
        omissions_of(data_edits, train),
    )
    values = checked_changes(spec, changes) if changes else {}
    model, options = spec.model | {"n_topics": edits_by_topic.n_topics}, dict(spec.options)
    turned_values: dict[str, float] = {}
    for intervention in spec.at(origin["iteration"]).interventions:
        turned_values |= intervention.changes
    for name, value in plain(turned_values | values).items():
        (model if name in model else options)[name] = value
    if isinstance(alpha := model.get("alpha"), (list, tuple)):
        model["alpha"] = edits_by_topic.of_priors(np.array(alpha))
    dropped = start.n_kw[edits_by_topic.targets < 0].sum() / max(start.n_kw.sum(), 1.0)
    start = (
        omissions.of_counts(edited(start, edits_by_topic, train), train)
        if data_edits
        else edited(start, edits_by_topic, train)
    )
    origin |= {
        "counts": counts_hash(start),
        "dropped": round(float(dropped), 6),
        "edits": [*edits, *(f"{name}={value:g}" for name, value in values.items())],
    }
    spec = replace(
        spec, model=model, options=options, start=origin, warm_start=start, interventions=()
    )
    if data_edits:
        if spec.table:
            train = replace(train, table=get_table(path.parent, spec.table))
        train = omissions.of_corpus(train)
        try:
            test = None if test is None else omissions.of_corpus(test)
        except CorpusError as error:
            raise CorpusError(f"of what is held out {error}") from None
        spec = replace(
            spec,
            train=train.content_hash,
            test=None if test is None else test.content_hash,
            table=train.table and train.table.content_hash,
            reading=spec.reading and of_changed(spec.reading, train.content_hash),
        )
    engine, _, engine_options = spec.parts()
    engine.check_options(engine_options, train)
    return Planned(replace(spec, name=f"{path.name}-{spec.hash[:4]}"), train, test)


class Edits(NamedTuple):
    """The effect of edits on topics: for each old topic, the new topic that gets its counts; and the new topics to split."""

    # (topic before,): the number of the topic that has its counts; -1 where it was dropped
    targets: np.ndarray
    split: tuple[int, ...]  # topics after, whose second halves are the topics from `n_kept` on
    n_kept: int  # topics that others became
    n_topics: int  # topics after

    def of_topics(self, counts: np.ndarray, axis: int = 0) -> np.ndarray:
        """Return the counts of the new topics from those of the old topics; topics to be split are not yet split."""
        new_counts = sum_groups(np.asarray(counts, float), self.targets, self.n_topics, axis)
        return np.ascontiguousarray(new_counts)

    def of_priors(self, alpha: np.ndarray) -> list[float]:
        """Return the prior of each new topic: merged priors are summed, split ones halved, and an added topic has the mean."""
        new_alpha = self.of_topics(alpha)
        new_alpha[self.n_kept :] = alpha.mean()
        for new, topic in enumerate(self.split, self.n_kept):
            new_alpha[topic] = new_alpha[new] = new_alpha[topic] / 2
        return new_alpha.tolist()


def edits_of(edits: Sequence[str], n_topics: int) -> Edits:
    """Return the `Edits` of a list of texts, such as "merge 3 7"; the numbers are those of the topics before all edits.

    Raises OptionError for an edit that is none, a topic that is not there, one that is named twice, or no topic left.
    """
    group, split, n_added, named_topics = np.arange(n_topics), [], 0, []
    for edit in edits:
        action, numbers = split_edit(edit)
        n_least = {"merge": 2, "drop": 1, "split": 1, "add": 0}.get(action)
        if n_least is None or len(numbers) < n_least or (action == "add" and len(numbers) > 1):
            raise OptionError.must_be("an edit", f"like {EDITS}", edit)
        if action == "add":
            n_added += OptionError.whole("the number of topics to add", *(numbers or [1]), 1)
            continue
        topics = [OptionError.whole("a topic", topic, 0, n_topics - 1) for topic in numbers]
        named_topics += topics
        if action == "split":
            split += topics
        else:
            group[topics] = topics[0] if action == "merge" else -1
    if repeated := sorted({topic for topic in named_topics if named_topics.count(topic) > 1}):
        raise OptionError(f"topic {repeated[0]} is named twice in the edits; name each topic once")
    kept_topics = np.unique(group[group >= 0])
    targets = np.where(group >= 0, np.searchsorted(kept_topics, group), -1).astype(np.int32)
    n_after = check_topics(len(kept_topics) + len(split) + n_added)
    return Edits(targets, tuple(map(int, targets[split])), len(kept_topics), n_after)


def edited(start: WarmStart, edits: Edits, corpus: Corpus) -> WarmStart:
    """Return the counts of a run after its topics were edited, for another run on the same documents.

    A topic that is split is divided into two groups of documents, see `halves`; a token of a dropped topic has none.
    """
    n_kw, n_dk = edits.of_topics(start.n_kw), edits.of_topics(start.n_dk, 1)
    topics = start.topics
    if topics is not None:
        topics = np.where(topics >= 0, edits.targets[topics], -1).astype(np.int32)
    weights_in = weights_of(merged := WarmStart(n_kw.copy(), n_dk.copy(), topics), corpus)
    shape = corpus.n_documents, corpus.n_words
    for new, topic in enumerate(edits.split, edits.n_kept):
        weights = csr_array((weights_in(topic).astype(float), corpus.words, corpus.indptr), shape)
        in_second = halves(weights, topic)
        share = (weights.T @ in_second) / np.maximum(weights.sum(axis=0), 1e-300)
        n_kw[new], n_dk[:, new] = merged.n_kw[topic] * share, merged.n_dk[:, topic] * in_second
        n_kw[topic] -= n_kw[new]
        n_dk[:, topic] -= n_dk[:, new]
        if topics is not None:
            token_in_second = np.repeat(in_second[corpus.documents], corpus.counts)
            topics = np.where((topics == topic) & token_in_second, np.int32(new), topics)
    return WarmStart(n_kw, n_dk, topics)


def halves(weights: csr_array, topic: int) -> np.ndarray:
    """Return which documents (document,) form the second group when the documents of a topic are split in two by words.

    Two-means: from the sign of the second singular vector on, each document joins the group whose distribution of words makes
    its own likeliest, and the distributions are counted again. Raises OptionError if all documents are alike.
    """
    lengths = weights.sum(axis=1)
    filled_documents = np.flatnonzero(lengths > 0)
    rows, in_second = weights[filled_documents], np.zeros(len(lengths), bool)
    profiles = (rows / lengths[filled_documents, None]).power(0.5).tocsr()
    sides = np.stack(
        [np.ones(len(filled_documents)), np.cos(np.arange(len(filled_documents)))], axis=1
    )
    # orthogonal iteration: of `scipy.sparse.linalg.svds` the bits differ from call to call
    for _ in range(SWEEPS):
        sides, _ = np.linalg.qr(profiles @ (profiles.T @ sides))
    in_second[filled_documents] = sides[:, 1] > 0
    for _ in range(SWEEPS):
        groups = np.stack([~in_second[filled_documents], in_second[filled_documents]]).astype(float)
        counts = (rows.T @ groups.T).T + SMOOTHING
        logs = rows @ np.log(counts / counts.sum(axis=1, keepdims=True)).T
        nearer = logs[:, 1] > logs[:, 0]
        if (nearer == in_second[filled_documents]).all():
            break
        in_second[filled_documents] = nearer
    if not 0 < in_second[filled_documents].sum() < len(filled_documents):
        raise OptionError(
            f"topic {topic} cannot be split: its words are the same in all of its documents; add a topic instead"
        )
    return in_second
