"""The pages of the dashboard: each shows one visitor forms, live figures and tables of the runs of a store."""

from importlib.util import find_spec

from workbench.errors import InputError, not_installed

if find_spec("panel") is None:
    raise InputError(not_installed("pages and live views", "panel", "pages"))
