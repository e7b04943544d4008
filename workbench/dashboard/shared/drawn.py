"""Components that the browser draws: their JavaScript and their style sheets."""

import panel as pn

from workbench.dashboard.shared.shell import SCRIPTS, STYLE


class Drawn(pn.custom.JSComponent):
    """A component that the browser draws from its parameters; nothing else is sent."""

    __abstract = True

    def __init__(self, **settings):
        super().__init__(sizing_mode="stretch_width", margin=0, **settings)


def code(*names: str) -> str:
    """The JavaScript of a component, from files of this folder; a page loads no modules, so each has what all share."""
    return "\n".join(
        (SCRIPTS / f"{name}.js").read_text(encoding="utf-8") for name in ("drawn", *names)
    )


def style(*names: str) -> list[str]:
    """The style sheets of a component, with what all share."""
    return [(STYLE / f"{name}.css").read_text(encoding="utf-8") for name in ("drawn", *names)]
