"""Servers of the pages, in processes of their own."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
CLOSED = re.compile(
    r"(?:ERROR:asyncio:)?Task exception was never retrieved\nfuture: [^\n]*WebSocketClosed.*?\n"
    r"tornado\.websocket\.WebSocketClosedError\n",
    re.DOTALL,
)
"""What tornado says of a tab that closes while it is sent something."""


@contextmanager
def serving(command, store: Path, expected: tuple[str, ...] = ()):
    """The address of a server that a command starts: what it prints after "at".

    expected : what its log must have; without, no error.
    """
    environment = os.environ | {"WORKBENCH_STORE": str(store), "PYTHONUNBUFFERED": "1"}
    log = store.parent / f"{store.name}-server.log"
    with open(log, "w") as file:
        server = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT
        )
    try:
        yield _address(server, log)
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(60)
    told = CLOSED.sub("", log.read_text())
    assert all(each in told for each in expected), told
    assert expected or ("Traceback" not in told and "ERROR" not in told), told


def _address(server, log: Path) -> str:
    for _ in range(1200):
        assert server.poll() is None, log.read_text()
        found = [
            word
            for line in log.read_text().splitlines()
            for word in line.split()
            if word.startswith("http://")
        ]
        if found:
            try:
                urlopen(found[0], timeout=30).close()
                return found[0]
            except OSError:
                pass
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def our_server(lifetime: float = 10.0, **settings) -> list[str]:
    """The command of a server with these settings of `Serving`."""
    code = "from workbench.dashboard.server.serve import Serving, serve; serve(Serving(**{!r}))"
    return [sys.executable, "-c", code.format({"port": 0, "lifetime": lifetime} | settings)]
