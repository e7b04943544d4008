"""The cards of the Topics page; each shows a run at its last snapshot."""
