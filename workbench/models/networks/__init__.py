"""Networks of mixture levels: topic models as tables of which variable is drawn given which others."""
