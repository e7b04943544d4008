"""The pages of the dashboard: forms, live figures and tables of the runs of a store, made for one visitor each."""

from importlib.util import find_spec

from workbench.errors import InputError, not_installed

if find_spec("panel") is None:
    raise InputError(not_installed("pages and live views", "panel", "pages"))
