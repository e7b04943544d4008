"""Match the words and documents of an imported model with those of a corpus: words by name, documents by name or order."""

import re
from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array

from workbench.corpus import Corpus
from workbench.corpus.splits import with_counts
from workbench.runs.afterwards.learnt import indices_in, known_part
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
    word_indices = indices_in(train.vocabulary, words)
    word_indices = np.arange(len(words)) if word_indices is None else word_indices
    known_words = np.zeros(train.n_words, bool)
    known_words[word_indices[word_indices >= 0]] = True
    if not known_words.any():
        raise ForeignError(
            f"the model and the corpus have no word in common; the model has {_examples(words)}, the corpus "
            f"{_examples(train.vocabulary)}; words must be spelt alike"
        )
    phi = np.zeros((len(foreign.phi), train.n_words))
    phi[:, word_indices[word_indices >= 0]] = foreign.phi[:, word_indices >= 0]
    note = _word_note(foreign, words, word_indices, train, known_words)
    if not known_words.all() and leave_out:
        train, test = (
            with_counts(part, np.where(known_words[part.words], part.counts, 0))
            if part is not None
            else None
            for part in (train, test)
        )
        note += "; tokens of these are left out of the training and the test set, which are other data than those of other runs"
    theta, document_note = _theta_of(foreign, train, words, word_indices, known_words)
    if test is not None:
        _refuse_impossible(theta, phi, test)
    return train, test, theta, phi, "; ".join(filter(None, (note, document_note)))


def _word_note(
    foreign: ForeignModel,
    words: tuple[str, ...],
    word_indices: np.ndarray,
    train: Corpus,
    known_words: np.ndarray,
) -> str:
    """Return a sentence about the words that only the model or only the corpus has; "" if there are none."""
    sentences = []
    if n_model_only := int((word_indices < 0).sum()):
        share = float(foreign.phi[:, word_indices < 0].sum(axis=1).mean())
        sentences.append(
            f"{n_model_only:,} of the {len(words):,} words of the model are not in the corpus (in the mean {share:.2%} of "
            "a topic, which its predictions give to no word of the corpus)"
        )
    if n_corpus_only := int((~known_words).sum()):
        tokens = int(train.counts[~known_words[train.words]].sum())
        sentences.append(
            f"{n_corpus_only:,} of the {train.n_words:,} words of the corpus are not in the model ({tokens:,} training tokens)"
        )
    return " and ".join(sentences)


def _theta_of(
    foreign: ForeignModel,
    train: Corpus,
    words: tuple[str, ...],
    word_indices: np.ndarray,
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
            _check_tokens(foreign, rows, train, word_indices, known_words)
    has_theta = np.isfinite(theta).all(axis=1)
    if has_theta.all():
        return theta, ""
    if not has_theta.any():
        raise ForeignError(
            "the model gives theta of no training document; give theta, a row for each of them"
        )
    lengths = train.document_tokens[has_theta]
    theta[~has_theta] = np.average(
        theta[has_theta], axis=0, weights=lengths if lengths.sum() else None
    )
    return theta, (
        f"{int((~has_theta).sum()):,} documents of which the program gives no theta, as without tokens, have the mean "
        "of the others, by their tokens"
    )


def _rows(foreign: ForeignModel, train: Corpus) -> np.ndarray:
    """Return the index (row,) of the training document of each row of the model's theta; raise ForeignError if unknown."""
    if (
        foreign.titles is not None
        and (document_indices := indices_in(train.titles, foreign.titles)) is not None
        and (document_indices >= 0).all()
    ):
        return document_indices
    n_rows, filled_documents = len(foreign.theta), np.flatnonzero(train.document_tokens)
    if n_rows == train.n_documents:
        return np.arange(n_rows)
    if n_rows == len(filled_documents):
        return filled_documents
    empty = (
        f", {train.n_documents - len(filled_documents):,} of them without tokens"
        if len(filled_documents) < train.n_documents
        else ""
    )
    raise ForeignError(
        f"the model has theta of {n_rows:,} documents and the training corpus {train.n_documents:,}{empty}; "
        "give the training documents that the model was fit on, in their order"
    )


def _check_tokens(
    foreign: ForeignModel,
    rows: np.ndarray,
    train: Corpus,
    word_indices: np.ndarray,
    known_words: np.ndarray,
) -> None:
    """Raise ForeignError if the documents stored in the model have other tokens than the training corpus.

    It may have been fit on the held-out tokens too.
    """
    indptr, numbers, counts = foreign.tokens
    documents, words = rows[np.repeat(np.arange(len(rows)), np.diff(indptr))], word_indices[numbers]
    is_shared, in_model = words >= 0, known_words[train.words]
    pairs = train.documents[in_model], train.words[in_model]
    corpus_counts = coo_array(
        (train.counts[in_model], pairs), (train.n_documents, train.n_words)
    ).tocsr()
    model_counts = coo_array(
        (counts[is_shared], (documents[is_shared], words[is_shared])), corpus_counts.shape
    ).tocsr()
    documents_differing, _ = (corpus_counts != model_counts).nonzero()
    if not len(documents_differing):
        return
    document = documents_differing.min()
    raise ForeignError(
        f"the model was fit on other tokens than the training corpus has, first in document {document} "
        f"({train.titles[document]!r}); give the corpus that it was fit on, without the tokens that are held out"
    )


def _refuse_impossible(theta: np.ndarray, phi: np.ndarray, test: Corpus) -> None:
    """Raise ForeignError if the model gives a held-out token probability 0, hence an infinite perplexity."""
    is_known = phi.any(axis=0)
    is_possible = (theta[test.documents] * (phi.T > 0)[test.words]).sum(axis=1) > 0
    if is_possible.all():
        return
    tokens = int(test.counts[~is_possible].sum())
    examples = _examples([test.vocabulary[w] for w in np.unique(test.words[~is_possible])])
    remedy = "fit it with all words of the training corpus, or leave these words out of both sets: unknown='leave out'"
    if is_known[test.words[~is_possible]].all():
        remedy = "import it smoothed"
    raise ForeignError(
        f"the model gives probability 0 to {tokens:,} of {test.n_tokens:,} held-out tokens (of {examples}), so its "
        f"perplexity is infinite; {remedy}"
    )


def _examples(words: Sequence[str], most: int = 3) -> str:
    """Return the first few words and how many others there are, as text for an error message."""
    examples = ", ".join(repr(re.sub(r"\s+", " ", str(word))[:30]) for word in list(words)[:most])
    return examples + (f" and {len(words) - most:,} more" if len(words) > most else "")
