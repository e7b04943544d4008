"""What the pages share: their frame, downloads, and the numbers of runs that are read from the store."""
