"""One visitor's desk: settings, the live curve, the table of runs, and the pages that put them together."""
