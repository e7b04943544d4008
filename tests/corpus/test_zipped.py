"""A zip archive of texts: read as the folder of it would be, and never unpacked to disk."""

import io
import struct
import zipfile
import zlib

import pytest
from data_files import put, refusal

from workbench.corpus import read_corpus, write_corpus
from workbench.corpus.formats.readers import format_of


def zipped(files: dict[str, str | bytes], **settings) -> bytes:
    """An archive of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **{"compression": zipfile.ZIP_DEFLATED} | settings) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


TEXTS = {"a/1.txt": "red ants", "a/2.txt": "", "b/3.TXT": "blue bees bees"}


def test_a_zip_is_read_as_the_folder_that_it_holds(tmp_path):
    for name, content in TEXTS.items():
        put(tmp_path, f"texts/{name}", content)
    folder = read_corpus(tmp_path / "texts")
    for prefix in ("", "my texts/", "my texts/of 2024/"):
        found = read_corpus(
            put(
                tmp_path,
                "texts.zip",
                zipped({f"{prefix}{name}": text for name, text in TEXTS.items()}),
            )
        )
        assert (found.name, found.titles, found.labels) == (
            "texts",
            ("1", "2", "3"),
            ("a", "a", "b"),
        )
        assert found.content_hash == folder.content_hash
    assert (
        read_corpus(
            put(tmp_path, "one.zip", zipped({"x/1.txt": "red ants", "x/2.txt": "bees"}))
        ).labels
        is None
    )


def test_a_zip_is_known_by_its_bytes_and_other_files_that_are_zips_are_not_taken_for_one(tmp_path):
    assert format_of(put(tmp_path, "texts", zipped(TEXTS))) == "zip"
    write_corpus(read_corpus(tmp_path / "texts"), tmp_path / "counts", format="npz")
    assert format_of(tmp_path / "counts") == "npz"


def test_what_archivers_add_and_what_is_no_text_is_left_out(tmp_path):
    more = {
        "__MACOSX/a/._1.txt": b"\0\xff",
        "a/.hidden.txt": b"\0\xff",
        "a/notes.md": "x",
        "a/": "",
    }
    assert read_corpus(put(tmp_path, "t.zip", zipped(more | TEXTS))).n_documents == 3


def test_texts_of_another_encoding_are_read_as_it_is_said(tmp_path):
    path = put(tmp_path, "t.zip", zipped({"1.txt": "café crème".encode("cp1252"), "2.txt": "thé"}))
    assert "crème" in read_corpus(path, encoding="cp1252").vocabulary


@pytest.mark.parametrize(
    "name", ["../out.txt", "a/../../out.txt", "/etc/out.txt", "..\\out.txt", "a\\..\\..\\out.txt"]
)
def test_a_name_that_leads_out_of_the_archive_is_refused_and_nothing_is_written(tmp_path, name):
    path = put(tmp_path / "in", "t.zip", zipped(TEXTS | {name: "x"}))
    assert (
        "a name that leads out of the archive; make it again of a folder of .txt files"
        in refusal(path)
    )
    assert [*tmp_path.rglob("*")] == [tmp_path / "in", path]


def marked(at: int, value: int) -> bytes:
    """An archive with another byte at this place of the header of its member, in the archive's directory too."""
    data = bytearray(zipped({"1.txt": "red ants"}))
    for magic, shift in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        data[data.index(magic) + at + shift] = value
    return bytes(data)


FLAGS, METHOD = 6, 8


def lying() -> bytes:
    """An archive whose text is longer than its directory says."""
    data, text = bytearray(zipped({"1.txt": "red ants " * 1000})), 9000
    for place in (data.index(b"PK\x03\x04") + 22, data.index(b"PK\x01\x02") + 24):
        assert struct.unpack_from("<I", data, place) == (text,)
        struct.pack_into("<I", data, place, 90)
    return bytes(data)


NO_TEXT = (
    "t.zip has no .txt file, one per document was wanted; for another format give the file itself"
)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (marked(FLAGS, 1), "t.zip is encrypted; make it again without a password"),
        (
            marked(METHOD, 97),
            "t.zip is compressed by a method that cannot be read here; compress it with deflate",
        ),
        (
            lying(),
            "t.zip is damaged, or no zip archive (Bad CRC-32 for file '1.txt'); make it again",
        ),
        (
            zipped(TEXTS)[:-30],
            "t.zip is damaged, or no zip archive (File is not a zip file); make it again",
        ),
        (b"PK\x05\x06" + bytes(18), NO_TEXT),
        (zipped({"a.csv": "text\nx"}), NO_TEXT),
        (b"no zip", "t.zip is damaged, or no zip archive (File is not a zip file); make it again"),
        (b"", "t.zip is empty; a file with data was wanted"),
    ],
)
def test_an_archive_that_cannot_be_read_is_refused_in_one_sentence(tmp_path, content, said):
    assert refusal(put(tmp_path, "t.zip", content)) == said


def test_every_damaged_byte_gives_a_corpus_or_one_sentence(tmp_path):
    whole = zipped(
        {"1.txt": "red ants and bees", "2.txt": "blue"}, compression=zipfile.ZIP_DEFLATED
    )
    for at in range(len(whole)):
        for value in (0x00, 0xFF, whole[at] ^ 0x10):
            path = put(tmp_path, "t.zip", whole[:at] + bytes([value]) + whole[at + 1 :])
            try:
                read_corpus(path)
            except ValueError as error:
                assert len(str(error).splitlines()) == 1 and "t.zip" in str(error)


def test_an_archive_that_unpacks_to_more_than_the_memory_is_refused_before_it_is_unpacked(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_MEMORY", "20M")
    path = put(tmp_path, "t.zip", zipped({f"{n}.txt": b"\n" * 10**7 for n in range(3)}))
    monkeypatch.setattr(zlib, "decompressobj", None)
    assert "t.zip would take about 57 MB of memory" in refusal(path)
