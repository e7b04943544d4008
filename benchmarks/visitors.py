"""Visitors of a page as a browser makes them, without the browser: page, web socket, document, ticks, clicks.

A process of its own, so that visitors take no time from the server: ``python benchmarks/visitors.py sessions --url …``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import shutil
import time
from typing import NamedTuple

PATIENCE = 30.0
"""Seconds after which an answer is given up."""


class Control(NamedTuple):
    """A control of a page, what a click gives it, and the property whose change shows that the click had its effect."""

    telling: tuple[str, object]  # property and value by which it is found in the document
    sets: str
    values: tuple  # at least two; a click gives it one that it has not
    shows: str


CONTROLS = {
    "compare": (
        Control(
            ("labels", ["Iterations", "Steps", "Updates", "Seconds"]),
            "active",
            (0, 1, 2, 3),
            "axis_label",
        ),
        Control(("title", "Smoothing"), "value", (0.0, 0.5), "y"),
    ),
    "topics": (
        Control(("title", "Sizes as"), "value", ("stacked", "lines"), "children"),
        Control(("title", "Words"), "value", (10, 15, 20, 25), "children"),
    ),
}


class Visitor:
    """One session. ``opened`` is how many seconds its page, its web socket and its document took."""

    def __init__(self, url: str):
        self.url, self.page = url, url.rsplit("/", 1)[-1]
        self._models, self._n_sent, self._waits = [], 0, {}

    async def open(self, http) -> None:
        """What a browser's first seconds ask of the server."""
        from tornado.httpclient import HTTPRequest
        from tornado.websocket import websocket_connect

        began = time.perf_counter()
        answer = await http.fetch(self.url, request_timeout=PATIENCE, connect_timeout=PATIENCE)
        token = re.search(r'"token":"([^"]+)"', answer.body.decode()).group(1)
        where = HTTPRequest(
            self.url.replace("http", "ws", 1) + "/ws",
            request_timeout=PATIENCE,
            connect_timeout=PATIENCE,
        )
        self._socket = await websocket_connect(
            where, subprotocols=["bokeh", token], max_message_size=50_000_000
        )
        await self._message()  # the acknowledgement
        await self._send("PULL-DOC-REQ", {})
        while not self._models:
            kind, content = await self._message()
            if kind == "PULL-DOC-REPLY":
                self._models = list(_objects(content))
        ready = {
            "type": "event",
            "name": "document_ready",
            "values": {"type": "map", "entries": []},
        }
        await self._patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": ready})
        self.opened = time.perf_counter() - began
        self._listening = asyncio.create_task(self._listen())

    async def click(self, number: int, turn: int) -> float:
        """Seconds from a click on one of the page's controls until the page shows its effect."""
        controls = CONTROLS[self.page]
        control = controls[turn % len(controls)]
        name, told = control.telling
        model = next(one for one in self._models if one["attributes"].get(name) == told)
        others = [
            value for value in control.values if value != model["attributes"].get(control.sets)
        ]
        value = model["attributes"][control.sets] = others[
            (turn // len(controls) + number) % len(others)
        ]
        shown = self._waits[control.shows] = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        await self._patch(
            {
                "kind": "ModelChanged",
                "model": {"id": model["id"]},
                "attr": control.sets,
                "new": value,
            }
        )
        try:
            await asyncio.wait_for(shown, PATIENCE)
        except TimeoutError:
            still = f"{control.shows} is the same after {PATIENCE:g} s"
            raise SystemExit(f"{self.page}: {told} was given {value}, and {still}") from None
        return time.perf_counter() - began

    async def close(self) -> None:
        self._listening.cancel()
        self._socket.close()

    async def _listen(self) -> None:
        while True:
            kind, content = await self._message()
            for event in content.get("events", ()) if kind == "PATCH-DOC" else ():
                waits = self._waits.get(event.get("attr"))
                if waits is not None and not waits.done():
                    waits.set_result(None)

    async def _patch(self, event: dict) -> None:
        await self._send("PATCH-DOC", {"events": [event]})

    async def _send(self, kind: str, content: dict) -> None:
        self._n_sent += 1
        for part in ({"msgid": f"m{self._n_sent}", "msgtype": kind}, {}, content):
            await self._socket.write_message(json.dumps(part))

    async def _message(self) -> tuple[str, dict]:
        """Kind and content of the next message; its binary parts are read and dropped."""
        header, _, content = [await self._part() for _ in range(3)]
        for _ in range(2 * json.loads(header).get("num_buffers", 0)):
            await self._part()
        return json.loads(header)["msgtype"], json.loads(content)

    async def _part(self):
        part = await self._socket.read_message()
        if part is None:
            raise SystemExit("the server closed a session")
        return part


def _objects(told):
    """Every model in a document, however deep."""
    if isinstance(told, dict):
        if told.get("type") == "object" and "id" in told:
            yield {"attributes": {}} | told
        told = list(told.values())
    if isinstance(told, list):
        for part in told:
            yield from _objects(part)


async def visit(url: str, n_sessions: int, seconds: float, clicks: bool, batch: int = 10) -> dict:
    """Opens sessions, two at a time; they stay for so many seconds, and click once a second. What each took.

    Without clicks each batch leaves before the next one comes; with clicks all are there at once.
    """
    from tornado.httpclient import AsyncHTTPClient

    http, door, opened, reactions = AsyncHTTPClient(), asyncio.Semaphore(2), [], []

    async def come() -> Visitor:
        async with door:
            visitor = Visitor(url)
            await visitor.open(http)
            opened.append(visitor.opened)
            return visitor

    async def stay(number: int, visitor: Visitor) -> None:
        await asyncio.sleep(random.Random(number).random())
        end, turn = time.monotonic() + seconds, 0
        while (began := time.monotonic()) < end:
            if clicks:
                reactions.append(await visitor.click(number, turn))
            turn += 1
            await asyncio.sleep(max(0.0, began + 1.0 - time.monotonic()))
        await visitor.close()

    batch = n_sessions if clicks else batch
    for start in range(0, n_sessions, batch):
        there = await asyncio.gather(*(come() for _ in range(min(batch, n_sessions - start))))
        await asyncio.gather(*(stay(number, visitor) for number, visitor in enumerate(there)))
    return {"opened": opened, "reactions": reactions}


def open_tabs(url: str, n_tabs: int) -> dict:
    """Real tabs of a browser, one after the other; the seconds until each is drawn and answers, the first without a cache."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        context, drawn = browser.new_context(), []
        for _ in range(n_tabs):
            tab, began = context.new_page(), time.perf_counter()
            tab.goto(url)
            tab.get_by_role(
                "button", name="Start" if url.endswith("sweep") else "CSV"
            ).first.wait_for()
            drawn.append(time.perf_counter() - began)
        browser.close()
    return {"drawn": drawn}


def chromium() -> str:
    """The path of the browser."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("sessions", "clicks", "tabs"))
    parser.add_argument("--url", required=True)
    parser.add_argument("--number", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    if given.what == "tabs":
        told = open_tabs(given.url, given.number)
    else:
        told = asyncio.run(visit(given.url, given.number, given.seconds, given.what == "clicks"))
    print(json.dumps(told))


if __name__ == "__main__":
    main()
