"""Mathematics shared by engines: compiled arithmetic over arrays, no state, no files."""
