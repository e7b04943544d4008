"""Splits of a corpus: held-out tokens, held-out documents, halves of documents.

Where tokens are split, both parts have the documents and the vocabulary of the corpus, and their counts add
up; where documents are, both have the vocabulary. The bits come from PCG64 itself, not from a numpy
distribution, so that a seed names the same split on every platform and with every version of numpy.
"""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from workbench.corpus.corpus import Corpus, CorpusError

TOKENS, DOCUMENTS, HALVES = range(3)  # streams of one seed, so that no split is a function of another


def hold_out_tokens(
    corpus: Corpus, fraction: float = 0.1, seed: int = 0, per: str = "corpus"
) -> tuple[Corpus, Corpus]:
    """Training and test corpus: tokens drawn without replacement, every subset of that size equally likely.

    Both have the documents and the vocabulary of the corpus (documents may become empty, words unused),
    and their counts add up to the corpus pair by pair. With ``fraction=0`` the test corpus has no pairs.

    Parameters
    ----------
    corpus : Corpus
    fraction : float in [0, 1), default 0.1
        The published protocol holds out a tenth.
    seed : int, at least 0
        Equal seeds give equal splits everywhere.
    per : "corpus" or "document"
        "corpus" draws ``round(fraction * n_tokens)`` of all tokens; "document" draws
        ``floor(fraction * n_d)`` of the n_d tokens of each document.

    Raises
    ------
    CorpusError
        An argument out of range, or a split that would leave no test or no training token.

    Source: specification of LDA, B.1; of the HDP, section 8.
    """
    _check_fraction(fraction)
    _check_seed(seed)
    if per == "corpus":
        lengths = np.array([corpus.n_tokens])
        wanted = np.array([round(fraction * corpus.n_tokens)])
    elif per == "document":
        lengths = corpus.document_tokens
        wanted = np.floor(fraction * lengths + 1e-9).astype(np.int64)  # 0.29 * 100 is 28.999999999999996
    else:
        raise CorpusError(f"per must be 'corpus' or 'document'; got {per!r}")
    _check_sizes(corpus, fraction, per, lengths, int(wanted.sum()))
    test_counts = _counts_of(corpus, _draw(lengths, wanted, int(seed)))
    return with_counts(corpus, corpus.counts - test_counts), with_counts(corpus, test_counts)


def hold_out_documents(corpus: Corpus, fraction: float = 0.1, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Training documents and unseen documents: every choice of ``round(fraction * n_documents)`` equally likely.

    Each document goes to one of the two with all its tokens, its title, authors, label and time, in the order
    of the corpus; both parts keep the whole vocabulary. `split_halves` splits the unseen ones further.

    Parameters
    ----------
    corpus : Corpus
    fraction : float in [0, 1), default 0.1
        Share of the documents to hold out.
    seed : int, at least 0
        Equal seeds give equal splits everywhere; independent of the tokens that `hold_out_tokens` draws.

    Raises
    ------
    CorpusError
        An argument out of range, or a split that would leave one part without documents or without tokens.

    Source: specification of LDA, B.4.
    """
    _check_fraction(fraction)
    _check_seed(seed)
    n_unseen = round(fraction * corpus.n_documents)
    if not 0 < n_unseen < corpus.n_documents:
        raise CorpusError(
            f"fraction {fraction:g} of {corpus.n_documents} document(s) is {n_unseen}; "
            "at least one document to hold out and one to train on were wanted; ask for another fraction"
        )
    unseen = _draw(np.array([corpus.n_documents]), np.array([n_unseen]), int(seed), DOCUMENTS)
    parts = corpus.of_documents(np.flatnonzero(~unseen)), corpus.of_documents(np.flatnonzero(unseen))
    for part, what in zip(parts, ("training", "held-out"), strict=True):
        if part.n_tokens == 0:
            raise CorpusError(f"all {part.n_documents} {what} document(s) are empty; ask for another fraction or seed")
    return parts


def split_halves(corpus: Corpus, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Observed and scored half of each document's tokens, every such pair of halves equally likely.

    The token left over from an odd number goes to the observed half. Documents of fewer than two tokens are
    empty in both halves; all documents keep their places.

    Parameters
    ----------
    corpus : Corpus
    seed : int, at least 0
        Equal seeds give equal halves everywhere.

    Raises
    ------
    CorpusError
        A seed out of range, or no document of two tokens.

    Source: specification of LDA, B.4 (document completion).
    """
    _check_seed(seed)
    lengths = corpus.document_tokens
    if lengths.max() < 2:
        raise CorpusError(f"no document of {corpus.name!r} has two tokens to be split into halves; give longer documents")
    scored = _counts_of(corpus, _draw(lengths, lengths // 2, int(seed), HALVES))
    observed = np.where(lengths[corpus.documents] < 2, 0, corpus.counts - scored)
    return with_counts(corpus, observed), with_counts(corpus, scored)


def _check_fraction(fraction):
    if isinstance(fraction, bool) or not isinstance(fraction, Real) or not 0 <= fraction < 1:
        raise CorpusError(f"fraction must be a number of at least 0 and below 1; got {fraction!r}")


def _check_seed(seed):
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise CorpusError(f"seed must be a whole number of at least 0; got {seed!r}")


def _check_sizes(corpus, fraction, per, lengths, n_test):
    """Refuses a split without test tokens (unless none was asked for) or without training tokens."""
    if corpus.n_tokens == 0:
        raise CorpusError(f"a corpus needs at least one token to be split; {corpus.name!r} has none")
    if n_test == 0 and fraction > 0:
        if per == "corpus":
            raise CorpusError(
                f"fraction {fraction:g} of {corpus.n_tokens} tokens is no token at all; "
                "ask for a larger fraction, or for 0 to have no test set"
            )
        raise CorpusError(
            f"fraction {fraction:g} per document is no token at all, the longest document has {lengths.max()}; "
            f"ask for at least {math.ceil(1e4 / lengths.max()) / 1e4:g}, or use per='corpus'"
        )
    if n_test == corpus.n_tokens:
        raise CorpusError(
            f"fraction {fraction:g} of {corpus.n_tokens} tokens leaves none to train on; ask for a smaller fraction"
        )


def _draw(lengths: np.ndarray, wanted: np.ndarray, seed: int, stream: int = TOKENS) -> np.ndarray:
    """(token,) bool: of each group of consecutive tokens (or documents), as many as wanted.

    Every token gets a random key, and the smallest keys of a group are chosen. The group's number is
    written above the random bits, so that one sort orders all groups in place.
    """
    n_tokens = int(lengths.sum())
    group_bits = (len(lengths) - 1).bit_length()
    groups = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    bits = np.random.PCG64(seed)
    keys = (bits.jumped(stream) if stream else bits).random_raw(n_tokens)
    if group_bits:
        keys >>= np.uint64(group_bits)
        keys |= groups.astype(np.uint64) << np.uint64(64 - group_bits)
    starts = np.cumsum(lengths) - lengths
    drawing = np.flatnonzero(wanted)
    largest_chosen = np.zeros(len(lengths), dtype=np.uint64)
    largest_chosen[drawing] = np.sort(keys)[starts[drawing] + wanted[drawing] - 1]
    chosen = keys <= largest_chosen[groups]
    chosen &= (wanted > 0)[groups]
    surplus = np.bincount(groups[chosen], minlength=len(lengths)) - wanted
    for group in np.flatnonzero(surplus):  # two equal keys at the edge: the later tokens give way
        tokens = slice(starts[group], starts[group] + lengths[group])
        tied = np.flatnonzero(keys[tokens] == largest_chosen[group])
        chosen[starts[group] + tied[-surplus[group]:]] = False
    return chosen


def _counts_of(corpus: Corpus, chosen: np.ndarray) -> np.ndarray:
    """(pair,) how many of each pair's tokens were chosen."""
    return np.diff(np.concatenate([[0], np.cumsum(chosen, dtype=np.int64)])[corpus.tokens_before])


def with_counts(corpus: Corpus, counts: np.ndarray) -> Corpus:
    """The corpus with these counts; pairs left with none are gone."""
    used = counts > 0
    pairs_before = np.concatenate([[0], np.cumsum(used, dtype=np.int64)])
    return corpus.with_pairs(pairs_before[corpus.indptr], corpus.words[used], counts[used])
