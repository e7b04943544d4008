"""Components that are drawn in the browser, with their JavaScript and style sheets."""

import panel as pn
import param

from workbench.dashboard.shared.shell import SCRIPTS, STYLE


class BrowserComponent(pn.custom.JSComponent):
    """A component that the browser draws; the server sends it only the parameters."""

    __abstract = True

    def __init__(self, **settings):
        super().__init__(sizing_mode="stretch_width", margin=0, **settings)


def code(*names: str) -> str:
    """Return the JavaScript of a component: the named files of this folder after the code that all components share.

    A page loads no modules, so each component has a copy of the shared code.
    """
    return "\n".join(
        (SCRIPTS / f"{name}.js").read_text(encoding="utf-8") for name in ("drawn", *names)
    )


def style(*names: str) -> list[str]:
    """Return the style sheets of a component, after the one that all components share."""
    return [(STYLE / f"{name}.css").read_text(encoding="utf-8") for name in ("drawn", *names)]


class SightMark(BrowserComponent):
    """An invisible mark on a page that notes when it has been in sight, so that what lies below can wait until then."""

    seen = param.Boolean(doc="Whether the place has ever been in sight.")

    _esm = code("sight")
