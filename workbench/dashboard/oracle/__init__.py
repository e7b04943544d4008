"""The Oracle page: every engine beside the exact posterior of a toy corpus that is typed into a table."""
