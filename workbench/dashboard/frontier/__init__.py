"""The Frontier page: its runs, what they cost and how far they come, and the page itself."""
