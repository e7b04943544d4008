"""Figures for papers and one self-contained page."""

from workbench.report.figures import save_figures
from workbench.report.page import write_report

__all__ = ["save_figures", "write_report"]
