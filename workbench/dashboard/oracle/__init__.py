"""The Oracle page: every engine of LDA compared with the exact posterior of a small corpus typed into a table."""
