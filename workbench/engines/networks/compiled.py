"""A network compiled for the kernels: priors and counts in the memory layout of its paths, and learning of its priors.

Compiled loops know addresses (`paths`); people know levels, rows and values. Counts of cells and of row sums stand as the
vector does::

    n_own  (document, D)       of levels with rows by document         address
    n_rest (C + A * authors,)  of shared rows, and of authors          address - rest_at
    n_wk   (word, R), n_k (R,) of the rows of the last level           place of the row

A network of several leaves has an n_k for each of them: (language * R,), one after another. A language is the words of a leaf.
Rows of a level are numbered as the network numbers them (`Rows`), documents apart. Spec of the networks, D.1-D.4.

In variational Bayes row sums are part of the number of a cell, x_kt = e(xi_kt) / e(sum_t xi_kt), so that numbers stay within
0..1 however small the priors; the number of the word is weighed by pair. See `kernels.networks.field`, `kernels.networks.vb`.

Priors of levels learn from expected or sampled counts. The rows of a group j share a prior alpha_j; what is maximised, given q
(spec D.3), is the bound as a function of it::

    f = K_j { lnG(sum_t alpha_t) - sum_t lnG(alpha_t) } + sum_t alpha_t S_t,   S_t = sum_rows { psi(xi_t) - psi(sum_t xi_t) }

of a level that learns a scalar, with one number for all groups and values. From sampled counts it is their Polya likelihood.
Rows without a token are left out: they only echo the prior. Newton steps with safeguards (`engines.lda.likelihoods`), up to
1000.
"""

import itertools
import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from workbench.corpus import Corpus
from workbench.engines.engine import Array, Meeting, Options, State, StepContext, cached_by_corpus
from workbench.engines.lda.likelihoods import Dirichlet, Polya, climb_once, clip
from workbench.engines.networks.paths import Paths, paths_of
from workbench.kernels.lda.gibbs import Allowed
from workbench.kernels.lda.polya import whole_sites
from workbench.kernels.networks.field import Field, Owners
from workbench.kernels.networks.vb import Cells
from workbench.kernels.simd.vectors import LANES, aligned_zeros, padded
from workbench.models.model import ModelError
from workbench.models.networks.labels import allowed_values
from workbench.models.networks.leaves import leaves_of
from workbench.models.networks.levels import learnt_priors, spread
from workbench.models.networks.network import AUTHORS, WORD, Level, Network, Variable
from workbench.models.options import option


class FlatPriors(NamedTuple):
    """Priors of all cells and row sums, in the memory layout of the counts; padding is 0 in cells and 1 in row sums."""

    own: np.ndarray  # (D,) prior of each cell of a document; in row sums the sum of priors
    # (C + A * authors,) the same for shared rows and authors' rows; and the numbers of observed tables
    rest: np.ndarray
    beta: np.ndarray  # (R,) prior of each word in a row of the last level
    beta_total: np.ndarray  # (language * R,) its sum over all words of a language
    size_at: np.ndarray  # (word,) int64: where the sums of the word's language begin in n_k
    # (C + A * authors,) bool: numbers of observed tables, to which no counts are added
    known: np.ndarray


def hidden_levels(network: Network) -> list[Level]:
    """Return the levels that draw hidden variables from unknown rows: all but the last level and those with observed tables."""
    return [level for level in network.levels[:-1] if level.kind != "observed"]


def prior_levels(network: Network) -> list[Level]:
    """Return the levels whose rows have a prior: all but those with observed tables."""
    return [level for level in network.levels if level.kind != "observed"]


def initial_alphas(network: Network) -> np.ndarray:
    """Return the initial priors of all levels in one array; see `alphas_of`."""
    return np.concatenate(
        [
            np.broadcast_to(np.asarray(level.prior, float), _prior_shape(network, level)).ravel()
            for level in prior_levels(network)
        ]
    )


def alphas_of(network: Network, alphas: np.ndarray) -> dict[str, np.ndarray]:
    """Return level → prior (group, value), views of the array of all priors; (group, 1) for the level of words."""
    alphas_by_level, begin = {}, 0
    for level in prior_levels(network):
        shape = _prior_shape(network, level)
        alphas_by_level[level.name] = alphas[begin : begin + math.prod(shape)].reshape(shape)
        begin += math.prod(shape)
    return alphas_by_level


@lru_cache(maxsize=64)
def _prior_shape(network: Network, level) -> tuple[int, int]:
    return network.n_groups(level), 1 if level.draws == WORD else network.size(level.draws)


def priors_of(paths: Paths, alphas: np.ndarray, languages: np.ndarray) -> FlatPriors:
    """Return the prior of each cell and row sum, in the memory layout of the counts; for ``languages`` see `languages_of`."""
    document_priors, rest = (
        paths.is_row[part].astype(float)
        for part in (slice(paths.n_own), slice(paths.rest_at, None))
    )
    is_known, level_alphas = np.zeros(len(rest), bool), alphas_of(paths.network, alphas)
    *upper_levels, last = [level for level in paths.network.levels if level.table != AUTHORS]
    for level in upper_levels:
        addresses = paths.addresses[level.name]
        target, first = (document_priors, 0) if level.of_documents else (rest, paths.rest_at)
        rows = (
            np.asarray(level.table, float)
            if level.kind == "observed"
            else level_alphas[level.name][addresses.groups]
        )
        target[addresses.cells - first] = rows
        have = addresses.rows >= 0
        target[addresses.rows[have] - first] = rows.sum(axis=1)[have]
        if level.kind == "observed":
            is_known[addresses.cells - first] = True
    beta, addresses = np.zeros(paths.n_leaves), paths.addresses[last.name]
    beta[addresses.cells] = level_alphas[last.name][addresses.groups, 0]
    totals = np.bincount(languages)[:, None] * beta
    return FlatPriors(
        document_priors,
        rest,
        beta,
        np.where(totals > 0, totals, 1.0).ravel(),
        languages.astype(np.int64) * paths.n_leaves,
        is_known,
    )


@cached_by_corpus
def languages_of(corpus: Corpus, network: Network) -> np.ndarray:
    """Return the language of each word, (word,) uint8: the number of its leaf, as a leaf is a row of the last level here."""
    return leaves_of(network.leaves, corpus.vocabulary)[1]


def row_sizes(n_wk: np.ndarray, size_at: np.ndarray) -> np.ndarray:
    """Return n_k (language * R,), the sums of counts (word, R) over the words of each language."""
    starts = np.arange(size_at.max() + 1, step=n_wk.shape[1])
    if len(starts) == 1:
        return n_wk.sum(axis=0)
    return np.concatenate([n_wk[size_at == start].sum(axis=0) for start in starts])


def count_arrays(
    paths: Paths, corpus: Corpus, dtype=np.float64, corpus_dtype=np.float64
) -> dict[str, Array]:
    """Return the shapes and types of a network's counts; ``corpus_dtype`` is the type of n_rest and n_k."""
    n_languages = 1 + int(languages_of(corpus, paths.network).max())
    return {
        "n_own": Array((corpus.n_documents, paths.n_own), dtype),
        "n_rest": Array((paths.n_flat - paths.rest_at,), corpus_dtype),
        "n_wk": Array((corpus.n_words, paths.n_leaves), dtype),
        "n_k": Array((n_languages * paths.n_leaves,), corpus_dtype),
    }


def cells_of(paths: Paths, level: Level, n_own: np.ndarray, n_rest: np.ndarray) -> np.ndarray:
    """Return the counts of a level that is not the last: (row, value), or (document, row, value) for rows by document."""
    cells = paths.addresses[level.name].cells
    return n_own[:, cells] if level.of_documents else n_rest[cells - paths.rest_at]


def counts_of(paths: Paths, counts: NamedTuple, n_dr: np.ndarray) -> dict[str, np.ndarray]:
    """Return name → (expected) counts of all levels, with the dims of `models.networks.levels`.

    ``n_<level>``; for the last level ``n_kw`` (row, word), and ``n_dk`` (document, row), tokens by row of the last level.

    counts : with n_own, n_rest, n_wk
    n_dr : (document, R), tokens of a document by the row that their word came from
    """
    rows = paths.leaf_addresses
    return {"n_kw": counts.n_wk[:, rows].T, "n_dk": n_dr[:, rows]} | {
        f"n_{level.name}": spread(
            paths.network, level, cells_of(paths, level, counts.n_own, counts.n_rest)
        )
        for level in hidden_levels(paths.network)
    }


def watched(paths: Paths, n_k: np.ndarray, alphas: np.ndarray) -> dict[str, np.ndarray]:
    """Return the diagnostics: ``n_k``, the tokens in each row of the last level, and the learnt priors."""
    n_k = n_k.reshape(-1, paths.n_leaves).sum(axis=0)
    return {"n_k": n_k[paths.leaf_addresses]} | learnt_priors(
        paths.network, alphas_of(paths.network, alphas)
    )


class CompiledNetwork(NamedTuple):
    """A network and its priors in the form that kernels read: memory addresses of factors, and arrays of numbers."""

    paths: Paths
    field: Field
    priors: FlatPriors
    own: Cells  # Dirichlet cells of a document
    rest: Cells  # Dirichlet cells of the corpus; addresses are indices of n_rest
    own_sign: np.ndarray  # (D,) 1 for a cell, -1 for a row sum, 0 otherwise
    rest_sign: np.ndarray  # the same for n_rest; 0 if not Dirichlet
    # for each level with point estimates: (row, value) indices in n_rest
    points: tuple
    words_are_points: bool  # whether the rows of the last level are point estimates
    live: np.ndarray  # (R,) 1.0 for a row of the last level, 0.0 for padding
    live_sizes: np.ndarray  # (language * R,) the same of n_k

    @property
    def n_rows(self) -> int:
        """Number of rows of the last level."""
        return self.paths.network.n_topics


def compile_network(network: Network, alphas: np.ndarray, languages: np.ndarray) -> CompiledNetwork:
    """Return a network with priors in the form that kernels read; for the order of ``alphas`` see `alphas_of`.

    languages (word,) uint8 : as `languages_of` returns them
    """
    return _compiled(network, alphas.tobytes(), languages.tobytes())


@lru_cache(maxsize=8)
def _compiled(network: Network, alphas: bytes, languages: bytes) -> CompiledNetwork:
    paths = paths_of(network)
    priors = priors_of(paths, np.frombuffer(alphas), np.frombuffer(languages, np.uint8))
    (document_cells, own_sign), (rest, rest_sign) = (
        _cells(paths, True, priors.own),
        _cells(paths, False, priors.rest),
    )
    live = np.zeros(paths.n_leaves)
    live[paths.leaf_addresses] = 1.0
    points = tuple(
        paths.addresses[level.name].cells - paths.rest_at
        for level in hidden_levels(network)
        if level.kind == "point"
    )
    return CompiledNetwork(
        paths,
        _field(paths),
        priors,
        document_cells,
        rest,
        own_sign,
        rest_sign,
        points,
        network.levels[-1].kind == "point",
        live,
        np.tile(live, len(priors.beta_total) // len(live)),
    )


def _field(paths: Paths) -> Field:
    """Return the factors of all paths, without row sums, in the form that `kernels.networks.field` reads."""
    runs = paths.runs
    scalars, vectors = (
        chained(
            [factor for factor in factors if not paths.is_row[factor[0]]]
            for factors in factors_of_runs
        )
        for factors_of_runs in ((run.scalars for run in runs), (run.vectors for run in runs))
    )
    n_blocks, leaf = np.array([(run.n_lanes // LANES, run.leaf) for run in runs]).T.copy()
    return Field(n_blocks, *scalars, *vectors, leaf, np.array([run.moves for run in runs]))


def chained(factors) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Concatenate lists of (address, stride): return the index of each list's first element, addresses and strides."""
    factors = list(factors)
    addresses, stride = np.array(list(itertools.chain(*factors)), np.int64).reshape(-1, 2).T.copy()
    return np.cumsum([0, *map(len, factors)]), addresses, stride


def _cells(paths: Paths, of_documents: bool, prior) -> tuple[Cells, np.ndarray]:
    """Return the Dirichlet cells of a document (or of the corpus), and for every address a sign: 1 cell, -1 row sum, 0 else."""
    real, row_of, rows = (
        np.zeros(len(prior)),
        np.zeros(len(prior), np.int32),
        [np.zeros(0, np.int64)],
    )
    first = 0 if of_documents else paths.rest_at
    for level in hidden_levels(paths.network):
        if level.kind == "dirichlet" and level.of_documents == of_documents:
            addresses = paths.addresses[level.name]
            real[addresses.cells - first] = 1.0
            row_of[addresses.cells - first] = addresses.rows[:, None] - first
            rows.append(addresses.rows - first)
    rows = np.concatenate(rows)
    blocks = np.unique(np.flatnonzero(real) // LANES) * LANES
    sign = real.copy()
    sign[rows] = -1.0
    weighted_rows = np.setdiff1d(rows, paths.fixed) if of_documents else rows
    return Cells(prior, blocks, real, row_of, rows, weighted_rows), sign


def owners_of(network: Network, corpus: Corpus) -> Owners:
    """Return the possible authors and paths of each document's tokens; a single dummy author in networks without authors.

    Raises
    ------
    ModelError
        For a document with tokens and without an author.
    """
    return _owners(corpus, network)


@cached_by_corpus
def _owners(corpus: Corpus, network: Network) -> Owners:
    return Owners(*_authors(corpus, network.author), *_allowed_paths(corpus, network))


def _authors(corpus: Corpus, author: Variable | None) -> tuple[np.ndarray, np.ndarray]:
    """Return where the authors of each document begin, (document + 1,), and their numbers."""
    if author is None:
        return np.arange(corpus.n_documents + 1), np.zeros(corpus.n_documents, np.int64)
    ids = author.numbers(corpus.authors)
    authorless = [d for d, n_tokens in enumerate(corpus.document_tokens) if n_tokens and not ids[d]]
    if authorless:
        raise ModelError(
            f"{len(authorless)} documents have tokens and no author, the first of them '{corpus.titles[authorless[0]]}'; "
            "leave them out, or give each an author of its own"
        )
    return np.cumsum([0, *map(len, ids)]), np.array(list(itertools.chain(*ids)), np.int64)


def _allowed_paths(corpus: Corpus, network: Network) -> tuple[np.ndarray, ...]:
    """Return the fields of `Owners` that say which paths the labels of each document allow."""
    paths, level = paths_of(network), labelled_level(network)
    set_of, mask = np.zeros(corpus.n_documents, np.int64), np.zeros((0, paths.n_own))
    slots = [paths.real]
    if level is not None:
        allowed, set_of = allowed_values(network.labelled, corpus)
        mask = aligned_zeros((len(allowed), paths.n_own), np.float64)
        mask[...] = 1.0
        mask[:, paths.addresses[level.name].cells[0]] = allowed
        cells = paths.cells[paths.real, hidden_position(network, level)]
        slots = [paths.real[row[cells] > 0] for row in mask]
    blocks = [np.unique(each // LANES) * LANES for each in slots]
    return set_of, mask, *ragged(slots), *ragged(blocks)


@cached_by_corpus
def allowed_topics(corpus: Corpus, network: Network) -> Allowed:
    """Return the topics that the labels of each document allow, in a network that is LDA; with alpha 1 for every topic."""
    owners = owners_of(network, corpus)
    by_windows, entries, is_topic = [], [], []
    for first, end in itertools.pairwise(owners.slot_ptr):
        slots, starts = owners.slots[first:end], []
        n_entries = padded(len(slots))
        for slot in slots.tolist():
            if not starts or slot >= starts[-1] + LANES:
                starts.append(min(slot, paths_of(network).n_leaves - LANES))
        # a block of windows is read in two thirds of the time of sixteen counts that lie apart
        by_windows.append(2 * len(starts) * LANES <= 3 * n_entries)
        if by_windows[-1]:
            windows = np.array(starts)[:, None] + np.arange(LANES)
            fresh = windows >= np.append(0, windows[:-1, -1] + 1)[:, None]
            entries.append(windows.ravel())
            is_topic.append((fresh & np.isin(windows, slots)).ravel())
        else:
            entries.append(np.append(slots, np.full(n_entries - len(slots), slots[0])))
            is_topic.append(np.arange(n_entries) < len(slots))
    ptr, topics = ragged(entries)
    return Allowed(
        owners.set_of,
        ptr,
        topics,
        np.concatenate(is_topic).astype(float),
        np.diff(owners.slot_ptr) == 1,
        np.array(by_windows),
        owners.block_ptr,
        owners.blocks,
    )


def ragged(arrays: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return where each array begins in their concatenation, (array + 1,), and the concatenation."""
    return np.cumsum([0, *map(len, arrays)]), np.concatenate(arrays).astype(np.int64)


def labelled_level(network: Network) -> Level | None:
    """Return the level whose values the labels of documents restrict; None if there is none."""
    drawn = network.labelled and network.labelled.name
    return next((level for level in network.levels if drawn and level.draws == drawn), None)


def hidden_position(network: Network, level: Level) -> int:
    """Return the index of a level among those with cells in `Paths.cells`."""
    return [each for each in network.levels if each.table != AUTHORS].index(level)


def label_sizes(
    compiled: "CompiledNetwork", owners: Owners, n_own: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return of the level that labels restrict, by document, its tokens; the prior of all its values; that of allowed ones."""
    level, own = labelled_level(compiled.paths.network), compiled.priors.own
    addresses = compiled.paths.addresses[level.name]
    row, cells = addresses.rows[0], addresses.cells[0]
    return n_own[:, row], own[row], (owners.mask[:, cells] @ own[cells])[owners.set_of]


def restricted(
    network: Network, corpus: Corpus, rows: np.ndarray, documents: np.ndarray
) -> np.ndarray:
    """Return counts or shares by row of the last level, (…, R), moved to the rows that the labels of their documents allow.

    Sums over rows stay; where none is allowed, all allowed ones have the same. Without labels the array itself is returned.

    documents (…,) : the document of each entry
    """
    owners, paths = owners_of(network, corpus), paths_of(network)
    if not len(owners.mask):
        return rows
    reached = np.zeros((len(owners.mask), paths.n_leaves))
    for s, (first, end) in enumerate(itertools.pairwise(owners.slot_ptr)):
        reached[s, paths.leaf[owners.slots[first:end]]] = 1.0
    reached, totals = reached[owners.set_of[documents]], rows.sum(axis=-1, keepdims=True)
    moved = rows * reached
    moved = np.where(moved.any(axis=-1, keepdims=True), moved, reached)
    return moved * (totals / moved.sum(axis=-1, keepdims=True))


LARGEST = 1e3
"""Largest learnt prior of a network: the prior of a row with few tokens would grow without end (spec D.7)."""
STEPS = 20
"""Maximum of Newton steps per update of a prior; they share one summary of the counts."""


@dataclass(frozen=True)
class Learning:
    """Options for learning the priors; a mixin of the options of the engines of networks."""

    learn_after: int = option(8, "iterations before the first prior update", low=0, whole=True)
    learn_every: int = option(8, "iterations between prior updates", low=1, whole=True)


def learning_levels(network: Network) -> list[Level]:
    """Return the levels whose Dirichlet priors are learnt."""
    return [
        level for level in network.levels if level.kind == "dirichlet" and level.learn != "none"
    ]


def retune(
    corpus: Corpus, network: Network, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Return the state with the network's values of all priors that are not learnt; counts and learnt priors stay."""
    alphas, learning = state.alphas.copy(), learning_levels(network)
    model_alphas = alphas_of(network, initial_alphas(network))
    for level in prior_levels(network):
        if level not in learning:
            alphas_of(network, alphas)[level.name][...] = model_alphas[level.name]
    return state._replace(alphas=alphas), {}


def learns(network: Network, options: Options, step: int) -> bool:
    """Return whether any prior is updated after this step."""
    is_due = (
        step >= max(options.learn_after, 1)
        and (step - options.learn_after) % options.learn_every == 0
    )
    return is_due and bool(learning_levels(network))


def learn(
    network: Network,
    options: Options,
    context: StepContext,
    alphas: np.ndarray,
    state: NamedTuple,
    counts_of: Callable,
    sums: dict,
    sampled: bool = False,
) -> Generator:
    """Combine the sums of all parts at the end of a step, and update the learnt priors by Newton steps.

    counts_of : (state) -> counts of the chains, each with n_own, n_rest, n_wk and n_k; whole numbers if `sampled`. The mean
        of the chains' likelihoods is maximised.
    sums : further sums to combine over the parts

    Returns the combined state, the other sums, and all priors.
    """
    levels, alphas = [], alphas.copy()
    if learns(network, options, context.step):
        levels, level_alphas = learning_levels(network), alphas_of(network, alphas)
    inputs = {level.name: (level, level_alphas[level.name], sampled) for level in levels}
    part_likelihoods = {
        f"likelihoods of {level.name}": LikelihoodSums(
            likelihoods(network, *inputs[level.name], counts_of(state))
        )
        for level in levels
        if level.of_documents
    }
    state, sums = yield Meeting(state, sums | part_likelihoods)
    for level in levels:
        name, prior = f"likelihoods of {level.name}", level_alphas[level.name]
        if name in sums:
            group_likelihoods = sums[name]
        else:
            group_likelihoods = likelihoods(network, *inputs[level.name], counts_of(state))
        if level.learn == "scalar":
            prior[:] = _climb(group_likelihoods[0], np.array([prior.mean()]))
        else:
            for j, likelihood in enumerate(group_likelihoods):
                prior[j] = _climb(likelihood, prior[j])
    diagnostics = {name: value for name, value in sums.items() if name not in part_likelihoods}
    return state, diagnostics, alphas


class LikelihoodSums(tuple):
    """A tuple of log likelihoods, one per prior, which is added element by element."""

    def __add__(self, other: "LikelihoodSums") -> "LikelihoodSums":
        return LikelihoodSums(a + b for a, b in zip(self, other, strict=True))


def likelihoods(
    network: Network, level: Level, prior: np.ndarray, sampled: bool, states: list
) -> list:
    """Return the likelihoods of a level's priors given the counts of all chains: one per group, or one for a scalar."""
    copies = len(states[0].n_wk) if level.draws == WORD else 1
    parts = [
        np.concatenate([rows_of(network, level, state, j) for state in states])
        for j in range(len(prior))
    ]
    if level.learn == "scalar":
        return [_likelihood(parts, prior, copies, sampled, pooled=True)]
    return [
        _likelihood([part], prior[j : j + 1], copies, sampled, pooled=False)
        for j, part in enumerate(parts)
    ]


def rows_of(network: Network, level: Level, state: State, group: int) -> np.ndarray:
    """Return the counts (row, value) of a group's rows that have tokens; rows by document are listed per document."""
    paths = paths_of(network)
    cells = paths.addresses[level.name].cells[paths.addresses[level.name].groups == group]
    if level.draws == WORD:
        rows = state.n_wk[:, cells].T
    elif level.of_documents:
        rows = state.n_own[:, cells].reshape(-1, cells.shape[1])
    else:
        rows = state.n_rest[cells - paths.rest_at]
    return rows[rows.sum(axis=1) > 0]


def _likelihood(parts: list, prior, copies: int, sampled: bool, pooled: bool):
    """Return the likelihood of a prior per value, or of one scalar if ``pooled`` or if the values are words."""
    n_values = parts[0].shape[1]
    is_scalar = pooled or copies > 1
    if sampled:
        rows = np.concatenate(parts)
        totals = whole_sites([rows.sum(axis=1)])
        return Polya(
            whole_sites([rows] if is_scalar else rows.T), totals, n_values if is_scalar else 1
        )
    log_means = np.zeros(n_values)
    for rows, alpha in zip(parts, prior, strict=True):
        xi = rows + alpha
        log_means += psi(xi).sum(axis=0) - psi(xi.sum(axis=1)).sum()
    n_rows = sum(map(len, parts))
    return Dirichlet(
        n_rows,
        log_means.sum(keepdims=True) if is_scalar else log_means,
        n_values if is_scalar else 1,
    )


def _climb(likelihood, x: np.ndarray) -> np.ndarray:
    x = clip(x, LARGEST)
    for _ in range(STEPS):
        old_x, x = x, climb_once(likelihood, x, LARGEST)
        if x is old_x:
            break
    return x
