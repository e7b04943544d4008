"""The Choose K page: its runs, what they came to, and the page itself."""
