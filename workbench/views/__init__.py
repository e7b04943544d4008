"""Pictures of runs: functions from Datasets to HoloViews elements. `VIEWS` lists all views.

A *label* is the engine of a run with all settings in which the compared runs differ, except seeds and splits: runs of one
label are repetitions of each other. Most views have a curve or a panel per label.

`show`, from `workbench.views.live`, shows a view live in a notebook.
"""

from workbench.plugins import load_plugins
from workbench.views.comparison import (
    differences_view,
    final_perplexities,
    perplexity_curves,
    perplexity_layout,
    state_and_average,
)
from workbench.views.every import VIEWS, draw_view, pictures
from workbench.views.flow import topic_flow_view
from workbench.views.frontier import frontier_view, jitter_view, overtaking_view
from workbench.views.gap import gap_view
from workbench.views.groups import (
    by_group_view,
    group_differences_view,
    stacked_view,
    topic_over_time_view,
)
from workbench.views.lineage import lineage_height, lineage_view
from workbench.views.network import network_view
from workbench.views.picture import Picture, RunsToDraw, View
from workbench.views.progress import (
    bound_curves,
    concentration_curves,
    concentrations_of,
    move_curve,
    number_curves,
    objective_curves,
    objectives_of,
    topic_number_curves,
    topic_size_curves,
)
from workbench.views.settings_results import against_setting, against_topics, choose_k_view
from workbench.views.topic_map import topic_list_view, topic_map_view
from workbench.views.topics import coherence_view, names_of_topics, topic_words_view

__all__ = [
    "VIEWS",
    "Picture",
    "RunsToDraw",
    "View",
    "against_setting",
    "against_topics",
    "bound_curves",
    "by_group_view",
    "choose_k_view",
    "coherence_view",
    "concentration_curves",
    "concentrations_of",
    "differences_view",
    "draw_view",
    "final_perplexities",
    "frontier_view",
    "gap_view",
    "group_differences_view",
    "jitter_view",
    "lineage_height",
    "lineage_view",
    "move_curve",
    "names_of_topics",
    "network_view",
    "number_curves",
    "objective_curves",
    "objectives_of",
    "overtaking_view",
    "perplexity_curves",
    "perplexity_layout",
    "pictures",
    "show",
    "stacked_view",
    "state_and_average",
    "topic_flow_view",
    "topic_list_view",
    "topic_map_view",
    "topic_number_curves",
    "topic_over_time_view",
    "topic_size_curves",
    "topic_words_view",
]

VIEWS += load_plugins("views", [view.name for view in VIEWS]).values()


def __getattr__(name: str) -> object:
    """Return `show`, importing Panel at its first use."""
    if name != "show":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from workbench.views.live import show

    return show
