"""A server of the pages in the process of a test, and what it answers."""

import asyncio
import signal
from contextlib import contextmanager

import panel as pn
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from workbench.dashboard.server.serve import Serving, make_server
from workbench.dashboard.shared.policy import Policy, set_policy

PATIENCE = 60.0


class Served:
    """A server that is up; its loop runs while something is asked."""

    def __init__(self, server):
        self.server, self.root = server, f"127.0.0.1:{server.port}"

    def ask(
        self, path: str = "/compare", method: str = "GET", body: str | None = None, **headers: str
    ):
        """What it answers, redirects not followed; ``_`` in names of headers stands for -."""
        request = HTTPRequest(
            f"http://{self.root}{path}",
            method,
            {name.replace("_", "-"): value for name, value in headers.items()},
            body,
            follow_redirects=False,
            request_timeout=PATIENCE,
        )
        return self.server.io_loop.run_sync(
            lambda: AsyncHTTPClient().fetch(request, raise_error=False), PATIENCE
        )

    def socket_opens(self, path: str = "/compare/ws", **headers: str) -> bool:
        """Whether it lets a web socket be opened."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        async def connect() -> bool:
            try:
                socket = await websocket_connect(
                    HTTPRequest(f"ws://{self.root}{path}", headers=named),
                    subprotocols=["bokeh", "no-token"],
                )
            except HTTPClientError as error:
                assert error.code == 403, error
                return False
            socket.close()
            return True

        return self.server.io_loop.run_sync(connect, PATIENCE)


@contextmanager
def loop_of_its_own():
    """A loop of this thread, although a browser that another test has open keeps one running in it."""
    running, loop = asyncio._get_running_loop(), asyncio.new_event_loop()
    asyncio._set_running_loop(None)
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        loop.close()
        asyncio.set_event_loop(running)
        asyncio._set_running_loop(running)


@contextmanager
def served(store, monkeypatch, **settings):
    """A server on a store with these settings of `Serving`."""
    monkeypatch.setenv("WORKBENCH_STORE", str(store))
    monkeypatch.setenv("XDG_STATE_HOME", str(store.parent / "state"))
    handlers = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
    config = {
        name: getattr(pn.config, name)
        for name in ("cookie_secret", "cookie_path", "oauth_provider")
    }
    try:
        with loop_of_its_own():
            server = make_server(Serving(port=0, **settings))
            server.start()
            try:
                yield Served(server)
            finally:
                server.stop()
    finally:
        set_policy(Policy())
        for name, value in config.items():
            setattr(pn.config, name, value)
        for name, handler in handlers.items():
            signal.signal(name, handler)
