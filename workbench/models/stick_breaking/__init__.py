"""Models with Gaussian variables that stick-breaking or softmax maps to probabilities."""
