"""The cards of the Topics page: each shows one run, as of its last snapshot."""
