"""The Ledger page: the claims of the papers, the results of our runs for each, and what was not run."""
