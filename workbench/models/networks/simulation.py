"""Simulation of a corpus from a network of mixture levels, with its true parameters."""

import numpy as np

from workbench.corpus import Corpus
from workbench.models.model import ModelError
from workbench.models.networks.labels import allowed_values
from workbench.models.networks.leaves import MOST_LEAVES, leaves_of
from workbench.models.networks.levels import AUTHORS, DOCUMENT, PREFIXES, WORD

MOST_AUTHORS = 3
"""Maximum of authors of a document if authors are drawn."""


def simulate(
    network,
    n_documents: int,
    n_words: int,
    tokens_per_document: int,
    seed: int = 0,
    authors=None,
    labels=None,
) -> tuple[Corpus, dict]:
    """Draw a corpus from a network; return it and the true parameters.

    Parameters
    ----------
    network : Network
        Rows of point levels are drawn from their prior, like Dirichlet rows.
    n_documents, n_words, tokens_per_document, seed : int
    authors : (document,) names of its authors, optional
        For a network with authors; by default each document has one to three random ones.
    labels : (document,) names of its labels, optional
        For a network with labels; an empty tuple allows all values.

    Returns
    -------
    corpus : Corpus
        Documents of exactly ``tokens_per_document`` tokens, with authors if the network has them.
    truth : dict
        Name of the level → its parameters (row, value), or (document, row, value) if documents have separate rows;
        ``n_<level>`` → their counts; ``n_kw`` (row over words, word) and ``n_dk`` (document, row over words).
        With several leaves a row over words has a distribution for each, and a token is of any leaf as likely.

    Raises
    ------
    ModelError
        If the network needs authors or labels that are not known.
    """
    random = np.random.default_rng(seed)
    network, authors = _with_authors(network, n_documents, authors, random)
    network, mask = _with_labels(network, n_documents, labels)
    document = np.repeat(np.arange(n_documents), tokens_per_document)
    values, truth = {DOCUMENT: document}, {}
    for level in network.levels:
        if level.table == AUTHORS:
            values[level.draws] = _draw_authors(network, authors, document, random)
            continue
        row = row_of(network, level, values)
        visits = np.flatnonzero(row >= 0)
        if level.leaves:
            parameters, draws = _draw_words(network, row, n_words, random)
        else:
            parameters = _parameters(network, level, n_documents, n_words, random)
            if network.labelled is not None and level.draws == network.labelled.name:
                parameters = parameters * mask / (parameters * mask).sum(axis=1, keepdims=True)
            draws = np.full(len(document), -1)
            draws[visits] = _draw_values(parameters, row[visits], random)
        values[level.draws] = draws
        counts = np.bincount(
            row[visits] * parameters.shape[1] + draws[visits], minlength=parameters.size
        )
        shape = (n_documents, -1, parameters.shape[1]) if level.of_documents else parameters.shape
        truth[level.name], truth[f"n_{level.name}"] = (
            parameters.reshape(shape),
            counts.reshape(shape),
        )
    last = network.levels[-1]
    leaf, n_leaves = row_of(network, last, values), network.n_rows(last)
    truth["n_kw"] = truth[f"n_{last.name}"]
    truth["n_dk"] = np.bincount(
        document * n_leaves + leaf, minlength=n_documents * n_leaves
    ).reshape(n_documents, -1)
    about = {"authors": authors, "labels": labels, "vocabulary": vocabulary_of(network, n_words)}
    words = values[WORD]
    corpus = Corpus.from_pairs(
        document,
        words,
        np.ones(len(words), np.int64),
        n_documents=n_documents,
        n_words=n_words,
        name="simulated",
        **about,
    )
    return corpus, truth


def row_of(network, level, values: dict[str, np.ndarray]) -> np.ndarray:
    """Return the row (token,) of a level that each token visits, or -1; rows of documents are numbered consecutively.

    values : name → (token,) values of "document" and of every variable drawn before, -1 for none.
    """
    numbers = np.full(len(values[DOCUMENT]), -1, np.int64)
    for rows in level.rows:
        is_visiting = np.ones(len(numbers), bool)
        for name, first, last in rows.when:
            is_visiting &= (values[name] >= first) & (values[name] <= last)
        index = tuple(
            values[name][is_visiting] - network.span(rows, name)[0]
            for name in rows.by
            if name != DOCUMENT
        )
        numbers[is_visiting] = network.row_numbers(level, rows)[index]
    return np.where(
        numbers >= 0,
        numbers + (values[DOCUMENT] * network.n_rows(level) if level.of_documents else 0),
        -1,
    )


def _with_authors(network, n_documents, authors, random):
    """Return the network with author names, and the given or drawn authors of each document (None without authors)."""
    if network.author is None:
        return network, None
    if authors is None:
        size = network.author.size
        if size == AUTHORS:
            raise ModelError(
                f"network '{network.name}' needs authors to draw documents by; give authors, a tuple of names for each "
                f"document, or make the size of '{network.author.name}' a number"
            )
        names = network.author.values or tuple(
            f"author {i:0{len(str(size - 1))}d}" for i in range(size)
        )
        # so that as many as possible have a document
        first = random.permutation(np.arange(n_documents) % size)
        authors = [
            tuple(
                names[i]
                for i in {first[d], *random.integers(size, size=random.integers(MOST_AUTHORS))}
            )
            for d in range(n_documents)
        ]
        return network.with_authors(names), authors
    carrier = Corpus.from_pairs(
        np.arange(n_documents),
        np.zeros(n_documents, int),
        np.ones(n_documents, int),
        authors=authors,
        vocabulary=vocabulary_of(network, MOST_LEAVES),
    )
    return network.for_data(carrier), authors


def _with_labels(network, n_documents, labels):
    """Return the network with the names of labels, and which values (document, value) they allow; None without labels."""
    if network.labelled is None:
        return network, None
    if labels is None or len(labels) != n_documents:
        raise ModelError(
            f"network '{network.name}' needs labels to draw documents by; give labels, a tuple of names for each document"
        )
    carrier = Corpus.from_pairs(
        np.arange(n_documents),
        np.zeros(n_documents, int),
        np.ones(n_documents, int),
        labels=labels,
        vocabulary=vocabulary_of(network, MOST_LEAVES),
    )
    network = network.for_data(carrier)
    allowed, set_of = allowed_values(network.labelled, carrier)
    return network, allowed[set_of]


def _draw_authors(network, authors, document, random) -> np.ndarray:
    """Draw an author (token,) for each token, uniformly among the authors of its document."""
    n_authors = np.array([len(names) for names in authors])
    starts, author_ids = (
        np.cumsum(n_authors) - n_authors,
        np.concatenate(network.author.numbers(authors)).astype(np.int64),
    )
    positions = (random.random(len(document)) * n_authors[document]).astype(np.int64)
    return author_ids[starts[document] + positions]


def _parameters(network, level, n_documents, n_words, random) -> np.ndarray:
    """Return the rows (row, value) of a level: drawn from the prior, or the table of an observed level."""
    if level.kind == "observed":
        return np.array(level.table, float)
    n_values, groups = (
        n_words if level.draws == WORD else network.size(level.draws),
        network.row_groups(level),
    )
    prior = np.broadcast_to(np.asarray(level.prior, float), (network.n_groups(level), n_values))
    n_times = n_documents if level.of_documents else 1
    return np.concatenate(
        [random.dirichlet(prior[group], n_times)[:, None] for group in groups], axis=1
    ).reshape(-1, n_values)


def vocabulary_of(network, n_words: int) -> tuple[str, ...] | None:
    """Return words of which each leaf has as many, one leaf after another; None for a network with one leaf.

    Where the vocabulary is to say which prefixes there are, they are "a:" and "b:".
    """
    prefixes = ("a:", "b:") if network.leaves == PREFIXES else ("", *network.leaves)
    if len(prefixes) == 1:
        return None
    if n_words < len(prefixes):
        raise ModelError(
            f"network '{network.name}' needs a word of each of its {len(prefixes)} leaves; got n_words={n_words}"
        )
    parts = np.array_split(np.arange(n_words), len(prefixes))
    return tuple(
        f"{prefix}w{w}" for prefix, part in zip(prefixes, parts, strict=True) for w in part
    )


def _draw_words(network, row: np.ndarray, n_words: int, random) -> tuple[np.ndarray, np.ndarray]:
    """Draw the rows of a level of several leaves, (row, word), and a word (token,) for each token, of any leaf as likely."""
    _, leaf_of = leaves_of(network.leaves, vocabulary_of(network, n_words))
    sizes = np.bincount(leaf_of)
    leaf, words, parts, before = (
        random.integers(len(sizes), size=len(row)),
        np.empty(len(row), int),
        [],
        0,
    )
    for i, n_of_leaf in enumerate(sizes.tolist()):
        parts.append(_parameters(network, network.levels[-1], 1, n_of_leaf, random))
        words[leaf == i] = before + _draw_values(parts[-1], row[leaf == i], random)
        before += n_of_leaf
    return np.hstack(parts), words


def _draw_values(parameters: np.ndarray, row: np.ndarray, random) -> np.ndarray:
    """Draw a value (token,) for each token from its row of ``parameters`` (row, value), by inversion."""
    shares = np.cumsum(parameters, axis=1)
    shares[:, -1] = 1.0
    n_values = parameters.shape[1]
    indices = np.searchsorted(
        (shares + np.arange(len(shares))[:, None]).ravel(),
        random.random(len(row)) + row,
        side="right",
    )
    return np.minimum(indices - row * n_values, n_values - 1)
