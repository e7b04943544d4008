"""One visitor's desk: settings, the live curve, the table of runs, and the pages that put them together."""

from importlib.util import find_spec

from workbench.errors import InputError, not_installed

if find_spec("panel") is None:
    raise InputError(not_installed("pages and live views", "panel", "pages"))
