"""The run store: a folder for each run, and the commit protocol that keeps it consistent."""
