"""Which requests the server answers, and the headers of every answer.

A page of another site can make a browser send requests here; and if its owner points the site's name at this machine (DNS
rebinding), the browser takes both for one site. So the names of the server are listed, and a request under another name, or
from a page of another site, is refused before anything else handles it: for documents, files and web sockets alike.
"""

import ipaddress
import secrets
import socket
from urllib.parse import urlsplit

from bokeh.server.connection import ServerConnection
from tornado.routing import Matcher, Rule
from tornado.web import OutputTransform, RequestHandler, stream_request_body

from workbench.dashboard.shared.shell import NONCE

POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' blob:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
"""Content-Security-Policy: allows scripts of this server and scripts with the nonce of the answer. Bokeh makes functions
from text (unsafe-eval) and Panel loads components as blobs; only scripts that already run can do both."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NOT_HANDLED = "the server could not handle this; its log says why"
TAKEN_AWAY = (
    "Server",
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Headers",
    "Access-Control-Allow-Credentials",
    "Access-Control-Allow-Methods",
)
"""Headers to remove: those that name the server's version, or let other sites embed our pages."""


def guard(server, origins: tuple[str, ...]) -> None:
    """Make the server refuse requests to other host names or from other sites' pages, and set all answers' headers.

    origins : names of the server in browsers, besides localhost, the name of this machine and numerical addresses: a host, with
        its port if it has one, and optionally https:// in front.
    """
    application = server._tornado  # Bokeh makes it, and accepts no routes before its own
    application.default_router.rules.insert(0, Rule(_Refused(origins), _Refusal))
    application.add_transform(_Headers)


def answer_without_tracebacks() -> None:
    """Let Bokeh send the browser a sentence, not the traceback, when it cannot handle a message.

    The log of the server has the traceback. Call this once; a second call changes nothing.
    """
    ServerConnection.error = _error


def _error(self, message, text: str):
    """Return the answer to a message that could not be handled; ``self`` is the connection."""
    answer = self.protocol.create("ERROR", message.header["msgid"], NOT_HANDLED)
    answer.content["traceback"] = None
    return answer


def host_of(origin: str) -> str:
    """Return host and port of an origin, such as stats.example.org of https://stats.example.org."""
    return urlsplit(origin if "//" in origin else f"//{origin}").netloc.lower()


def refusal(request, origins: tuple[str, ...]) -> str:
    """Return why a request is refused, in one sentence; empty if it is allowed.

    Any numerical host is allowed, since DNS rebinding needs a name.
    """
    hosts = {host_of(origin) for origin in origins}
    names = {"localhost", socket.gethostname().lower()} | {_name(host) for host in hosts}
    name, headers = _name(request.host), request.headers
    if not (name in names or _is_number(name)):
        return (
            "This server is not reached by that name; `workbench serve --origin NAME` lets it be."
        )
    came_from = [host_of(origin) for origin in headers.get_list("Origin")]
    if any(host != request.host.lower() and host not in hosts for host in came_from):
        return "Another site's page asked for this, which only pages of this server may."
    site, mode, destination = (
        headers.get(f"Sec-Fetch-{key}", "") for key in ("Site", "Mode", "Dest")
    )
    is_link = mode == "navigate" and destination == "document" and request.method == "GET"
    if site in ("cross-site", "same-site") and not is_link:
        return "Another site's page asked for this; it can link here, and no more."
    return ""


def _name(host: str) -> str:
    """Return the host without its port, in lower case; empty if ``host`` is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_number(name: str) -> bool:
    """Return whether the host is an IPv4 address; Panel cannot serve pages under IPv6 addresses."""
    try:
        ipaddress.IPv4Address(name)
    except ValueError:
        return False
    return True


class _Refused(Matcher):
    """Matches the requests that `refusal` gives a reason to refuse, such as those of another site."""

    def __init__(self, origins: tuple[str, ...]):
        self._origins = origins

    def match(self, request):
        reason = refusal(request, self._origins)
        return {"target_kwargs": {"reason": reason}} if reason else None


@stream_request_body
class _Refusal(RequestHandler):
    """A handler that answers every request with status 403 and the reason, without reading its body."""

    def initialize(self, reason: str) -> None:
        self._reason = reason

    def prepare(self) -> None:
        self.set_status(403)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(self._reason)

    def data_received(self, block: bytes) -> None:
        """Ignore the body of the request: `prepare` has already answered."""


class _Headers(OutputTransform):
    """A transform that sets the security headers of an answer; its scripts get a nonce, which others cannot guess."""

    def transform_first_chunk(self, status_code, headers, chunk, finishing):
        nonce = secrets.token_hex(len(NONCE) // 2)
        for name in TAKEN_AWAY:
            headers.pop(name, None)
        headers.update(HEADERS)
        headers["Content-Security-Policy"] = POLICY.format(nonce=nonce)
        return status_code, headers, chunk.replace(NONCE.encode(), nonce.encode())
