"""Split texts into words and count them."""
