"""What the pages have in common: the shell, downloads, and what is read from the store."""
