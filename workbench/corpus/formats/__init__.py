"""Files of text and counts: a module for each format, and what reads and writes all of them."""
