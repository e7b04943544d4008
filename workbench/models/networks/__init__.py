"""Networks of mixture levels: topic models as a table of who draws what, given what."""
