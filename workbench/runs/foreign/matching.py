"""Match the words and documents of an imported model with those of a corpus: words by name, documents by name or order."""

import re
from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array

from workbench.corpus import Corpus
from workbench.corpus.splits import with_counts
from workbench.runs.afterwards.learnt import known_part, places_in
from workbench.runs.foreign.foreign_model import ForeignError, ForeignModel


def match(
    foreign: ForeignModel, train: Corpus, test: Corpus | None, leave_out: bool
) -> tuple[Corpus, Corpus | None, np.ndarray, np.ndarray, str]:
    """Return training set, test set, theta, phi and a note, after matching a model's words and documents to the corpus.

    leave_out : whether to leave words that the model does not know out of the training and test set

    Returns the training and the test set; theta (document, topic) and phi (topic, word) in the order of the training set; and
    sentences about words and documents that did not match, "" if all did.
    """
    words = foreign.words
    if words is None:
        if foreign.phi.shape[1] != train.n_words:
            raise ForeignError(
                f"the model knows its {foreign.phi.shape[1]:,} words by number alone and the corpus has "
                f"{train.n_words:,}; give words, in the order of the model's columns"
            )
        words = train.vocabulary
    places = places_in(train.vocabulary, words)
    places = np.arange(len(words)) if places is None else places
    known = np.zeros(train.n_words, bool)
    known[places[places >= 0]] = True
    if not known.any():
        raise ForeignError(
            f"the model and the corpus have no word in common; the model has {_few(words)}, the corpus "
            f"{_few(train.vocabulary)}; words must be spelt alike"
        )
    phi = np.zeros((len(foreign.phi), train.n_words))
    phi[:, places[places >= 0]] = foreign.phi[:, places >= 0]
    note = _of_words(foreign, words, places, train, known)
    if not known.all() and leave_out:
        train, test = (
            with_counts(part, np.where(known[part.words], part.counts, 0))
            if part is not None
            else None
            for part in (train, test)
        )
        note += "; tokens of these are left out of the training and the test set, which are other data than those of other runs"
    theta, of_documents = _theta_of(foreign, train, words, places, known)
    if test is not None:
        _refuse_impossible(theta, phi, test)
    return train, test, theta, phi, "; ".join(filter(None, (note, of_documents)))


def _of_words(
    foreign: ForeignModel,
    words: tuple[str, ...],
    places: np.ndarray,
    train: Corpus,
    known: np.ndarray,
) -> str:
    """Return a sentence about the words that only the model or only the corpus has; "" if there are none."""
    sentences = []
    if theirs := int((places < 0).sum()):
        share = float(foreign.phi[:, places < 0].sum(axis=1).mean())
        sentences.append(
            f"{theirs:,} of the {len(words):,} words of the model are not in the corpus (in the mean {share:.2%} of "
            "a topic, which its predictions give to no word of the corpus)"
        )
    if ours := int((~known).sum()):
        tokens = int(train.counts[~known[train.words]].sum())
        sentences.append(
            f"{ours:,} of the {train.n_words:,} words of the corpus are not in the model ({tokens:,} training tokens)"
        )
    return " and ".join(sentences)


def _theta_of(
    foreign: ForeignModel,
    train: Corpus,
    words: tuple[str, ...],
    places: np.ndarray,
    known_words: np.ndarray,
) -> tuple[np.ndarray, str]:
    """Return theta of all training documents, and a sentence on the documents for which the program had none."""
    if foreign.theta is None and foreign.infer is None:
        raise ForeignError(
            "the model has no theta of the training documents; give theta, a row for each of them"
        )
    if foreign.theta is None:
        theta = foreign.infer(known_part(train, words))
    else:
        rows = _rows(foreign, train)
        theta = np.full((train.n_documents, foreign.theta.shape[1]), np.nan)
        theta[rows] = foreign.theta
        if foreign.tokens is not None:
            _check_tokens(foreign, rows, train, places, known_words)
    known = np.isfinite(theta).all(axis=1)
    if known.all():
        return theta, ""
    if not known.any():
        raise ForeignError(
            "the model gives theta of no training document; give theta, a row for each of them"
        )
    lengths = train.document_tokens[known]
    theta[~known] = np.average(theta[known], axis=0, weights=lengths if lengths.sum() else None)
    return theta, (
        f"{int((~known).sum()):,} documents of which the program gives no theta, as without tokens, have the mean "
        "of the others, by their tokens"
    )


def _rows(foreign: ForeignModel, train: Corpus) -> np.ndarray:
    """Return the index (row,) of the training document of each row of the model's theta; raise ForeignError if unknown."""
    if (
        foreign.titles is not None
        and (places := places_in(train.titles, foreign.titles)) is not None
        and (places >= 0).all()
    ):
        return places
    n_rows, filled = len(foreign.theta), np.flatnonzero(train.document_tokens)
    if n_rows == train.n_documents:
        return np.arange(n_rows)
    if n_rows == len(filled):
        return filled
    empty = (
        f", {train.n_documents - len(filled):,} of them without tokens"
        if len(filled) < train.n_documents
        else ""
    )
    raise ForeignError(
        f"the model has theta of {n_rows:,} documents and the training corpus {train.n_documents:,}{empty}; "
        "give the training documents that the model was fit on, in their order"
    )


def _check_tokens(
    foreign: ForeignModel, rows: np.ndarray, train: Corpus, places: np.ndarray, known: np.ndarray
) -> None:
    """Raise ForeignError if the documents stored in the model have other tokens than the training corpus.

    It may have been fit on the held-out tokens too.
    """
    indptr, numbers, counts = foreign.tokens
    documents, words = rows[np.repeat(np.arange(len(rows)), np.diff(indptr))], places[numbers]
    shared, in_model = words >= 0, known[train.words]
    pairs = train.documents[in_model], train.words[in_model]
    ours = coo_array((train.counts[in_model], pairs), (train.n_documents, train.n_words)).tocsr()
    theirs = coo_array((counts[shared], (documents[shared], words[shared])), ours.shape).tocsr()
    differing, _ = (ours != theirs).nonzero()
    if not len(differing):
        return
    document = differing.min()
    raise ForeignError(
        f"the model was fit on other tokens than the training corpus has, first in document {document} "
        f"({train.titles[document]!r}); give the corpus that it was fit on, without the tokens that are held out"
    )


def _refuse_impossible(theta: np.ndarray, phi: np.ndarray, test: Corpus) -> None:
    """Raise ForeignError if the model gives a held-out token probability 0, hence an infinite perplexity."""
    known = phi.any(axis=0)
    sure = (theta[test.documents] * (phi.T > 0)[test.words]).sum(axis=1) > 0
    if sure.all():
        return
    tokens = int(test.counts[~sure].sum())
    few = _few([test.vocabulary[w] for w in np.unique(test.words[~sure])])
    mend = "fit it with all words of the training corpus, or leave these words out of both sets: unknown='leave out'"
    if known[test.words[~sure]].all():
        mend = "import it smoothed"
    raise ForeignError(
        f"the model gives probability 0 to {tokens:,} of {test.n_tokens:,} held-out tokens (of {few}), so its "
        f"perplexity is infinite; {mend}"
    )


def _few(words: Sequence[str], most: int = 3) -> str:
    """Return the first few words and how many others there are, as text for an error message."""
    shown = ", ".join(repr(re.sub(r"\s+", " ", str(word))[:30]) for word in list(words)[:most])
    return shown + (f" and {len(words) - most:,} more" if len(words) > most else "")
