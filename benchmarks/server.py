"""A server of the pages that measures itself: memory, pages alive. Visitors come from other processes."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

LIFETIME = 8.0
"""Seconds that a session lives on when it is closed."""
PATIENCE = 200.0
"""Seconds that closed sessions are given to go away after that: a busy machine lets them wait, a leak keeps them for ever."""
VISITORS = Path(__file__).with_name("visitors.py")


def serve(store: str | Path, page: str, measure: Callable[[str], None]) -> None:
    """Serves until ``measure(url)``, which runs in a thread, has ended."""
    os.environ["WORKBENCH_STORE"] = str(store)
    from panel.io.logging import panel_log_handler

    from workbench.dashboard.server.serve import Serving, make_server

    panel_log_handler.setStream(sys.stderr)  # what is printed is what was measured
    server = make_server(Serving(port=0, lifetime=LIFETIME))
    server.start()

    def work() -> None:
        try:
            measure(f"http://127.0.0.1:{server.port}/{page}")
        finally:
            server.io_loop.add_callback(server.io_loop.stop)

    threading.Thread(target=work, daemon=True).start()
    server.io_loop.start()
    server.stop()


def visit(what: str, url: str, number: int, seconds: float = 2.0) -> dict:
    """What visitors tell; see visitors.py."""
    command = [
        sys.executable,
        VISITORS,
        what,
        "--url",
        url,
        "--number",
        str(number),
        "--seconds",
        str(seconds),
    ]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def n_alive() -> int:
    """Pages that are alive."""
    from workbench.dashboard.shared.shell import VIEWS

    return len(VIEWS)


def empty_out() -> float:
    """Seconds until no page is alive; returns after `PATIENCE` even if some are."""
    began = time.monotonic()
    while True:
        gc.collect()
        waited = time.monotonic() - began
        if not n_alive() or waited > LIFETIME + PATIENCE:
            return waited
        time.sleep(0.5)


def memory() -> float:
    """MiB that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
