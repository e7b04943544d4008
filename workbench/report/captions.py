"""Texts for captions and reports: settings of runs, definitions of measures, and remarks."""

from collections.abc import Iterable

from workbench.corpus.experiments import IN_WORDS, regime_in_words, rows_in_words, share_in_words
from workbench.engines import get_engine
from workbench.measures import TOPIC_NUMBERS, data_of, finds_topics, labels_of, learnt_by
from workbench.measures.selection import grouped, last_iteration
from workbench.measures.starts import restarts_in_words
from workbench.models import VARIABLES
from workbench.numbers import capital
from workbench.report.commands import commands, missing_in_commands
from workbench.report.gathering import ReportedRun, stores_of
from workbench.runs.loading import ROWS
from workbench.runs.reading import option_texts, rows_about
from workbench.runs.spec import RunSpec
from workbench.views import Picture, objectives_of
from workbench.views.elements import SHORT

HYPERPARAMETERS = ("alpha", "beta", "alpha_total", "beta_total", "top_concentration")

SCORED = (
    (
        "held-out perplexity",
        "The exponential of the mean negative log p(w|d) of the tokens that were held out of the training "
        "documents: the number of equally likely words that would be as hard to guess. Lower is better. "
        "p(w|d) is the sum over topics "
        "of theta (topic given document) times phi (word given topic), both posterior means given the state of the inference. "
        "For engines that sample, the number is that of the running average; for those that do not, that of the state.",
    ),
    (
        "of the state",
        "The same with p(w|d) from the last iteration's state alone, sampled or variational.",
    ),
    (
        "running average",
        "The same with p(w|d) of each held-out token averaged over all iterations after burn-in, before the "
        "logarithm is taken; during burn-in it is that of the state. Probabilities are averaged, never topics, whose "
        "numbers can be permuted.",
    ),
)
SCORED_CELLS = (
    (
        "held-out perplexity",
        "The exponential of the mean negative log probability of the held-out cells, each given the training cells of its "
        "record or, in a record that is held out as a whole, the cells before it: the number of equally likely levels that "
        "would be as hard to guess. Lower is better. "
        "For engines that sample, the number is that of "
        "the running average; for those that do not, that of the state.",
    ),
    ("of the state", "The same from the last iteration's state alone, sampled or variational."),
    (
        "running average",
        "The same with the probability of each held-out cell averaged over all iterations after burn-in, "
        "before the logarithm is taken; during burn-in it is that of the state.",
    ),
)
"""Definitions for runs on records."""
DIFFERENCE = (
    "difference",
    "The held-out perplexity minus the reference's, averaged over pairs of runs on the same split with the same seed; "
    "variation that both runs of a pair share cancels, so the error can be smaller than that of either mean.",
)
ERROR = (
    "± standard error",
    "The standard deviation (n − 1) over the runs of a label, divided by the square root of their number. "
    "It measures variation between seeds, not between corpora.",
)
OVER_ROWS = (
    "95 % over {rows}",
    "Student's interval over the {rows} with held-out {items}, for the log of the perplexity averaged over the runs of a "
    "label. Its degrees of freedom are the effective number of {rows}, which is lower for unequal lengths, minus one; below "
    "two effective {rows} there is no interval. The difference of a single pair has one too, with the {rows} of both paired. "
    "It measures variation between {rows} for the learnt model, not between seeds.",
)
COSTS = (
    (
        "inference seconds, CPU seconds",
        "Time in the steps of the engine alone, without scoring, storing and compiling. CPU seconds are summed over "
        "threads.",
    ),
    (
        "site updates",
        "Sampled tokens plus updated pairs (a word in a document, with its count), times inner passes and chains; for records "
        "each visit of a distinct record. The number of topics is not a factor.",
    ),
    (
        "ns per update",
        "CPU seconds divided by site updates, in nanoseconds: the cost of an update, independent of the load of the machine.",
    ),
)
STEPS = (
    "steps",
    "Iterations times topics (if the number of topics changes, summed over the iterations), to compare runs with different "
    "numbers of topics.",
)
TOPICS = (
    "topic sizes and words",
    "The size of a topic is its (expected) number of training tokens. Its words are ranked by phi, "
    "their probability in the topic, at the run's last snapshot.",
)


def definitions(entries: list[ReportedRun], by_documents: bool = False) -> list[tuple[str, str]]:
    """Return (name, definition) of each measure in a report; with ``by_documents``, also of intervals over documents."""
    runs = [entry.dataset for entry in entries]
    n_labels, is_scored = (
        len(set(labels_of(runs))),
        any(entry.spec.test is not None for entry in entries),
    )
    recorded_names = {name for run in runs for name in run.data_vars}

    def sentence(name: str, ending: str = "") -> str:
        """Return the meaning of a variable as a sentence that ends with ``ending``."""
        return f"{capital(VARIABLES[name].meaning)}{ending}."

    has_records = _item_name(entries[0].spec) == "cell"
    rows = (
        [*(SCORED_CELLS if has_records else SCORED), *[DIFFERENCE] * (n_labels > 1)]
        if is_scored
        else []
    )
    rows += [ERROR] * (n_labels < len(runs)) + [
        tuple(
            text.format(rows=rows_of(entries), items=f"{_item_name(entries[0].spec)}s")
            for text in OVER_ROWS
        )
    ] * by_documents
    rows += [
        (name.replace("_", " "), f"{sentence(name)} In nats (natural logarithm); higher is better.")
        for name in objectives_of(runs)
    ]
    rows += [("collapsed bound", sentence("collapsed_bound", ", in nats"))] * (
        "collapsed_bound" in recorded_names
    )
    if "n_active_topics" in recorded_names:
        rows += [*((SHORT[name], sentence(name)) for name in TOPIC_NUMBERS), STEPS]
    rows += [(SHORT[name], sentence(name)) for name in HYPERPARAMETERS if name in recorded_names]
    return [*rows, *COSTS, *[TOPICS] * (not has_records)]


def rows_of(entries: list[ReportedRun]) -> str:
    """Return the name of the rows of the runs' data: "documents" or "records"."""
    return ROWS[get_engine(entries[0].spec.engine).model.data]


def _item_name(spec: RunSpec) -> str:
    """Return the item over which a run's scores are averaged: "token" or "cell"."""
    return get_engine(spec.engine).model.data.item


def settings(entries: list[ReportedRun]) -> list[tuple[str, str]]:
    """Return (name, value) of the settings of the runs; where runs differ, the value lists all distinct values."""
    specs = [entry.spec for entry in entries]
    splits = [spec.split or {} for spec in specs]

    def every(values: Iterable[object], default: str = "") -> str:
        """Return all distinct values as one text; "" if the only value is the default."""
        text = "; ".join(dict.fromkeys(map(str, values)))
        return text if text != default else ""

    priors = [(spec.model.get("name"), *row) for spec in specs for row in priors_of(spec)]
    # separately for each network
    priors_by_network = grouped([row[:2] for row in priors], [row[2] for row in priors])
    words = (
        f"the {split['top_words']:,} most frequent words" if split.get("top_words") else "all words"
        for split in splits
    )
    options = (", ".join(filter(None, option_texts(spec.reading).values())) for spec in specs)
    rows = [
        ("corpus", every(spec.corpus for spec in specs)),
        (
            "read with",
            every(
                (reading_options or "the defaults" for reading_options in options), "the defaults"
            ),
        ),
        ("topics", every(_topics(spec) for spec in specs if spec.n_topics)),
        *((label, every(texts)) for (_, label), texts in priors_by_network.items()),
        ("iterations", every(_reached_iteration(entry) for entry in entries if entry.spec.length)),
        ("burn-in", every(f"{spec.burn_in} iterations" for spec in specs if spec.length)),
        ("vocabulary", every(words, "all words")),
        (
            "counts",
            every(
                (", ".join(regime_in_words(split)) or "unchanged" for split in splits),
                "unchanged",
            ),
        ),
        (
            "singletons",
            every((IN_WORDS.get(split.get("singletons"), "kept") for split in splits), "kept"),
        ),
        (f"held-out {_item_name(specs[0])}s", every(_split_text(entry) for entry in entries)),
        ("inference seeds", ", ".join(map(str, sorted({spec.seed for spec in specs})))),
        ("threads", every(spec.n_threads for spec in specs)),
        ("started from", every((lineage(entry) or "nothing" for entry in entries), "nothing")),
    ]
    return [(name, value) for name, value in rows if value]


def _topics(spec: RunSpec) -> str:
    """Return the number of topics as text, with a note if the model infers it."""
    n_topics = spec.n_topics
    if not spec.parts()[1].nonparametric:
        return str(n_topics)
    return (
        f"{n_topics} initially ({spec.engine})"
        if finds_topics(spec)
        else f"at most {n_topics} ({spec.engine})"
    )


def priors_of(spec: RunSpec) -> list[tuple[str, str]]:
    """Return (label, text) of each prior of a run's model: the value, and how it is learnt."""
    rows = []
    for name, owner in (("alpha", "topic"), ("beta", "word type")):
        if name in spec.model and spec.n_topics:
            method = spec.options.get(f"learn_{name}", "fixed")
            learning_text = f" initially, then {method}" if method != "fixed" else ""
            label = f"{name} (per {owner})" if _item_name(spec) == "token" else name
            rows.append((label, _number(spec.model[name]) + learning_text))
    return rows + spec.parts()[1].describe()


def lineage(entry: ReportedRun) -> str:
    """Return the name, hash and iteration of a warm start's parent run as text; "" for a cold start."""
    warm_start = entry.spec.start
    return (
        f"{warm_start['name']} ({warm_start['hash'][:8]}), iteration {warm_start['iteration']}"
        if warm_start
        else ""
    )


def statistics(entries: list[ReportedRun]) -> list[tuple[str, str]]:
    """Return (name, value) of the sizes of the data, as far as the runs or the store contain them."""
    rows: dict[str, dict[str, None]] = {}
    for entry in entries:
        (train, test), run = entry.corpora, entry.dataset
        if train is not None:
            sizes = {
                "word types"
                if name == "words"
                else name + " (training)" * (name in ("pairs", f"{train.item}s")): size
                for name, size in train.describe().items()
            }
        else:
            dims = {"documents": "document", "word types": "word"}
            sizes = {name: run.sizes[dim] for name, dim in dims.items() if dim in run.sizes}
            sizes |= (
                {"tokens (training)": round(float(run["n_k"].values[-1].sum()))}
                if "n_k" in run
                else {}
            )
        sizes |= {f"{test.item}s (held out)": test.n_items} if test is not None else {}
        for name, size in sizes.items():
            rows.setdefault(name, {})[f"{size:,}"] = None
    return [(name, "; ".join(values)) for name, values in rows.items()]


def data_rows(entries: list[ReportedRun]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (name, rows) of each corpus; the rows (property, text) describe its reading, documents and span of dates."""
    rows = {}
    for entry, name in zip(entries, data_of([each.dataset for each in entries]), strict=True):
        corpora = [corpus for corpus in entry.corpora if corpus is not None]
        sizes, times = [], getattr(corpora[0], "times", None) if corpora else None
        if corpora and _item_name(entry.spec) == "token":
            n_empty = int((sum(corpus.document_tokens for corpus in corpora) == 0).sum())
            sizes = [
                ("documents", f"{corpora[0].n_documents:,}, {n_empty:,} of them without words")
            ]
        if known_times := [time for time in times or () if time is not None]:
            span = f"{min(known_times)} to {max(known_times)}, {len(times) - len(known_times):,} documents without"
            sizes.append(("dates", span))
        rows.setdefault(name, [*rows_about(entry.spec.reading), *sizes])
    return list(rows.items())


def remarks(entries: list[ReportedRun], left_out: list[str] | tuple = ()) -> list[str]:
    """Return cautions about comparing the runs, one sentence each; ``left_out`` names runs without iterations."""
    notes = []
    ends = {int(last_iteration(entry.dataset)) for entry in entries if entry.spec.length}
    if left_out:
        notes.append(
            f"Left out, because they have no committed iteration yet: {', '.join(left_out)}."
        )
    if len(ends) > 1:
        span = f"{min(ends)} to {max(ends)} iterations"
        notes.append(
            f"The runs have different lengths ({span}); each is shown at its last iteration."
        )
    if imported_specs := [entry.spec for entry in entries if not entry.spec.length]:
        names = ", ".join(
            dict.fromkeys(f"{spec.engine} ({spec.model['program']})" for spec in imported_specs)
        )
        notes.append(
            f"{len(imported_specs)} of {len(entries)} models were inferred by other programs and imported: {names}. "
            "Their perplexity is computed from their distributions; their iterations, times and bounds are unknown, so they "
            "are in no curve."
        )
    if early := sum("stopped_early" in entry.dataset.attrs for entry in entries):
        notes.append(
            f"{early} of {len(entries)} runs stopped early by their stop rule; the table of runs gives the reasons."
        )
    if any(entry.spec.start for entry in entries):
        notes.append(
            "Runs marked warm were started from the counts of another run, whose iterations, seconds and updates are not "
            "included."
        )
    if learning_engines := [entry.spec.engine for entry in entries if learnt_by(entry.dataset)]:
        engines = ", ".join(dict.fromkeys(learning_engines))
        notes.append(
            f"{len(learning_engines)} of {len(entries)} runs learn hyperparameters ({engines})."
        )
    notes += [f"{sentence}." for entry in entries if (sentence := restarts_in_words(entry.dataset))]
    if any(last_iteration(entry.dataset) < entry.spec.n_iterations for entry in entries):
        notes.append(
            "Some runs are not finished; the numbers are of their last committed iterations."
        )
    if len(data := list(dict.fromkeys(data_of([entry.dataset for entry in entries])))) > 1:
        notes.append(
            f"The runs are on different data, whose perplexities cannot be compared: {'; '.join(data)}."
        )
    if all(entry.spec.test is None for entry in entries):
        notes.append("Nothing was held out, so there is no held-out perplexity.")
    return notes + missing_in_commands([entry.spec for entry in entries], stores_of(entries))


def caption(picture: Picture, entries: list[ReportedRun], left_out: list[str] | tuple = ()) -> str:
    """Return the plain-text caption of a figure: its description, the settings of its runs, and the command."""
    entries = [
        entry for entry in entries if any(entry.dataset is run for run in picture.runs)
    ] or entries
    lines = [
        picture.caption,
        "",
        *(f"{name}: {value}" for name, value in [*settings(entries), *statistics(entries)]),
    ]
    notes = remarks(entries, left_out)
    lines += ["", *notes] if notes else []
    return (
        "\n".join(
            [
                *lines,
                "",
                "Made by:",
                *(
                    f"  {line}"
                    for line in commands([entry.spec for entry in entries], stores_of(entries))
                ),
            ]
        )
        + "\n"
    )


def _reached_iteration(entry: ReportedRun) -> str:
    """Return the last iteration as text: "50", or "50 of 100" for an unfinished run."""
    end = int(last_iteration(entry.dataset))
    return str(end) if end >= entry.spec.n_iterations else f"{end} of {entry.spec.n_iterations}"


def _split_text(entry: ReportedRun) -> str:
    """Return the held-out split of a run as text."""
    if entry.spec.test is None:
        return "none"
    split = entry.spec.split
    if not split:
        return "a given test set"
    if "rows" in split:
        return rows_in_words(split["rows"])
    return (
        share_in_words(split)
        if "fraction" in split
        else f"some tokens, split seed {split.get('seed', 'unknown')}"
    )


def _number(value: float | list[float]) -> str:
    """Return a number, or a list of numbers, as text."""
    return (
        ", ".join(f"{number:g}" for number in value)
        if isinstance(value, (list, tuple))
        else f"{value:g}"
    )
