"""What corpora and records share: files read and written whole, subsets drawn, the one error of data."""
