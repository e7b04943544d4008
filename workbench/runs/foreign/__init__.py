"""Import of models of other programs as runs: a reader for each program, and a function that stores the model as a run."""
