"""Pictures of runs: Datasets in, HoloViews elements out; testable without pixels."""

from workbench.views.against_topics import against_topics
from workbench.views.comparison import final_perplexities, perplexity_curves, perplexity_layout, state_and_average
from workbench.views.flow import flow_height, topic_flow_view
from workbench.views.lineage import lineage_height, lineage_view
from workbench.views.progress import (
    bound_curves,
    concentration_curves,
    concentrations_of,
    move_curve,
    objective_curves,
    objectives_of,
    topic_number_curves,
    topic_size_curves,
)
from workbench.views.topic_map import coherence_view, topic_map_view
from workbench.views.topics import topic_sizes_view, topic_words_view

__all__ = [
    "against_topics", "bound_curves", "coherence_view", "concentration_curves", "concentrations_of", "final_perplexities",
    "flow_height", "lineage_height", "lineage_view", "move_curve", "objective_curves", "objectives_of", "perplexity_curves",
    "perplexity_layout", "state_and_average", "topic_flow_view", "topic_map_view", "topic_number_curves",
    "topic_size_curves", "topic_sizes_view", "topic_words_view",
]
