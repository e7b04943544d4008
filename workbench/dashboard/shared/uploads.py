"""Upload fields; the browser refuses a file that is too large."""

from collections.abc import Callable
from typing import ClassVar

import param

from workbench.corpus.formats.readers import FORMATS
from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.received import ROUTE, otherwise
from workbench.numbers import format_size

ENDINGS = sorted({each for about in FORMATS.values() for each in about.SUFFIXES} | {".txt", ".gz"})
"""File name endings that the browser offers for an upload; the visitor can choose others."""


class Upload(Drawn):
    """An upload field that calls ``on_file(name, content)`` with a file, or ``on_large(name, bytes)`` if it is too large.

    Panel's own field sends any file, but the server ends a connection that sends too much, and the page is lost.
    """

    label = param.String(doc="Its name for screen readers.")
    accept = param.String(doc="Endings of the files that are offered, with commas.")
    most = param.Integer(doc="Bytes that a file may have.")

    _esm = code("uploads")
    _stylesheets = style("uploads")

    def __init__(
        self,
        on_file: Callable[[str, bytes], None],
        on_large: Callable[[str, int], None],
        **settings,
    ):
        super().__init__(**settings)
        self.sizing_mode = None
        self._on_file, self._on_large = on_file, on_large

    def _handle_msg(self, said) -> None:
        given = said if isinstance(said, dict) else {}
        name, content, n_bytes = str(given.get("name", "")), given.get("content"), given.get("size")
        if isinstance(content, bytes):
            self._on_file(name, content)
        elif isinstance(n_bytes, int):
            self._on_large(name, n_bytes)


class Sender(Drawn):
    """An upload field that sends the file block by block to the server's disk; ``value`` is the `Received` file.

    Panel's FileDropper keeps files in memory, twice during the upload, and accepts any size: see docs/decisions/serving.md.
    """

    value = param.Parameter(doc="The file that has arrived, or None.")
    held = param.String(doc="Its name and size.")
    settings = param.Dict(doc="Route, token, limits and texts; sent once.")

    _esm = code("sending")
    _stylesheets = style("uploads", "sending")
    _rename: ClassVar = {"value": None}

    def __init__(self, token: str):
        most, there = format_size(policy().max_upload), policy().takes_paths
        hint = f"Or drop it here: CSV, Parquet, Excel, JSON lines, a zip of texts …, up to {most}."
        hint += " Or give its path below." if there else ""
        if not policy().takes_uploads:
            hint = (
                "To upload a file, open this page with `workbench serve`; or give its path below."
            )
        settings = {"label": "File", "accept": ",".join(ENDINGS), "most": policy().max_upload}
        settings |= {"limit": most, "route": ROUTE, "token": token, "open": policy().takes_uploads}
        settings |= {"otherwise": otherwise(), "hint": hint}
        super().__init__(settings=settings, css_classes=["wb-wide"])
        self.param.watch(self._show, "value")

    def _show(self, event) -> None:
        self.held = "" if self.value is None else self.value.told()

    def _handle_msg(self, said) -> None:
        if said == {"clear": True}:
            self.value = None
