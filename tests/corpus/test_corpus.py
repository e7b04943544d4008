"""The Corpus checks itself, and from_pairs keeps what it is given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.corpus import Corpus, CorpusError

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=40).filter(
    lambda rows: any(count for *_, count in rows)
)


def dense(corpus):
    """(document, word) counts."""
    table = np.zeros((corpus.n_documents, corpus.n_words), dtype=np.int64)
    table[corpus.documents, corpus.words] = corpus.counts
    return table


@settings(max_examples=100, deadline=None)
@given(ROWS)
def test_from_pairs_adds_up_to_the_table_of_its_rows(rows):
    documents, words, counts = np.array(rows).T
    table = np.zeros((5, 7), dtype=np.int64)
    np.add.at(table, (documents, words), counts)
    corpus = Corpus.from_pairs(documents, words, counts, n_documents=5, n_words=7)
    assert np.array_equal(dense(corpus), table)
    again = Corpus.from_pairs(corpus.documents, corpus.words, corpus.counts, n_documents=5, n_words=7)
    assert again.content_hash == corpus.content_hash


@settings(max_examples=50, deadline=None)
@given(ROWS)
def test_pairs_sorted_by_word_are_the_same_pairs(rows):
    corpus = Corpus.from_pairs(*np.array(rows).T, n_documents=5, n_words=7)
    by_word = corpus.by_word
    for word in range(corpus.n_words):
        mine = slice(by_word.indptr[word], by_word.indptr[word + 1])
        assert (corpus.words[by_word.pairs[mine]] == word).all()
        assert np.array_equal(corpus.documents[by_word.pairs[mine]], by_word.documents[mine])
        assert (np.diff(by_word.documents[mine]) > 0).all()


def test_empty_documents_and_unused_words_keep_their_places():
    corpus = Corpus.from_pairs([1], [2], [3], vocabulary=["a", "b", "c", "d"], n_documents=3)
    assert (corpus.n_documents, corpus.n_words, corpus.n_pairs, corpus.n_tokens) == (3, 4, 1, 3)
    assert corpus.indptr.tolist() == [0, 0, 1, 1]
    assert corpus.document_tokens.tolist() == [0, 3, 0]
    assert corpus.by_word.indptr.tolist() == [0, 0, 0, 1, 1]


def test_one_document_with_one_token_is_a_corpus():
    corpus = Corpus.from_pairs([0], [0], [1])
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == (1, 1, 1)
    assert corpus.vocabulary == ("w0",)


def test_whole_numbers_in_floats_are_taken():
    assert Corpus.from_pairs([0, 0], [0, 1], [1.0, 2.0]).counts.tolist() == [1, 2]


def test_arrays_cannot_be_changed():
    corpus = Corpus.from_pairs([0], [0], [1])
    with pytest.raises(ValueError, match="read-only"):
        corpus.counts[0] = 2


def test_equal_contents_have_equal_hashes_whatever_the_name():
    one = Corpus.from_pairs([0, 1], [1, 0], [2, 3], name="one")
    two = Corpus.from_pairs([1, 0, 0], [0, 1, 1], [3, 1, 1], name="two")
    assert one.content_hash == two.content_hash
    assert one.content_hash != Corpus.from_pairs([0, 1], [1, 0], [2, 4]).content_hash
    assert one.content_hash != Corpus.from_pairs([0, 1], [1, 0], [2, 3], vocabulary=["a", "b"]).content_hash


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [
        (([0], [0], [1.5]), {}, "counts must be whole numbers; row 0 has 1.5"),
        (([0, 0], [0, 1], [1, float("nan")]), {}, "counts must be whole numbers; row 1 has nan"),
        (([0], [0], [-1]), {}, "counts must not be negative; row 0 has -1"),
        (([0, 0], [0, -2], [1, 1]), {}, "word ids begin with 0; row 1 has -2"),
        (([0, 3], [0, 0], [1, 1]), {"n_documents": 3}, "document ids must lie in 0..2; row 1 has 3"),
        (([0], [5], [1]), {"vocabulary": ["a", "b"]}, "word ids must lie in 0..1; row 0 has 5"),
        (([0], [0], [1]), {"vocabulary": ["a", "b"], "n_words": 3}, "the vocabulary must have 3 words; it has 2"),
        (([0], [0], [0]), {}, "a corpus needs at least one token; none came"),
        (([], [], []), {}, "a corpus needs at least one token; none came"),
        (([0], [0, 1], [1]), {}, "documents, words and counts must have one length; they have 1, 2 and 1"),
        (([0], ["apple"], [1]), {}, "word ids must be whole numbers; got values of type <U5"),
        (([0], [0], [1]), {"titles": ["a", "b"]}, "titles must have one entry per document (1); it has 2"),
    ],
)
def test_wrong_rows_are_refused_with_a_sentence(rows, options, sentence):
    with pytest.raises(CorpusError) as refused:
        Corpus.from_pairs(*rows, **options)
    assert str(refused.value) == sentence


def test_a_word_that_stands_twice_in_a_document_is_refused():
    with pytest.raises(CorpusError, match="each word may stand once, in ascending order"):
        Corpus([0, 2], [1, 1], [1, 1], vocabulary=("a", "b"), titles=("one",))
