"""Matching of the topics of two runs: distances, maps, best assignment, shared tokens; the lineage of warm starts."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist, squareform

from workbench.corpus.corpus import AnyCorpus
from workbench.data.blocks import blocks, rows_at_once
from workbench.kernels.divergences import jensen_shannon
from workbench.measures.selection import MeasureError, Runs, attributes, each_run, grouped, spec_of
from workbench.measures.topics import topic_sizes, used_topics
from workbench.runs.spec import RunSpec

PAIRS_AT_ONCE = 2**11
"""(document, word) pairs per block of responsibilities: 2 MB for 100 topics, which fit in a cache."""

SINGLE_THREADED = 2**18
"""Largest number of multiplications for which OpenBLAS uses the calling thread alone."""


def topic_distances(a: xr.Dataset, b: xr.Dataset) -> xr.DataArray:
    """Return the distance between the word distributions of each topic of run a and each of run b.

    It is the square root of the Jensen-Shannon divergence of phi to base 2, over the words of both runs; a word outside the
    vocabulary of a run has probability 0 there. 0 means equal distributions, 1 no common words. Dims ``topic`` (of a) and
    ``other`` (of b), with the topic numbers of the runs.

    Lin (1991); Endres & Schindelin (2003), who show that it is a metric.
    """
    a, b = used_topics(a), used_topics(b)
    nats = cdist(*_same_words(a, b), "jensenshannon")
    # rounding may leave the root of -1e-17 for equal rows
    distances = np.nan_to_num(nats) / np.sqrt(np.log(2))
    return _pair_values(a, b, distances, "distance", "Jensen-Shannon distance of phi")


def match_topics(a: xr.Dataset, b: xr.Dataset) -> xr.Dataset:
    """Match the topics of run a one to one with topics of run b, minimising the sum of distances.

    If b has fewer topics, some topics of a have no match. Dim ``topic`` (of a): ``matched``, the number of the topic of b, -1
    for none; ``distance`` from 0 to 1 (see `topic_distances`), NaN for none.

    Kuhn (1955).
    """
    distances = topic_distances(a, b)
    rows, columns = linear_sum_assignment(distances.values)
    partners, distance = np.full(len(distances), -1), np.full(len(distances), np.nan)
    partners[rows], distance[rows] = (
        distances["other"].values[columns],
        distances.values[rows, columns],
    )
    return xr.Dataset(
        {
            "matched": (
                "topic",
                partners,
                attributes("topic of the other run; -1: none"),
            ),
            "distance": ("topic", distance, distances.attrs),
        },
        {"topic": distances["topic"].values},
        {"run": a.attrs.get("name", ""), "other": b.attrs.get("name", "")},
    )


def topic_flow(a: xr.Dataset, b: xr.Dataset, corpus: AnyCorpus) -> xr.DataArray:
    """Return the expected number of training tokens that have topic k in run a and topic l in run b.

    ::

        flow_kl = sum_dw n_dw p_a(k|d,w) p_b(l|d,w)        p(k|d,w) proportional to theta_dk phi_kw

    ``corpus`` has the training tokens of both (of a run in a store: ``workbench.runs.store.archive.get_corpus(store,
    spec.train)``). Dims ``topic`` (of a) and ``other`` (of b): tokens; they sum to those of the corpus.
    """
    a, b = used_topics(a), used_topics(b)
    for run in (a, b):
        check_training_corpus(run, corpus)
    flow = np.zeros((a.sizes["topic"], b.sizes["topic"]))
    phis = [np.ascontiguousarray(run["phi"].values.T) for run in (a, b)]
    n_at_once = min(rows_at_once(run["theta"]) for run in (a, b))
    for first, shard in corpus.parts_in_order():
        for rows in blocks(shard.n_documents, n_at_once):
            thetas = [run["theta"][first + rows.start : first + rows.stop].values for run in (a, b)]
            begin, end = shard.indptr[[rows.start, rows.stop]].tolist()
            for block in blocks(end - begin, PAIRS_AT_ONCE):
                part = slice(begin + block.start, begin + block.stop)
                gamma_a, gamma_b = (
                    responsibilities(
                        theta, phi, shard.documents[part] - rows.start, shard.words[part]
                    )
                    for theta, phi in zip(thetas, phis, strict=True)
                )
                gamma_a *= shard.counts[part, None]
                flow += _product(gamma_a, gamma_b)
    return _pair_values(a, b, flow, "tokens", "expected tokens that both topics share", "tokens")


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a.T @ b (topic, other), as a sum of products small enough for BLAS to stay single-threaded.

    With threads, thousands of such products spend their time on synchronisation: 11 CPU seconds for 1.2 million pairs of 40
    topics instead of 0.2.
    """
    rows = max(1, SINGLE_THREADED // (a.shape[1] * b.shape[1]))
    n_whole = len(a) // rows * rows
    blocks = a[:n_whole].reshape(-1, rows, a.shape[1]), b[:n_whole].reshape(-1, rows, b.shape[1])
    return (
        np.matmul(blocks[0].transpose(0, 2, 1), blocks[1]).sum(axis=0) + a[n_whole:].T @ b[n_whole:]
    )


def responsibilities(
    theta: np.ndarray, phi: np.ndarray, documents: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """Return the responsibilities p(k|d,w) (pair, topic), proportional to theta_dk phi_kw.

    theta : (document, topic). phi : (word, topic). documents, words : (pair,) ids.
    """
    weights = phi[words]
    weights *= theta[documents]
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def check_training_corpus(run: xr.Dataset, corpus: AnyCorpus) -> None:
    """Raise MeasureError if the corpus is not the training corpus of the run."""
    spec = spec_of(run)
    is_corpus = isinstance(corpus, AnyCorpus)
    if not is_corpus or corpus.content_hash != spec.train:
        description = repr(corpus) if is_corpus else type(corpus).__name__
        raise MeasureError(
            f"run '{spec.name}' was trained on another corpus than {description}; give its own training tokens"
        )


def _pair_values(
    a: xr.Dataset, b: xr.Dataset, values: np.ndarray, name: str, meaning: str, unit: str = ""
) -> xr.DataArray:
    """Return values for each pair (topic of a, topic of b) as a labelled DataArray."""
    coords = {"topic": a["topic"].values, "other": b["topic"].values}
    return xr.DataArray(values, coords, ("topic", "other"), name, attributes(meaning, unit))


def _same_words(a: xr.Dataset, b: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return phi of both runs over the union of their vocabularies; words are matched by spelling."""
    words = [run["word"].values for run in (a, b)]
    if np.array_equal(*words):
        return a["phi"].values, b["phi"].values
    union, indices = np.unique(np.concatenate(words), return_inverse=True)
    aligned = tuple(np.zeros((run.sizes["topic"], len(union))) for run in (a, b))
    for run, phi, word_indices in zip(
        (a, b), aligned, np.split(indices, [len(words[0])]), strict=True
    ):
        np.add.at(phi.T, word_indices, run["phi"].values.T)
    return aligned


class Edge(NamedTuple):
    """A warm start: a run, and the parent run from whose counts it was started."""

    run: str  # name of the warm-started run
    parent: str  # name of the run with the initial counts
    hash: str  # hash of the parent's spec
    iteration: int  # the parent's iteration whose counts were used
    dropped: float  # share of the parent's tokens in topics that were dropped
    known: bool  # whether the parent is among the runs

    @property
    def text(self) -> str:
        """Return the parent and its iteration as text: ``from kos-cgs-k8-1a2b3c4d, iteration 50``."""
        loss = f", {100 * self.dropped:.2g} % of its tokens dropped" if self.dropped else ""
        return f"from {self.parent}, iteration {self.iteration}{loss}"


def lineage(runs: Runs) -> list[Edge]:
    """Return an `Edge` for each warm-started run, in the order of the runs.

    The parent is identified by the hash of its spec; if it is among the runs, ``parent`` is its name there. If it is not and
    another run has its name, the first digits of its hash are appended.
    """
    return edges_of([(run.attrs["name"], spec_of(run)) for run in each_run(runs)])


def edges_of(specs: list[tuple[str, RunSpec]]) -> list[Edge]:
    """Return the edges that `lineage` returns, from (name, spec) of each run."""
    names, edges = {spec.hash: name for name, spec in specs}, []
    for name, warm_start in ((name, spec.start) for name, spec in specs if spec.start):
        parent, is_known = warm_start["name"], warm_start["hash"] in names
        if is_known:
            parent = names[warm_start["hash"]]
        elif parent in names.values():
            parent = f"{parent} ({warm_start['hash'][:8]})"
        iteration, dropped = int(warm_start["iteration"]), float(warm_start.get("dropped", 0.0))
        edges.append(Edge(name, parent, warm_start["hash"], iteration, dropped, is_known))
    return edges


def descent(edges: list[Edge]) -> list[tuple[str, int, Edge | None]]:
    """Return the tree of warm starts as rows (name, depth, edge to the parent), parents before their children."""
    edge_of = {edge.run: edge for edge in edges}
    children = grouped([edge.parent for edge in edges], [edge.run for edge in edges])
    rows: list[tuple[str, int, Edge | None]] = []
    stack = [(name, 0) for name in reversed(children) if name not in edge_of]
    while stack:
        name, generation = stack.pop()
        rows.append((name, generation, edge_of.get(name)))
        stack += [(child, generation + 1) for child in reversed(children.get(name, []))]
    return rows


def topic_tree(run: xr.Dataset) -> xr.Dataset:
    """Return the tree of a run's topics by likeness: average-linkage clustering of `topic_distances`.

    Dim ``topic``: the topic numbers in the order of the leaves, in which similar topics are neighbours. Dim ``merge``, in
    ascending order of ``height``, the mean distance from 0 to 1 between the topics of both sides: ``one`` and ``other``, each
    the position of a topic, or the number of topics plus that of an earlier merge. A run of one topic has no merge.

    Sokal & Michener (1958); Bar-Joseph, Gifford & Jaakkola (2001) for the order.
    """
    distances = topic_distances(run, run)
    n = len(distances)
    links, leaves = np.empty((0, 4)), np.arange(n)
    if n > 1:
        pairs = squareform(distances.values, checks=False)
        links = linkage(pairs, "average", optimal_ordering=True)
        leaves = leaves_list(links)
    places = np.concatenate([np.argsort(leaves), np.arange(n, 2 * n)])
    joined = places[links[:, :2].astype(np.int64)]
    return xr.Dataset(
        {
            "one": ("merge", joined[:, 0], attributes("position or merge that is joined")),
            "other": (
                "merge",
                joined[:, 1],
                attributes("position or merge that it is joined with"),
            ),
            "height": ("merge", links[:, 2], distances.attrs),
        },
        {"topic": distances["topic"].values[leaves]},
    )


ALIKE = 1e-9
"""Relative tolerance for equal coordinates when the sign of an axis is chosen."""


def topic_map(run: xr.Dataset, like: xr.Dataset | None = None) -> xr.Dataset:
    """Return a two-dimensional map of the topics in which distances approximate those between rows of phi.

    The distance of two topics is the square root of the Jensen-Shannon divergence of their phi to base 2, a metric from 0 (the
    same words) to 1 (no word in common). Classical multidimensional scaling uses the two largest eigenvalues of the doubly
    centred matrix of squared distances; negative eigenvalues count as 0. Equal topics share a point, and a map of one topic is
    the origin.

    ``like`` is an earlier map of the same run: this one is translated, rotated and reflected onto it (Procrustes) by the common
    topics, so that points do not jump between snapshots. Without it the signs are fixed: on each axis the topic farthest from 0
    is positive.

    Dim ``topic``: ``x``, ``y``, ``n_k`` and ``share`` (see `topic_sizes`). ``attrs["shown"]``: the share of the positive
    eigenvalues that the plane shows, 1 if there are none.

    Lin (1991); Torgerson (1952); Schönemann (1966). It takes K^2 W / 2 logarithms: .2 s for 100 topics of 30,000 words.
    """
    run = used_topics(run)
    points, share = _map_points(jensen_shannon(run["phi"].values) / np.log(2))
    if like is not None:
        points = _align(points, run["topic"].values, like)
    sizes = topic_sizes(run)
    return sizes.assign(
        x=("topic", points[:, 0], {"long_name": "first axis of the map", "units": ""}),
        y=("topic", points[:, 1], {"long_name": "second axis of the map", "units": ""}),
    ).assign_attrs(shown=share)


def _map_points(squared: np.ndarray) -> tuple[np.ndarray, float]:
    """Return coordinates (topic, 2) by classical scaling of squared distances, and their share of the positive eigenvalues."""
    centred = squared - squared.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, axes = np.linalg.eigh(-0.25 * (centred + centred.T))
    values = np.where(values > len(values) * ALIKE**2, values, 0.0)
    points = np.zeros((len(squared), 2))
    for column in range(min(2, len(values))):
        points[:, column] = with_sign(axes[:, -1 - column] * np.sqrt(values[-1 - column]))
    total = values.sum()
    return points, float(values[-2:].sum() / total) if total > 0 else 1.0


def with_sign(axis: np.ndarray) -> np.ndarray:
    """Return coordinates on an axis with the sign with which the first of the farthest from 0 is positive."""
    far = np.abs(axis) >= np.abs(axis).max() * (1 - ALIKE)
    return axis if axis[np.argmax(far)] >= 0 else -axis


def _align(points: np.ndarray, topics: np.ndarray, like: xr.Dataset) -> np.ndarray:
    """Return points moved, rotated and reflected to bring topics as close as possible to their place on an earlier map."""
    if not isinstance(like, xr.Dataset) or not {"x", "y", "topic"} <= {*like.variables}:
        raise MeasureError(
            f"like must be an earlier result of topic_map; got {type(like).__name__}"
        )
    common, rows, earlier_rows = np.intersect1d(topics, like["topic"].values, return_indices=True)
    if not len(common):
        return points
    earlier_points = np.column_stack([like["x"].values, like["y"].values])[earlier_rows]
    centre = points[rows].mean(axis=0)
    rotation, _ = orthogonal_procrustes(
        points[rows] - centre, earlier_points - earlier_points.mean(axis=0)
    )
    return (points - centre) @ rotation + earlier_points.mean(axis=0)
