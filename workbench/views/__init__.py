"""Pictures of runs: Datasets in, HoloViews elements out; testable without pixels."""

from workbench.views.comparison import perplexity_curves, perplexity_layout
from workbench.views.progress import objective_curves, objectives_of, topic_size_curves

__all__ = ["objective_curves", "objectives_of", "perplexity_curves", "perplexity_layout", "topic_size_curves"]
