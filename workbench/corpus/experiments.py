"""What is done to a corpus before engines are compared on it: rare words cut, tokens held out, singletons removed.

A *singleton* is a pair of count 1, a word that a document has once. Cutting the vocabulary makes another
corpus, with another W: perplexities of different cuts are not comparable. Removing singletons changes neither
the documents nor the vocabulary.

Source: specification of LDA, B.5; Welling, Teh & Kappen (2008), figures 7 to 10.
"""

from __future__ import annotations

import numpy as np

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.splits import hold_out_tokens, with_counts

SINGLETONS = ("keep", "train", "both-own", "both-full")
IN_WORDS = {
    "train": "no singletons in training",
    "both-own": "no singletons in training, nor in test by its own counts",
    "both-full": "no singletons in training, nor in test by the counts of the full corpus",
}


def keep_top_words(corpus: Corpus, n_words: int) -> Corpus:
    """The corpus with its ``n_words`` most frequent words alone, in their old order; all other tokens are gone.

    Words are ranked by their tokens in the whole corpus, and of equally frequent ones the first in the
    vocabulary comes first. Documents that lose all their words stay, empty. To be done before tokens are held
    out, so that training and test tokens are cut alike.

    Raises
    ------
    CorpusError
        Fewer than one word, or more words than there are.

    Source: specification of LDA, B.5 (top_V).
    """
    if isinstance(n_words, bool) or not isinstance(n_words, (int, np.integer)) or n_words < 1:
        raise CorpusError(f"top words must be a whole number of at least 1; got {n_words!r}")
    if n_words > corpus.n_words:
        raise CorpusError(
            f"top words must be at most the {corpus.n_words} words of {corpus.name!r}; got {n_words}; "
            "leave it out to keep the whole vocabulary"
        )
    totals = np.bincount(corpus.words, weights=corpus.counts, minlength=corpus.n_words)
    kept = np.sort(np.argsort(-totals, kind="stable")[:n_words])
    renumbered = np.full(corpus.n_words, -1)
    renumbered[kept] = np.arange(n_words)
    words = renumbered[corpus.words]
    left = with_counts(corpus, np.where(words < 0, 0, corpus.counts))
    return left.with_pairs(left.indptr, words[words >= 0], left.counts, vocabulary=[corpus.vocabulary[word] for word in kept])


def drop_singletons(
    train: Corpus, test: Corpus | None, where: str = "train", rule: str = "own"
) -> tuple[Corpus, Corpus | None]:
    """Training and test corpus without singletons; documents and vocabulary stay as they are.

    Parameters
    ----------
    train, test : Corpus
        As `hold_out_tokens` gives them; ``test`` may be None.
    where : "train" or "both"
        The training corpus loses every pair that has one *training* token, whatever the whole corpus had: then
        a hybrid with r = 1 has nothing to sample. With "both" the test corpus loses pairs too, by the rule.
    rule : "own" or "full"
        Which pairs the test corpus loses, where the paper does not say: those with one *test* token, or those
        with one token in the *full* corpus, training and test together.

    Raises
    ------
    CorpusError
        An unknown word, corpora that are not a split of one, or nothing left to train on or to test with.

    Source: specification of LDA, B.5 (no_singletons_train, no_singletons_both).
    """
    if where not in ("train", "both"):
        raise CorpusError(f"where must be 'train' or 'both'; got {where!r}")
    if rule not in ("own", "full"):
        raise CorpusError(f"rule must be 'own' or 'full'; got {rule!r}")
    if test is not None and (test.n_documents, test.n_words) != (train.n_documents, train.n_words):
        raise CorpusError(
            "the test set must have the documents and the vocabulary of the corpus; hold_out_tokens makes such a pair"
        )
    kept = with_counts(train, np.where(train.counts == 1, 0, train.counts))
    if kept.n_tokens == 0:
        raise CorpusError(
            f"all {train.n_pairs} training pairs of {train.name!r} are singletons; keep them, or give longer documents"
        )
    if test is None or where == "train":
        return kept, test
    full = test.counts if rule == "own" else test.counts + _counts_at(train, test)
    left = with_counts(test, np.where(full == 1, 0, test.counts))
    if left.n_tokens == 0:
        raise CorpusError(
            f"all {test.n_pairs} test pairs of {test.name!r} are singletons; hold out more, or drop them in training alone"
        )
    return kept, left


def prepare(
    corpus: Corpus, holdout: float = 0.1, seed: int = 0, top_words: int | None = None, singletons: str = "keep"
) -> tuple[Corpus, Corpus | None, dict | None]:
    """Training corpus, test corpus and the record of how they were made.

    Words are cut first, then tokens held out, then singletons removed.

    Parameters
    ----------
    corpus : Corpus
    holdout : float in [0, 1), default 0.1
        Share of the tokens held out; 0 for no test corpus.
    seed : int
        Of the held-out split.
    top_words : int, optional
        See `keep_top_words`; None keeps the whole vocabulary.
    singletons : "keep", "train", "both-own" or "both-full"
        See `drop_singletons`: where, and by which rule.

    Returns
    -------
    train : Corpus
    test : Corpus or None
    split : dict or None
        ``fraction``, ``seed`` and ``per``; ``top_words`` and ``singletons`` where they are not the default. None
        where nothing was done.

    Raises
    ------
    CorpusError
    """
    if singletons not in SINGLETONS:
        raise CorpusError(f"singletons must be one of {', '.join(SINGLETONS)}; got {singletons!r}")
    changes = {}
    if top_words is not None:
        corpus = keep_top_words(corpus, top_words)
        changes["top_words"] = int(top_words)
    if singletons != "keep":
        changes["singletons"] = singletons
    train, test, split = corpus, None, None
    if holdout or changes:
        split = {"fraction": holdout, "seed": seed, "per": "corpus", **changes}
    if holdout:
        train, test = hold_out_tokens(corpus, fraction=holdout, seed=seed)
    if singletons != "keep":
        where, _, rule = singletons.partition("-")
        train, test = drop_singletons(train, test, where, rule or "own")
    return train, test, split


def split_in_words(split: dict) -> str:
    """What a record of `prepare` says, for people: what was held out, and what was done to the corpus."""
    fraction = split.get("fraction", 0)
    parts = [f"{fraction:g} of the tokens held out, split seed {split.get('seed', 0)}" if fraction else "nothing held out"]
    if "top_words" in split:
        parts.append(f"the {split['top_words']:,} most frequent words alone")
    if "singletons" in split:
        parts.append(IN_WORDS[split["singletons"]])
    return "; ".join(parts)


def _counts_at(corpus: Corpus, pairs: Corpus) -> np.ndarray:
    """(pair,) the count in the first corpus of each pair of the second; 0 where it has none."""
    own, wanted = (each.documents * np.int64(each.n_words) + each.words for each in (corpus, pairs))
    at = np.searchsorted(own, wanted)
    at[at == len(own)] = 0
    return np.where(own[at] == wanted, corpus.counts[at], 0)
