"""Preprocessing of a corpus: choose documents, cut the vocabulary, join documents, multiply counts, hold out tokens
or documents, remove singletons.

A *singleton* is a pair of count 1, a word that a document has once. Cutting the vocabulary makes another
corpus, with another W: perplexities of different cuts are not comparable. Removing singletons changes neither
the documents nor the vocabulary.

Source: specification of LDA, B.5; Welling, Teh & Kappen (2008), figures 7 to 10; Teh, Kurihara & Welling (2008),
section 4, for documents of some labels, stop words and rare words.
"""

from collections.abc import Iterable
from difflib import get_close_matches

import numpy as np

from workbench.corpus.corpus import INT32_MAX, MOST_TOKENS, Corpus, CorpusError
from workbench.corpus.document_table import DocumentTable
from workbench.corpus.splits import (
    ROWS,
    hold_out_ends,
    hold_out_halves,
    hold_out_rows,
    hold_out_tokens,
    known_words,
    parse_rows,
    with_counts,
)
from workbench.corpus.texts.words import stop_list
from workbench.data.reading import with_current
from workbench.errors import Got, Named

MERGE, REPEAT = Named("merge"), Named("repeat")


def merge_documents(corpus: Corpus, n: int) -> Corpus:
    """Return the corpus with every ``n`` consecutive documents joined; the last may join fewer.

    A joined document has the title of its first with the number of the others, the authors of all, and the texts one below
    the other. Labels and times are kept if all documents that are joined share theirs; otherwise the corpus has none.
    Other columns of its table are dropped. Raise an error for documents with inputs or in sequences.
    """
    n = CorpusError.whole(MERGE, n, 1)
    if n == 1:
        return corpus
    if corpus.inputs is not None or corpus.sequence is not None:
        have = "have inputs" if corpus.inputs is not None else "stand in sequences"
        raise CorpusError(
            MERGE,
            f" cannot join documents that {have}, as those of {corpus.name!r}",
            Got(n),
            "; leave it out",
            value=n,
        )
    groups = [slice(start, start + n) for start in range(0, corpus.n_documents, n)]
    shared = {name: _shared(getattr(corpus, name), groups) for name in ("labels", "times")}
    texts = corpus.table.texts if corpus.table is not None else None
    return Corpus.from_pairs(
        corpus.documents // np.int32(n),
        corpus.words,
        corpus.counts,
        corpus.vocabulary,
        len(groups),
        titles=[
            f"{first} + {len(others)} more" if others else first
            for first, *others in (corpus.titles[group] for group in groups)
        ],
        authors=corpus.authors
        and [tuple(dict.fromkeys(sum(map(tuple, corpus.authors[group]), ()))) for group in groups],
        table=texts
        and DocumentTable(
            {corpus.table.text: ["\n\n".join(filter(None, texts[group])) for group in groups]},
            corpus.table.text,
            corpus.table.counted,
        ),
        name=corpus.name,
        reading=corpus.reading,
        **shared,
    )


def repeat_counts(corpus: Corpus, times: int) -> Corpus:
    """Return the corpus with every count multiplied by ``times``, as if each document were repeated.

    Documents, vocabulary and pairs do not change. Raise an error if a count or the corpus becomes too large for an engine.
    """
    times = CorpusError.whole(REPEAT, times, 1)
    if times == 1:
        return corpus
    most = min(INT32_MAX // int(corpus.counts.max()), MOST_TOKENS // corpus.n_tokens)
    if times > most:
        raise CorpusError(
            REPEAT,
            f" must be at most {most} for {corpus.name!r}, which has {corpus.n_tokens} tokens and counts up to "
            f"{corpus.counts.max()}",
            Got(times),
            value=times,
        )
    return corpus.with_pairs(corpus.indptr, corpus.words, corpus.counts * np.int32(times))


def _shared(values: tuple | None, groups: list[slice]) -> list | None:
    """Return one value per group of documents, which all documents of the group have; None if any group has several."""
    if values is None or any(len(set(values[group])) > 1 for group in groups):
        return None
    return [values[group][0] for group in groups]


TOP_WORDS = Named("top_words", text="top words")
IN_WORDS = {
    "train": "no singletons in training",
    "both-own": "no singletons in training, nor in test by its own counts",
    "both-full": "no singletons in training, nor in test by the counts of the full corpus",
}
SINGLETONS = ("keep", *IN_WORDS)
PER = ("corpus", "document", "half")
"""What a held-out share can be taken from: all tokens, the tokens of each document, or halves of documents."""


def keep_documents(corpus: Corpus, labels: Iterable[str]) -> Corpus:
    """Return the corpus of the documents with one of these labels, in the same order, with the unchanged vocabulary.

    Raise an error for a label that no document has, and for no labels.
    """
    wanted_labels = (labels,) if isinstance(labels, str) else tuple(labels)
    if not wanted_labels:
        raise CorpusError("documents are kept by their labels; no label came")
    known_labels = set(corpus.labels or ())
    for label in wanted_labels:
        if label not in known_labels:
            close_labels = get_close_matches(str(label), known_labels, 3, 0.5)
            hint = (
                f"perhaps {' or '.join(map(repr, close_labels))}"
                if close_labels
                else f"it has {len(known_labels)} labels"
            )
            raise CorpusError(f"no document of {corpus.name!r} has the label {label!r}; {hint}")
    return corpus.of_documents(
        [d for d, label in enumerate(corpus.labels) if label in wanted_labels]
    )


def keep_words(corpus: Corpus, mask: np.ndarray) -> Corpus:
    """Return the corpus reduced to the words of the mask (word,); documents may become empty but remain."""
    reduced = with_counts(corpus, np.where(mask[corpus.words], corpus.counts, 0))
    if reduced.n_tokens == 0:
        raise CorpusError(f"no token of {corpus.name!r} would be left; keep more of its words")
    renumbered = np.cumsum(mask) - 1
    vocabulary = [word for word, is_kept in zip(corpus.vocabulary, mask, strict=True) if is_kept]
    return reduced.with_pairs(
        reduced.indptr, renumbered[reduced.words], reduced.counts, vocabulary=vocabulary
    )


def frequent_words(corpus: Corpus, least: int = 1) -> Corpus:
    """Return the corpus reduced to the words with at least ``least`` tokens; the default 1 removes only unused words.

    Raise an error if no word has that many.
    """
    least = CorpusError.whole("the least number of tokens of a word", least, 1)
    totals = corpus.word_tokens
    if least > totals.max():
        most = f"the most frequent has {totals.max()}"
        raise CorpusError(f"no word of {corpus.name!r} has {least} tokens, {most}; ask for less")
    return keep_words(corpus, totals >= least)


def drop_stop_words(corpus: Corpus, stop_words: str | Iterable[str] = "english") -> Corpus:
    """Return the corpus without stop words, such as "the" and "of".

    ``stop_words`` is "english" or the words themselves, in lower case; "english" is scikit-learn's list with the
    stumps of contractions, as in `workbench.corpus.texts.counting.count_words`.
    """
    left_out = frozenset(stop_list(stop_words))
    return keep_words(
        corpus, np.array([word.lower() not in left_out for word in corpus.vocabulary])
    )


def keep_top_words(corpus: Corpus, n_words: int) -> Corpus:
    """Return the corpus with only its ``n_words`` most frequent words, in the order of the vocabulary.

    Words are ranked by their tokens in the whole corpus, and of equally frequent ones the first in the
    vocabulary comes first. Documents that lose all their words stay, empty. Use it before tokens are held
    out, so that training and test tokens are cut alike. Raise an error for fewer than one word or more than there are.

    Source: specification of LDA, B.5 (top_V).
    """
    n_words = CorpusError.whole(TOP_WORDS, n_words, 1)
    if n_words > corpus.n_words:
        raise CorpusError(
            TOP_WORDS,
            f" must be at most the {corpus.n_words} words of {corpus.name!r}",
            Got(n_words),
            "; leave it out to keep the whole vocabulary",
            value=n_words,
        )
    mask = np.zeros(corpus.n_words, bool)
    mask[np.argsort(-corpus.word_tokens, kind="stable")[:n_words]] = True
    return keep_words(corpus, mask)


def drop_singletons(
    train: Corpus, test: Corpus | None, where: str = "train", rule: str = "own"
) -> tuple[Corpus, Corpus | None]:
    """Return training and test corpus without singletons: document-word pairs whose count is 1.

    Parameters
    ----------
    train, test : Corpus
        As `hold_out_tokens` gives them; ``test`` may be None.
    where : "train" or "both"
        The training corpus loses every pair that has one *training* token, whatever the whole corpus had: then
        a hybrid with r = 1 has nothing to sample. With "both" the test corpus loses pairs too, by the rule.
    rule : "own" or "full"
        Which pairs the test corpus loses (the paper does not say): "own", those with one *test* token; "full", those
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
    training = _drop_pairs(
        train.counts == 1, train, "training", "keep them, or give longer documents"
    )
    if test is None or where == "train":
        return training, test
    full = test.counts if rule == "own" else test.counts + _counts_at(train, test)
    return training, _drop_pairs(
        full == 1, test, "test", "hold out more, or drop them in training alone"
    )


def prepare(
    corpus: Corpus,
    holdout: float = 0.1,
    seed: int = 0,
    top_words: int | None = None,
    singletons: str = "keep",
    per: str = "corpus",
    rows: dict | str | None = None,
    merge: int = 1,
    repeat: int = 1,
) -> tuple[Corpus, Corpus | None, dict | None]:
    """Return training corpus, test corpus and a dict that records how they were made.

    In this order: words are cut, documents joined, counts multiplied, tokens or documents held out, and singletons of the
    remaining counts removed. With ``per="half"``, scored tokens whose word has no training token are left out.

    Parameters
    ----------
    holdout : float in [0, 1), default 0.1
        Held-out share of the tokens (with ``per="half"``, of the documents); 0 for no test corpus.
    seed : int
        Of the held-out split.
    top_words : int, optional
        See `keep_top_words`; None keeps the whole vocabulary.
    singletons : "keep", "train", "both-own" or "both-full"
        See `drop_singletons`: where, and by which rule.
    per : "corpus", "document" or "half"
        What the share is taken from; see `hold_out_tokens`. "half": the share of documents, of which half the tokens are
        held out; see `hold_out_halves`.
    rows : dict or str, optional
        Whole documents to hold out instead of tokens: the arguments of `hold_out_rows`, as ``{"by": "year", "at_least":
        2010}``, or of `hold_out_ends`, ``{"n_rows": 2}``; as a text "year>=2010", "year=2010,2011" or "last 2". By default
        those that the corpus names (``held_out_rows``), as data sets with inputs or sequences do; "none" for a share of the
        tokens there too. With ``holdout=0`` nothing is held out unless rows are asked for.
    merge : int
        This many consecutive documents are joined into one; see `workbench.corpus.experiments.merge_documents`.
    repeat : int
        Every count is multiplied by it; see `workbench.corpus.experiments.repeat_counts`.

    Returns
    -------
    train : Corpus
    test : Corpus or None
    split : dict or None
        ``fraction``, ``seed`` and ``per``, or ``rows``; ``left_out``, the scored tokens that are left out of halves;
        ``top_words``, ``merge``, ``repeat`` and ``singletons`` if they are not the default.
        None if nothing was done.
    """
    corpus = with_current(corpus)
    CorpusError.one_of("singletons", singletons, SINGLETONS)
    CorpusError.one_of(Named("holdout_per", text="per"), per, PER)
    if top_words is not None or (merge, repeat, singletons) != (1, 1, "keep"):
        corpus = corpus.require_memory("its words and counts do not change")
    rows = rows or (corpus.held_out_rows if holdout else None)
    if isinstance(rows, str):
        rows = None if rows.strip() == "none" else parse_rows(rows, corpus)
    if rows and not isinstance(rows, dict):
        raise CorpusError.must_be(
            ROWS, "a text such as 'year>=2010' or 'last 2', or arguments of hold_out_rows", rows
        )
    changes = {}
    if top_words is not None:
        corpus = keep_top_words(corpus, top_words)
        changes["top_words"] = int(top_words)
    for name, value, change in (
        ("merge", merge, merge_documents),
        ("repeat", repeat, repeat_counts),
    ):
        corpus = change(corpus, value)
        if value != 1:
            changes[name] = int(value)
    train, test, half_record = corpus, None, {}
    if rows:
        hold_out = hold_out_ends if "n_rows" in rows else hold_out_rows
        train, test = hold_out(corpus, **rows)
    elif per == "half" and holdout:
        train, test, half_record["left_out"] = hold_out_halves(corpus, holdout, seed)
    elif holdout:
        train, test = hold_out_tokens(corpus, fraction=holdout, seed=seed, per=per)
    split = (
        {"rows": {name: _plain(value) for name, value in rows.items()}}
        if rows
        else {"fraction": holdout, "seed": int(seed), "per": per}
    )
    split |= half_record | changes
    if singletons != "keep":
        split["singletons"] = singletons
        where, _, rule = singletons.partition("-")
        train, test = drop_singletons(train, test, where, rule or "own")
        if "left_out" in split:
            test, n_before = known_words(test, train), test.n_tokens
            split["left_out"] += n_before - test.n_tokens
            if test.n_tokens == 0:
                raise CorpusError(
                    f"no word of the {n_before} scored token(s) of {corpus.name!r} has a training token once "
                    "singletons are out; keep them, or hold out fewer documents"
                )
    is_split = test is not None or changes or singletons != "keep"
    return train, test, split if is_split else None


def split_in_words(split: dict) -> str:
    """Describe in words what `prepare` held out and changed, from the dict that it returned."""
    fraction = split.get("fraction", 0)
    held_out = share_in_words(split, " held out") if fraction else "nothing held out"
    parts = [rows_in_words(split["rows"]) if "rows" in split else held_out]
    return "; ".join(parts + changes_in_words(split))


def changes_in_words(split: dict) -> list[str]:
    """Describe in words how `prepare` changed words and counts; [] if it did not."""
    cut = [f"the {split['top_words']:,} most frequent words alone"] if "top_words" in split else []
    rule = [IN_WORDS[split["singletons"]]] if "singletons" in split else []
    return cut + regime_in_words(split) + rule


def regime_in_words(split: dict) -> list[str]:
    """Describe in words how `prepare` enlarged counts: documents joined, counts multiplied; [] if it did neither."""
    regime = {"merge": "every {:,} documents joined", "repeat": "every count {:,} times"}
    return [text.format(split[name]) for name, text in regime.items() if split.get(name, 1) > 1]


def share_in_words(split: dict, held_out: str = "") -> str:
    """Describe in words the held-out share: what it is taken from, the seed, and the number of excluded tokens."""
    share, per, left_out = (
        f"{100 * split['fraction']:g} %",
        split.get("per", "corpus"),
        split.get("left_out", 0),
    )
    whole = {
        "corpus": "the tokens of the corpus",
        "document": "the tokens of each document",
        "half": "the documents",
        "cell": "the known cells",
        "record": "the records",
    }[per]
    text = f"{'half of the tokens of ' * (per == 'half')}{share} of {whole}"
    text += f"{held_out}, split seed {split.get('seed', 'unknown')}"
    return text + (
        f", but for {left_out} tokens whose word has no training token" if left_out else ""
    )


def _plain(value: object):
    """Return a value with types that JSON has: numpy scalars become Python's, iterables become lists."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value.item() if isinstance(value, np.generic) else value
    return [_plain(item) for item in value]


def rows_in_words(rows: dict) -> str:
    """Describe in words which documents are held out by ``rows``, arguments of `hold_out_rows` or `hold_out_ends`."""
    if "n_rows" in rows:
        return f"the last {rows['n_rows']} documents of each sequence held out"
    values = rows.get("values")
    value_list = ", ".join(map(str, values)) if isinstance(values, list | tuple) else values
    condition = f"from {rows['at_least']} on" if values is None else value_list
    return f"whole documents held out by {rows['by']}: {condition}"


def _drop_pairs(singletons: np.ndarray, corpus: Corpus, what: str, mend: str) -> Corpus:
    """Return the corpus without the pairs that ``singletons`` (pair,) bool marks; raise an error if no pair is left."""
    reduced = with_counts(corpus, np.where(singletons, 0, corpus.counts))
    if reduced.n_tokens == 0:
        raise CorpusError(
            f"all {corpus.n_pairs} {what} pairs of {corpus.name!r} are singletons; {mend}"
        )
    return reduced


def _counts_at(corpus: Corpus, pairs: Corpus) -> np.ndarray:
    """Return the count (pair,) in ``corpus`` of each document-word pair of the corpus ``pairs``; 0 if absent."""
    pair_keys, wanted_keys = (
        part.documents * np.int64(part.n_words) + part.words for part in (corpus, pairs)
    )
    positions = np.searchsorted(pair_keys, wanted_keys)
    positions[positions == len(pair_keys)] = 0
    return np.where(pair_keys[positions] == wanted_keys, corpus.counts[positions], 0)
