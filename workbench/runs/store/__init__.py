"""The run store: a folder per run, and the commit protocol that keeps it whole."""
