"""The Compare page: a form for runs beside the live figure and the table of every run of the store."""
