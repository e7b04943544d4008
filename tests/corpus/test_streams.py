"""Documents of a stream, counted one by one over a fixed vocabulary, and put together in batches."""

from itertools import count, islice

import numpy as np
import pytest

from workbench.corpus import Corpus
from workbench.corpus.streams import Counted, Vocabulary, as_arrays, in_batches
from workbench.corpus.texts.words import analyser
from workbench.errors import DataError

WORDS = ("ant", "bee", "cat", "dog")


@pytest.fixture
def vocabulary():
    return Vocabulary(WORDS, analyser(), ids=["dog", "zebra", "ant"])


def pairs(counted):
    return dict(
        zip(counted.words.tolist(), counted.counts.tolist(), strict=True)
    ), counted.n_unknown


@pytest.mark.parametrize(
    "document, expected",
    [
        ("The dog, an ANT and the dog; zebra!", ({0: 1, 3: 2}, 1)),  # stop words are no words
        (["dog", "ant", "dog", "Zebra"], ({0: 1, 3: 2}, 1)),
        (("cat",), ({2: 1}, 0)),
        ({"dog": 2, "ant": 1, "zebra": 5, "bee": 0}, ({0: 1, 3: 2}, 5)),
        ([(0, 2), (1, 5), (2, 1)], ({0: 1, 3: 2}, 5)),  # by the ids of `ids`
        (np.array(["bee", "bee"]), ({1: 2}, 0)),
        ([(0, 1), (0, 1.0)], ({3: 2}, 0)),
        ("", ({}, 0)),
        ([], ({}, 0)),
        ({}, ({}, 0)),
        ("zebra", ({}, 1)),
    ],
    ids=str,
)
def test_a_document_is_counted_over_the_known_words(vocabulary, document, expected):
    (counted,) = vocabulary.count([document])
    assert pairs(counted) == expected
    assert counted.words.dtype == counted.counts.dtype == np.int32 and np.all(
        np.diff(counted.words) > 0
    )


def test_documents_are_taken_one_by_one(vocabulary):
    """From a generator that never ends no document is asked for before it is wanted."""
    asked = count()
    stream = vocabulary.count("ant" for _ in asked)
    assert len(list(islice(stream, 3))) == 3 and next(asked) <= 4


def test_a_corpus_with_other_words_is_counted_as_its_documents_are(vocabulary):
    corpus = Corpus.from_tokens([["dog", "zebra", "dog"], [], ["emu"], ["ant", "cat"]])
    assert [pairs(each) for each in vocabulary.count_corpus(corpus)] == [
        ({3: 2}, 1),
        ({}, 0),
        ({}, 1),
        ({0: 1, 2: 1}, 0),
    ]


def test_words_that_are_spelt_alike_are_the_first_of_them():
    (counted,) = Vocabulary(["ant", "bee", "ant"], str.split).count(["ant ant"])
    assert pairs(counted) == ({0: 2}, 0)


@pytest.mark.parametrize(
    "document, said",
    [
        (
            None,
            "document 1 (counted from 0): a document of a stream is a text, a list of tokens, a mapping of words to "
            "counts, or, "
            "with a vocabulary, a list of (word id, count) pairs; got None",
        ),
        (b"ant", "got b'ant'"),
        (3.5, "got 3.5"),
        (["ant", None], "got ['ant', None]"),
        (["ant", (0, 1)], "got ['ant', (0, 1)]"),
        ({1: 2}, "document 1 (counted from 0): the words of a mapping are strings; got 1"),
        ({"ant": -1}, "counts must be whole numbers from 0 to 2147483647; got [-1]"),
        ({"ant": 1.5}, "counts must be whole numbers from 0"),
        ({"ant": "2"}, "counts must be whole numbers from 0"),
        ({"ant": float("nan")}, "counts must be whole numbers from 0"),
        ({"ant": 2**31}, "counts must be whole numbers from 0"),
        ([(3, 1)], "word ids must be whole numbers in 0..2; got [3]"),
        ([(-1, 1)], "word ids must be whole numbers in 0..2"),
        ([(0.5, 1)], "word ids must be whole numbers in 0..2"),
        ([(0, 2**31 - 1), (0, 1)], "a count may not exceed 2147483647; the largest is 2147483648"),
    ],
    ids=str,
)
def test_what_is_no_document_is_refused_in_a_sentence_with_its_number(vocabulary, document, said):
    with pytest.raises(DataError) as refused:
        list(vocabulary.count(["ant", document]))
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_counts_by_id_without_a_vocabulary_are_refused():
    with pytest.raises(
        DataError, match=r"counts by word id need the words of the ids; give them with vocabulary="
    ):
        list(Vocabulary(WORDS, str.split).count([[(0, 1)]]))


@pytest.mark.parametrize(
    "n, sizes",
    [
        (0, []),
        (1, [1]),
        (3, [3]),
        (4, [4]),
        (5, [3, 2]),
        (7, [4, 3]),
        (8, [4, 4]),
        (9, [4, 3, 2]),
        (12, [4, 4, 4]),
        (17, [4] * 3 + [3, 2]),
    ],
)
def test_batches_have_one_size_and_the_last_two_halve_what_is_left(n, sizes):
    documents = [Counted(np.array([i], np.int32), np.array([1], np.int32), 0) for i in range(n)]
    batches = list(in_batches(documents, 4))
    assert [len(batch) for batch in batches] == sizes
    assert [int(each.words[0]) for batch in batches for each in batch] == list(range(n))


def test_a_batch_comes_as_soon_as_another_one_is_behind_it():
    asked = count()
    next(in_batches((Counted(np.array([0]), np.array([1]), 0) for _ in asked), 4))
    assert next(asked) <= 9


def test_arrays_are_those_of_a_corpus():
    corpus = Corpus.from_tokens([["dog", "ant", "dog"], ["cat"], ["ant", "bee"]])
    arrays = as_arrays(list(Vocabulary(corpus.vocabulary, str.split).count_corpus(corpus)))
    for found, expected in zip(arrays, (corpus.indptr, corpus.words, corpus.counts), strict=True):
        assert np.array_equal(found, expected) and found.dtype == expected.dtype
