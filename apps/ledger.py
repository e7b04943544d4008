"""The Ledger page, for ``panel serve apps/ledger.py``; `workbench serve` serves the same page."""

from workbench.dashboard.ledger.page import page

page().servable()
