"""Numbers about runs: Datasets in, small labelled tables out."""

from workbench.measures.comparison import final, paired_differences, reached_by_all, summary, time_to
from workbench.measures.curves import Curve, mean_curves
from workbench.measures.selection import MeasureError, each_run, labels_of, replicate_of, spec_of
from workbench.measures.topics import top_words, topic_sizes, topic_words

__all__ = [
    "Curve", "MeasureError", "each_run", "final", "labels_of", "mean_curves", "paired_differences", "reached_by_all",
    "replicate_of", "spec_of", "summary", "time_to", "top_words", "topic_sizes", "topic_words",
]
