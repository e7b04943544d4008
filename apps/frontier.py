"""The Frontier page, for ``panel serve apps/frontier.py``; `workbench serve` serves the same page."""

from workbench.dashboard.frontier.page import page

page().servable()
