"""Do sessions that are closed go away? ``python benchmarks/churn.py [--sessions 200] [--tabs 0] [--json]``

Opens sessions of the Compare page as a browser does (page, web socket, document, two seconds of ticks),
ten at a time, closes them, and prints how many pages are still alive and how much memory the server
holds. Alive must come back to 0, memory and objects must level off. With ``--tabs`` real browser tabs follow.
"""

import argparse
import asyncio
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

OPEN_FOR = 2.0
LIFETIME = 8.0
SETTLE = 10.0
"""Seconds that a session is open, lives on when it is closed, and is given to go away."""


async def open_one(http, url: str) -> None:
    """One session: what a browser's first seconds ask of the server, without the browser."""
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    answer = await http.fetch(url, request_timeout=60)
    token = re.search(r'"token":"([^"]+)"', answer.body.decode()).group(1)
    socket = await websocket_connect(
        HTTPRequest(url.replace("http", "ws", 1) + "/ws"), subprotocols=["bokeh", token], max_message_size=50_000_000
    )
    for _ in range(3):  # the acknowledgement comes in three parts
        await socket.read_message()
    ready = {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}}
    event = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": ready}
    for number, (kind, content) in enumerate((("PULL-DOC-REQ", {}), ("PATCH-DOC", {"events": [event]}))):
        for part in ({"msgid": f"m{number}", "msgtype": kind}, {}, content):
            await socket.write_message(json.dumps(part))
    end = time.monotonic() + OPEN_FOR
    while (left := end - time.monotonic()) > 0:
        try:
            if await asyncio.wait_for(socket.read_message(), left) is None:
                raise SystemExit("the server closed a session")
        except TimeoutError:
            break
    socket.close()


async def open_many(url: str, n_sessions: int, batch: int = 10) -> None:
    from tornado.httpclient import AsyncHTTPClient

    http = AsyncHTTPClient(max_clients=batch)
    for start in range(0, n_sessions, batch):
        await asyncio.gather(*(open_one(http, url) for _ in range(min(batch, n_sessions - start))))


def open_tabs(url: str, n_tabs: int) -> None:
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        tabs = [browser.new_page() for _ in range(n_tabs)]
        for tab in tabs:
            tab.goto(url)
            tab.get_by_role("button", name="Start").wait_for()
        browser.close()


def memory() -> float:
    """MiB that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(server, url: str, given) -> None:
    """Sends visitors from another process, and tells after each fifty what is left of them."""
    from workbench.dashboard.shell import VIEWS

    def tell(after: int, what: str) -> None:
        for _ in range(3):
            gc.collect()
        told = {"after": after, "what": what, "views": len(VIEWS), "memory": round(memory(), 1)}
        told["objects"] = len(gc.get_objects())
        said = "after {after} {what}: {views} alive, {memory} MiB, {objects} objects".format(**told)
        print(json.dumps(told) if given.json else said, flush=True)

    def visit(what: str, number: int) -> None:
        subprocess.run([sys.executable, __file__, "--visit", what, "--number", str(number), "--url", url], check=True)
        time.sleep(SETTLE)

    try:
        visit("sessions", 1)
        tell(1, "sessions")
        step = min(50, given.sessions)
        for after in range(step, given.sessions + 1, step):
            visit("sessions", step)
            tell(after, "sessions")
        if given.tabs:
            visit("tabs", given.tabs)
            tell(given.tabs, "tabs")
    finally:
        server.io_loop.add_callback(server.io_loop.stop)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--tabs", type=int, default=0)
    parser.add_argument("--store", help="a store with runs in it; otherwise an empty one")
    parser.add_argument("--json", action="store_true")
    for name, kind in (("--visit", str), ("--number", int), ("--url", str)):
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.visit == "tabs":
        open_tabs(given.url, given.number)
        return
    if given.visit:
        asyncio.run(open_many(given.url, given.number))
        return
    with tempfile.TemporaryDirectory() as empty:
        os.environ["WORKBENCH_STORE"] = given.store or empty
        from workbench.dashboard.serve import make_server

        server = make_server(0, "127.0.0.1", LIFETIME)
        server.start()
        url = f"http://127.0.0.1:{server.port}/compare"
        threading.Thread(target=measure, args=(server, url, given), daemon=True).start()
        server.io_loop.start()
        server.stop()


if __name__ == "__main__":
    main()
