"""The Compare page: settings beside the live curves and the table of every run of the store."""
