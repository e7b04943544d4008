"""Measures of runs: functions from Datasets of runs to small tables.

``run`` is the Dataset of one run; measures of topics need its counts (`workbench.open_run`). ``runs`` is one or several
Datasets, see `each_run`. Topics of an HDP without a token are left out. `MeasureError` is raised for a Dataset without the
variables that a measure needs, and for an unknown choice.
"""

from workbench.measures.choosing import Recommendation, numbers_by_k, recommend_k, topic_similarity
from workbench.measures.comparison import (
    final,
    paired_differences,
    perplexity_errors,
    reached_by_all,
    summary,
    time_to,
)
from workbench.measures.consensus import consensus
from workbench.measures.convergence import convergence, effective_samples, label_free
from workbench.measures.correlations import (
    correlation_differences,
    mean_correlations,
    topic_correlations,
)
from workbench.measures.curves import (
    CLOCKS,
    DERIVED,
    TOPIC_NUMBERS,
    Curve,
    against_topics,
    bound_of,
    finds_topics,
    mean_curves,
    n_tokens,
    quantity,
    runs_by_curve,
    topic_counts,
)
from workbench.measures.documents import (
    document_map,
    documents_table,
    find_documents,
    representative_documents,
    token_topics,
)
from workbench.measures.effects import effect_curve, effects
from workbench.measures.exact import exact
from workbench.measures.frontier import at_equal_cost, frontier, overtaking
from workbench.measures.gap import gap
from workbench.measures.groups import (
    group_differences,
    topics_by_group,
    topics_over_time,
    with_columns,
    words_by_group,
)
from workbench.measures.learning import (
    Hyperparameter,
    Move,
    describe_moves,
    differing,
    hyperparameters,
    learnt_by,
    moves,
    settings_of,
)
from workbench.measures.matching import (
    Edge,
    lineage,
    match_topics,
    topic_distances,
    topic_flow,
    topic_map,
    topic_tree,
)
from workbench.measures.mixtures import NO_TOPIC, mixture_table, mixtures
from workbench.measures.names import suggested_names
from workbench.measures.perplexity_audit import perplexity_audit
from workbench.measures.prevalence import prevalence_curve
from workbench.measures.responses import predicted_responses
from workbench.measures.selection import (
    MeasureError,
    data_of,
    each_run,
    in_papers_order,
    labels_of,
    one_run,
    replicate_of,
    spec_of,
)
from workbench.measures.stationary import stationary
from workbench.measures.topics import (
    coherence,
    diversity,
    largest_first,
    saliency,
    salient_words,
    top_words,
    topic_descriptions,
    topic_labels,
    topic_sizes,
    topic_words,
    topics_by_size,
    topics_of_word,
    used_topics,
)

__all__ = [
    "CLOCKS",
    "DERIVED",
    "NO_TOPIC",
    "TOPIC_NUMBERS",
    "Curve",
    "Edge",
    "Hyperparameter",
    "MeasureError",
    "Move",
    "Recommendation",
    "against_topics",
    "at_equal_cost",
    "bound_of",
    "coherence",
    "consensus",
    "convergence",
    "correlation_differences",
    "data_of",
    "describe_moves",
    "differing",
    "diversity",
    "document_map",
    "documents_table",
    "each_run",
    "effect_curve",
    "effective_samples",
    "effects",
    "exact",
    "final",
    "find_documents",
    "finds_topics",
    "frontier",
    "gap",
    "group_differences",
    "hyperparameters",
    "in_papers_order",
    "label_free",
    "labels_of",
    "largest_first",
    "learnt_by",
    "lineage",
    "match_topics",
    "mean_correlations",
    "mean_curves",
    "mixture_table",
    "mixtures",
    "moves",
    "n_tokens",
    "numbers_by_k",
    "one_run",
    "overtaking",
    "paired_differences",
    "perplexity_audit",
    "perplexity_errors",
    "predicted_responses",
    "prevalence_curve",
    "quantity",
    "reached_by_all",
    "recommend_k",
    "replicate_of",
    "representative_documents",
    "runs_by_curve",
    "saliency",
    "salient_words",
    "settings_of",
    "spec_of",
    "stationary",
    "suggested_names",
    "summary",
    "time_to",
    "token_topics",
    "top_words",
    "topic_correlations",
    "topic_counts",
    "topic_descriptions",
    "topic_distances",
    "topic_flow",
    "topic_labels",
    "topic_map",
    "topic_similarity",
    "topic_sizes",
    "topic_tree",
    "topic_words",
    "topics_by_group",
    "topics_by_size",
    "topics_of_word",
    "topics_over_time",
    "used_topics",
    "with_columns",
    "words_by_group",
]
