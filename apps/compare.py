"""The Compare page, for ``panel serve apps/compare.py``; `workbench serve` serves the same page."""

from workbench.dashboard.compare.page import page

page().servable()
