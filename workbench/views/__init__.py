"""Pictures of runs: Datasets in, HoloViews elements out; testable without pixels."""

from workbench.views.comparison import final_perplexities, perplexity_curves, perplexity_layout, state_and_average
from workbench.views.progress import objective_curves, objectives_of, topic_size_curves
from workbench.views.topics import topic_sizes_view, topic_words_view

__all__ = [
    "final_perplexities", "objective_curves", "objectives_of", "perplexity_curves", "perplexity_layout", "state_and_average",
    "topic_size_curves", "topic_sizes_view", "topic_words_view",
]
