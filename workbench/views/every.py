"""The list of all views. Figures, reports, the Topics page and notebooks show those whose variables a run has."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import data_of, each_run, in_papers_order
from workbench.measures.selection import Runs, grouped
from workbench.runs.afterwards.heldout_by_document import Pooled, Scored
from workbench.runs.progress import bar
from workbench.views import (
    bayes_nets,
    comparison,
    consensus,
    convergence,
    correlations,
    document_map,
    effects,
    flow,
    frontier,
    gap,
    groups,
    hidden_states,
    lineage,
    loadings,
    network,
    over_time,
    progress,
    rows_with_inputs,
    running_text,
    sequence_gains,
    settings_results,
    topic_map,
    topic_tree,
    topics,
)
from workbench.views.picture import Picture, RunsToDraw, View, file_names

SCORED, COUNTED = ("test_perplexity",), ("phi n_kw",)
VIEWS = [
    View("ordering", "Final perplexity of each engine", SCORED, comparison.draw_ordering),
    View(
        "differences",
        "Paired differences of held-out perplexity",
        SCORED,
        comparison.draw_differences,
    ),
    *(
        View(
            f"perplexity-by-{name}",
            f"Held-out perplexity against {name}",
            SCORED,
            comparison.draw_perplexity,
            course=True,
        )
        for name in comparison.CLOCKS
    ),
    View(
        "state-and-average",
        "State and running average of each engine",
        SCORED,
        comparison.draw_state_and_average,
        course=True,
    ),
    View(
        "gains",
        "Gains over training frequencies",
        ("test_gain_joint_added",),
        comparison.draw_gain_marks,
    ),
    View(
        "hits",
        "Hits among the words of a row",
        ("test_top_hits",),
        comparison.draw_courses,
        course=True,
    ),
    View("bound", "Variational bounds", ("bound",), progress.draw_bounds, course=True),
    View(
        "objectives",
        "Log joint and objective",
        ("log_joint", "objective"),
        progress.draw_objectives,
        course=True,
    ),
    View(
        "convergence",
        "Convergence of chains",
        ("moved", "log_joint"),
        convergence.draw_convergence,
        course=True,
    ),
    View(
        "against-topics",
        "Against the number of topics",
        ("model.n_topics",),
        settings_results.draw_against_topics,
    ),
    View(
        "choose-k",
        "Choosing the number of topics",
        ("model.n_topics",),
        settings_results.draw_choose_k,
    ),
    View("settings", "Settings and results", SCORED, settings_results.draw_settings),
    View("gap", "Gap to Gibbs sampling", ("test_perplexity bound",), gap.draw_gap),
    View(
        "frontier",
        "Cost and distance from long Gibbs chains",
        SCORED,
        frontier.draw_frontier,
        course=True,
    ),
    View(
        "overtaking",
        "Where hybrids overtake Gibbs sampling",
        SCORED,
        frontier.draw_overtaking,
        across=True,
    ),
    View(
        "topic-numbers",
        "Number of topics",
        ("n_active_topics",),
        progress.draw_topic_numbers,
        course=True,
    ),
    View(
        "hyperparameters",
        "Learnt hyperparameters",
        progress.CONCENTRATIONS,
        progress.draw_concentrations,
        course=True,
    ),
    View("alphas", "Prior of each topic", ("alpha topic",), progress.draw_alphas, course=True),
    View("moves", "Splits and merges", ("move",), progress.draw_moves, course=True),
    View("lineage", "Warm starts of runs", ("spec.start",), lineage.draw_lineage),
    View("network", "The network", ("model.levels",), network.draw_networks),
    View(
        "topic-sizes",
        "Topic sizes",
        ("n_k",),
        progress.draw_topic_sizes,
        controls=progress.size_controls,
        course=True,
    ),
    View(
        "topic-words",
        "Words of the topics",
        COUNTED,
        topics.draw_words,
        controls=topics.word_controls,
    ),
    View("consensus", "Topics on which runs agree", COUNTED, consensus.draw_consensus),
    View("topic-map", "Map of the topics", COUNTED, topic_map.draw_maps),
    View(
        "topic-correlations",
        "Correlations of topics",
        ("psi_mean psi_covariance phi",),
        correlations.draw_correlations,
        on_page=True,
        controls=correlations.correlation_controls,
    ),
    View(
        "prevalence-by-year",
        "Topics by year",
        ("prevalence phi",),
        over_time.draw_prevalence,
        on_page=True,
    ),
    View(
        "topics-over-time",
        "Topics over time",
        ("phi n_dk document_time",),
        groups.draw_topics_over_time,
        on_page=True,
        controls=groups.over_time_controls,
    ),
    View(
        "topics-by-group",
        "Topics by group",
        ("phi n_dk document",),
        groups.draw_by_group,
        on_page=True,
        controls=groups.group_controls,
    ),
    View(
        "group-differences",
        "Differences between groups",
        ("phi n_dk document",),
        groups.draw_group_differences,
        on_page=True,
        controls=groups.against_controls,
    ),
    View(
        "effects",
        "Effects of a column",
        ("phi n_dk document",),
        effects.draw_effects,
        on_page=True,
        controls=effects.effect_controls,
    ),
    View(
        "prevalence",
        "Prevalence by a column",
        ("phi gamma",),
        effects.draw_prevalence,
        on_page=True,
        controls=effects.prevalence_controls,
    ),
    View(
        "words-by-year",
        "Words by year",
        ("phi_by_time",),
        over_time.draw_words_by_year,
        on_page=True,
    ),
    View("topic-tree", "Tree of the topics", COUNTED, topic_tree.draw_trees, on_page=True),
    View(
        "document-map",
        "Map of the documents",
        ("phi theta n_dk document",),
        document_map.draw_document_maps,
        on_page=True,
    ),
    View("coherence", "Coherence of the topics", COUNTED, topics.draw_coherence),
    View("topic-flow", "Topics of two runs", COUNTED, flow.draw_flows),
    View(
        "word-map",
        "Map of a word",
        ("probability inputs",),
        rows_with_inputs.draw_word_map,
        on_page=True,
        controls=rows_with_inputs.map_controls,
    ),
    View(
        "rows-by-year",
        "Words of a place by year",
        ("probability inputs",),
        rows_with_inputs.draw_rows_by_year,
        on_page=True,
        controls=rows_with_inputs.place_controls,
    ),
    View(
        "hidden-paths",
        "Hidden states along a sequence",
        ("states_mean states_deviation sequence",),
        hidden_states.draw_paths,
        on_page=True,
        controls=hidden_states.sequence_controls,
    ),
    View(
        "state-probabilities",
        "States of a sequence",
        ("state_probability emissions sequence",),
        hidden_states.draw_state_probabilities,
        on_page=True,
        controls=hidden_states.sequence_controls,
    ),
    View(
        "sequence-gains",
        "Gain of each sequence",
        ("test_perplexity sequence",),
        sequence_gains.draw_gains,
    ),
    View(
        "loadings",
        "Words by their loadings",
        ("loadings states stick_words",),
        loadings.draw_loadings,
        on_page=True,
    ),
    View(
        "text",
        "Next words",
        ("emissions transitions first_state sequence", "loadings system stick_words sequence"),
        running_text.draw_text,
        on_page=True,
        controls=running_text.text_controls,
    ),
    View("nodes", "Nodes of the network", ("n_cpt",), bayes_nets.draw_nodes, on_page=True),
    View(
        "class-profiles",
        "Profiles of the classes",
        ("n_cpt state_share",),
        bayes_nets.draw_class_profiles,
        on_page=True,
    ),
    View(
        "distributions",
        "Distributions of a node",
        ("n_cpt",),
        bayes_nets.draw_distributions,
        on_page=True,
        controls=bayes_nets.distribution_controls,
    ),
    View(
        "record-posterior",
        "Hidden nodes of one record",
        ("n_cpt multiplicity",),
        bayes_nets.draw_record,
        on_page=True,
        controls=bayes_nets.record_controls,
    ),
    View(
        "recorded",
        "Other recorded numbers",
        ("iteration",),
        progress.draw_recorded,
        on_page=True,
        course=True,
    ),
]


def pictures(
    runs: Runs,
    columns: int = 2,
    corpora: Mapping[str, Corpus] | None = None,
    scored: Mapping[str, Scored] | None = None,
    pooled: Sequence[Pooled] = (),
    progress: bool = False,
) -> list[Picture]:
    """Return all pictures that the runs' variables allow, separately for each data set.

    Perplexities on different data cannot share a picture. Pictures of all data together come first. ``columns`` is the number
    of columns of a page. ``corpora`` are corpora by hash, for coherence, flows, maps and texts; ``scored`` are held-out scores
    by the hash of a run's spec, for gains; ``pooled`` are pooled long chains, for the frontier. ``progress`` shows a bar.
    """
    runs, pictures_by_data = each_run(runs), {}
    by_data = grouped(data_of(runs), runs)
    for data, members in by_data.items():
        selection = RunsToDraw(
            in_papers_order(members), columns, corpora or {}, scored or {}, pooled
        )
        pictures_by_data[data] = [
            picture
            for view in bar("views computed", len(VIEWS), progress, unit="view", iterable=VIEWS)
            if not (view.across and len(by_data) > 1)
            for picture in view.pictures(selection)
        ]
    if len(pictures_by_data) == 1:
        return pictures_by_data.popitem()[1]
    whole_selection = RunsToDraw(
        in_papers_order(runs), columns, corpora or {}, scored or {}, pooled
    )
    return [
        picture for view in VIEWS if view.across for picture in view.pictures(whole_selection)
    ] + [
        replace(
            picture,
            name=f"{picture.name}-{short}",
            title=f"{picture.title}, {data}",
            caption=f"On {data}. {picture.caption}",
            runs=picture.runs or by_data[data],
        )
        for (data, members), short in zip(
            pictures_by_data.items(), file_names(pictures_by_data), strict=True
        )
        for picture in members
    ]


def view_named(name: str) -> View:
    """Return the view with this name, which must exist."""
    return next(view for view in VIEWS if view.name == name)


def draw_view(
    name: str,
    runs: list[xr.Dataset],
    columns: int = 2,
    corpora: Mapping[str, Corpus] | None = None,
    **options,
) -> list[Picture]:
    """Return the pictures that the view called ``name`` draws of the runs."""
    return view_named(name).pictures(RunsToDraw(runs, columns, corpora or {}), **options)
