"""Receive uploaded files block by block on disk; see `workbench.dashboard.shared.uploads`."""

import re
from collections.abc import Callable
from urllib.parse import unquote

from bokeh.server.views.auth_request_handler import AuthRequestHandler
from tornado.web import HTTPError, stream_request_body

from workbench.dashboard.shared.policy import PolicyError, policy
from workbench.dashboard.shared.uploads import INBOXES, OTHER_FILE, PAGE_GONE, size_error
from workbench.numbers import capital

TOKEN, NAME = "X-Upload-Token", "X-File-Name"
"""Headers with the token of the page, which a form of another site cannot send, and the %-encoded name of the file."""


@stream_request_body
class UploadHandler(AuthRequestHandler):
    """A handler that answers 204 when a file has arrived, else an error sentence; it reads no file that is not allowed.

    `workbench.dashboard.server.requests` has refused requests under other names and from other sites' pages before. Tornado
    calls `post` only when as many bytes have come as the header Content-Length says.
    """

    def initialize(self) -> None:
        self._inbox = self._file = None

    async def prepare(self) -> None:
        await super().prepare()
        if self.request.method != "POST":
            raise HTTPError(405)
        headers = self.request.headers
        self._name, length = (
            unquote(headers.get(NAME, ""))[:1000],
            headers.get("Content-Length", ""),
        )
        self._inbox = INBOXES.get(headers.get(TOKEN, ""))
        if not self.current_user:
            self._refuse(403, PolicyError("sign in first; load the page again"))
        elif self._inbox is None:
            self._refuse(403, PolicyError(PAGE_GONE))
        elif not re.fullmatch("[0-9]{1,18}", length):
            self._refuse(411, PolicyError("the length of the file was not said; choose it again"))
        elif int(length) > policy().max_upload:
            self._refuse(413, size_error(self._name, int(length)))
        else:
            self.request.connection.set_max_body_size(policy().max_upload)
            self._file = self._do(self._inbox.receive)

    def data_received(self, block: bytes) -> None:
        if not self._finished:
            self._do(self._file.write, block)

    def post(self) -> None:
        if not self._finished:
            self._do(self._inbox.keep, self._file, self._name)
        if not self._finished:
            self.set_status(204)
            self.finish()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        if self._inbox is not None:
            self._inbox.drop(self._file)

    def _do(self, work: Callable, *arguments):
        """Return the result of a function; if it fails, drop the file and answer with the error."""
        try:
            return work(*arguments)
        except ValueError:  # also of a write to a file that is closed
            self._refuse(409, PolicyError(OTHER_FILE))
        except OSError as error:
            sentence = f"the server cannot store the file ({error.strerror}); tell its owner"
            self._refuse(507, PolicyError(sentence))
            self._inbox.drop(self._file)

    def _refuse(self, status: int, error: PolicyError) -> None:
        sentence = policy().for_visitors(str(error))
        self.set_status(status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{capital(sentence)}{'' if sentence.endswith('.') else '.'}")
