"""workbench: Bayesian topic models, compared live.

    import workbench as wb

    corpus = wb.load_corpus("docstrings")
    train, test = wb.hold_out_tokens(corpus, fraction=0.1, seed=0)
    ds = wb.fit(train, engine="svb-cgs", n_topics=10, test=test)

Names are imported when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "workbench.corpus": (
        "Corpus",
        "CorpusError",
        "ShardedCorpus",
        "data_sets",
        "drop_singletons",
        "hold_out_documents",
        "hold_out_ends",
        "hold_out_halves",
        "hold_out_rows",
        "hold_out_tokens",
        "keep_top_words",
        "load_corpus",
        "prepare",
        "read_corpus",
        "split_halves",
        "synthetic",
        "write_corpus",
    ),
    "workbench.corpus.catalog.synthetic": ("write_example_csv",),
    "workbench.corpus.streams": ("FileDocuments",),
    "workbench.corpus.corpus": ("corpus_of",),
    "workbench.corpus.shards.streaming": ("read_shards",),
    "workbench.dashboard.notebooks.tune": ("tune",),
    "workbench.dashboard.notebooks.live_view": ("watch",),
    "workbench.measures": (
        "coherence",
        "documents_table",
        "effective_samples",
        "effects",
        "exact",
        "find_documents",
        "representative_documents",
        "top_words",
        "topic_sizes",
    ),
    "workbench.measures.tables": ("perplexity", "top_documents", "topics"),
    "workbench.engines": ("register_engine",),
    "workbench.errors": ("Interrupted", "Terminated"),
    "workbench.models.bayes_nets.bayes_net": ("BayesNet",),
    "workbench.models.bayes_nets.nodes": ("Node",),
    "workbench.models.bayes_nets.simulated": ("simulate_records",),
    "workbench.models": ("LDA", "ModelError", "VARIABLES"),
    "workbench.papers.reproduce": ("reproduce",),
    "workbench.records": (
        "DataError",
        "Records",
        "hold_out_cells",
        "hold_out_records",
        "hold_out_whole_records",
        "read_records",
    ),
    "workbench.report.to_arviz": ("to_arviz",),
    "workbench.report": ("export_run", "save_figures", "write_report", "write_tables"),
    "workbench.report.export": ("to_pyldavis",),
    "workbench.runs.afterwards.bound": ("hybrid_bound",),
    "workbench.runs.execution.compare": ("compare",),
    "workbench.runs.execution.fit": ("fit", "resume", "start"),
    "workbench.runs.afterwards.infer": ("document_completion", "infer", "infer_to_file"),
    "workbench.runs.execution.run": ("Run", "open_run", "open_runs"),
    "workbench.runs.foreign.importing": ("import_run",),
    "workbench.runs.loading": ("load_records", "record_sets"),
    "workbench.runs.spec": ("RunSpec", "SpecError"),
    "workbench.runs.execution.sweep": ("sweep",),
    "workbench.runs.execution.update": ("fit_stream", "update"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("engines", "measures", "sklearn", "views")
__all__ = sorted([*_HOME_OF, *_MODULES])


def __getattr__(name: str):
    if name in _MODULES:
        return import_module(f"workbench.{name}")
    if name not in _HOME_OF:
        raise _no_name(name)
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def _no_name(name: str) -> AttributeError:
    """Return the error for an unknown name; its message suggests the public name that is most similar, if any."""
    sentence = f"module 'workbench' has no attribute '{name}'"
    if name.startswith("_"):
        return AttributeError(sentence)
    from workbench.errors import NoNameError, nearest

    measures = import_module("workbench.measures")
    measure_names = [f"measures.{measure}" for measure in measures.__all__]
    suggestion = nearest(name, [*__all__, *measure_names, "sklearn.TopicModel", "views.show"])
    suggestion = f"measures.{name}" if name in measures.__all__ else suggestion
    return NoNameError(f"{sentence}; did you mean wb.{suggestion}?" if suggestion else sentence)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
