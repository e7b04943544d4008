"""Reports about runs: figures for papers, a self-contained HTML page, tables, and exports for other programs."""

from workbench.report.export import export_run
from workbench.report.figures import save_figures
from workbench.report.page import write_report
from workbench.report.tables import write_tables

__all__ = ["export_run", "save_figures", "write_report", "write_tables"]
