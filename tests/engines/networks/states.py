"""States of engines of networks, read by the names that the plain twins have; and networks and a corpus that are odd."""

from dataclasses import replace

import network_twins as twins
import numpy as np

from workbench.corpus import Corpus
from workbench.engines.networks.compiled import cells_of, owners_of
from workbench.engines.networks.paths import paths_of
from workbench.models.networks.network import AUTHORS, WORD


def level_rows(network, state, level) -> np.ndarray:
    """(row, value) expected counts of a level, rows as the network numbers them."""
    paths = paths_of(network)
    if level.draws == WORD:
        return state.n_wk[:, paths.leaf_addresses].T
    return cells_of(paths, level, state.n_own, state.n_rest).reshape(-1, network.size(level.draws))


def rows_of_counts(network, corpus, counts):
    """(level, its table of counts as the network numbers rows) of each Dirichlet level."""
    for level in network.levels:
        if level.kind == "dirichlet":
            rows = twins.rows_of(network, level, corpus.n_documents)
            values = range(twins.n_values(network, level, corpus.n_words))
            yield level, [[counts[row, value] for value in values] for row in rows]


def rows_of_state(network, corpus, state) -> dict:
    """xi by row, as the twins name rows."""
    found = {}
    for level in network.levels:
        if level.kind == "dirichlet":
            rows = twins.rows_of(network, level, corpus.n_documents)
            for row, counts in zip(rows, level_rows(network, state, level), strict=True):
                for each in rows_by_leaf(level, row, corpus):
                    prior = twins.prior_of(network, each, corpus.n_words, corpus)
                    found[each] = np.where(prior > 0, counts, 0.0) + prior
    return found


def rows_by_leaf(level, row, corpus) -> list:
    """Return the row; of a level with several leaves the row of each leaf."""
    if not level.leaves:
        return [row]
    leaves = {twins.same_leaf(level, corpus, w) for w in range(corpus.n_words)}
    return [(*row[:2], (*row[2], leaf)) for leaf in leaves]


def places_of_paths(network, corpus, document, word) -> list[int]:
    """The place of each path of a token, in the order of the twins."""
    paths, author = paths_of(network), network.levels[0].table == AUTHORS
    own = (
        [network.variables[0].values.index(name) for name in corpus.authors[document]]
        if author
        else [0]
    )
    assert (
        own
        == owners_of(network, corpus)
        .ids[slice(*owners_of(network, corpus).indptr[document : document + 2])]
        .tolist()
        or not author
    )
    return [
        own.index(path.values["author"] if author else 0) * paths.n_lanes
        + twins.lane_of(network, path)
        for path in twins.paths_of_token(network, corpus, document, word)
    ]


def paths_in(network, corpus, state) -> list:
    """The path of each token, from its place."""
    found = []
    for (d, w, _), place in zip(twins.tokens_of(corpus), state.places.tolist(), strict=True):
        found.append(
            twins.paths_of_token(network, corpus, d, w)[
                places_of_paths(network, corpus, d, w).index(place)
            ]
        )
    return found


def with_authors(corpus) -> Corpus:
    """Return the corpus by three authors: one, two or three of them in turn."""
    names = (("a0",), ("a1", "a0"), ("a2", "a0", "a1"), ("a2",))
    return replace(corpus, authors=tuple(names[d % 4] for d in range(corpus.n_documents)))


def odd_corpus() -> Corpus:
    """Five documents of 6 words by three authors: one is empty, one has a single token, a word is used nowhere."""
    pairs = [
        (0, 0, 3),
        (0, 1, 1),
        (0, 4, 7),
        (1, 1, 1),
        (1, 2, 2),
        (2, 3, 1),
        (4, 0, 1),
        (4, 2, 2),
        (4, 3, 4),
        (4, 4, 1),
    ]
    authors = (("a0", "a1"), ("a2",), ("a1",), (), ("a0", "a1", "a2"))
    return Corpus.from_pairs(*np.array(pairs).T, n_documents=5, n_words=6, authors=authors)


NETWORKS = {
    "lda": twins.lda(3, (0.9, 0.5, 0.2), 0.3),
    "author-topic": twins.author_topic(3, alpha=(0.6, 0.35, 0.1), beta=0.4),
    "pachinko": twins.pachinko(2, 3, (0.6, 0.35), ((0.5, 0.9, 0.1), (0.8, 0.3, 0.2)), 0.2),
    "hpam1": twins.hpam1(3, 2, 0.4, ((0.5, 0.9), (0.8, 0.3), (0.1, 0.1)), (0.5, 0.7, 1.1), 0.4),
    "hpam2": twins.hpam2(2, 3, (0.6, 0.35, 0.7), ((0.5, 0.9, 0.1, 0.4), (0.8, 0.3, 0.2, 0.6)), 0.3),
    "authors-by-region": twins.authors_by_region(),
    "one value each": twins.pachinko(1, 1, 0.3, 0.2, 0.1),
    "tiny priors": twins.pachinko(2, 3, 1e-8, 1e-8, 0.1),
    "tiny priors of all": twins.hpam2(2, 2, 1e-8, 1e-8, 1e-8),
    "tiny priors of authors": twins.author_topic(2, alpha=1e-8, beta=1e-8),
    "one alone": twins.pachinko(1, 3, 1e-8, (1e-8, 0.5, 0.002), 0.1),
}


def learning(network):
    """The network, all of whose priors learn."""
    ways = {"dirichlet": "vector"}
    return replace(
        network,
        levels=tuple(
            replace(level, learn="scalar" if level.draws == WORD else ways.get(level.kind, "none"))
            for level in network.levels
        ),
    )
