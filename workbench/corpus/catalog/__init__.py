"""The catalog of named data sets: published, prepared from these, with inputs or sequences, and simulated."""
