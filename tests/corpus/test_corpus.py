"""The Corpus checks itself, and from_pairs keeps what it is given."""

import numpy as np
import pytest
from data_files import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import dense

from workbench.corpus import Corpus, CorpusError

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=40
).filter(lambda rows: any(count for *_, count in rows))


@settings(max_examples=100, deadline=None)
@given(ROWS)
def test_from_pairs_adds_up_to_the_table_of_its_rows(rows):
    documents, words, counts = np.array(rows).T
    table = np.zeros((5, 7), dtype=np.int64)
    np.add.at(table, (documents, words), counts)
    corpus = Corpus.from_pairs(documents, words, counts, n_documents=5, n_words=7)
    assert np.array_equal(dense(corpus), table)
    again = Corpus.from_pairs(
        corpus.documents, corpus.words, corpus.counts, n_documents=5, n_words=7
    )
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
    assert (
        one.content_hash
        != Corpus.from_pairs([0, 1], [1, 0], [2, 3], vocabulary=["a", "b"]).content_hash
    )


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [
        (([0], [0], [1.5]), {}, "counts must be whole numbers; row 0 has 1.5"),
        (([0, 0], [0, 1], [1, float("nan")]), {}, "counts must be whole numbers; row 1 has nan"),
        (([0], [0], [-1]), {}, "counts must not be negative; row 0 has -1"),
        (([0, 0], [0, -2], [1, 1]), {}, "word ids begin with 0; row 1 has -2"),
        (
            ([0, 3], [0, 0], [1, 1]),
            {"n_documents": 3},
            "document ids must lie in 0..2; row 1 has 3",
        ),
        (([0], [5], [1]), {"vocabulary": ["a", "b"]}, "word ids must lie in 0..1; row 0 has 5"),
        (
            ([0], [0], [1]),
            {"vocabulary": ["a", "b"], "n_words": 3},
            "the vocabulary must have 3 words; it has 2",
        ),
        (([0], [0], [0]), {}, "a corpus needs at least one token; none came"),
        (([], [], []), {}, "a corpus needs at least one token; none came"),
        (
            ([0], [0, 1], [1]),
            {},
            "documents, words and counts must have one length; they have 1, 2 and 1",
        ),
        (([0], ["apple"], [1]), {}, "word ids must be whole numbers; got values of type <U5"),
        (
            ([0], [0], [1]),
            {"titles": ["a", "b"]},
            "titles must have one entry per document (1); it has 2",
        ),
    ],
)
def test_wrong_rows_are_refused_with_a_sentence(rows, options, sentence):
    assert refused(Corpus.from_pairs, *rows, **options) == sentence


def test_a_word_that_stands_twice_in_a_document_is_refused():
    assert "each word may stand once, in ascending order" in refused(
        Corpus, [0, 2], [1, 1], [1, 1], vocabulary=("a", "b"), titles=("one",)
    )


# ---------------------------------------------------------------------- the data protocol


def test_the_sum_of_the_weights_is_the_number_of_items():
    corpus = Corpus.from_pairs([0, 0, 2], [0, 1, 1], [2, 1, 5])
    assert (corpus.item, corpus.n_items, corpus.weights.sum()) == ("token", 8, 8)
    assert corpus.groups.tolist() == [0, 0, 2] and len(corpus.weights) == len(corpus.groups)
    assert corpus.describe() == {"documents": 3, "words": 2, "pairs": 3, "tokens": 8}
    assert repr(corpus) == "Corpus('corpus', 3 documents, 2 words, 3 pairs, 8 tokens)"


def known_corpus(**about):
    """Three documents, the second empty, with everything that can be known of them."""
    whole = {
        "titles": ["a", "b", "c"],
        "labels": ["x", "y", "x"],
        "authors": [["ann"], ["bob", "ann"], []],
        "times": [1, 2.5, 3],
        "inputs": {"year": [1999, 2000, 2001], "lat": np.array([1.5, -0.0, 3])},
        "sequence": [("s", 7), ("s", 2), (3, -1)],
        "name": "known",
    }
    return Corpus.from_pairs([0, 0, 2], [0, 1, 1], [2, 1, 5], **(whole | about))


def test_what_is_saved_is_loaded_under_the_name_of_its_content(tmp_path):
    corpus = known_corpus()
    path = corpus.save(tmp_path / "new")
    assert path == tmp_path / "new" / f"{corpus.content_hash}.npz" and list(
        path.parent.iterdir()
    ) == [path]
    before = path.stat().st_mtime_ns
    assert corpus.save(tmp_path / "new") == path and path.stat().st_mtime_ns == before
    found = Corpus.load(path)
    assert (found.content_hash, found.name) == (corpus.content_hash, "known")
    for field in ("indptr", "words", "counts", "inputs"):
        assert np.array_equal(getattr(found, field), getattr(corpus, field)), field
    for field in ("vocabulary", "titles", "authors", "labels", "times", "input_names", "sequence"):
        assert getattr(found, field) == getattr(corpus, field), field


def test_a_file_that_is_missing_damaged_or_another_is_refused_with_a_sentence(tmp_path):
    path = known_corpus().save(tmp_path)
    other = path.with_name("abc.npz")
    other.write_bytes(path.read_bytes())
    assert "abc.npz does not hold the content its name says; save it again" in refused(
        Corpus.load, other
    )
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(CorpusError, match=r"is damaged \(\w+\); save it again"):
        Corpus.load(path)
    np.savez(other, indptr=np.array([{}], object), about=np.zeros(1, np.uint8))
    assert "is damaged (ValueError)" in refused(Corpus.load, other)
    with pytest.raises(CorpusError, match="there is no file .*; check the path"):
        Corpus.load(tmp_path / "none.npz")


# ---------------------------------------------------------------------- inputs and sequences


def test_hashes_of_corpora_without_inputs_and_sequence_are_those_of_before_there_were_any():
    """The numbers were printed once; they may never change, or stored runs lose their corpora."""
    bare = known_corpus(inputs=None, sequence=None)
    assert bare.content_hash == "5f86d8705d712e2c684f44a916b440bcec148b615bf93fbcb09b505047a2eec6"
    assert (
        known_corpus(sequence=None).content_hash
        == "197ae5247bfe1bb49ed3222d964e939cc3d82a04a3ef95b9f6138a2428891c2c"
    )
    assert (
        known_corpus(inputs={}).content_hash
        == "d4157a9c9de10b43f171a5fa353ffcb13abf7c6e6672ec20c1588a390f50c0d2"
    )
    assert (
        known_corpus().content_hash
        == "d8091e620b20e9ee9c9801a85cc2e84ae04ba40f97a6a9c78a4268548938af87"
    )


def test_inputs_are_named_columns_and_part_of_the_content():
    corpus = known_corpus()
    assert corpus.input_names == ("year", "lat") and corpus.inputs.dtype == np.float64
    assert corpus.inputs.tolist() == [[1999, 1.5], [2000, 0], [2001, 3]]
    assert corpus.input("lat").tolist() == [1.5, 0, 3]
    again = known_corpus(inputs=corpus.inputs, input_names=["year", "lat"])
    assert again.content_hash == corpus.content_hash and again.inputs is corpus.inputs
    assert (
        corpus.content_hash
        != known_corpus(inputs={"lat": [1.5, 0, 3], "year": [1999, 2000, 2001]}).content_hash
    )
    assert (
        corpus.content_hash
        == known_corpus(inputs={"year": [1999, 2000, 2001], "lat": [1.5, 0.0, 3]}).content_hash
    )
    assert corpus.describe() == {
        "documents": 3,
        "words": 2,
        "pairs": 3,
        "tokens": 8,
        "inputs": 2,
        "sequences": 2,
    }
    with pytest.raises(ValueError, match="read-only"):
        corpus.inputs[0, 0] = 1
    assert "'known' has no input 'years'; there are 'year', 'lat'" in refused(corpus.input, "years")


def test_inputs_and_sequences_go_with_their_documents():
    corpus = known_corpus().of_documents([2, 1])
    assert corpus.inputs.tolist() == [[2001, 3], [2000, 0]] and corpus.input_names == (
        "year",
        "lat",
    )
    assert corpus.sequence == (("3", -1), ("s", 2))
    other = corpus.with_pairs([0, 0, 1], [0], [1])
    assert np.array_equal(other.inputs, corpus.inputs) and other.sequence == corpus.sequence


def test_documents_are_found_by_sequence_in_the_order_of_their_positions():
    found = known_corpus().by_sequence
    assert (
        found.names == ("s", "3")
        and found.indptr.tolist() == [0, 2, 3]
        and found.documents.tolist() == [1, 0, 2]
    )


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        ({"inputs": {"year": [1, 2]}}, "inputs must have one entry per document (3); 'year' has 2"),
        (
            {"inputs": {"year": [[1, 2, 3]]}},
            "inputs must have one entry per document (3); 'year' has the shape (1, 3)",
        ),
        (
            {"inputs": {"year": [1, float("nan"), 3]}},
            "the input 'year' must be a finite number; document 1 (counted from 0) has nan; give it a value or leave the "
            "document out",
        ),
        (
            {"inputs": np.array([[1.0], [2], [np.inf]]), "input_names": ["year"]},
            "the input 'year' must be a finite number; document 2 (counted from 0) has inf; give it a value or leave the "
            "document out",
        ),
        (
            {"inputs": {"year": ["1", "2", "3"]}},
            "the input 'year' must be numbers; got values of type <U1",
        ),
        ({"inputs": {" ": [1, 2, 3]}}, "every input needs a name, a string that is not empty"),
        (
            {"inputs": np.ones((3, 2)), "input_names": ["year", "year"]},
            "two inputs have the name 'year'; rename one of them",
        ),
        (
            {"inputs": np.ones((3, 2))},
            "inputs must have one row per document (3) and one column per name (0, at least one); their shape is (3, 2); a "
            "dict of columns by name is taken too",
        ),
        (
            {"sequence": [("s", 1), ("s", 2)]},
            "sequence must have one entry per document (3); it has 2",
        ),
        (
            {"sequence": [("s", 1), ("t", 1), ("s", 1)]},
            "the sequence 's' has the position 1 twice, in documents 0 and 2 (counted from 0); a position may stand once in a "
            "sequence",
        ),
        (
            {"sequence": ["s", "s", "t"]},
            "sequence must have a pair per document, its sequence and a whole number, its position there; document 0 (counted "
            "from 0) has 's'",
        ),
        (
            {"sequence": [("s", 1), ("s", 1.5), ("s", 2)]},
            "sequence must have a pair per document, its sequence and a whole number, its position there; document 1 (counted "
            "from 0) has ('s', 1.5)",
        ),
        (
            {"sequence": [("", 1), ("s", 1), ("s", 2)]},
            "every sequence needs a name; that of document 0 (counted from 0) is empty",
        ),
    ],
)
def test_wrong_inputs_and_sequences_are_refused_with_a_sentence(about, sentence):
    assert refused(known_corpus, **about) == sentence
