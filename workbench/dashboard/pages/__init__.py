"""One file a page; a page puts parts together and holds no mathematics."""
