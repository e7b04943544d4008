"""`workbench serve`: the pages on a server of this machine."""

import os
import socket
from pathlib import Path

import panel as pn
from tornado.web import RedirectHandler

from workbench.dashboard.compare import page as compare
from workbench.dashboard.shared.run_monitor import monitor_of
from workbench.dashboard.topics import page as topics
from workbench.runs.execution.run import default_store

PORT = 5006
LOCAL = ("127.0.0.1", "localhost")
LIFETIME = 15.0
"""Seconds after which the session of a closed tab is dropped; a connection that breaks has as long to come back."""


def serve(
    port: int = PORT, address: str = "127.0.0.1", store: str | Path | None = None, show: bool = False,
    lifetime: float = LIFETIME, origins: list[str] | None = None,
) -> None:
    """Serves the pages until it is interrupted; ``/`` leads to ``/compare``.

    Parameters
    ----------
    port : int
        0 chooses a free one.
    address : str
        127.0.0.1 is reached from this machine alone; 0.0.0.0 from everywhere that the machine is.
    store : path, optional
        Folder of the runs; default ``WORKBENCH_STORE`` or ``./runs``.
    show : bool
        Open a browser.
    lifetime : float
        Seconds that the session of a closed tab lives on.
    origins : list of host:port, optional
        Names under which browsers reach the server, when it stands behind another one.
    """
    if store is not None:
        os.environ["WORKBENCH_STORE"] = str(Path(store).expanduser())
    server = make_server(port, address, lifetime, origins)
    host = "localhost" if address in (*LOCAL, "0.0.0.0") else address
    print(f"workbench serves {default_store().resolve()} at http://{host}:{server.port}/compare", flush=True)
    print("Ctrl-C ends it; runs go on.", flush=True)
    if show:
        server.io_loop.add_callback(server.show, "/compare")
    server.start()
    monitor_of(default_store()).latest()  # begins to read: the first visitor finds runs there
    try:
        server.io_loop.start()
    except KeyboardInterrupt:
        server.stop()


def make_server(port: int, address: str, lifetime: float, origins: list[str] | None = None):
    """The server of the pages, not started yet; see `serve`."""
    if not port:
        with socket.socket() as probe:
            probe.bind((address, 0))
            port = probe.getsockname()[1]
    names = {*LOCAL, address} | ({socket.gethostname()} if address not in LOCAL else set())
    return pn.serve(
        {"compare": compare.page, "topics": topics.page}, port=port, address=address,
        websocket_origin=origins or sorted(f"{name}:{port}" for name in names),
        extra_patterns=[("/?", RedirectHandler, {"url": "compare"})], title=compare.TITLE, show=False, start=False,
        verbose=False,
        check_unused_sessions_milliseconds=max(200, int(1000 * lifetime / 5)),
        unused_session_lifetime_milliseconds=int(1000 * lifetime),
    )
