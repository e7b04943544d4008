"""Files that are damaged, endless, or larger than they look: a sentence each, before any memory is taken."""

import gzip
import io
import os

import numpy as np
import pytest
from data_files import archive, put, refusal, refused

import workbench as wb
from workbench.corpus import CorpusError, load_corpus, read_corpus
from workbench.data.opening import read_bytes
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.model import ModelError
from workbench.records import DataError, read_records

UCI = b"3\n4\n3\n1 1 2\n1 3 1\n3 2 5\n"


def damaged() -> bytes:
    """A gzip stream whose first block promises what cannot be."""
    packed = bytearray(gzip.compress(UCI * 100, mtime=0))
    packed[10:14] = b"\xff\xff\xff\xff"
    return bytes(packed)


# ---------------------------------------------------------------------- gzip


@pytest.mark.parametrize(
    "format", ["uci", "lda-c", "mtx", "mallet", "csv", "jsonl", "fasta", "words"]
)
def test_every_reader_of_documents_refuses_a_damaged_gzip_file(tmp_path, format):
    path = put(tmp_path, "toy", damaged())
    assert refusal(path, format=format).startswith("toy is a damaged gzip file (")


def test_records_and_networks_refuse_a_damaged_gzip_file(tmp_path):
    assert "r.csv is a damaged gzip file" in refused(
        read_records, put(tmp_path, "r.csv", damaged())
    )
    assert "rain.bif is a damaged gzip file" in refused(
        BayesNet.of, put(tmp_path, "rain.bif", damaged())
    )


def test_a_truncated_gzip_file_that_is_damaged_before_its_end_is_refused(tmp_path):
    packed = bytearray(gzip.compress(bytes(range(256)) * 4000, mtime=0))
    packed[60] ^= 0xFF
    assert "toy" in refusal(put(tmp_path, "toy", bytes(packed[:-9])), format="words")


def test_several_gzip_streams_in_one_file_and_zeros_behind_them_are_read(tmp_path):
    streams = b"".join(gzip.compress(part) for part in (UCI[:5], UCI[5:9], UCI[9:]))
    for padding in (b"", b"\0" * 700):
        assert read_corpus(put(tmp_path, "docword.toy.txt", streams + padding)).n_tokens == 8
    assert "(Not a gzipped file (b'xx'))" in refusal(
        put(tmp_path, "docword.toy.txt", streams + b"x" * 18)
    )


def test_a_file_that_unpacks_to_more_than_half_of_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "20M")
    bomb = put(
        tmp_path, "docword.toy.txt", gzip.compress(b"3\n4\n3000000\n" + b"1 1 1\n" * 3 * 10**6)
    )
    assert bomb.stat().st_size < 30_000
    assert refusal(bomb) == (
        "docword.toy.txt has 11 MB or more, of which twice as much is needed to read it, and "
        "WORKBENCH_MEMORY allows 20 MB; give a part of it, or more memory"
    )
    large = put(tmp_path, "large.txt", b"a b\n" * 3 * 10**6)
    assert refusal(large, format="words").startswith("large.txt has 11 MB or more")


def test_unpacking_stops_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "20M")
    unpacked, read1 = [], gzip.GzipFile.read1

    def counted(stream, n_bytes):
        unpacked.append(block := read1(stream, n_bytes))
        return block

    monkeypatch.setattr(gzip.GzipFile, "read1", counted)
    with pytest.raises(DataError):
        read_bytes(put(tmp_path, "bomb", gzip.compress(b"3\n" * 10**8, 1)))
    assert sum(map(len, unpacked)) < 12 * 2**20


def test_a_folder_of_more_text_than_memory_is_refused(tmp_path, monkeypatch):
    put(tmp_path, "texts/a.txt", b"ibis " * 10**6)
    monkeypatch.setenv("WORKBENCH_MEMORY", "8M")
    assert refusal(tmp_path / "texts").endswith("give a folder with fewer files")


# ---------------------------------------------------------------------- no files


def test_devices_are_refused_and_a_pipe_is_read_when_its_format_is_said(tmp_path):
    for format in (None, "uci"):
        assert "/dev/zero is a device; a file was wanted" in refused(
            read_corpus, "/dev/zero", format=format
        )
    reading, writing = os.pipe()
    os.write(writing, UCI)
    os.close(writing)
    with pytest.raises(
        CorpusError, match="is a pipe, which can be read only once, .*; say which with format="
    ):
        read_corpus(f"/dev/fd/{reading}")
    assert read_corpus(f"/dev/fd/{reading}", format="uci").n_tokens == 8
    os.close(reading)


@pytest.mark.parametrize(
    "name", ["a\0b", "x" * 5000, "~nobody-has-this-name/corpus", "a" * 300 + "/b"]
)
@pytest.mark.parametrize("read", [load_corpus, read_corpus, read_records, wb.load_records])
def test_names_that_no_file_can_have_are_refused_in_one_short_line(read, name):
    sentence = refused(read, name)
    assert len(sentence.splitlines()) == 1 and len(sentence) < 2500


@pytest.mark.parametrize("name", ["one\ntwo", "one\u2028two", "one\rtwo", "\ud800"])
@pytest.mark.parametrize(
    "read", [load_corpus, read_corpus, read_records, wb.load_records, BayesNet.of]
)
def test_a_name_of_several_lines_makes_no_sentence_of_several(read, name):
    with pytest.raises((DataError, ModelError)) as refused:
        read(name)
    assert str(refused.value).isprintable()


# ---------------------------------------------------------------------- text


@pytest.mark.parametrize("blank", ["\u2028", "\x85", "\x1c \n", "\u3000"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.mallet", "a.csv", "a.fa", "a.txt"])
def test_a_file_of_blanks_that_only_unicode_knows_is_empty(tmp_path, name, blank):
    format = {"format": "words"} if name == "a.txt" else {}
    assert (
        refusal(put(tmp_path, name, blank), **format)
        == f"{name} is empty; a file with data was wanted"
    )


def test_separators_of_unicode_end_no_line(tmp_path):
    text = "ibis\u2028heron\x85crane\x1coil"
    lines = read_corpus(put(tmp_path, "a.jsonl", f'{{"text": "{text.replace(chr(28), "")}"}}\n'))
    assert lines.n_documents == 1 and "heron" in lines.vocabulary
    mallet = read_corpus(put(tmp_path, "a.mallet", f"one zoo {text}\ntwo - crane\n"))
    assert (
        mallet.titles == ("one", "two")
        and mallet.labels == ("zoo", "")
        and "oil" in mallet.vocabulary
    )


def test_a_count_between_separators_is_a_count(tmp_path):
    assert read_corpus(put(tmp_path, "a.csv", "document,word,count\na,ant,1\x1c\n")).n_tokens == 1


def test_numbers_of_thousands_of_digits_and_deep_brackets_are_refused(tmp_path):
    long = "9" * 5000
    for content in (f'{{"counts": {{"ant": {long}}}}}\n', '{"text": ' + "[" * 100_000):
        assert refusal(put(tmp_path, "a.jsonl", content)) == (
            "a.jsonl, line 1: JSON that cannot be read, with a number too long or brackets too deep; correct it"
        )
    assert "a UCI bag of words begins with" in refusal(
        put(tmp_path, "a.txt", f"{long}\n1\n1\n1 1 1\n"), format="uci"
    )
    for name in ("net.json", "net.toml"):
        with pytest.raises(ModelError, match="net.* is not "):
            BayesNet.of(
                put(tmp_path, name, ("a = " if name.endswith("toml") else "") + "[" * 100_000)
            )


def test_a_line_of_commas_takes_no_time_squared(tmp_path):
    """A hundred thousand took minutes; the test's timeout would end it."""
    path = put(tmp_path, "a.mallet", "," * 100_000)
    assert "a name, a label and a text were wanted" in refusal(path)
    assert read_corpus(put(tmp_path, "a.mallet", "one " + "," * 100_000 + "zoo ibis")).labels == (
        "zoo",
    )


@pytest.mark.parametrize(
    "line", ["one,two,,three four", "a,b,,", "a b,,", "a,,b c, d", "x y z", "one\tzoo,ibis,", "a,b"]
)
def test_mallets_lines_are_split_as_its_pattern_splits_them(tmp_path, line):
    import re

    name, label, text = re.fullmatch(r"(\S+)[\s,]+([^\s,]\S*)[\s,]*(.*)", line).groups()
    path = put(tmp_path, "a.mallet", f"{line}\nlast - ibis\n")
    found = read_corpus(path, token_pattern=r"\S+", stop_words=None)
    assert found.titles[0] == name and found.labels[0] == label
    assert set(found.vocabulary) == {*text.split(), "ibis"}


def test_a_pattern_that_is_none_is_refused_for_running_text_too(tmp_path):
    path = put(tmp_path, "a.txt", "ibis heron")
    assert "must be a regular expression" in refusal(path, format="words", token_pattern="(")
    assert "may have one group" in refusal(path, format="words", token_pattern="(i)(b)")


# ---------------------------------------------------------------------- npz


def promising(shape: tuple) -> bytes:
    """An array of whole numbers whose header promises this shape, and which has three."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": "<i8", "fortran_order": False, "shape": shape}
    )
    return file.getvalue() + bytes(24)


GOOD = {"doc": [0, 0, 1], "word": [0, 1, 1], "count": [1, 2, 3]}


@pytest.mark.parametrize("shape", [(10**12,), (2,), (10**6, 10**6), (2**62, 4)])
def test_an_array_that_promises_another_size_than_it_has_is_refused_before_memory_is_taken(
    tmp_path, shape
):
    sentence = refusal(put(tmp_path, "a.npz", archive(**GOOD | {"word": promising(shape)})))
    assert sentence == (
        f"a.npz: word promises {8 * int(np.prod(shape, dtype=object))} bytes and 24 came; the file is damaged, "
        "fetch it again"
    )


def test_members_that_are_not_wanted_are_not_read(tmp_path):
    others = {
        "model": promising((10**12,)),
        "notes": np.array([{"a": 1}], object),
        "picture": b"no array",
    }
    assert read_corpus(put(tmp_path, "a.npz", archive(**GOOD, **others))).n_tokens == 6


def test_pickled_objects_are_refused_and_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("it was unpickled",)

    for name in ("doc", "vocabulary", "about"):
        sentence = refusal(
            put(tmp_path, "a.npz", archive(**GOOD | {name: np.array([Trap()], object)}))
        )
        assert sentence.endswith(
            f"{name} holds pickled objects, which are not read; write its strings with dtype=str"
        )


def test_an_encrypted_archive_a_cut_header_and_odd_names_are_refused(tmp_path):
    encrypted = bytearray(archive(**GOOD))
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = encrypted.find(magic)
        while start >= 0:
            encrypted[start + at] |= 1
            start = encrypted.find(magic, start + 1)
    assert "is encrypted" in refusal(put(tmp_path, "a.npz", bytes(encrypted)))
    cut = promising((3,)).replace(b"(3,), }", b"(3,    ")
    assert "is a damaged npz file" in refusal(
        put(tmp_path, "a.npz", archive(**GOOD | {"word": cut}))
    )
    assert refusal(put(tmp_path, "a.npz", archive(**{"../doc": [1], "word\n": [1]}))) == (
        "a.npz: arrays doc, word and count were wanted; there is no doc, but ../doc, word\\n"
    )


def test_characters_that_there_are_not_are_refused(tmp_path):
    for order in "<>":
        words = np.array([0x61, 0x110000], f"{order}u4").view(f"{order}U1")
        sentence = refusal(put(tmp_path, "a.npz", archive(**GOOD | {"vocabulary": words})))
        assert (
            sentence
            == "a.npz: vocabulary has characters that there are not; the file is damaged, fetch it again"
        )


@pytest.mark.parametrize(
    "about",
    [
        '{"labels": 5}',
        '{"times": {"a": 1}}',
        '{"sequence": [["a", 1e300], ["a", 1]]}',
        "[1]",
        '"x"',
        '{"authors": "abc"}',
        '{"sequence": [["a", 1' + "0" * 40 + '], ["a", 1]]}',
    ],
)
def test_what_is_said_of_documents_inside_an_archive_must_fit_them(tmp_path, about):
    assert refusal(put(tmp_path, "a.npz", archive(**GOOD, about=np.array(about)))).startswith(
        "a.npz: "
    )


def test_a_folder_whose_files_go_while_it_is_read_is_refused_in_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "gone.txt").write_text("apples")
    monkeypatch.setattr("pathlib.Path.is_file", lambda self: True)
    (tmp_path / "link.txt").symlink_to("nowhere")
    assert "link.txt cannot be read: No such file or directory" in refused(read_corpus, tmp_path)
