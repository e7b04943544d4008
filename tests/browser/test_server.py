"""The server as others meet it: its password, what is only looked at, a server that comes again."""

import socket
from urllib.parse import urlencode

import pytest
from browser.desk import field, press, row, state, until
from browser.servers import our_server, serving
from toys import simulated

from workbench.runs.execution.fit import fit
from workbench.runs.execution.run import Run
from workbench.runs.store.notes import annotate
from workbench.runs.store.places import run_paths

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PASSWORD = "correct horse battery"
SOCKETS = """const Plain = WebSocket
window.sockets = []
window.WebSocket = class extends Plain { constructor(...given) { super(...given); window.sockets.push(this) } }"""
"""Keeps the web sockets that a page opens."""
NONSENSE = """() => ['{"msgid": "1", "msgtype": "PATCH-DOC"}', '{}', '{"events": [{"kind": "None of these"}]}']
  .forEach(piece => window.sockets.at(-1).send(piece))"""
"""Sends the server a message that it cannot handle."""
CHANGES = ("Start", "Pause", "Resume", "Stop", "Remove", "Add tag", "Edit label")
"""Buttons that change something."""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with a run that has ended."""
    store = tmp_path_factory.mktemp("others") / "runs"
    fit(simulated(), "cgs", 4, n_iterations=20, store=store, name="seen", progress=False)
    annotate(store / "seen", note="a note", tags=["good"])
    return store


@pytest.fixture(scope="module")
def looked_at(store):
    """The address of a server for others, to look at."""
    with serving(our_server(address="0.0.0.0", no_password=True, read_only=True), store) as address:
        yield address


def test_the_password_is_asked_for_and_leads_to_the_page_that_was_wanted(
    new_page, browser, store, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "password"
    path.write_text(PASSWORD)
    path.chmod(0o600)
    with serving(our_server(password_file=str(path), prefix="/lab"), store) as address:
        context = browser.new_context()
        page = context.new_page()
        page.goto(address.replace("compare", "topics?topic=1"))
        for typed in ("not the password", PASSWORD):
            page.get_by_label("Password").fill(typed)
            page.get_by_role("button", name="Sign in").click()
            if typed != PASSWORD:
                page.get_by_role("alert").wait_for()
        page.get_by_label("Topics of", exact=True).wait_for()
        assert "/lab/topics?" in page.url and "topic=1" in page.url
        page.get_by_role("link", name="Compare").click()
        page.get_by_role("button", name="Start", exact=True).wait_for()
        assert page.url.startswith(address)
        context.close()


def test_what_is_started_through_one_server_is_seen_and_stopped_through_another_on_the_store(
    new_page, browser, tmp_path
):
    shared, query = (
        tmp_path / "runs",
        urlencode({"engines": "cgs", "n_topics": 2, "n_iterations": 10**6}),
    )
    context = browser.new_context()
    with serving(our_server(), shared) as one, serving(our_server(), shared) as other:
        first, second = (
            new_page(f"{one}?{query}", context=context),
            new_page(other, context=context),
        )
        press(first, "Start")
        first.get_by_text("1 run started,").wait_for()
        (path,) = run_paths(shared)
        try:
            for page in (first, second):
                until(
                    lambda page=page: (
                        row(page, path.name).count() and state(page, path.name) == "running"
                    ),
                    "it is seen",
                )
            second.get_by_label(f"choose {path.name}").check()
            press(second, "Stop")
            for page in (first, second):
                until(lambda page=page: state(page, path.name) == "stopped", "it is stopped")
        finally:
            context.close()
            Run(path).stop()
            Run(path).wait(30)


def test_where_nothing_can_be_changed_nothing_offers_it_and_all_is_seen(looked_at, browser, store):
    context = browser.new_context()
    for name in ("compare", "topics"):
        page, sent = context.new_page(), []
        page.on(
            "websocket",
            lambda ws, sent=sent: ws.on("framereceived", lambda frame: sent.append(str(frame))),
        )
        page.goto(looked_at.replace("compare", name))
        page.get_by_text("· read-only").wait_for()
        (
            row(page, "seen") if name == "compare" else page.get_by_text("4 topics of seen")
        ).wait_for()
        for button in CHANGES:
            assert not page.get_by_role("button", name=button, exact=True).count(), (name, button)
        text = page.content() + "".join(sent)
        assert len(sent) > 2 and "seen" in text
        assert (
            str(store) not in text and socket.gethostname() not in text and "Traceback" not in text
        )
    page = context.pages[0]
    assert row(page, "seen").is_visible()
    context.close()


def test_what_fails_tells_a_visitor_nothing_of_the_machine(browser, store):
    code = "from workbench.dashboard.compare.page import ComparePage\nComparePage.view = None\n"
    program, flag, serve_it = our_server(address="0.0.0.0", no_password=True)
    logged = ("a page could not be made", "error handling message")
    with serving([program, flag, code + serve_it], store, expected=logged) as address:
        context = browser.new_context()
        page, received = context.new_page(), []
        page.add_init_script(SOCKETS)
        page.on(
            "websocket",
            lambda ws: ws.on("framereceived", lambda frame: received.append(str(frame))),
        )
        page.goto(address)
        page.get_by_text("This page could not be made; the log of its server says why.").wait_for()
        page.goto(address.replace("compare", "topics"))
        page.get_by_text("4 topics of seen").wait_for()
        page.evaluate(NONSENSE)
        while not any('"ERROR"' in frame for frame in received):
            page.wait_for_timeout(100)  # until the message is answered
        told = page.content() + "".join(received)
        for secret in ("Traceback", "site-packages", str(store), "TypeError", "NoneType"):
            assert secret not in told, secret
        context.close()


def test_a_server_that_comes_again_finds_the_open_page_going_on(browser, store):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = browser.new_context()
    page = context.new_page()
    with serving(our_server(port=port), store) as address:
        page.goto(address + "?n_topics=17")
        page.get_by_role("button", name="Start", exact=True).wait_for()
        page.evaluate("window.before = true")
    page.wait_for_function("document.body.dataset.wbLost !== undefined")
    with serving(our_server(port=port), store):
        page.wait_for_function("window.before === undefined", timeout=60_000)
        page.get_by_role("button", name="Start", exact=True).wait_for()
        assert "n_topics=17" in page.url and field(page, "n_topics").input_value() == "17"
    context.close()
