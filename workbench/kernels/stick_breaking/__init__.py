"""Compiled loops of stick-breaking models, whose sticks are Gaussian, and of their logistic-normal counterparts."""
