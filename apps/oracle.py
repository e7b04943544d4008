"""The Oracle page, for ``panel serve apps/oracle.py``; `workbench serve` serves the same page."""

from workbench.dashboard.oracle.page import page

page().servable()
