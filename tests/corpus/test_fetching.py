"""Downloads, from a server on this machine: verified before they count, and never there by halves."""

import http.server
import io
import re
import tarfile
import threading

import pytest
from data_files import refused
from published_tiny import FILES, publish, write_uci

from workbench.corpus import Corpus, load_corpus
from workbench.corpus.catalog.data_set import cache_folder


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class _BreakingOff(_Quiet):
    """Promises the whole file and sends half of it."""

    def copyfile(self, source, outputfile):
        whole = source.read()
        outputfile.write(whole[: len(whole) // 2])


@pytest.fixture(params=[_Quiet])
def served(request, tmp_path, monkeypatch):
    """(folder, address) of a server; the cache is empty, WORKBENCH_DATA not set, no proxy between."""
    folder = tmp_path / "served"
    folder.mkdir()
    write_uci(folder)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("WORKBENCH_DATA", raising=False)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0),
        lambda *args, **options: request.param(*args, directory=str(folder), **options),
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def tiny_at(monkeypatch, address):
    return publish(monkeypatch, *(f"{address}/{file}" for file in FILES))


def left_behind():
    """Names of everything in the cache."""
    return sorted(
        path.name
        for path in cache_folder().rglob("*")
        if path.is_file() or path.name.startswith(".")
    )


def refusal(tiny):
    """The sentence with which a download is refused, after which nothing is left in the cache."""
    sentence = refused(tiny.fetch, progress=False)
    assert left_behind() == []
    return sentence


def test_a_data_set_is_fetched_into_the_cache_and_found_there(
    served, monkeypatch, tmp_path, capsys
):
    tiny = tiny_at(monkeypatch, served[1])
    assert tiny.whereabouts() == "fetchable"
    assert tiny.fetch(progress=False) == tmp_path / "cache" / "data" / "tiny"
    assert left_behind() == sorted(FILES)
    assert tiny.whereabouts() == "here" and load_corpus("tiny").n_tokens == 5
    assert capsys.readouterr() == ("", "")


def test_fetch_does_not_fetch_a_file_that_is_there(served, monkeypatch):
    tiny = tiny_at(monkeypatch, served[1])
    first = tiny.fetch(progress=False)
    for file in FILES:
        (served[0] / file).unlink()
    assert tiny.fetch(progress=False) == first


def test_a_bar_goes_to_stderr(served, monkeypatch, capsys):
    tiny_at(monkeypatch, served[1]).fetch()
    out, err = capsys.readouterr()
    assert out == "" and FILES[0] in err


def test_loading_touches_no_network_unless_asked_to(served, monkeypatch):
    tiny_at(monkeypatch, served[1])
    sentence = "`workbench data fetch tiny` gets it, or set WORKBENCH_DATA"
    assert sentence in refused(load_corpus, "tiny")
    assert load_corpus("tiny", fetch=True).n_tokens == 5


def test_a_damaged_file_in_the_cache_is_replaced(served, monkeypatch):
    tiny = tiny_at(monkeypatch, served[1])
    (tiny.fetch(progress=False) / FILES[1]).write_text("ant\nbee\ncow\n")
    assert load_corpus("tiny", fetch=True).vocabulary == ("ant", "bee", "cat")
    assert left_behind() == sorted(FILES)


def content(last_word):
    """The first characters of the hash of the corpus, with another last word."""
    return Corpus.from_pairs([0, 1], [0, 2], [4, 1], ["ant", "bee", last_word]).content_hash[:12]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (
            lambda folder: (folder / FILES[1]).write_text("ant\nbee\ncow\n"),
            f"what came from ADDRESS/{FILES[0]} and ADDRESS/{FILES[1]} cannot be used: docword.tiny.txt.gz with "
            f"vocab.tiny.txt beside it is not the published 'tiny': content with the sha256 {content('cat')}… was wanted, "
            f"{content('cow')}… came; try again later, or get the files by hand",
        ),
        (
            lambda folder: (folder / FILES[0]).write_bytes((folder / FILES[0]).read_bytes()[:-9]),
            f"what came from ADDRESS/{FILES[0]} and ADDRESS/{FILES[1]} cannot be used: docword.tiny.txt.gz, line \\d: the "
            "compressed file ends early here; it is truncated, fetch it again",
        ),
        (
            lambda folder: (folder / FILES[1]).unlink(),
            f"ADDRESS/{FILES[1]} answers 404 File not found; try again later, or get the file by hand",
        ),
    ],
    ids=["other content", "truncated", "no file"],
)
def test_what_is_wrong_at_an_address_is_refused_and_nothing_stays(
    served, monkeypatch, damage, sentence
):
    folder, address = served
    damage(folder)
    assert re.fullmatch(
        sentence.replace("ADDRESS", address), refusal(tiny_at(monkeypatch, address))
    )


@pytest.mark.parametrize("served", [_BreakingOff], indirect=True)
def test_a_download_that_breaks_off_is_refused_and_nothing_stays(served, monkeypatch):
    assert refusal(tiny_at(monkeypatch, served[1])) == (
        f"the download of {served[1]}/{FILES[0]} breaks off; try again later, or get the file by hand"
    )


def test_a_refused_connection_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("WORKBENCH_DATA", raising=False)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    with http.server.HTTPServer(("127.0.0.1", 0), _Quiet) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}"
    assert (
        refusal(tiny_at(monkeypatch, address))
        == f"{address}/{FILES[0]} cannot be reached (Connection refused); check the network, or get the file by hand"
    )


@pytest.mark.slow
def test_a_silent_server_is_given_up(served, monkeypatch):
    monkeypatch.setattr("workbench.corpus.catalog.data_set.PATIENCE", 0.5)
    held = threading.Event()
    monkeypatch.setattr(_Quiet, "do_GET", lambda self: held.wait(10))
    assert refusal(tiny_at(monkeypatch, served[1])) == (
        f"{served[1]}/{FILES[0]} is silent for 0.5 seconds; try again later, or get the file by hand"
    )
    held.set()


def test_a_cache_that_cannot_be_written_is_one_sentence(served, monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert refusal(tiny_at(monkeypatch, served[1])) == (
        f"{tmp_path / 'cache' / 'data'} cannot be written (Not a directory); let WORKBENCH_CACHE name another folder"
    )


def archive_of(folder, names):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name in names:
            tar.add(folder / name, arcname=f"tiny/{name}")
    return packed.getvalue()


def test_files_come_out_of_an_archive(served, monkeypatch):
    (served[0] / "tiny.tgz").write_bytes(archive_of(served[0], FILES))
    publish(monkeypatch, f"{served[1]}/tiny.tgz").fetch(progress=False)
    assert left_behind() == sorted(FILES) and load_corpus("tiny").n_tokens == 5


def test_an_archive_without_a_file_or_cut_short_is_refused(served, monkeypatch):
    url = f"{served[1]}/tiny.tgz"
    tiny = publish(monkeypatch, url)
    whole = archive_of(served[0], FILES[:1])
    (served[0] / "tiny.tgz").write_bytes(whole)
    assert refusal(tiny) == f"the archive at {url} has no vocab.tiny.txt; get the files by hand"
    (served[0] / "tiny.tgz").write_bytes(whole[: len(whole) // 2])
    assert refusal(tiny).startswith(f"{url} serves no whole tar archive (")
