"""Settings of runs, definitions of measures and remarks, as text for captions and reports."""

import json

from workbench.corpus.experiments import IN_WORDS, regime_in_words, rows_in_words, share_in_words
from workbench.engines import get_engine
from workbench.measures import TOPIC_NUMBERS, data_of, finds_topics, labels_of, learnt_by
from workbench.measures.selection import grouped, last_iteration
from workbench.models import VARIABLES
from workbench.report.commands import commands, unsaid
from workbench.report.gathering import Gathered
from workbench.runs.loading import ROWS
from workbench.runs.spec import RunSpec
from workbench.views import Picture, objectives_of
from workbench.views.curves import SHORT
from workbench.views.picture import capital

HYPERPARAMETERS = ("alpha", "beta", "alpha_total", "beta_total", "top_concentration")

SCORED = (
    (
        "held-out perplexity",
        "The exponential of the mean negative log p(w|d) of the tokens that were held out of the training "
        "documents: how many words, all equally likely, would be as hard to guess. Lower is better. "
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
        "logarithm is taken; until burn-in is over it is that of the state. Probabilities are averaged, never topics, whose "
        "numbers may change places.",
    ),
)
SCORED_CELLS = (
    (
        "held-out perplexity",
        "The exponential of the mean negative log probability of the cells that were held out, each given "
        "those of its record that are in training, or, of a whole record that was held out, given its cells before: how many "
        "levels, all equally likely, would be as hard to guess. Lower is better. "
        "For engines that sample, the number is that of "
        "the running average; for those that do not, that of the state.",
    ),
    ("of the state", "The same from the last iteration's state alone, sampled or variational."),
    (
        "running average",
        "The same with the probability of each held-out cell averaged over all iterations after burn-in, "
        "before the logarithm is taken; until burn-in is over it is that of the state.",
    ),
)
"""Of records."""
DIFFERENCE = (
    "difference",
    "How much higher the held-out perplexity is than the reference's, run by run on the same split with the "
    "same seed, averaged over these pairs; what pairs share cancels, so its error can be smaller than that of either mean.",
)
ERROR = (
    "± standard error",
    "The standard deviation (n − 1) over the runs of a label, divided by the square root of their number. "
    "It tells seeds apart, not corpora.",
)
OVER_ROWS = (
    "95 % over {rows}",
    "The {rows} that have held-out {items} are drawn 1,000 times with replacement, as many as there "
    "are, and the interval lies between the 2.5 and 97.5 percentiles of the perplexities, each averaged over the runs of a "
    "label. The difference of a single pair has one too, with the same {rows} drawn for both. It tells what other {rows} would "
    "have given under what was learnt, nothing of other seeds.",
)
COSTS = (
    (
        "inference seconds, CPU seconds",
        "Time spent in the steps of the engine alone: measuring, storing and compiling are not "
        "counted. CPU seconds add up all threads.",
    ),
    (
        "site updates",
        "Tokens sampled plus pairs (a word in a document, with its count) updated, times inner passes and "
        "samples; of records each distinct one that is visited. The number of topics is no factor.",
    ),
    (
        "ns per update",
        "CPU seconds divided by site updates, in nanoseconds: what an update costs, whatever else the machine "
        "had to do.",
    ),
)
STEPS = (
    "steps",
    "Iterations times topics, where the number of topics changes the sum over the iterations: what runs with "
    "different numbers of topics can be compared by.",
)
TOPICS = (
    "topic sizes and words",
    "The size of a topic is its (expected) number of training tokens. Its words are ranked by phi, "
    "their probability in the topic, at the run's last snapshot.",
)


def definitions(found: list[Gathered], by_documents: bool = False) -> list[tuple[str, str]]:
    """(name, sentences) of every measure that a page about the runs shows; ``by_documents``: also of intervals over them."""
    runs = [each.dataset for each in found]
    n_labels, scored = len(set(labels_of(runs))), any(each.spec.test is not None for each in found)
    there = {name for run in runs for name in run.data_vars}

    def sentence(name: str, unit: str = "") -> str:
        return f"{capital(VARIABLES[name].meaning)}{unit}."

    of_records = _item(found[0].spec) == "cell"
    said = (
        [*(SCORED_CELLS if of_records else SCORED), *[DIFFERENCE] * (n_labels > 1)]
        if scored
        else []
    )
    said += [ERROR] * (n_labels < len(runs)) + [_over_rows(found)] * by_documents
    said += [
        (name.replace("_", " "), f"{sentence(name)} In nats (natural logarithm); higher is better.")
        for name in objectives_of(runs)
    ]
    said += [("collapsed bound", sentence("collapsed_bound", ", in nats"))] * (
        "collapsed_bound" in there
    )
    if "n_active_topics" in there:
        said += [*((SHORT[name], sentence(name)) for name in TOPIC_NUMBERS), STEPS]
    said += [(SHORT[name], sentence(name)) for name in HYPERPARAMETERS if name in there]
    return [*said, *COSTS, *[TOPICS] * (not of_records)]


def rows_of(found: list[Gathered]) -> str:
    """What the rows of the runs' data are: documents, records."""
    return ROWS[get_engine(found[0].spec.engine).model.data]


def _over_rows(found: list[Gathered]) -> tuple[str, ...]:
    return tuple(
        text.format(rows=rows_of(found), items=f"{_item(found[0].spec)}s") for text in OVER_ROWS
    )


def _item(spec: RunSpec) -> str:
    """What a score of the run is per: a token, a cell."""
    return get_engine(spec.engine).model.data.item


def settings(found: list[Gathered]) -> list[tuple[str, str]]:
    """(what, value) of everything that decides the runs; values in which they differ are all listed."""
    specs = [each.spec for each in found]
    splits = [spec.split or {} for spec in specs]

    def every(values, usual: str = "") -> str:
        """All different ones; nothing where all are as usual."""
        text = "; ".join(dict.fromkeys(map(str, values)))
        return text if text != usual else ""

    beliefs = [(spec.model.get("name"), *row) for spec in specs for row in _beliefs(spec)]
    # of each apart
    of_networks = grouped([row[:2] for row in beliefs], [row[2] for row in beliefs])
    words = (
        f"the {split['top_words']:,} most frequent words" if split.get("top_words") else "all words"
        for split in splits
    )
    rows = [
        ("corpus", every(spec.corpus for spec in specs)),
        ("topics", every(_topics(spec) for spec in specs if "n_topics" in spec.model)),
        *((label, every(texts)) for (_, label), texts in of_networks.items()),
        ("iterations", every(_reached(each) for each in found if each.spec.length)),
        ("burn-in", every(f"{spec.burn_in} iterations" for spec in specs if spec.length)),
        ("vocabulary", every(words, "all words")),
        (
            "counts",
            every(
                (", ".join(regime_in_words(split)) or "as they are" for split in splits),
                "as they are",
            ),
        ),
        (
            "singletons",
            every((IN_WORDS.get(split.get("singletons"), "kept") for split in splits), "kept"),
        ),
        (f"held-out {_item(specs[0])}s", every(_split(each) for each in found)),
        ("inference seeds", ", ".join(map(str, sorted({spec.seed for spec in specs})))),
        ("threads", every(spec.n_threads for spec in specs)),
        ("started from", every((lineage(each) or "nothing" for each in found), "nothing")),
    ]
    return [(what, value) for what, value in rows if value]


def _topics(spec: RunSpec) -> str:
    """How many, and what that number is to a model that finds it."""
    n_topics = spec.n_topics
    if not spec.parts()[1].nonparametric:
        return str(n_topics)
    return (
        f"{n_topics} at the start ({spec.engine})"
        if finds_topics(spec)
        else f"at most {n_topics} ({spec.engine})"
    )


def _beliefs(spec: RunSpec) -> list[tuple[str, str]]:
    """(label, text) of the priors of a run's model, and how they are learnt from there."""
    rows = []
    for name, per in (("alpha", "topic"), ("beta", "word type")):
        if name in spec.model and "n_topics" in spec.model:
            way = spec.options.get(f"learn_{name}", "fixed")
            learnt = f" at the start, then {way}" if way != "fixed" else ""
            label = f"{name} (per {per})" if _item(spec) == "token" else name
            rows.append((label, _number(spec.model[name]) + learnt))
    return rows + spec.parts()[1].describe()


def lineage(each: Gathered) -> str:
    """The run that this one was started from, in words; nothing where it was not."""
    start = each.spec.start
    return f"{start['name']} ({start['hash'][:8]}), iteration {start['iteration']}" if start else ""


def statistics(found: list[Gathered]) -> list[tuple[str, str]]:
    """(what, value) of the sizes of the data, as far as the runs and their stores have them."""
    rows: dict[str, dict[str, None]] = {}
    for each in found:
        (train, test), run = each.corpora, each.dataset
        if train is not None:
            sizes = {
                "word types"
                if name == "words"
                else name + " (training)" * (name in ("pairs", f"{train.item}s")): size
                for name, size in train.describe().items()
            }
        else:
            dims = {"documents": "document", "word types": "word"}
            sizes = {what: run.sizes[dim] for what, dim in dims.items() if dim in run.sizes}
            sizes |= (
                {"tokens (training)": round(float(run["n_k"].values[-1].sum()))}
                if "n_k" in run
                else {}
            )
        sizes |= {f"{test.item}s (held out)": test.n_items} if test is not None else {}
        for what, size in sizes.items():
            rows.setdefault(what, {})[f"{size:,}"] = None
    return [(what, "; ".join(values)) for what, values in rows.items()]


def remarks(found: list[Gathered], left_out: list[str] | tuple = ()) -> list[str]:
    """Remarks for a reader who compares the numbers, one sentence each; ``left_out`` names runs without a record."""
    notes = []
    ends = {int(last_iteration(each.dataset)) for each in found if each.spec.length}
    if left_out:
        notes.append(f"Left out, because nothing of them is recorded yet: {', '.join(left_out)}.")
    if len(ends) > 1:
        span = f"{min(ends)} to {max(ends)} iterations"
        notes.append(f"The runs have different lengths ({span}); each counts as far as it got.")
    if imported := [each.spec for each in found if not each.spec.length]:
        names = ", ".join(
            dict.fromkeys(f"{spec.engine} ({spec.model['program']})" for spec in imported)
        )
        notes.append(
            f"{len(imported)} of {len(found)} models were inferred by other programs and imported: {names}. "
            "Their perplexity is that of the distributions they give; of their iterations, times and bounds nothing "
            "is known here, so they are in no curve."
        )
    if early := sum("stopped_early" in each.dataset.attrs for each in found):
        notes.append(
            f"{early} of {len(found)} runs ended early by their own rule; the table of every run says which and why."
        )
    if any(each.spec.start for each in found):
        notes.append(
            "Runs marked warm were started from the counts of another run, whose iterations, seconds and updates are "
            "not counted with theirs."
        )
    if learning := [each.spec.engine for each in found if learnt_by(each.dataset)]:
        engines = ", ".join(dict.fromkeys(learning))
        notes.append(
            f"{len(learning)} of {len(found)} runs learn hyperparameters of their own ({engines})."
        )
    for each in found:
        if tried := json.loads(each.dataset.attrs.get("restarts", "[]")):
            notes.append(
                f"{each.dataset.attrs['name']} is the best of {len(tried)} restarts, chosen by its bound."
            )
    if any(last_iteration(each.dataset) < each.spec.n_iterations for each in found):
        notes.append("Some runs are not finished; the numbers are those committed so far.")
    if len(data := list(dict.fromkeys(data_of([each.dataset for each in found])))) > 1:
        notes.append(
            f"The runs are on different data, whose perplexities cannot be compared: {'; '.join(data)}."
        )
    if all(each.spec.test is None for each in found):
        notes.append("Nothing was held out, so there is no held-out perplexity.")
    return notes + unsaid([each.spec for each in found])


def caption(picture: Picture, found: list[Gathered], left_out: list[str] | tuple = ()) -> str:
    """The plain-text caption of a figure: what it shows, the settings of the runs that it shows, the command."""
    found = [each for each in found if any(each.dataset is run for run in picture.runs)] or found
    lines = [
        picture.caption,
        "",
        *(f"{what}: {value}" for what, value in [*settings(found), *statistics(found)]),
    ]
    notes = remarks(found, left_out)
    lines += ["", *notes] if notes else []
    return (
        "\n".join(
            [
                *lines,
                "",
                "Made by:",
                *(f"  {line}" for line in commands([each.spec for each in found])),
            ]
        )
        + "\n"
    )


def _reached(each: Gathered) -> str:
    end = int(last_iteration(each.dataset))
    return str(end) if end >= each.spec.n_iterations else f"{end} of {each.spec.n_iterations}"


def _split(each: Gathered) -> str:
    if each.spec.test is None:
        return "none"
    split = each.spec.split
    if not split:
        return "a test set handed over ready-made"
    if "rows" in split:
        return rows_in_words(split["rows"])
    return (
        share_in_words(split)
        if "fraction" in split
        else f"some tokens, split seed {split.get('seed', 'unknown')}"
    )


def _number(value) -> str:
    return (
        ", ".join(f"{one:g}" for one in value) if isinstance(value, (list, tuple)) else f"{value:g}"
    )
