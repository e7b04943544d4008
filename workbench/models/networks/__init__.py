"""Networks of mixture levels: topic models whose levels each draw one variable given variables drawn before."""
