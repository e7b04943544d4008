"""Numbers about runs: Datasets in, small labelled tables out."""

from workbench.measures.comparison import final, paired_differences, reached_by_all, summary, time_to
from workbench.measures.curves import Curve, mean_curves
from workbench.measures.selection import (
    PAPERS_ORDER,
    MeasureError,
    data_of,
    each_run,
    in_papers_order,
    labels_of,
    one_run,
    replicate_of,
    spec_of,
)
from workbench.measures.topics import top_words, topic_sizes, topic_words

__all__ = [
    "PAPERS_ORDER", "Curve", "MeasureError", "data_of", "each_run", "final", "in_papers_order", "labels_of", "mean_curves",
    "one_run", "paired_differences", "reached_by_all", "replicate_of", "spec_of", "summary", "time_to", "top_words",
    "topic_sizes", "topic_words",
]
