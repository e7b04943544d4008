"""Every format of counts beside UCI: known by its content, read with what lies beside it, refused in one sentence."""

import gzip
import json

import numpy as np
import pytest
from data_files import archive, put, refusal

from workbench.corpus import Corpus, load_corpus, read_corpus
from workbench.corpus.formats.writers import WRITTEN, write_corpus

LDAC = "2 0:2 2:1\n0\n1 1:5\n"
MTX = "%%MatrixMarket matrix coordinate integer general\n% three documents\n%\n3 4 3\n1 1 2\n1 3 1\n3 2 5\n"
TABLE = "count,word,page,document\n2,ant,1,x\n1,cat,1,x\n0,ant,1,y\n5,bee,2,z\n"
COUNTS = '{"title": "x", "counts": {"ant": 2, "cat": 1}}\n{"title": "y", "counts": {}}\n{"title": "z", "counts": {"bee": 5}}\n'
TOKENS = '{"tokens": ["ant", "ant", "cat"], "label": "p"}\n\n{"tokens": []}\n{"tokens": ["bee", "bee", "bee", "bee", "bee"]}\n'
MALLET = "x p ant bee ant\n\ny q\nz p cat\n"


NPZ = archive(doc=[0, 0, 2], word=[0, 2, 1], count=[2, 1, 5])


def assert_is_toy(corpus: Corpus, words):
    """3 documents, the second empty; 3 pairs, 8 tokens."""
    assert corpus.indptr.tolist() == [0, 2, 2, 3]
    assert corpus.words.tolist() == [0, 2, 1] if corpus.vocabulary[1] != "cat" else [0, 1, 2]
    assert corpus.counts.tolist() == [2, 1, 5]
    assert corpus.vocabulary == tuple(words)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("toy.dat", LDAC, "w0 w1 w2"), ("toy", LDAC, "w0 w1 w2"), ("toy.csv.gz", LDAC, "w0 w1 w2"),
        ("toy.mtx", MTX, "w0 w1 w2 w3"), ("toy.mtx.gz", MTX, "w0 w1 w2 w3"), ("toy.txt", MTX, "w0 w1 w2 w3"),
        ("toy.csv", TABLE, "ant cat bee"), ("toy.tsv.gz", TABLE.replace(",", "\t"), "ant cat bee"),
        ("toy", TABLE, "ant cat bee"),
        ("toy.jsonl", COUNTS, "ant cat bee"), ("toy.json.gz", TOKENS, "ant cat bee"), ("toy", COUNTS, "ant cat bee"),
        ("toy.npz", NPZ, "w0 w1 w2"), ("toy.npz.gz", NPZ, "w0 w1 w2"), ("toy", NPZ, "w0 w1 w2"),
    ],
)  # fmt: skip
def test_counts_are_known_by_their_content_packed_or_not(tmp_path, name, content, words):
    corpus = read_corpus(put(tmp_path, name, content))
    assert_is_toy(corpus, words.split())
    assert corpus.name in ("toy", "toy.csv")


def test_a_format_that_is_said_comes_before_what_it_looks_like(tmp_path):
    path = put(tmp_path, "toy.txt", "1\n1\n1\n1 1 4\n")
    assert read_corpus(path).n_tokens == 4
    assert refusal(path, format="lda-c") == (
        "toy.txt, line 4: a word id and its count were wanted as two whole numbers, id:count; '1' came"
    )


def test_lines_of_other_numbers_are_not_taken_for_ldac(tmp_path):
    assert "a format that is not recognised" in refusal(
        put(tmp_path, "labels-and-features", "1 3:2 5:1\n2 1:1 4:1\n")
    )
    assert "a format that is not recognised" in refusal(put(tmp_path, "times", "12:30\n12:45\n"))


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("toy.dat", "vocab.txt"), ("toy.dat", "toy.vocab"), ("toy.dat.gz", "toy.vocab.txt"), ("toy.mtx", "toy.vocab.txt"),
        ("toy.npz", "toy.vocab.txt.gz"),
    ],
)  # fmt: skip
def test_a_vocabulary_beside_the_file_is_used_and_knows_words_that_occur_nowhere(
    tmp_path, name, beside
):
    content = {"dat": LDAC, "mtx": MTX, "npz": NPZ}[name.split(".")[1]]
    path = put(tmp_path, name, content)
    put(tmp_path, beside, "ant\nbee\ncat\nnew york\n")
    put(tmp_path, "toy.titles.txt", "one\ntwo\nthree\n")
    put(tmp_path, "toy.labels.txt", "a\nb\na\n")
    corpus = read_corpus(path)
    assert_is_toy(corpus, ["ant", "bee", "cat", "new york"])
    assert (corpus.titles, corpus.labels) == (("one", "two", "three"), ("a", "b", "a"))
    assert read_corpus(path, vocabulary=list("abcd")).vocabulary == tuple("abcd")


def test_the_vocabulary_that_is_asked_for_gives_named_counts_their_order(tmp_path):
    for name, content in (("toy.csv", TABLE), ("toy.jsonl", COUNTS)):
        path = put(tmp_path, name, content)
        assert_is_toy(
            read_corpus(path, vocabulary=["ant", "bee", "cat", "dog"]), ["ant", "bee", "cat", "dog"]
        )
        assert refusal(path, vocabulary=["ant", "bee"]) == (
            f"{name}: the word 'cat' is not in the vocabulary; give one that has all words, or leave vocabulary out"
        )


def test_a_table_of_counts_has_titles_and_labels_and_a_text_comes_before_counts(tmp_path):
    rows = "document,title,kind,word,count\n7,one,p,ant,1\n3,two,q,ant,2.0\n7,,,bee,3\n"
    corpus = read_corpus(put(tmp_path, "a.csv", rows), label="kind")
    assert (corpus.titles, corpus.labels) == (("one", "two"), ("p", "q"))
    assert corpus.document_tokens.tolist() == [4, 2]
    assert read_corpus(
        put(tmp_path, "b.csv", "document,word,count,text\n1,ant,2,ibis heron\n")
    ).vocabulary == ("heron", "ibis")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.dat", "3 1:1 0:2 1:3\n1 1:1\n"),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 4\n2 2 1.0\n1 2 1e0\n1 1 2\n1 2 3.\n",
        ),
        ("a.npz", archive(doc=[1, 0, 0, 0], word=[1, 1, 0, 1], count=[1.0, 1.0, 2.0, 3.0])),
        ("a.csv", "document;word;count\na;w0;0\na;w1;1\na;w0;2\na;w1;3\nb;w1;1\n"),
        ("a.jsonl", '{"counts": {"w0": 0, "w1": 1, "w0": 2, "w1": 3}}\n{"counts": {"w1": 1}}\n'),
    ],
)
def test_pairs_that_stand_twice_are_added_up_in_any_order(tmp_path, name, content):
    corpus = read_corpus(put(tmp_path, name, content))
    assert (corpus.indptr.tolist(), corpus.words.tolist(), corpus.counts.tolist()) == (
        [0, 2, 3],
        [0, 1, 1],
        [2, 4, 1],
    )
    assert corpus.vocabulary == ("w0", "w1")


def test_mallet_text_is_counted_as_text_is_and_needs_its_name_or_format(tmp_path):
    corpus = read_corpus(put(tmp_path, "toy.mallet", MALLET))
    assert (corpus.titles, corpus.labels) == (("x", "y", "z"), ("p", "q", "p"))
    assert corpus.vocabulary == ("ant", "bee", "cat") and corpus.document_tokens.tolist() == [
        3,
        0,
        1,
    ]
    path = put(tmp_path, "toy.txt.gz", MALLET.replace("p ", "- ").replace("q", "-"))
    assert read_corpus(path, format="mallet").labels is None
    assert "a format that is not recognised" in refusal(path)
    options = {"stop_words": None, "token_pattern": r"\S+"}
    assert read_corpus(put(tmp_path, "b.mallet", "x en the c++ a\n"), **options).vocabulary == (
        "a",
        "c++",
        "the",
    )


LONG = 20 * "9"

WRONG = [
    # lda-c
    ("a.dat", "2 0:2 2:1\n3 1:5\n", "a.dat, line 2: the line promises 3 pairs and 1 came; the file is truncated or not an "
     "lda-c file"),
    ("a.dat", "1 0:1.5\n", "a.dat, line 1: a word id and its count were wanted as two whole numbers, id:count; '0:1.5' came"),
    ("a.dat", "0\n1 0:-2\n", "a.dat, line 2: a word id and its count were wanted as two whole numbers, id:count; '0:-2' came"),
    ("a.dat", f"1 0:{LONG}\n", f"a.dat, line 1: a word id and its count were wanted as two whole numbers, id:count; '0:{LONG}' "
     "came"),
    ("a.dat", "x 0:1\n", "a.dat, line 1: the number of pairs and then id:count each were wanted; 'x' came"),
    ("a.dat", "0\n0\n", "a.dat: a corpus needs at least one token; none came"),
    ("a.dat", "1 999999999999:1\n", "a.dat: 1000000000000 words without a vocabulary must be a mistake; "
     "give one with vocabulary=…"),
    ("a.dat", b"\x00\x01\x02\xff", "a.dat, line 1: the number of pairs and then id:count each were wanted; "
     "'\\x00\\x01\\x02\ufffd' came"),
    # Matrix Market
    ("a.mtx", MTX.replace("3 4 3", "3 4 4"), "a.mtx: the header promises 4 rows and 3 came, fewer: the file is truncated, "
     "fetch it again"),
    ("a.mtx", MTX.replace("3 4 3", "3 4 2"), "a.mtx: the header promises 2 rows and 3 came, more: correct line 4"),
    ("a.mtx", MTX.replace("1 3 1", "1 5 1"), "a.mtx, line 6: the word id must lie in 1..4; it is 5"),
    ("a.mtx", MTX.replace("1 3 1", "0 3 1"), "a.mtx, line 6: the document id must lie in 1..3; it is 0"),
    ("a.mtx", MTX.replace("3 2 5", "3 2 1.5"), "a.mtx, line 7: the count must be a whole number, not '1.5'"),
    ("a.mtx", MTX.replace("integer", "real").replace("3 2 5", "3 2 1.5"), "a.mtx, line 7: the count must be a whole number, "
     "not '1.5'"),
    ("a.mtx", MTX.replace("integer", "real").replace("3 2 5", "3 2 -5"), "a.mtx, line 7: the count must be a whole number, "
     "not '-5'"),
    ("a.mtx", MTX.replace("integer", "real").replace("3 2 5", "3 2 1e-x"), "a.mtx, line 7: the count must be a whole number, "
     "not '1e-x'"),
    ("a.mtx", MTX.replace("3 4 3", "3 4"), "a.mtx, line 4: three whole numbers were wanted, documents, words and entries; "
     "'3 4' came"),
    ("a.mtx", MTX.replace("integer", "pattern"), "a.mtx, line 1: counts are a 'matrix coordinate integer general' (or real); "
     "this is a 'matrix coordinate pattern general'; write it as counts"),
    ("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n2\n", "a.mtx, line 1: counts are a 'matrix coordinate integer "
     "general' (or real); this is a 'matrix array real general'; write it as counts"),
    ("a.mtx", "3 4 3\n1 1 2\n", "a.mtx, line 1: a Matrix Market file begins with '%%MatrixMarket matrix coordinate integer "
     "general'; this one does not"),
    # MALLET
    ("a.mallet", b"\xac\xed\x00\x05sr\x00\x1ecc.mallet", "a.mallet is MALLET's binary instance list; print it as text with "
     "`mallet info --input a.mallet --print-matrix siw > a.txt` and read that with format='mallet'"),
    ("a.mallet", "x p ant\ny\n", "a.mallet, line 2: a name, a label and a text were wanted; 'y' came"),
    ("a.mallet", b"x p ant\ny p b\xe9\xc3\xa9\n", "a.mallet, line 2: byte 0xe9 is not UTF-8; save the file with the "
     "encoding UTF-8, or say which it has with encoding=…"),
    # CSV
    ("a.csv", "document,word,count\nx,ant,1\nx,bee,1.5\n", "a.csv, line 3: the count must be a whole number, not '1.5'"),
    ("a.csv", "document,word,count\nx,ant,-1\n", "a.csv, line 2: the count must be a whole number, not '-1'"),
    ("a.csv", "document,word,count\n", "a.csv holds no row of counts; at least one was wanted"),
    ("a.csv", "document,word,count\nx,ant,0\n", "a.csv: a corpus needs at least one token; none came"),
    ("a.csv", "document,word,count\nx,ant\n", "a.csv, line 2: 3 columns were wanted and 2 came; put double quotes around a "
     "text that contains ','"),
    ("a.csv", "document,word\nx,ant\n", "a.csv, line 1: no column 'text' for the text; there are 'document', 'word'; "
     "say which with text=…"),
    ("a.csv", b"\x00\xff\x00", "a.csv, line 1: byte 0xff is not UTF-8; save the file with the encoding UTF-8, or say "
     "which it has with encoding=…"),
    # JSON lines
    ("a.jsonl", '{"counts": {"ant": 1}}\n{"counts": {"ant": 1.5}}\n', "a.jsonl, line 2: the count of 'ant' must be a whole "
     "number; it is 1.5"),
    ("a.jsonl", '{"counts": {"ant": -1}}\n', "a.jsonl, line 1: the count of 'ant' must be a whole number; it is -1"),
    ("a.jsonl", '{"counts": ["ant"]}\n', "a.jsonl, line 1: 'counts' must be an object {\"word\": count, …}; it is [\"ant\"]"),
    ("a.jsonl", '{"tokens": ["ant"]}\n{"counts": {"ant": 1}}\n', "a.jsonl, line 2: 'tokens' must be a list [\"word\", …]; "
     "it is null"),
    ("a.jsonl", '{"tokens": ["ant", 3]}\n', "a.jsonl, line 1: every token must be a string; there is 3"),
    # npz
    ("a.npz", b"not a zip file", "a.npz is not an npz file, which begins with the bytes PK; numpy.savez_compressed writes one"),
    ("a.npz", archive(doc=[0], count=[1]), "a.npz: arrays doc, word and count were wanted; there is no word, but doc, count"),
    ("a.npz", archive(doc=[0], word=[0], count=[1.5]), "a.npz: counts must be whole numbers; row 0 has 1.5"),
    ("a.npz", archive(doc=[0, 1], word=[0, 0], count=[1, -3]), "a.npz: counts must not be negative; row 1 has -3"),
    ("a.npz", archive(doc=[0, 1], word=[0, -1], count=[1, 3]), "a.npz: the ids in word must lie in 0..2147483646; "
     "entry 1 has -1"),
    ("a.npz", archive(doc=[0, 3], word=[0, 0], count=[1, 1], shape=[3, 1]), "a.npz: the ids in doc must lie in 0..2; entry 1 "
     "has 3"),
    ("a.npz", archive(doc=[0], word=[0, 0], count=[1, 1]), "a.npz: documents, words and counts must have one length; they have "
     "1, 2 and 2"),
    ("a.npz", archive(doc=["a"], word=[0], count=[1]), "a.npz: doc must be one-dimensional and of numbers; it is <U1 with 1 "
     "dimensions"),
    ("a.npz", archive(doc=np.array([0], object), word=[0], count=[1]), "a.npz: doc holds pickled objects, which are not read; "
     "write its strings with dtype=str"),
    ("a.npz", archive(doc=[0], word=[0], count=[1], about="{"), "a.npz: shape, vocabulary, titles or about are not what "
     "workbench writes (Expecting property name enclosed in double quotes: line 1 column 2 (char 1)); leave them out of the "
     "file"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "sentence"), WRONG, ids=[f"{row[0]}-{at}" for at, row in enumerate(WRONG)]
)
def test_wrong_counts_are_refused_with_file_and_line(tmp_path, name, content, sentence):
    assert refusal(put(tmp_path, name, content)) == sentence


def test_an_archive_that_is_damaged_or_cut_off_is_refused(tmp_path):
    whole = archive(doc=np.arange(999), word=np.arange(999), count=np.ones(999, int))
    cut = whole[: len(whole) // 2]
    assert (
        refusal(put(tmp_path, "cut.npz", cut))
        == "cut.npz is a damaged npz file (File is not a zip file); fetch it again"
    )
    flipped = bytearray(whole)
    flipped[400] ^= 0xFF
    assert refusal(put(tmp_path, "flipped.npz", bytes(flipped))).startswith(
        "flipped.npz is a damaged npz file (Bad CRC-32"
    )


@pytest.mark.parametrize(
    "name", ["a.dat", "a.mtx", "a.mallet", "a.csv", "a.jsonl", "a.npz", "docword.a.txt"]
)
def test_a_file_that_is_missing_empty_or_cut_off_is_refused_in_every_format(tmp_path, name):
    assert refusal(tmp_path / name) == f"there is no file or folder {name}; check the path"
    assert refusal(put(tmp_path, name, "")) == f"{name} is empty; a file with data was wanted"
    whole = gzip.compress(bytes(np.random.default_rng(0).integers(0, 256, 9999, np.uint8)), mtime=0)
    assert refusal(put(tmp_path, name, whole[:5000])) == (
        f"{name}, line {gunzipped_lines(whole[:5000])}: the compressed file ends early here; it is truncated, fetch it again"
    )


def gunzipped_lines(cut: bytes) -> int:
    """Number of the line in which a truncated gzip stream breaks off."""
    import zlib

    return 1 + zlib.decompressobj(wbits=31).decompress(cut).count(b"\n")


@pytest.mark.parametrize(
    ("name", "content", "beside", "words", "sentence"),
    [
        (
            "a.dat",
            LDAC,
            "vocab",
            "ant\nbee\n",
            "a.dat, line 1: the word id must lie in 0..1, as the vocabulary has 2 words; it is 2",
        ),
        (
            "a.mtx",
            MTX,
            "vocab",
            "ant\nbee\n",
            "a.vocab.txt has 2 words where 4 were wanted; it does not belong to a.mtx; "
            "give the right one with vocabulary=…",
        ),
        (
            "a.npz",
            NPZ,
            "vocab",
            "ant\nbee\n",
            "a.npz: the ids in word must lie in 0..1; entry 1 has 2",
        ),
        (
            "a.dat",
            LDAC,
            "vocab",
            "ant\nbee\nant\n",
            "a.vocab.txt, line 3: the word 'ant' stands on line 1 already; two words may not "
            "have one name, change one of them",
        ),
        (
            "a.mtx",
            MTX,
            "vocab",
            b"ant\nb\xe9e\n",
            "a.vocab.txt, line 2: byte 0xe9 is not UTF-8; save the file with the encoding UTF-8",
        ),
        (
            "a.dat",
            LDAC,
            "titles",
            "one\ntwo\n",
            "a.titles.txt has 2 titles where 3 were wanted; it does not belong to a.dat; "
            "mend or remove it",
        ),
    ],
)
def test_a_vocabulary_and_titles_that_do_not_fit_are_refused(
    tmp_path, name, content, beside, words, sentence
):
    path = put(tmp_path, name, content)
    put(tmp_path, f"a.{beside}.txt", words)
    assert refusal(path) == sentence


def test_scipy_and_we_read_each_others_matrices(tmp_path):
    from scipy import io as scipy_io
    from scipy.sparse import coo_array

    corpus = load_corpus()
    pairs = corpus.documents, corpus.words
    for dtype in (int, float):
        table = coo_array(
            (corpus.counts.astype(dtype), pairs), shape=(corpus.n_documents, corpus.n_words)
        )
        scipy_io.mmwrite(tmp_path / "theirs.mtx", table, comment="by scipy")
        found = read_corpus(tmp_path / "theirs.mtx", vocabulary=corpus.vocabulary)
        assert all(
            np.array_equal(getattr(found, field), getattr(corpus, field))
            for field in ("indptr", "words", "counts")
        )
    write_corpus(corpus, tmp_path / "ours.mtx.gz")
    assert (scipy_io.mmread(tmp_path / "ours.mtx.gz").tocsr() != table.tocsr()).nnz == 0


@pytest.mark.slow
@pytest.mark.parametrize("format", WRITTEN)
def test_kos_is_written_and_read_in_every_format(kos, tmp_path, format):
    name = {"uci": "docword.kos.txt", "lda-c": "kos.dat"}.get(format, f"kos.{format}")
    path = write_corpus(kos, tmp_path / name)[-1]
    as_it_stands = {"stop_words": None, "token_pattern": r"\S+"} if format == "mallet" else {}
    corpus = read_corpus(path, **as_it_stands)
    assert corpus.content_hash == kos.content_hash or (
        format == "mallet" and corpus.n_pairs == kos.n_pairs
    )


def test_json_with_one_word_twice_in_a_text_object_keeps_the_last(tmp_path):
    path = put(
        tmp_path, "a.jsonl", '{"text": "ibis", "text": "heron"}\n' + json.dumps({"text": "ibis"})
    )
    assert read_corpus(path).vocabulary == ("heron", "ibis")
