"""The Topics page, for ``panel serve apps/topics.py``; `workbench serve` serves the same page."""

from workbench.dashboard.topics.page import page

page().servable()
