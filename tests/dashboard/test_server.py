"""Which requests the server answers, with which headers, and who may come in."""

import os
import re
import stat
from itertools import product
from urllib.parse import urlencode, urljoin

import panel as pn
import pytest
from dashboard.serving import served
from tornado.web import create_signed_value

from workbench.dashboard.server import login
from workbench.dashboard.server.login import (
    ServerError,
    cookie_secret,
    oauth_provider,
    read_password,
)
from workbench.dashboard.server.serve import Serving
from workbench.dashboard.shared.policy import OF_OTHERS, Limits

PATHS = (
    "/compare",
    "/sweep",
    "/frontier",
    "/topics",
    "/oracle",
    "/ledger",
    "/",
    "/static/js/bokeh.min.js",
    "/compare/autoload.js?bokeh-autoload-element=a",
    "/nothing",
)
PASSWORD = "correct horse battery"


@pytest.fixture
def local(store, monkeypatch):
    """The server as it is without any flag."""
    with served(store, monkeypatch) as server:
        yield server


@pytest.fixture
def password_file(tmp_path):
    path = tmp_path / "password"
    path.write_text(f"{PASSWORD}\n")
    path.chmod(0o600)
    return path


@pytest.mark.slow
def test_a_rebound_name_reaches_no_document_no_file_and_no_socket(local):
    # tornado asks nobody where Origin equals Host, as it does under a name that was pointed at this machine
    for name in (
        "evil.example",
        f"evil.example:{local.server.port}",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
    ):
        assert {local.ask(path, Host=name).code for path in PATHS} == {403}, name
        assert not local.socket_opens(
            Host=name, Origin=f"http://{name}", Sec_Fetch_Site="same-origin"
        )
    assert [local.ask(path).code for path in PATHS] == [
        200,
        200,
        301,
        200,
        200,
        200,
        301,
        200,
        200,
        404,
    ]
    for name in ("localhost", f"localhost:{local.server.port}", "127.0.0.1:8888", "LOCALHOST"):
        assert local.ask("/nothing", Host=name).code == 404, name


def test_pages_of_others_reach_no_document_no_file_and_no_socket(local):
    for origin in (
        "http://evil.example",
        "null",
        "http://localhost:3000",
        f"http://{local.root}.evil.example",
    ):
        assert {local.ask(path, Origin=origin).code for path in PATHS} == {403}, origin
        assert not local.socket_opens(Origin=origin), origin
    assert local.socket_opens(Origin=f"http://{local.root}")
    # a script, a picture or a frame of theirs has no Origin
    for site, path in product(("cross-site", "same-site"), PATHS):
        assert (
            local.ask(
                path, Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors", Sec_Fetch_Dest="script"
            ).code
            == 403
        )
        assert (
            local.ask(
                path, Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe"
            ).code
            == 403
        )
    # a link
    assert (
        local.ask(
            Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document"
        ).code
        == 200
    )


@pytest.mark.slow
def test_every_answer_has_the_headers_and_each_its_own_nonce(local):
    nonces = set()
    for path in (*PATHS, "/compare"):
        headers = local.ask(path).headers
        policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'self'"
        assert "unsafe-inline" not in policy["script-src"] and not re.search(
            r"https?:|\*", str(policy)
        )
        assert (
            headers["X-Content-Type-Options"] == "nosniff"
            and headers["Referrer-Policy"] == "same-origin"
        )
        assert not {"Server", "Access-Control-Allow-Origin"} & set(headers)
        nonces |= set(re.findall(r"'nonce-(\w+)'", policy["script-src"]))
    assert len(nonces) == len(PATHS) + 1


def test_every_script_of_a_page_has_the_nonce_of_its_answer(local):
    for path in ("/compare", "/sweep", "/topics", "/oracle", "/ledger"):
        answer = local.ask(path)
        nonce, body = (
            re.search(r"'nonce-(\w+)'", answer.headers["Content-Security-Policy"])[1],
            answer.body.decode(),
        )
        scripts = re.findall(r"<script[^>]*>", body)
        assert len(scripts) > 8 and all(f'nonce="{nonce}"' in script for script in scripts)


def test_the_names_that_a_proxy_is_reached_by_are_answered(store, monkeypatch):
    with served(
        store, monkeypatch, origins=("https://stats.example.org", "10.0.0.7:8080"), no_password=True
    ) as server:
        assert server.ask(Host="stats.example.org").code == 200
        # of a proxy that puts its own Host
        assert server.socket_opens(Origin="https://stats.example.org")
        assert server.socket_opens(Host="stats.example.org", Origin="https://stats.example.org")
        assert (
            server.ask(Host="evil.example").code
            == server.ask(Origin="https://evil.example").code
            == 403
        )


def test_under_a_prefix_pages_files_and_redirects_have_it(store, monkeypatch, password_file):
    with served(
        store, monkeypatch, prefix="/lab/workbench/", password_file=password_file
    ) as server:
        assert server.ask("/compare").code == 404
        for path in ("/lab/workbench/", "/lab/workbench"):
            assert server.ask(path).headers["Location"] == "/lab/workbench/compare"
        asked = "/lab/workbench/compare"
        there = urljoin(asked, server.ask(asked).headers["Location"])
        assert there == "/lab/workbench/login?next=%2Flab%2Fworkbench%2Fcompare"
        answer = log_in(server, there)
        assert (
            answer.headers["Location"] == "/lab/workbench/compare"
            and "Path=/lab/workbench" in answer.headers["Set-Cookie"]
        )
        page = server.ask("/lab/workbench/compare", Cookie=cookies_of(answer))
        assert page.code == 200 and not re.search(
            r'(src|href)="/(?!lab/workbench)', page.body.decode()
        )


def test_without_the_password_no_page_and_no_socket_is_had(store, monkeypatch, password_file):
    with served(store, monkeypatch, password_file=password_file) as server:
        pages = ("/compare", "/sweep", "/topics", "/oracle", "/ledger")
        for path in (*pages, "/compare/autoload.js?bokeh-autoload-element=a", "/compare/metadata"):
            assert server.ask(path).code in (302, 403), path
        assert not server.socket_opens(Origin=f"http://{server.root}")
        forged = f'user="2|1:0|10:1700000000|4:user|8:dmlzaXRvcg==|{"0" * 64}"'
        assert server.ask(Cookie=forged).code == 302 and not server.socket_opens(Cookie=forged)


def test_the_password_lets_in_and_another_does_not(store, monkeypatch, password_file):
    monkeypatch.setattr(login, "AFTER_WRONG", 0.0)
    with served(store, monkeypatch, password_file=password_file) as server:
        for wrong in ("", "correct", PASSWORD + " ", PASSWORD.upper(), "é" * 9, "\0", "x" * 10**5):
            answer = log_in(server, password=wrong)
            assert (
                answer.code == 401
                and "Set-Cookie" not in answer.headers
                and "not the password" in answer.body.decode()
            )
        answer = log_in(server)
        assert (
            "HttpOnly" in answer.headers["Set-Cookie"]
            and "SameSite=Lax" in answer.headers["Set-Cookie"]
        )
        assert server.ask(Cookie=cookies_of(answer)).code == 200
        assert server.socket_opens(Cookie=cookies_of(answer), Origin=f"http://{server.root}")
        assert log_in(server, Origin="https://evil.example").code == 403


def test_a_login_leads_to_addresses_of_this_server_alone(store, monkeypatch, password_file):
    with served(store, monkeypatch, password_file=password_file) as server:
        for there in (
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "/\t/evil.example",
            "javascript:a()",
            "",
        ):
            assert (
                log_in(server, "/login?" + urlencode({"next": there})).headers["Location"]
                == "/compare"
            ), there
        wanted = "/topics?run=a&topic=3"
        assert log_in(server, "/login?" + urlencode({"next": wanted})).headers["Location"] == wanted


def test_of_the_accounts_of_a_provider_those_that_are_named_come_in(store, monkeypatch):
    monkeypatch.setenv("PANEL_OAUTH_KEY", "a key")
    monkeypatch.setenv("PANEL_OAUTH_SECRET", "a secret")
    with served(store, monkeypatch, oauth="github", users=("alice",)) as server:

        def cookie(user: str) -> str:
            return f"user={create_signed_value(pn.config.cookie_secret, 'user', user).decode()}"

        assert server.ask(Cookie=cookie("alice")).code == 200 and server.socket_opens(
            Cookie=cookie("alice")
        )
        assert server.ask(Cookie=cookie("mallory")).code == 403 and not server.socket_opens(
            Cookie=cookie("mallory")
        )
        assert "/login" in server.ask().headers["Location"]
        assert (
            server.ask("/login")
            .headers["Location"]
            .startswith("https://github.com/login/oauth/authorize")
        )


def test_oauth_without_a_key_or_without_accounts_is_refused(store, monkeypatch):
    for name, users, key, said in (
        ("githup", (), "", "did you mean 'github'"),
        ("github", ("a",), "", "set PANEL_OAUTH_KEY"),
        ("github", (), "a key", "give --user for each who may"),
    ):
        monkeypatch.setenv("PANEL_OAUTH_KEY", key)
        monkeypatch.setenv("PANEL_OAUTH_SECRET", key)
        with pytest.raises(ServerError, match=said):
            oauth_provider(name, users)


def test_a_new_password_lets_nobody_in_who_came_in_with_the_old(store, monkeypatch, password_file):
    with served(store, monkeypatch, password_file=password_file) as server:
        cookie = cookies_of(log_in(server))
    with served(store, monkeypatch, password_file=password_file) as server:
        assert server.ask(Cookie=cookie).code == 200  # a restart lets those in who were
    password_file.write_text("another password")
    with served(store, monkeypatch, password_file=password_file) as server:
        assert server.ask(Cookie=cookie).code == 302


def test_the_secret_of_cookies_is_made_once_and_read_by_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert cookie_secret("a") == cookie_secret("a") != cookie_secret("b")
    (made,) = (tmp_path / "workbench").iterdir()
    assert stat.S_IMODE(made.stat().st_mode) == 0o600 and len(made.read_text()) == 64


@pytest.mark.parametrize(
    "settings, said",
    [
        ({"address": "0.0.0.0"}, "others can start runs here; give --password-file FILE"),
        (
            {"origins": ("https://stats.example.org",)},
            "served as https://stats.example.org, others can start runs",
        ),
        ({"port": 99999}, "port must be from 0 to 65535; got 99999"),
        ({"port": -1}, "port must be"),
        ({"prefix": "/a/../b"}, "prefix must be a path of letters"),
        ({"prefix": 'a"b'}, "prefix must be"),
        ({"max_upload": float("nan")}, "max_upload must be"),
        ({"data": ("/nowhere",)}, "there is no folder /nowhere"),
        ({"limits": ("topics",)}, "NAME=NUMBER"),
        ({"limits": ("k=3",)}, "of start, session"),
        ({"limits": ("topics=nan",)}, "got"),
        ({"origins": ("http://a/b",), "no_password": True}, "origins must be a host"),
        ({"password_file": "a", "oauth": "github"}, "a password or OAuth"),
    ],
)
def test_what_should_not_be_served_is_refused_in_a_sentence(settings, said):
    with pytest.raises(ServerError, match=re.escape(said)):
        Serving(**settings)


def test_where_others_come_in_there_are_limits_and_no_paths():
    local, given = Serving().policy(), ("topics=20", "waiting=inf")
    others = Serving(address="0.0.0.0", no_password=True, limits=given).policy()
    assert (local.max_upload, others.max_upload) == (500 * 2**20, 5 * 2**20)
    assert local.limits == Limits() and local.takes_paths
    assert (
        others.limits == OF_OTHERS._replace(topics=20, waiting=float("inf"))
        and not others.takes_paths
    )


def test_a_password_that_others_can_read_or_guess_is_refused(tmp_path):
    path = tmp_path / "password"
    for content, mode, said in (
        (b"long enough", 0o644, "chmod 600"),
        (b"short", 0o600, "at least 8"),
        (b"", 0o600, "it has 0"),
        (b"\xff\xfe\xff\xfe12345", 0o600, "it is no text"),
    ):
        path.write_bytes(content)
        path.chmod(mode)
        with pytest.raises(ServerError, match=said):
            read_password(path)
    for missing in (tmp_path / "none", tmp_path):
        os.chmod(tmp_path, 0o700)
        with pytest.raises(ServerError, match="cannot be read"):
            read_password(missing)


def test_a_port_that_is_taken_is_told_in_a_sentence(local):
    from workbench.dashboard.server.serve import make_server

    with pytest.raises(ServerError, match=f"port {local.server.port} is taken"):
        make_server(Serving(port=local.server.port))


def log_in(server, path: str = "/login", password: str = PASSWORD, **headers):
    """The answer to a password."""
    kind = "application/x-www-form-urlencoded"
    return server.ask(path, "POST", urlencode({"password": password}), Content_Type=kind, **headers)


def cookies_of(answer) -> str:
    """The cookies that an answer sets, as a browser sends them back."""
    return "; ".join(cookie.split(";")[0] for cookie in answer.headers.get_list("Set-Cookie"))
