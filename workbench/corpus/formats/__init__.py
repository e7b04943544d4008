"""File formats of texts and counts: one module per format, and the functions that read and write all of them."""
