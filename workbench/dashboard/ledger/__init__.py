"""The Ledger page: what the papers have, what our runs say of it, and what was not run."""
