"""Named data sets: published, prepared, with inputs or sequences, and drawn."""
