"""A real server, a real Chromium, and a page that may not complain."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser.servers import our_server, serving

PATIENCE = 90_000
"""Milliseconds that anything may take: two cores, busy with other tests."""


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("desk") / "runs"


@pytest.fixture(scope="module")
def url(store):
    """The Compare page of `workbench serve`, on a store of its own."""
    with serving(our_server(), store) as address:
        yield address


@pytest.fixture
def new_page(browser):
    """A function that opens a page; at the end none may have complained or asked another host for anything."""
    complaints, contexts = [], []

    def open_page(address: str, width: int = 1300, scheme: str = "light", context=None):
        host = urlsplit(address).netloc
        if context is None:
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)

        def ask(request):
            if (
                not request.url.startswith(("data:", "blob:", "about:"))
                and urlsplit(request.url).netloc != host
            ):
                complaints.append(f"asked {request.url}")

        page.on("request", ask)
        page.on(
            "websocket",
            lambda socket: (
                urlsplit(socket.url).netloc == host or complaints.append(f"asked {socket.url}")
            ),
        )
        page.on(
            "console",
            lambda said: said.type == "error" and complaints.append(f"console: {said.text}"),
        )
        page.on("pageerror", lambda error: complaints.append(f"error: {error} {error.stack}"))
        page.on(
            "response",
            lambda answer: (
                answer.status >= 400 and complaints.append(f"{answer.status}: {answer.url}")
            ),
        )
        page.goto(address)
        if urlsplit(address).path.endswith("/topics"):
            page.get_by_label("Topics of", exact=True).wait_for()
            return page
        if urlsplit(address).path.endswith("/oracle"):
            page.get_by_label("Toy", exact=True).wait_for()
            return page
        if urlsplit(address).path.endswith("/ledger"):
            page.get_by_label("Verdict", exact=True).wait_for()
            return page
        page.get_by_role("button", name="Start", exact=True).wait_for()
        if urlsplit(address).path.endswith(("/sweep", "/choose-k", "/frontier")):
            return page
        page.wait_for_function(
            "window.Bokeh && Bokeh.documents.length && Bokeh.documents[0].get_model_by_name('curve')"
        )
        return page

    open_page.complaints = complaints
    yield open_page
    for context in contexts:
        context.close()
    assert not complaints, "\n".join(complaints)
