"""Models of other programs as runs: a reader for each program, and one function that makes a run of what they read."""
