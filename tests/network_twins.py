"""Networks of mixture levels, plain: every path of every token walked as the network is written, counts in dictionaries.

Nothing here knows the layout of `workbench.engines.networks.paths`. A row of a level is named (level, number of its block of
rows, values of the variables that number it), a cell (row, value). Equations are those of the specification of networks, part
D.
"""

import itertools
import math
from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, psi
from twins import tokens_of

from workbench.corpus import Corpus
from workbench.engines.networks.paths import paths_of
from workbench.models.networks.network import (
    AUTHORS,
    DOCUMENT,
    WORD,
    Level,
    Network,
    Rows,
    Variable,
)


class Path(NamedTuple):
    values: dict  # of each hidden variable
    cells: tuple  # ((level, block, row values), value) of each level visited, the word last


def paths_of_token(network, corpus, document, word) -> list[Path]:
    """Every path from the document to the word, levels in order, values ascending."""
    found = [Path({DOCUMENT: document}, ())]
    for level in network.levels:
        found = [
            longer for path in found for longer in _extended(network, corpus, level, path, word)
        ]
    return found


def _extended(network, corpus, level, path, word):
    row = row_of(level, path.values)
    if row is None:
        return [path]
    if level.draws == WORD:
        values = [word]
        if level.leaves:
            row = (*row[:2], (*row[2], same_leaf(level, corpus, word)))
    elif level.table == AUTHORS:
        names = network.author.values
        values = [names.index(name) for name in corpus.authors[path.values[DOCUMENT]]]
    else:
        values = allowed_values(network, corpus, level, path.values[DOCUMENT])
    return [
        Path(path.values | {level.draws: value}, (*path.cells, (row, value))) for value in values
    ]


def same_leaf(level, corpus, word) -> frozenset:
    """The words of the leaf of a word, which name the leaf."""

    def prefix(text):
        if level.leaves == "prefixes":
            return text.partition(":")[0] if ":" in text else None
        return next((leaf for leaf in level.leaves if text.startswith(leaf)), None)

    own = prefix(corpus.vocabulary[word])
    return frozenset(w for w, text in enumerate(corpus.vocabulary) if prefix(text) == own)


def allowed_values(network, corpus, level, document) -> list[int]:
    """The values that a document may draw: those of its labels and of none; all of them if it has no labels."""
    labels = network.variable(level.draws).labels
    own = corpus.labels[document] if labels else ()
    return [
        value
        for value in range(network.size(level.draws))
        if not own or labels[value] in ("", *own)
    ]


def row_of(level, values):
    """The row that a level draws from, given what was drawn before; None where it is not visited."""
    for block, rows in enumerate(level.rows):
        if all(name in values and first <= values[name] <= last for name, first, last in rows.when):
            return level.name, block, tuple(values[name] for name in rows.by)
    return None


def rows_of(network, level, n_documents):
    """All rows of a level, in the order in which the network numbers them."""
    for block, rows in enumerate(level.rows):
        spans = [
            (0, n_documents - 1) if name == DOCUMENT else network.span(rows, name)
            for name in rows.by
        ]
        for values in itertools.product(*(range(first, last + 1) for first, last in spans)):
            yield level.name, block, values


def n_values(network, level, n_words) -> int:
    """How many values a row of a level draws from."""
    return n_words if level.draws == WORD else network.size(level.draws)


def prior_of(network, row, n_words, corpus=None) -> np.ndarray:
    """(value,) the prior of a row of a Dirichlet level; with a corpus 0 for values outside the labels of the document."""
    level = network.level(row[0])
    if corpus is not None and level.of_documents:
        allowed = allowed_values(network, corpus, level, row[2][0])
        prior = prior_of(network, row, n_words)
        return np.where(np.isin(np.arange(len(prior)), allowed), prior, 0.0)
    given, n = np.asarray(level.prior, float), n_values(network, level, n_words)
    if level.leaves:
        return np.where(np.isin(np.arange(n), list(row[2][-1])), given, 0.0)
    if given.ndim < 2:
        return np.broadcast_to(given, n)
    keys = dict.fromkeys(_group(network, other) for other in rows_of(network, level, 1))
    return np.broadcast_to(given[list(keys).index(_group(network, row))], n)


def _group(network, row):
    level = network.level(row[0])
    values = dict(zip(level.rows[row[1]].by, row[2], strict=True))
    return tuple(values.get(name) for name in level.groups)


def known(network, corpus, cell) -> float | None:
    """The probability of a cell of an observed level; None of a Dirichlet one."""
    (name, block, values), value = cell
    level = network.level(name)
    if level.kind != "observed":
        return None
    if level.table == AUTHORS:
        return 1 / len(corpus.authors[values[0]])
    return level.table[
        list(rows_of(network, level, corpus.n_documents)).index((name, block, values))
    ][value]


# ---------------------------------------------------------------------- collapsed


def weight(network, corpus, counts, path) -> float:
    """p(path, word | counts of other tokens), D.4; ``counts`` is a Counter of cells and of rows."""
    product = 1.0
    for cell in path.cells:
        given = known(network, corpus, cell)
        if given is None:
            prior = prior_of(network, cell[0], corpus.n_words, corpus)
            given = (counts[cell] + prior[cell[1]]) / (counts[cell[0]] + prior.sum())
        product *= given
    return product


def added(counts, path, n=1) -> None:
    """Counts a path, n times."""
    for cell in path.cells:
        counts[cell] += n
        counts[cell[0]] += n


def conditional(network, corpus, chosen, i) -> np.ndarray:
    """(path,) p of the paths of token i given those chosen for all others."""
    counts = Counter()
    for j, path in enumerate(chosen):
        if j != i:
            added(counts, path)
    d, w, _ = tokens_of(corpus)[i]
    weights = np.array(
        [weight(network, corpus, counts, path) for path in paths_of_token(network, corpus, d, w)]
    )
    return weights / weights.sum()


def log_joint(network, corpus, chosen) -> float:
    """log p(words, paths), from gamma functions of all counts."""
    counts = Counter()
    for path in chosen:
        added(counts, path)
    return log_joint_of(network, corpus, counts)


class Exact(NamedTuple):
    log_evidence: float
    posteriors: list  # per token, (path,)
    counts: Counter  # expected, of cells and rows


def exact(network, corpus) -> Exact:
    """By going through every choice of paths for all tokens, one token after another."""
    tokens = [paths_of_token(network, corpus, d, w) for d, w, _ in tokens_of(corpus)]
    posteriors, log_weights, counts = [np.zeros(len(paths)) for paths in tokens], [], Counter()
    factors = [[_factors(network, corpus, path) for path in paths] for paths in tokens]

    def go(i, log_weight, chosen):
        if i == len(tokens):
            log_weights.append(log_weight)
            for j, p in enumerate(chosen):
                posteriors[j][p] += math.exp(log_weight)
            return
        for p, (constant, cells) in enumerate(factors[i]):
            here = constant
            for cell, row, prior, total in cells:
                here *= (counts[cell] + prior) / (counts[row] + total)
            for cell, row, *_ in cells:
                counts[cell] += 1
                counts[row] += 1
            go(i + 1, log_weight + math.log(here), (*chosen, p))
            for cell, row, *_ in cells:
                counts[cell] -= 1
                counts[row] -= 1

    go(0, 0.0, ())
    log_evidence = logsumexp(log_weights)
    posteriors = [posterior / posterior.sum() for posterior in posteriors]
    expected = Counter()
    for paths, posterior in zip(tokens, posteriors, strict=True):
        for path, p in zip(paths, posterior, strict=True):
            added(expected, path, p)
    return Exact(log_evidence, posteriors, expected)


def _factors(network, corpus, path):
    """The product of the known cells of a path, and (cell, row, prior, total prior) of the others, by short names."""
    constant, cells = 1.0, []
    for cell in path.cells:
        given = known(network, corpus, cell)
        if given is not None:
            constant *= given
            continue
        prior = prior_of(network, cell[0], corpus.n_words, corpus)
        cells.append((hash(cell), hash(cell[0]), float(prior[cell[1]]), float(prior.sum())))
    return constant, cells


# ---------------------------------------------------------------------- averaged


def log_mean(network, corpus, xi, cell) -> float:
    """E[log of a cell] under rows xi: {row: (value,) array}; the log of an observed one."""
    given = known(network, corpus, cell)
    return (
        math.log(given)
        if given is not None
        else float(psi(xi[cell[0]][cell[1]]) - psi(xi[cell[0]].sum()))
    )


def mean_of(network, corpus, xi, cell) -> float:
    """E[a cell] under rows xi; an observed one is what it is."""
    given = known(network, corpus, cell)
    return xi[cell[0]][cell[1]] / xi[cell[0]].sum() if given is None else given


def responsibilities(network, corpus, xi) -> list[np.ndarray]:
    """Of each pair, (path,): D.2."""
    found = []
    for d, w in zip(corpus.documents.tolist(), corpus.words.tolist(), strict=True):
        scores = [
            sum(log_mean(network, corpus, xi, c) for c in path.cells)
            for path in paths_of_token(network, corpus, d, w)
        ]
        found.append(np.exp(scores - logsumexp(scores)))
    return found


def expected_counts(network, corpus, responsible) -> Counter:
    """Of cells and rows, given the responsibilities of each pair."""
    counts = Counter()
    pairs = zip(
        corpus.documents.tolist(),
        corpus.words.tolist(),
        corpus.counts.tolist(),
        responsible,
        strict=True,
    )
    for d, w, n, row in pairs:
        for path, q in zip(paths_of_token(network, corpus, d, w), row, strict=True):
            added(counts, path, n * q)
    return counts


def log_joint_of(network, corpus, counts) -> float:
    """Of any counts of cells: log Delta(alpha + n) - log Delta(alpha) of rows, n log p of known cells."""
    found = 0.0
    for key in counts:
        if len(key) == 3 and network.level(key[0]).kind != "observed":
            prior = prior_of(network, key, corpus.n_words, corpus)
            n = np.array([counts[key, value] for value in range(len(prior))])[prior > 0]
            prior = prior[prior > 0]
            found += (
                gammaln(prior.sum())
                - gammaln(prior.sum() + n.sum())
                + np.sum(gammaln(prior + n) - gammaln(prior))
            )
        elif len(key) == 2 and (p := known(network, corpus, key)) is not None:
            found += counts[key] * math.log(p)
    return found


# ---------------------------------------------------------------------- beside the layout


def lane_of(network, path) -> int:
    """The place of a path among the lanes of `paths_of`, found by the addresses of all that it visits."""
    paths = paths_of(network)
    visited = {
        row[0]: (level, row, value)
        for row, value in path.cells
        if (level := network.level(row[0])).table != AUTHORS
    }
    wanted = []
    for level in network.levels[:-1]:
        if level.table != AUTHORS:
            known = level.kind != "observed" and level.name in visited
            wanted.append(
                paths.addresses[level.name].cells[
                    _number(network, *visited[level.name][:2]), visited[level.name][2]
                ]
                if known
                else -1
            )
    leaf = paths.leaf_addresses[_number(network, *visited[network.levels[-1].name][:2])]
    same = (paths.cells == wanted).all(axis=1) & (paths.leaf == leaf)
    assert same.sum() == 1, (path, wanted, leaf)
    return int(np.flatnonzero(same)[0])


def _number(network, level, row) -> int:
    """Of a row of the first document and the first author with the same other values."""
    name, block, values = row
    apart = [by == DOCUMENT or network.is_author(by) for by in level.rows[block].by]
    first = tuple(
        0 if each else value for each, value in zip(apart, values, strict=not level.leaves)
    )
    return list(rows_of(network, level, 1)).index((name, block, first))


# ---------------------------------------------------------------------- networks for tests


def lda(n_topics=3, alpha=0.1, beta=0.1) -> Network:
    return Network(
        "lda",
        (Variable("topic", n_topics),),
        (
            Level("theta", "topic", (Rows((DOCUMENT,)),), prior=alpha),
            Level("phi", WORD, (Rows(("topic",)),), prior=beta),
        ),
    )


def author_topic(n_topics=2, names=("a0", "a1", "a2"), alpha=0.1, beta=0.1) -> Network:
    return Network(
        "author-topic",
        (Variable("author", len(names), tuple(names)), Variable("topic", n_topics)),
        (
            Level("authors", "author", (Rows((DOCUMENT,)),), kind="observed", table=AUTHORS),
            Level("theta", "topic", (Rows(("author",)),), prior=alpha),
            Level("phi", WORD, (Rows(("topic",)),), prior=beta),
        ),
    )


def pachinko(n_super=2, n_topics=3, alpha0=0.1, alpha1=0.1, beta=0.1) -> Network:
    return Network(
        "pachinko",
        (Variable("super", n_super), Variable("topic", n_topics)),
        (
            Level("theta0", "super", (Rows((DOCUMENT,)),), prior=alpha0),
            Level("theta1", "topic", (Rows((DOCUMENT, "super")),), prior=alpha1, groups=("super",)),
            Level("phi", WORD, (Rows(("topic",)),), prior=beta),
        ),
    )


def hpam1(n_super=2, n_topics=3, alpha0=0.1, alpha1=0.1, gamma=0.1, beta=0.1) -> Network:
    depth = Variable("depth", 3, ("root", "super", "sub"))
    by_depth = (
        Rows((), (("depth", 0, 0),)),
        Rows(("super",), (("depth", 1, 1),)),
        Rows(("topic",), (("depth", 2, 2),)),
    )
    return Network(
        "hpam1",
        (Variable("super", n_super), Variable("topic", n_topics), depth),
        (
            *pachinko(n_super, n_topics, alpha0, alpha1).levels[:2],
            Level("zeta", "depth", (Rows(("super", "topic")),), prior=gamma),
            Level("phi", WORD, by_depth, prior=beta),
        ),
    )


def hpam2(n_super=2, n_topics=3, alpha0=0.1, alpha1=0.1, beta=0.1) -> Network:
    inner = ("super", 1, n_super)
    return Network(
        "hpam2",
        (Variable("super", n_super + 1), Variable("topic", n_topics + 1)),
        (
            Level("theta0", "super", (Rows((DOCUMENT,)),), prior=alpha0),
            Level(
                "theta1",
                "topic",
                (Rows((DOCUMENT, "super"), (inner,)),),
                prior=alpha1,
                groups=("super",),
            ),
            Level(
                "phi",
                WORD,
                (
                    Rows((), (("super", 0, 0),)),
                    Rows(("super",), (inner, ("topic", 0, 0))),
                    Rows(("topic",), (("topic", 1, n_topics),)),
                ),
                prior=beta,
            ),
        ),
    )


def authors_by_region() -> Network:
    """In no paper: authors choose regions, regions known styles, regions and styles a topic, and some words are everybody's.

    It has rows by author, shared rows, a table of numbers, a level that some paths do not visit, rows in three blocks,
    priors by group, and words by two variables.
    """
    return Network(
        "authors-by-region",
        (
            Variable("author", 3, ("a0", "a1", "a2")),
            Variable("region", 3),
            Variable("style", 2),
            Variable("topic", 2),
        ),
        (
            Level("authors", "author", (Rows((DOCUMENT,)),), kind="observed", table=AUTHORS),
            Level("rho", "region", (Rows(("author",)),), prior=(0.6, 0.35, 0.8)),
            Level(
                "styles",
                "style",
                (Rows(("region",), (("region", 1, 2),)),),
                kind="observed",
                table=((0.25, 0.75), (0.9, 0.1)),
            ),
            Level(
                "theta",
                "topic",
                (Rows(("region", "style"), (("region", 1, 2),)),),
                prior=((0.5, 0.9), (0.8, 0.3)),
                groups=("style",),
            ),
            Level(
                "phi",
                WORD,
                (
                    Rows((), (("region", 0, 0),)),
                    Rows(("region",), (("region", 1, 2), ("topic", 0, 0))),
                    Rows(("style",), (("topic", 1, 1),)),
                ),
                prior=0.4,
            ),
        ),
    )


def toy(
    documents=((0, 0, 1), (1, 2, 2)), n_words=3, authors=(("a0", "a1"), ("a1", "a2"))
) -> Corpus:
    """Documents of these words; the toy of the oracles has 6 tokens."""
    pairs = [(d, w, 1) for d, words in enumerate(documents) for w in words]
    return Corpus.from_pairs(
        *np.array(pairs).T, n_documents=len(documents), n_words=n_words, authors=authors
    )
