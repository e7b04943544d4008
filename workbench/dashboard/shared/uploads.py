"""A field for a file that a visitor sends; one that is larger than may be is refused in the browser."""

from collections.abc import Callable

import param

from workbench.dashboard.shared.drawn import Drawn, code, style


class Upload(Drawn):
    """The field. ``on_file(name, content)`` is called with a file, ``on_large(name, bytes)`` for a larger one.

    Panel's own field sends any file, and the server ends a connection that brings more than it takes: the page was lost.
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
