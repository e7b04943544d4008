"""``python -m workbench``: the command line."""

from workbench.cli import entry

entry()
