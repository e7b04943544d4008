"""Receive uploaded files block by block on disk; see `workbench.dashboard.shared.received`."""

import re
from collections.abc import Callable
from urllib.parse import unquote

from bokeh.server.views.auth_request_handler import AuthRequestHandler
from tornado.ioloop import IOLoop
from tornado.web import HTTPError, stream_request_body

from workbench.dashboard.shared.policy import LOOK_ONLY, PolicyError, policy
from workbench.dashboard.shared.received import GONE, INBOXES, UPLOADS, Inbox, Sending, too_large

TOKEN, NAME = "X-Upload-Token", "X-File-Name"
"""Headers with the token of the page, which a form of another site cannot send, and the %-encoded name of the file."""


@stream_request_body
class UploadHandler(AuthRequestHandler):
    """Answer 204 when a file has arrived, else an error sentence; a file that is not allowed is refused before it is read.

    `workbench.dashboard.server.requests` has refused requests under other names and from other sites' pages before.
    """

    def initialize(self) -> None:
        self._inbox: Inbox | None = None
        self._sending: Sending | None = None

    async def prepare(self) -> None:
        await super().prepare()
        if self.request.method != "POST":
            raise HTTPError(405)
        name, length = (
            unquote(self.request.headers.get(NAME, ""))[:1000],
            self.request.headers.get("Content-Length", ""),
        )
        self._inbox = INBOXES.get(self.request.headers.get(TOKEN, ""))
        if not self.current_user:
            self._refuse(403, PolicyError("sign in first; load the page again"))
        elif policy().read_only:
            self._refuse(403, PolicyError(LOOK_ONLY))
        elif self._inbox is None:
            self._refuse(403, PolicyError(GONE))
        elif not re.fullmatch("[0-9]{1,18}", length):
            self._refuse(411, PolicyError("the length of the file was not said; choose it again"))
        elif int(length) > policy().max_upload:
            self._refuse(413, too_large(name, int(length)))
        else:
            self.request.connection.set_max_body_size(policy().max_upload)
            self._sending = await self._do(self._inbox.receive, name, int(length))

    async def data_received(self, block: bytes) -> None:
        if not self._finished:
            await self._do(self._sending.write, block)

    async def post(self) -> None:
        if self._finished:
            return
        received = await self._do(self._inbox.keep, self._sending)
        if received is not None:
            self._inbox.show(received)
            self.set_status(204)
            self.finish()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._drop()

    async def _do(self, work: Callable, *given):
        """Return the result of a function that runs in the upload thread; if it fails, answer with the error, return None."""
        try:
            return await IOLoop.current().run_in_executor(UPLOADS, work, *given)
        except PolicyError as error:
            self._refuse(409, error)
        except OSError as error:
            self._refuse(
                507,
                PolicyError(f"the server cannot store the file ({error.strerror}); tell its owner"),
            )
        self._drop()

    def _drop(self) -> None:
        if self._sending is not None:
            UPLOADS.submit(self._sending.drop)

    def _refuse(self, status: int, error: PolicyError) -> None:
        sentence = policy().shown(str(error))
        self.set_status(status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{sentence[0].upper()}{sentence[1:]}{'' if sentence.endswith('.') else '.'}")
