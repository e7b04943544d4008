"""Data that a page names are read, and a visitor's pattern is matched, in a process that ends when it takes too much."""

import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import psutil
import pytest
from data_files import put

import workbench as wb
from workbench.errors import ALONE, DataError, Named
from workbench.runs.execution import bounded_matching, bounded_reading
from workbench.runs.execution.bounded_matching import find_spans
from workbench.runs.execution.bounded_reading import columns_bounded, read_bounded

MIB = 2**20
ENOUGH = 1500 * MIB
"""More than a process takes that counts a few words, address space of its libraries included."""


@pytest.fixture(autouse=True)
def nothing_left(tmp_path, monkeypatch):
    """No process and no file is left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = {child.pid for child in psutil.Process().children()}
    yield
    assert not list(scratch.iterdir())
    assert {child.pid for child in psutil.Process().children()} <= before


def refused(*arguments, **options) -> DataError:
    with pytest.raises(DataError) as found:
        read_bounded(*arguments, **options)
    assert len(str(found.value).splitlines()) == 1
    return found.value


@pytest.mark.slow
def test_bounded_reading_returns_what_reading_here_does(tmp_path):
    path = put(tmp_path, "a.csv", "body,title,x,s\nibis heron,one,1.5,a\noil paint,two,2,a\n")
    options = {"text": "body", "inputs": "x", "sequence": "s", "stop_words": None}
    found, here = read_bounded(path, **options), wb.read_corpus(path, **options)
    assert (found.content_hash, found.name) == (here.content_hash, "a")
    assert (
        read_bounded("bars:side=3:n_documents=5").content_hash
        == wb.load_corpus("bars:side=3:n_documents=5").content_hash
    )
    path = put(tmp_path, "r.csv", "a,b,n\nx,u,1\nNA,u,2\ny,,1\n")
    found = read_bounded(path, wb.Records, missing="NA", multiplicity="n")
    assert found.content_hash == wb.read_records(path, missing="NA", multiplicity="n").content_hash


@pytest.mark.slow
def test_a_corpus_in_shards_is_not_handed_over(tmp_path):
    wb.ShardedCorpus.write(
        wb.read_corpus(put(tmp_path, "it.csv", "text\nan ibis\n")), tmp_path / "it"
    )
    with pytest.raises(
        DataError, match="'it' is kept in shards, and it is not handed over to a page: use Python"
    ):
        read_bounded(tmp_path / "it")


def test_an_error_comes_back_with_the_setting_it_is_about(tmp_path):
    error = refused(put(tmp_path, "a.csv", "body\nibis\n"))
    assert (
        str(error)
        == f"{tmp_path}/a.csv, line 1: no column 'text' for the text; there are 'body'; say which with text=…"
    )
    assert error.field == "text" and error.parts[-1] == Named("text", ...)
    error = refused(put(tmp_path, "b.csv", "text\nibis\n"), min_documents=5)
    assert [part for part in error.parts if isinstance(part, Named)] == [
        Named("min_documents"),
        Named("max_share"),
    ]
    assert all(part.value is ALONE for part in error.parts if isinstance(part, Named))


@pytest.mark.slow
def test_a_pattern_that_never_ends_is_ended(tmp_path):
    path = put(tmp_path, "a.csv", f"text\n{'a' * 60}!\n")
    error = refused(path, token_pattern="(a+)+$", seconds=4)
    assert str(error).endswith(
        "a.csv was not read within 4 seconds; give a part of it, or a simpler token_pattern, or read it "
        "with Python or the command line"
    )
    assert error.field == "token_pattern"


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path):
    error = refused(
        put(tmp_path, "a.csv", gzip.compress(b"text\n" + b"ibis " * 2 * 10**8, 1)), n_bytes=ENOUGH
    )
    assert "of which twice as much is needed to read it, and the process may still take" in str(
        error
    )


@pytest.mark.slow
def test_what_takes_more_memory_than_it_seems_is_ended(tmp_path):
    # a row, a title and a pair for each symbol
    path = put(tmp_path, "a.fa", b">one\n" + b"ACGT" * 4 * 10**6)
    error = refused(path, n_bytes=ENOUGH)
    assert "a.fa takes more than the 1.5 GB of memory that a page may take to read it" in str(error)


def taken_here(work) -> int:
    """Bytes that this process took at most for the work."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_what_is_too_large_to_be_handed_over_is_refused_where_it_is_read(tmp_path):
    path = put(tmp_path, "a.csv", gzip.compress(b"text\n" + (b"ibis " * 10**5 + b"\n") * 40))
    errors = []
    assert taken_here(lambda: errors.append(refused(path, most=4 * MIB))) < MIB
    assert str(errors[0]) == (
        f"{path} takes about 57 MB of memory once it is read, of which a page may take 4 MB; give a part of it, or leave out "
        "its texts and columns with keep_text=False, or read it with Python or the command line"
    )
    assert (
        errors[0].field == "keep_text"
        and read_bounded(path, most=4 * MIB, keep_text=False).n_tokens == 4 * 10**6
    )
    path = put(tmp_path, "b.csv", gzip.compress(b"text\n" + b"ibis\n" * 10**5))
    error = refused(path, most=4 * MIB, keep_text=False)
    assert "give a part of it, or read it with Python" in str(error)


DOCUMENTS = {
    "columns": ("a,text\n" + "ab,plum\n" * 40_000, {}),
    "wide": ("text\n" + "漢" * 10**6 + "\nplum\n", {}),
    "titles": ("text,title\n" + f"plum,{'b' * 1000}\n" * 3000, {"keep_text": False}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_handed_over_takes_no_more_than_it_was_said_to(tmp_path, name):
    content, options = DOCUMENTS[name]
    path = put(tmp_path, "a.csv", content)
    taken = taken_here(lambda: read_bounded(path, **options))
    said = re.search(r"takes about ([\d.]+) MB", str(refused(path, most=1, **options)))[1]
    assert taken <= (float(said) + 0.5) * MIB


@pytest.mark.slow
def test_a_sentence_that_quotes_a_large_file_is_short_before_it_comes_back(tmp_path):
    path = put(tmp_path, "a.csv", gzip.compress(b"x" * 2 * 10**7 + b",b\n1,2\n"))
    errors = []
    assert taken_here(lambda: errors.append(refused(path))) < MIB
    assert "no column 'text'" in str(errors[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "fifo", "socket"])
def test_what_never_ends_is_no_file_for_a_page(tmp_path, name):
    if name == "fifo":
        os.mkfifo(name := str(tmp_path / name))
    if name == "socket":
        with socket.socket(socket.AF_UNIX) as there:
            there.bind(name := str(tmp_path / name))
    said = str(refused(name, seconds=20, format="words"))
    assert said.endswith("is neither a file nor a folder but a device or a pipe; give a file")


@pytest.mark.slow
def test_folders_in_a_circle_end(tmp_path):
    put(tmp_path, "texts/a/one.txt", "ibis")
    (tmp_path / "texts" / "a" / "again").symlink_to(tmp_path / "texts")
    os.mkfifo(tmp_path / "texts" / "pipe.txt")
    assert read_bounded(tmp_path / "texts").titles == ("one",)


@pytest.mark.slow
def test_a_size_in_a_name_is_forecast_in_the_memory_of_the_process():
    error = refused("bars:n_documents=200000000", n_bytes=ENOUGH)
    assert "would take about 1,549.7 GB of memory and the process may still take" in str(error)


def test_columns_and_what_is_left_out_come_back_too(tmp_path):
    path, dropped = put(tmp_path, "a.csv", "id,text\n1,the ibis\n2,ibis oil\n"), {}
    assert columns_bounded(path, encoding="detect") == {
        "id": ["1", "2"],
        "text": ["the ibis", "ibis oil"],
    }
    assert read_bounded(path, dropped=dropped).n_words == 2
    assert dropped["found"] == [3, 4] and dropped["stop_words"] == [1, 1]
    with pytest.raises(DataError, match="there is no file"):
        columns_bounded(tmp_path / "none.csv")


@pytest.mark.slow
def test_the_process_ends_by_itself_when_the_server_is_gone(tmp_path):
    path = put(tmp_path, "a.csv", f"text\n{'a' * 60}!\n")
    request = {
        "name": str(path),
        "kind": "Corpus",
        "options": {"token_pattern": "(a+)+$"},
        "folder": str(tmp_path),
        "seconds": 3.0,
        "n_bytes": ENOUGH,
        "most": MIB,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", bounded_reading.__name__], stdin=subprocess.PIPE, text=True
    )
    process.stdin.write(json.dumps(request))
    process.stdin.close()
    assert process.wait(60) == -signal.SIGALRM


@pytest.mark.parametrize("given", ["0", "-1", "x", "nan", "inf"])
def test_a_limit_that_is_no_time_is_refused(given, monkeypatch):
    monkeypatch.setenv("WORKBENCH_READING_SECONDS", given)
    assert str(refused("bars:side=3")).startswith(
        "WORKBENCH_READING_SECONDS must be a number of seconds above 0; got"
    )


def test_a_process_that_says_nothing_is_taken_for_one_without_memory(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert "bars:side=3 takes more than the 1 MB of memory that a page may take" in str(
        refused("bars:side=3", n_bytes=MIB)
    )


def test_what_the_package_itself_has_is_read_without_a_process(monkeypatch):
    from workbench.dashboard.compare import starting

    monkeypatch.setattr(
        starting, "read_bounded", lambda *arguments, **options: pytest.fail("a process was started")
    )
    assert starting.data_of("votes", {}, "bn-vb").name == "votes"


@pytest.mark.slow
def test_what_a_form_names_and_what_is_uploaded_is_read_within_limits(tmp_path, monkeypatch):
    from workbench.dashboard.compare import starting
    from workbench.dashboard.shared.files import FileError
    from workbench.dashboard.topics import unseen

    asked = []

    def reading(name, *kind, **options):
        asked.append(Path(name).name)
        return read_bounded(name, *kind, **options)

    for module in (starting, unseen):
        monkeypatch.setattr(module, "read_bounded", reading)
    path = put(tmp_path, "a.csv", "text\nibis\n")
    for name in (path, "bars:side=3"):
        assert starting.data_of(str(name), {}, "svb").n_tokens
    assert unseen._uploaded_corpus("mine.csv", b"text\nibis\n", ".csv").vocabulary == ("ibis",)
    with pytest.raises(FileError, match=r"^mine.csv, line 1: no column 'text'"):
        unseen._uploaded_corpus("mine.csv", b"body\nibis\n", ".csv")
    packed = gzip.compress(b"text\n" + b"ibis " * 4 * 10**6)
    assert taken_here(lambda: unseen._uploaded_corpus("mine.csv", packed, ".csv")) < 2 * MIB
    monkeypatch.setattr(unseen, "MOST_READ", MIB)
    with pytest.raises(
        FileError,
        match=r"^many.csv takes about \d\.\d MB of memory once it is read, of which a page may take 1 MB",
    ):
        unseen._uploaded_corpus("many.csv", b"text\n" + b"ibis\n" * 20_000, ".csv")
    with pytest.raises(
        FileError, match=r"mine.jsonl counts 2,000,000,000 tokens where a page takes 5,000,000"
    ):
        unseen._uploaded_corpus("mine.jsonl", b'{"counts": {"ibis": 2000000000}}\n', ".jsonl")
    assert asked == [
        "a.csv",
        "bars:side=3",
        "upload.csv",
        "upload.csv",
        "upload.csv",
        "upload.csv",
        "upload.jsonl",
    ]


# ---------------------------------------------------------------------- a visitor's pattern of words


@pytest.mark.parametrize("pattern", [r"\w+", r"(?:^|\s)(\w+)", r"x(1)?", r"(?<=é)\s", ""])
def test_places_are_those_that_python_finds_here(pattern):
    text = "Café \ud800 x1 é \U0001f41d xx\nx1"
    compiled = re.compile(pattern)
    assert find_spans(pattern, text) == tuple(
        found.span(compiled.groups)
        for found in compiled.finditer(text)
        if found.group(compiled.groups) is not None
    )


@pytest.mark.parametrize(("pattern", "text"), [("(a+)+$", "a" * 60 + "!"), ("[", "a"), ("(", "")])
def test_what_takes_too_long_or_is_no_pattern_has_no_places(pattern, text, monkeypatch):
    assert find_spans(pattern, text) is None
    monkeypatch.setattr(
        bounded_matching.subprocess, "run", lambda *a, **k: pytest.fail("asked again")
    )
    assert find_spans(pattern, text) is None


def test_without_a_process_there_are_no_places(monkeypatch):
    find_spans.cache_clear()
    for program in ("/bin/false", "/nowhere"):
        monkeypatch.setattr(sys, "executable", program)
        assert find_spans(rf"{program}\w", "ibis") is None
