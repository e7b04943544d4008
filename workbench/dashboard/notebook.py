"""What a view needs in a notebook: that there is one, and Panel in the page, asked of nobody outside.

Why it is so, and what of Panel is mended: docs/decisions/notebook_views.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import panel as pn

HEED = Path(__file__).with_name("notebook.js").read_text(encoding="utf-8")
_SHOWN_BY: set[str | None] = set()
"""The cells that have shown a view."""


def in_notebook() -> bool:
    """Does a Jupyter kernel run this?"""
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def load_panel() -> None:
    """Puts what draws a view into the output of this cell, unless another cell's has it.

    A cell that is executed again has lost its output, and so may a page that was loaded again: there it is put again,
    or the view would stay blank.
    """
    from IPython.display import publish_display_data
    from IPython.utils.capture import capture_output

    cell = sys.modules["IPython"].get_ipython().get_parent().get("metadata", {}).get("cellId")
    if not _SHOWN_BY:
        with capture_output():  # beside HoloViews it trusts that the page has everything, and its output may be hidden
            pn.extension(inline=True)
    if not _SHOWN_BY or cell in _SHOWN_BY:
        pn.io.notebook.load_notebook(inline=True)
    _SHOWN_BY.add(cell)
    publish_display_data({pn.io.notebook.LOAD_MIME: HEED, "application/javascript": HEED})
