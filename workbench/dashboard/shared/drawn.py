"""What the parts of a page that are drawn in the browser have in common: their code and their style."""

from __future__ import annotations

import panel as pn

from workbench.dashboard.shared.shell import SCRIPTS, STYLE


class Drawn(pn.custom.JSComponent):
    """A part that the browser draws from its parameters; nothing else is sent."""

    __abstract = True

    def __init__(self, **settings):
        super().__init__(sizing_mode="stretch_width", margin=0, **settings)


def code(*names: str) -> str:
    """The browser's code of a part, from files of this folder: a page asks for no module of its own, so what parts share
    comes first in each."""
    return "\n".join((SCRIPTS / f"{name}.js").read_text(encoding="utf-8") for name in ("drawn", *names))


def style(*names: str) -> list[str]:
    """Style sheets of a part."""
    return [(STYLE / f"{name}.css").read_text(encoding="utf-8") for name in names]
