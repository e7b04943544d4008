"""Files that are sent to the server: which it takes, where they lie, and that nothing of them is left."""

import asyncio
import gc
import os
import tempfile
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from dashboard.serving import PATIENCE, served
from tornado.tcpclient import TCPClient

from workbench.dashboard.server import serve
from workbench.dashboard.shared.policy import PolicyError
from workbench.dashboard.shared.uploads import INBOXES, Inbox, display_name, name_on_disk

CSV = b"text\nred ants\n"
MOST = 2**20


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """The folder that temporary files lie in."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    gc.collect()
    assert not [*folder.iterdir()]


@pytest.fixture
def inbox(scratch):
    """An inbox that keeps what arrives in ``files``."""
    files = []
    inbox = Inbox(files.append)
    inbox.files = files
    yield inbox
    inbox.close()


@contextmanager
def up(tmp_path, monkeypatch, **settings):
    with served(
        tmp_path / "runs", monkeypatch, **{"max_upload": MOST / 2**20} | settings
    ) as server:
        yield server


def send(
    server,
    token: str,
    content: bytes = CSV,
    name: str = "news.csv",
    path: str = "/upload",
    method="POST",
    **headers,
):
    """What the server answers to a file."""
    given = {"X_Upload_Token": token, "X_File_Name": quote(name)} | headers
    return server.ask(path, method, content, **given)


def speak(server, head: str, *blocks: bytes, true=None) -> bytes:
    """What comes back to a head and blocks of bytes on a bare connection; or it is closed at once when something is true."""

    async def work() -> bytes:
        stream = await TCPClient().connect("127.0.0.1", server.server.port)
        await stream.write(
            f"POST /upload HTTP/1.1\r\nHost: {server.root}\r\n{head}\r\n\r\n".encode()
        )
        for block in blocks:
            await stream.write(block)
        try:
            while true is not None and not true():
                await asyncio.sleep(0.01)
            return await stream.read_until_close() if true is None else b""
        finally:
            stream.close()

    return server.server.io_loop.run_sync(work, PATIENCE)


def settle(server, true) -> None:
    """Lets the server work until something is true."""

    async def work() -> None:
        while not true():
            await asyncio.sleep(0.01)

    server.server.io_loop.run_sync(work, PATIENCE)


def files_in(folder) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_is_stored_whole_and_the_next_takes_its_place(tmp_path, monkeypatch, scratch, inbox):
    large = os.urandom(MOST)
    with up(tmp_path, monkeypatch) as server:
        assert send(server, inbox.token, large, "wörd list.bin").code == 204
        (first,) = inbox.files
        assert first.path.read_bytes() == large and first.name == "wörd list.bin"
        assert oct(first.path.parent.stat().st_mode)[-3:] == "700"
        assert send(server, inbox.token).code == 204
    assert files_in(scratch) == ["news.csv"] and inbox.files[1].path.read_bytes() == CSV
    with pytest.raises(PolicyError, match="the uploaded file is gone; choose it again"):
        first.existing_path()
    inbox.close()
    assert not [*scratch.iterdir()]


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    tmp_path, monkeypatch, scratch, inbox
):
    with up(tmp_path, monkeypatch) as server:
        head = f"X-Upload-Token: {inbox.token}\r\nX-File-Name: a%20b.csv\r\nContent-Length: "
        for length in (MOST + 1, 10**15):
            # no byte of it was sent, and none is waited for
            answer = speak(server, head + str(length)).decode()
            assert answer.startswith("HTTP/1.1 413 "), answer
            assert (
                "A b.csv has " in answer
                and "where this server takes 1 MB; give its path, or start" in answer
            )
        assert " 411 " in speak(server, head + "many").decode()
        assert (
            " 411 "
            in speak(
                server, head.removesuffix("Content-Length: ") + "Transfer-Encoding: chunked"
            ).decode()
        )
    assert not inbox.files and not files_in(scratch)


def test_nobody_sends_a_file_for_another_page_or_from_another_site(
    tmp_path, monkeypatch, scratch, inbox
):
    with up(tmp_path, monkeypatch) as server:
        for token in ("", "nonsense", inbox.token[:-1], inbox.token + "x"):
            answer = send(server, token)
            assert (
                answer.code == 403
                and answer.body.decode() == "The page that sends the file is gone; load it again."
            )
        for headers in (
            {"Origin": "http://evil.example"},
            {"Host": "evil.example"},
            {"Sec_Fetch_Site": "cross-site"},
        ):
            assert send(server, inbox.token, **headers).code == 403
        refused = speak(server, "Origin: http://evil.example\r\nContent-Length: 1000000")
        assert refused.startswith(b"HTTP/1.1 403 ")  # nor is what it sends waited for
        assert send(server, inbox.token, content=None, method="GET").code == 405
        assert send(server, inbox.token, method="PUT").code == 405
        assert not inbox.files
        assert (
            send(
                server, inbox.token, Origin=f"http://{server.root}", Sec_Fetch_Site="same-origin"
            ).code
            == 204
        )
    assert [one.name for one in inbox.files] == ["news.csv"]


def test_who_has_not_signed_in_sends_nothing(tmp_path, monkeypatch, inbox):
    password = tmp_path / "password"
    password.write_text("correct horse battery")
    password.chmod(0o600)
    with up(tmp_path, monkeypatch, password_file=password, prefix="/lab") as server:
        answer = send(server, inbox.token, path="/lab/upload")
        assert answer.code == 403 and answer.body == b"Sign in first; load the page again."
        login = server.ask("/lab/login", "POST", "password=correct+horse+battery")
        cookie = "; ".join(one.partition(";")[0] for one in login.headers.get_list("Set-Cookie"))
        assert send(server, inbox.token, path="/lab/upload", Cookie=cookie).code == 204
        assert send(server, inbox.token, Cookie=cookie).code == 404
    assert len(inbox.files) == 1


def test_a_server_to_look_at_takes_a_file_of_new_text(tmp_path, monkeypatch, inbox):
    with up(tmp_path, monkeypatch, read_only=True) as server:
        assert send(server, inbox.token).code == 204 and len(inbox.files) == 1


def test_of_an_upload_that_is_broken_off_nothing_is_left(tmp_path, monkeypatch, scratch, inbox):
    with up(tmp_path, monkeypatch) as server:
        assert send(server, inbox.token).code == 204
        head = f"X-Upload-Token: {inbox.token}\r\nX-File-Name: b.csv\r\nContent-Length: {MOST}"
        speak(server, head, b"x" * 100_000, true=lambda: len(files_in(scratch)) == 2)
        settle(server, lambda: files_in(scratch) == ["news.csv"])
        assert len(inbox.files) == 1  # the one before stays
        assert send(server, inbox.token, name="c.csv").code == 204
    assert files_in(scratch) == ["c.csv"]


def test_of_two_uploads_of_a_page_the_later_one_counts(scratch, inbox):
    first = inbox.receive()
    first.write(b"ab")
    second = inbox.receive()
    assert len(files_in(scratch)) == 1 and first.closed
    with pytest.raises(PolicyError, match="another file was chosen meanwhile"):
        inbox.keep(first, "a.csv")
    inbox.drop(first)  # as its connection ends
    second.write(b"ef")
    inbox.keep(second, "b.csv")
    assert inbox.files[0].path.read_bytes() == b"ef" and files_in(scratch) == ["b.csv"]
    inbox.clear()
    assert not files_in(scratch)


def test_a_disk_that_takes_no_more_is_told_in_a_sentence_without_its_path(
    tmp_path, monkeypatch, scratch, inbox
):
    def write(file, name):
        raise OSError(28, "No space left on device", str(scratch))

    monkeypatch.setattr(inbox, "keep", write)
    with up(tmp_path, monkeypatch, address="0.0.0.0", no_password=True) as server:
        answer = send(server, inbox.token)
        assert answer.code == 507
        assert (
            answer.body.decode()
            == "The server cannot store the file (No space left on device); tell its owner."
        )
        settle(server, lambda: not files_in(scratch))


def test_when_the_page_is_gone_its_folder_is_gone(scratch):
    inbox = Inbox(print)
    file = inbox.receive()
    assert len(files_in(scratch)) == 1
    inbox.close()
    assert not [*scratch.iterdir()] and inbox.token not in INBOXES
    with pytest.raises(PolicyError, match="another file was chosen meanwhile"):
        inbox.keep(file, "a.csv")
    forgotten = Inbox(print)
    forgotten.drop(forgotten.receive())
    assert len([*scratch.iterdir()]) == 1  # which the end of the test finds removed with the inbox


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("news.csv", "news.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\texts\\a b.csv", "a b.csv"),
        ("..", "corpus"),
        ("", "corpus"),
        (".arriving-3", "arriving-3"),
        ("a\0b\n.csv", "a_b_.csv"),
        ("é'“.csv", "é__.csv"),
        ("x" * 500 + ".csv.gz", "x" * 53 + ".csv.gz"),
    ],
)
def test_a_name_on_disk_leads_nowhere_and_ends_as_it_did(name, wanted):
    assert name_on_disk(name) == wanted and "/" not in name_on_disk(name)
    assert len(display_name(name).splitlines()) == 1 and len(display_name(name)) < 101


def test_the_end_of_the_server_removes_what_was_sent(tmp_path, scratch, monkeypatch):
    inbox = Inbox(print)
    inbox.receive()
    for name in ("STARTS", "LOOKS", "FILES"):
        monkeypatch.setattr(
            serve, name, type("Pool", (), {"shutdown": lambda self, **settings: None})()
        )
    monkeypatch.setattr(serve.threading, "enumerate", list)  # which would be waited for, and ended
    serve._end()
    assert not [*scratch.iterdir()]
