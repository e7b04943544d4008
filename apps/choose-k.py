"""The Choose K page, for ``panel serve apps/choose-k.py``; `workbench serve` serves the same page."""

from workbench.dashboard.choose_k.page import page

page().servable()
