"""`workbench serve`: serve the pages, only to this machine by default."""

import contextlib
import errno
import os
import re
import signal
import socket
import sys
import threading
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import panel as pn
from tornado.web import RedirectHandler

from workbench.dashboard.compare import page as compare
from workbench.dashboard.ledger import page as ledger
from workbench.dashboard.oracle import page as oracle
from workbench.dashboard.server.login import (
    ServerError,
    oauth_provider,
    password_provider,
    read_password,
)
from workbench.dashboard.server.requests import answer_without_tracebacks, guard, host_of
from workbench.dashboard.server.uploads import UploadHandler
from workbench.dashboard.shared.background import FILES, LOOKS, SEARCHES, STARTS, THREAD_PREFIX
from workbench.dashboard.shared.policy import OF_OTHERS, Limits, Policy, set_policy
from workbench.dashboard.shared.run_monitor import monitor_of
from workbench.dashboard.shared.uploads import INBOXES, ROUTE
from workbench.dashboard.sweep import page as sweep
from workbench.dashboard.topics import page as topics
from workbench.numbers import MIB
from workbench.runs.execution.run import default_store

PORT = 5006
LOCAL = ("127.0.0.1", "::1", "localhost")
LIFETIME = 15.0
"""Seconds after which the session of a closed tab is dropped."""
ENDING = 3.0
"""Seconds that threads have to finish when the server ends; runs are separate processes and continue."""
LAZY = "dask.array", "pyarrow.pandas_compat", "xarray.computation.nanops"
"""Modules that reading a run imports, if they are installed."""
MOVED = {"/?": "/compare", "/choose-k": "/sweep", "/frontier": "/sweep?tab=frontier"}
"""Old address → new address, so that old links still work."""
LONGEST_MESSAGE = 32 * MIB
"""Bytes of a message of a page, such as a typed text; a longer one ends the connection. Files come by requests of their own."""


@dataclass(frozen=True)
class Serving:
    """Settings of the server, checked when they are made.

    Raises
    ------
    ServerError
        Settings that are impossible or unsafe: a server for others needs a password, OAuth or an explicit ``no_password``.
    """

    port: int = PORT  # 0 chooses a free one
    # only this machine; 0.0.0.0: all addresses of this machine
    address: str = "127.0.0.1"
    # path under which a proxy forwards requests, such as /workbench
    prefix: str = ""
    # further names of the server in browsers, such as https://stats.example.org
    origins: tuple[str, ...] = ()
    password_file: Path | None = None  # its first line is the password
    oauth: str | None = None  # name of the provider, such as github
    users: tuple[str, ...] = ()  # accounts of that provider that may sign in
    no_password: bool = False  # people from other machines need no password
    read_only: bool = False  # visitors can only look and download
    data: tuple[Path, ...] = ()  # folders from which people on other machines may read corpora
    max_upload: float | None = None  # MB; None: 500, and 5 where others reach the server
    limits: tuple[str, ...] = ()  # NAME=N with a name of `Limits`; inf removes the limit
    lifetime: float = LIFETIME  # seconds until the session of a closed tab is dropped

    def __post_init__(self):
        if not 0 <= self.port <= 65535:
            raise ServerError.must_be("port", "from 0 to 65535", self.port)
        if not re.fullmatch(r"/?([\w-]+(/[\w-]+)*)?/?", self.prefix, re.ASCII):
            raise ServerError.must_be(
                "prefix", "a path of letters, digits, - and _, as /workbench", self.prefix
            )
        if self.max_upload is not None and not 0 < self.max_upload <= 1000:
            raise ServerError.must_be("max_upload", "a number of MB, at most 1000", self.max_upload)
        if self.password_file and self.oauth:
            raise ServerError(
                "a server has a password or OAuth; give one of the two", field="oauth"
            )
        if self.others and not (self.password_file or self.oauth or self.no_password):
            where_served = (
                f"at {self.address}" if self.address not in LOCAL else f"as {self.origins[0]}"
            )
            raise ServerError(
                f"served {where_served}, others can start runs here; give --password-file FILE or --oauth PROVIDER, or "
                "--no-password where everybody may",
                field="no_password",
            )
        for folder in self.data:
            if not Path(folder).expanduser().is_dir():
                raise ServerError(
                    f"there is no folder {folder}; --data takes folders that corpora lie in",
                    field="data",
                )
        if bad := [
            origin
            for origin in self.origins
            if not host_of(origin) or origin.partition("//")[2].strip("/").count("/")
        ]:
            raise ServerError.must_be(
                "origins", "a host, as https://stats.example.org or 10.0.0.7:8080", bad[0]
            )
        self.policy()

    @property
    def others(self) -> bool:
        """Return whether people reach the server from other machines, directly or through a proxy."""
        return self.address not in LOCAL or bool(self.origins)

    @property
    def path(self) -> str:
        """Return the prefix with a slash in front and none at the end; empty without a prefix."""
        return "/" + self.prefix.strip("/") if self.prefix.strip("/") else ""

    def policy(self) -> Policy:
        """Return what visitors may do."""
        default_limits = OF_OTHERS if self.others else Limits()
        folders = tuple(Path(folder).expanduser().resolve() for folder in self.data)
        limits = default_limits._replace(**dict(map(_limit, self.limits)))
        most = (5 if self.others else 500) if self.max_upload is None else self.max_upload
        return Policy(
            self.others,
            self.read_only,
            folders,
            round(most * MIB),
            limits,
            uploads=True,
        )


def _limit(text: str) -> tuple[str, float]:
    """Return the name and the number in a text of the form NAME=N."""
    name, _, n = text.partition("=")
    try:
        number = float(n)
    except ValueError:
        number = -1.0
    if name not in Limits._fields or not number >= 0:
        raise ServerError.must_be("limits", f"NAME=NUMBER, of {', '.join(Limits._fields)}", text)
    return name, number


def serve(
    serving: Serving | None = None, store: str | Path | None = None, show: bool = False
) -> None:
    """Serve the pages until interrupted or terminated; ``/`` redirects to ``/compare``.

    Parameters
    ----------
    serving : Serving, optional
        Default: port 5006, for this machine only.
    store : path, optional
        Folder of the runs; default ``WORKBENCH_STORE`` or ``./runs``.
    show : bool
        Open a browser.

    Raises
    ------
    ServerError
        The port is taken, the address does not belong to this machine, or the password cannot be used.
    """
    serving = serving or Serving()
    if store is not None:
        os.environ["WORKBENCH_STORE"] = str(Path(store).expanduser())
    server = make_server(serving)
    host = (
        "localhost"
        if serving.address in (*LOCAL, "0.0.0.0") or ":" in serving.address
        else serving.address
    )
    address = f"http://{host}:{server.port}{serving.path}/compare"
    if show:
        server.io_loop.add_callback(server.show, "/compare")
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(
            ending, lambda *arguments: server.io_loop.add_callback_from_signal(server.io_loop.stop)
        )
    server.start()
    monitor_of(default_store()).latest()  # start reading, so that the first visitor finds runs
    print(f"workbench serves {default_store().resolve()} at {address}", flush=True)
    print("Ctrl-C ends it; runs continue.", flush=True)
    server.io_loop.start()
    server.stop()
    _end()


def _end() -> None:
    """End the process; threads get a moment to finish, and the rest of their work is dropped, as after a kill."""
    for pool in (STARTS, LOOKS, SEARCHES, FILES):
        pool.shutdown(wait=False, cancel_futures=True)
    deadline = time.monotonic() + ENDING
    at_work = [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_PREFIX)]
    for thread in at_work:
        thread.join(max(0.0, deadline - time.monotonic()))
    for inbox in list(INBOXES.values()):
        inbox.close()
    if any(thread.is_alive() for thread in at_work):
        sys.stdout.flush()
        os._exit(0)  # or the interpreter would wait for the threads


def make_server(serving: Serving):
    """Return the server of the pages, not started yet, after setting the policy of this process; see `serve`."""
    set_policy(serving.policy())
    import_before_threads()
    answer_without_tracebacks()
    secure, provider = any(origin.startswith("https:") for origin in serving.origins), {}
    if serving.password_file:
        provider = {
            "auth_provider": password_provider(
                read_password(serving.password_file), serving.path, secure
            )
        }
    elif serving.oauth:
        provider = {"auth_provider": oauth_provider(serving.oauth, serving.users)}
    try:
        port = _free_port(serving.address, serving.port)
        server = pn.serve(
            {
                "compare": compare.page,
                "sweep": sweep.page,
                "topics": topics.page,
                "oracle": oracle.page,
                "ledger": ledger.page,
            },
            port=port,
            address=serving.address,
            prefix=serving.path,
            websocket_origin=[f"{name}:{port}" for name in ("localhost", "127.0.0.1")]
            + [*map(host_of, serving.origins)],
            extra_patterns=[
                *(
                    (address, RedirectHandler, {"url": f"{serving.path}{page}"})
                    for address, page in MOVED.items()
                ),
                (f"/{ROUTE}", UploadHandler),
            ],
            title="workbench",
            show=False,
            start=False,
            verbose=False,
            cookie_path=serving.path or "/",
            **provider,
            websocket_max_message_size=LONGEST_MESSAGE,
            check_unused_sessions_milliseconds=max(200, int(1000 * serving.lifetime / 5)),
            unused_session_lifetime_milliseconds=int(1000 * serving.lifetime),
        )
    except (OSError, OverflowError) as error:
        raise _address_error(serving, error) from None
    guard(server, serving.origins)
    return server


def import_before_threads() -> None:
    """Import modules that libraries load at first use: if two threads did so at once, one would find them half imported."""
    for name in LAZY:
        with contextlib.suppress(ImportError):
            import_module(name)


def _address_error(serving: Serving, error: Exception) -> ServerError:
    """Return the error for an address or port that cannot be used."""
    if serving.port and getattr(error, "errno", None) == errno.EADDRINUSE:
        return ServerError(
            f"port {serving.port} is taken, perhaps by another workbench serve; --port 0 takes a free one",
            field="port",
        )
    reason = getattr(error, "strerror", None) or str(error)
    return ServerError(
        f"the server cannot have {serving.address}:{serving.port}: {reason}; see --address and --port",
        field="address",
    )


def _free_port(address: str, port: int) -> int:
    """Return the port, or a free one for 0; raise OSError if it cannot be used."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        # else a server that has just ended keeps the port for a minute
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address, port))
        return probe.getsockname()[1]
