"""Sentences of the report for readers: about the corpus, on the method, and what to be careful about."""

import json
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np
import xarray as xr

from workbench.engines import get_engine
from workbench.engines.engine import HYBRID, SAMPLER
from workbench.engines.options import options_of
from workbench.measures import MeasureError, convergence, finds_topics
from workbench.measures.documents import largest_topics
from workbench.measures.selection import last_iteration
from workbench.measures.topics import FEWEST_DRAWS, topic_labels, used_topics
from workbench.models.options import option_fields
from workbench.numbers import capital, format_number, join_words, with_noun
from workbench.report.captions import data_rows, lineage, priors_of, settings, statistics
from workbench.report.gathering import ReportedRun
from workbench.runs.execution.run import Run
from workbench.runs.progress import decimals
from workbench.runs.reading import LISTS, option_texts, rows_about
from workbench.runs.spec import RunSpec
from workbench.runs.store.edition import (
    arranges,
    read_edition,
    split_edit,
    split_edits,
    with_edition,
)

CITATION = "The workbench developers. workbench: an interactive workbench for Bayesian topic models"
FEW_WORDS = 20
"""A document with fewer counted words is called short."""
MOST_NAMED = 12
"""Maximum of columns and topics that a sentence names."""
R_HAT = 1.01
"""Largest R-hat of chains that agree (Vehtari et al. 2021)."""
CHOSEN = {
    "stop_words": "without the common words of {}",
    "more_stop_words": "without those of {}",
    "min_documents": "only those in at least {} documents",
    "max_share": "none in more than {} of the documents",
    "max_words": "the {} most frequent",
    "min_letters": "of at least {} letters",
    "ngrams": "with sequences of up to {} words",
    "accents": "without accents",
    "vocabulary": "those of a given list",
}
"""Option of reading that chooses words → what it does, with its value."""
UNCHOSEN = {"min_documents": 1, "max_share": 1.0, "min_letters": 1, "ngrams": 1, "accents": "keep"}
"""Value with which an option leaves no word out; of the others None or an empty list."""


def about_corpus(entry: ReportedRun, columns: list[str]) -> list[tuple[str, str]]:
    """Return (what, text) about the corpus: documents, words, vocabulary, dates and columns, and how words were chosen."""
    sizes = dict(statistics([entry]))
    ((_, rows),) = data_rows([entry])
    texts = {heading: re.sub(", 0 .*(words|without)$", "", text) for heading, text in rows}
    held_out = sizes.get("tokens (held out)")
    holdout_note = (
        f" to find the topics from, and {held_out} held out to check them" if held_out else ""
    )
    rows = [
        ("documents", texts.get("documents") or sizes.get("documents", "")),
        ("words", f"{sizes.get('tokens (training)', 'unknown')} counted words{holdout_note}"),
        ("vocabulary", f"{sizes.get('word types', 'unknown')} different words"),
        ("dates", texts.get("dates", "")),
        ("columns", join_words(columns[:MOST_NAMED]) if columns else ""),
        ("words chosen", rules_of_words(entry)),
    ]
    return [(heading, text) for heading, text in rows if text]


def rules_of_words(entry: ReportedRun) -> str:
    """Return in words which words of the texts were counted; "" if nothing was recorded."""
    options = (entry.spec.reading or {}).get("options", {})
    chosen = [
        _option_in_words(name, options[name])
        for name in (*CHOSEN, "phrases")
        if "stop_words" in options and options.get(name) and options[name] != UNCHOSEN.get(name)
    ]
    of_split = dict(settings([entry]))
    chosen += [
        of_split[name] for name in ("vocabulary", "counts", "singletons") if name in of_split
    ]
    return "; ".join(chosen)


def _option_in_words(name: str, value: object) -> str:
    """Return in words which words an option of reading chooses."""
    if name in LISTS and not isinstance(value, str):
        if name == "phrases":
            return f"with {with_noun(len(value), 'given phrase')}"
        return f"without {with_noun(len(value), 'given word')}"
    if name == "max_share":
        value = f"{100 * value:g} %"
    text = CHOSEN.get(name, "with given phrases")
    return text.format(capital(value) if isinstance(value, str) else value)


def edits_of(entry: ReportedRun) -> tuple[str, ...]:
    """Return the texts of the edits of a run's topics: of a stored run from its file, else from the Dataset's attribute."""
    if not (edition := entry.dataset.attrs.get("edition", "")):
        return ()
    return read_edition(entry.path).texts if entry.path else tuple(split_edits(edition))


def hides(edit: str) -> bool:
    """Return whether an edit hides topics."""
    return split_edit(edit)[0] == "hide"


def with_hidden(entry: ReportedRun) -> xr.Dataset | None:
    """Return the Dataset of a run with the topics that were hidden; None if they are not at hand, as of an edited Dataset."""
    edits = edits_of(entry)
    if not any(map(hides, edits)):
        return entry.dataset
    if entry.path is None:
        return None
    return with_edition(Run(entry.path).dataset(), [edit for edit in edits if not hides(edit)])


def method(entry: ReportedRun) -> str:
    """Return a paragraph on the method, to be pasted into a text: model, priors, inference, words, software."""
    spec, sizes, used = entry.spec, dict(statistics([entry])), dict(settings([entry]))
    edits = _arrangement(entry)
    data = (
        f"{sizes.get('documents', 'the')} documents of {spec.corpus} with {sizes.get('tokens (training)', 'the')} "
        f"training tokens of {sizes.get('word types', 'its')} word types"
    )
    held_out = next((value for name, value in used.items() if name.startswith("held-out ")), "")
    sentences = [
        *(_inferred if spec.length else _imported)(entry, data, used),
        f"Words counted: {chosen}" if (chosen := rules_of_words(entry)) else "",
        f"Held out: {held_out}{_perplexity_clause(entry)}" if spec.test else "",
        f"Topics were edited by hand afterwards: {edits}" if edits else "",
        "Words of a topic are ranked by relevance (Sievert & Shirley 2014), lambda = 0.6; passages are from the documents "
        "with the highest lower 95 % limit (Wilson 1927) of the topic's share",
        f"Software: {CITATION.replace(': ', ', ')}, version {_version(entry)}",
    ]
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _inferred(entry: ReportedRun, data: str, used: Mapping[str, str]) -> list[str]:
    """Return sentences on the model, the priors, the inference and the start of a run."""
    spec = entry.spec
    engine = get_engine(spec.engine)
    model = re.split("[.:,;]| in which", engine.model.__doc__ or engine.model.__name__)[0].strip()
    of_topics = with_noun(spec.n_topics or entry.dataset.sizes["topic"], "topic")
    if spec.parts()[1].nonparametric:
        of_topics = f"an inferred number of topics, {'initially' if finds_topics(spec) else 'at most'} {spec.n_topics},"
    iterations = used.get("iterations", "")
    label = replace(spec, start=None, interventions=()).label()
    course = [
        f"{iterations} iteration{'s' * (iterations != '1')}" if iterations else "",
        f"burn-in {with_noun(spec.burn_in, 'iteration')}" if _samples(spec) else "",
        f"seed {spec.seed}",
        f"settings {label.removeprefix(f'{spec.engine} ')}" if label != spec.engine else "",
    ]
    changes = [f"from iteration {iteration} on {text}" for iteration, text in _changes(spec)]
    return [
        f"We fitted a topic model ({model[:1].lower()}{model[1:]}) with {of_topics} to {data}",
        f"Priors: {'; '.join(priors)}" if (priors := _priors(spec)) else "",
        f"Inference: {engine.title}, {engine.source.replace(': ', ', ')}; {', '.join(filter(None, course))}",
        _started(entry),
        f"Settings were changed while it ran, {'; '.join(changes)}" if changes else "",
    ]


def _imported(entry: ReportedRun, data: str, used: Mapping[str, str]) -> list[str]:
    """Return sentences on a model of another program: what it is of, that its start is unknown, and its priors."""
    spec = entry.spec
    alpha, beta = spec.model.get("topic_prior"), spec.model.get("word_prior")
    given = [
        f"alpha (per topic) {', '.join(f'{value:g}' for value in dict.fromkeys(alpha))}"
        if alpha
        else "",
        f"beta (per word type) {beta:g}" if beta else "",
    ]
    n = spec.model.get("iterations")
    after = f", after {with_noun(n, 'iteration')} there" if n else ""
    return [
        f"{with_noun(entry.dataset.sizes['topic'], 'topic')} of {data} were inferred by another program "
        f"({spec.model['program']}) and imported{after}; "
        "no random start and no seed of it is recorded here",
        f"Priors as they were given with it: {'; '.join(filter(None, given))}"
        if any(given)
        else "",
    ]


def _samples(spec: RunSpec) -> bool:
    """Return whether the engine of a run draws samples, so that it has a burn-in."""
    return get_engine(spec.engine).kind in (SAMPLER, HYBRID)


def _priors(spec: RunSpec) -> list[str]:
    """Return the priors of a run's model as texts, with the options that are parameters of priors, where these are in use."""
    engine, model, options = spec.parts()
    texts = [f"{name} {value}" for name, value in priors_of(spec)]
    if model.describe():
        return texts
    of_model = option_fields(engine.model)
    for name, option in options_of(engine).items():
        value = getattr(model if name in of_model else options, name, None)
        learnt = name[2:] if name.startswith(("a_", "b_")) else ""
        if learnt:
            method = getattr(model, f"learn_{learnt}", getattr(options, f"learn_{learnt}", None))
            in_use = method not in (None, False, "fixed")
        else:
            in_use = name in of_model and not name.startswith(("learn_", "order_seed"))
        if in_use:
            label = option.metadata["label"].replace(": ", ", ")
            shown = f"{value:g}" if isinstance(value, float) else value
            texts.append(f"{name} {f'({label[:1].lower()}{label[1:]}) ' * bool(label)}{shown}")
    return texts


def _started(entry: ReportedRun) -> str:
    """Return a sentence on the run from whose topics a run went on; "" if it began at random."""
    if not (parent := lineage(entry)):
        return ""
    stream = entry.spec.start.get("stream") or {}
    further = f", with {with_noun(stream['n_documents'], 'further document')}" if stream else ""
    return f"It went on from the topics of the run {parent}{further}"


def _changes(spec: RunSpec) -> list[tuple[int, str]]:
    """Return (iteration, text) of the settings that were changed while a run ran."""
    return [
        (each.iteration, ", ".join(f"{name} = {value:g}" for name, value in each.changes.items()))
        for each in spec.interventions
    ]


def _version(entry: ReportedRun) -> str:
    """Return the version of workbench that made the run."""
    return json.loads(entry.dataset.attrs.get("versions", "{}")).get("workbench", "unknown")


def _perplexity(run: xr.Dataset) -> str:
    """Return the last held-out perplexity as text; "" without one."""
    value = float(run["test_perplexity"].values[-1]) if "test_perplexity" in run else np.nan
    return format_number(value, decimals(value)) if np.isfinite(value) else ""


def _perplexity_clause(entry: ReportedRun) -> str:
    """Return the last held-out perplexity as a clause of a sentence, and whether it is an average; "" without one."""
    if not (number := _perplexity(entry.dataset)):
        return ""
    average = " of the running average of p(w|d) after burn-in" if _samples(entry.spec) else ""
    return f"; held-out perplexity {number}{average}"


def _arrangement(entry: ReportedRun) -> str:
    """Return the edits that merged, hid and ordered the topics as one text; "" without one."""
    return "; ".join(filter(arranges, edits_of(entry)))


def commands_of_edits(entries: list[ReportedRun]) -> list[str]:
    """Return the commands that edit and label the topics of the stored runs again, and that write the report.

    The last is left out unless all runs are stored.
    """
    lines = []
    for entry in (entry for entry in entries if entry.path is not None):
        name = entry.dataset.attrs["name"]
        if edits := edits_of(entry):
            lines.append(["edit", name, *edits])
        labels = topic_labels(entry.dataset).items()
        lines += [["label", name, str(topic), label] for topic, label in labels if label]
    if all(entry.path is not None for entry in entries):
        names = [each.dataset.attrs["name"] for each in entries]
        lines.append(["report", *names, "--for", "readers"])
    return [shlex.join(["workbench", *words]) for words in lines]


def cautions(
    entries: list[ReportedRun],
    whole: xr.Dataset | None,
    again: xr.Dataset | None,
    names: Mapping[int, str],
) -> list[tuple[str, str]]:
    """Return (heading, sentences) of what to be careful about, with the numbers of the first run where it has them.

    ``whole`` is the first run with its hidden topics, `with_hidden`: what is said of documents is of all of their words.
    """
    entry, run = entries[0], entries[0].dataset
    made = [
        (
            "What a topic is not",
            "A topic is a list of words that tend to occur in the same documents. It is no subject that anybody chose, and "
            "no category of documents. "
            + (
                "Its name was given by a person who read it"
                if any(topic_labels(run).values())
                else "Its name here is only its first words"
            )
            + "; read the passages before you use it.",
        ),
        ("Documents mix topics", _mixing_text(whole)),
        ("Chance between computations", _chance(entries, again, names)),
        ("The number of topics", _number_of_topics(entry, len(names))),
        ("Short documents", _length_text(whole)),
        ("What was left out", _omissions_text(entry)),
        ("How well words are predicted", _prediction_text(run)),
        (
            "What the intervals leave out",
            "Intervals over documents say how much a share would vary among other documents of the same kind. No interval "
            "includes the error of the model, which is a simplification, and none is corrected for the number of compared "
            "topics. Of twenty differences one seems real by chance. Differences between groups or years have many possible "
            "causes.",
        ),
    ]
    if last_iteration(run) < entry.spec.n_iterations:
        made.append(
            (
                "Not finished",
                f"The run has {last_iteration(run):,.0f} of its {with_noun(entry.spec.n_iterations, 'iteration')}; its "
                "topics may still change.",
            )
        )
    return [(heading, text) for heading, text in made if text]


def _mixing_text(whole: xr.Dataset | None) -> str:
    """Return sentences on how large the largest topic of a document is; documents without words do not count."""
    text = "A share is one of words, not of documents."
    if whole is None:
        return text
    _, share, _ = largest_topics(used_topics(whole), np.arange(whole.sizes["document"]))
    share = share[np.isfinite(share)]
    if not len(share):
        return text
    return (
        f"{text} In half of the documents the largest topic has at most {np.median(share):.0%} of the words; in "
        f"{np.mean(share < 0.5):.0%} of the documents no topic has half."
    )


def _chance(entries: list[ReportedRun], again: xr.Dataset | None, names: Mapping[int, str]) -> str:
    """Return sentences on topics that other runs do not find, and on R-hat of chains; what to do without other runs."""
    if again is None:
        spec = entries[0].spec
        begun = "Topics are computed from a random start, and another start gives somewhat other topics."
        if not spec.length:
            begun = "The topics are from another program, and most programs begin at random."
        elif spec.start:
            begun = "The run went on from the topics of another run, and other topics there would give others here."
        return (
            f"{begun} There is one run here, so which of them are chance is unknown; a report with further runs, with other "
            "seeds, says which are found again."
        )
    n_others, n_topics = len(entries) - 1, len(names)
    each = f"each of {n_others} further runs" if n_others > 1 else "a further run"
    alone = again["topic"].values[again["n_found"].values < n_others].tolist()
    n_found = n_topics - len(alone)
    text = (
        f"Of {with_noun(n_topics, 'topic')} {n_found} {'is' if n_found == 1 else 'are'} found in {each}: half or more of the "
        "ten most probable words are among those of one topic there."
    )
    if alone:
        named = join_words([f"“{names[topic]}”" for topic in alone[:MOST_NAMED]])
        text += f" Not so {named}; build nothing on {'these' if len(alone) > 1 else 'this'} alone."
    return text + agreement_of([each.dataset for each in entries])


def agreement_of(runs: list[xr.Dataset]) -> str:
    """Return a sentence on R-hat of the log joint; "" for runs that are no chains, too short, or of a constant log joint."""
    with suppress(MeasureError):
        found = convergence(runs)
        if len(found["label"]) > 1 or "log_joint" not in found["quantity"]:
            return ""
        r_hat = float(found["r_hat"].sel(quantity="log_joint").item())
        if np.isfinite(r_hat) and found["n_draws"].item() >= FEWEST_DRAWS:
            verdict = (
                "the runs agree"
                if r_hat <= R_HAT
                else "the chains are too short, or found different solutions"
            )
            return f" R-hat of the log joint is {r_hat:.3f}: {verdict}."
    return ""


def _number_of_topics(entry: ReportedRun, n_shown: int) -> str:
    """Return sentences on who chose the number of topics, which is that before any edit."""
    if entry.spec.parts()[1].nonparametric:
        found = f"The model found {with_noun(n, 'topic')}" if (n := _n_found(entry)) else ""
        return (
            f"{found or 'The model found the number of topics'}; another prior would find another number, and small topics "
            "come and go."
        )
    n = entry.spec.n_topics or n_shown
    there = "That there is one topic" if n == 1 else f"That there are {n:,} topics"
    return (
        f"{there} was chosen, not found. With {'' if n == 1 else 'fewer some would join, with '}more some would split; what "
        "is said of a topic should hold for other numbers too."
    )


def _n_found(entry: ReportedRun) -> int | None:
    """Return the number of topics that a model found, before any edit; None if only the edited ones are at hand."""
    if not _arrangement(entry):
        return used_topics(entry.dataset).sizes["topic"]
    return entry.path and used_topics(Run(entry.path).dataset()).sizes["topic"]


def _length_text(whole: xr.Dataset | None) -> str:
    """Return sentences on documents with few counted words."""
    if whole is None:
        return ""
    tokens = np.rint(whole["n_dk"].isel(snapshot=-1).sum("topic").values)
    n_short = int((tokens < FEW_WORDS).sum())
    few = (
        f" {n_short:,} of {len(tokens):,} {'has' if n_short == 1 else 'have'} fewer than {FEW_WORDS}: what is said of the "
        "topics of such a document rests on little."
    )
    return (
        f"Half of the documents have at most {np.median(tokens):,.0f} counted words.{few * bool(n_short)} Passages are from "
        "documents with most of a topic, so they are clearer than most."
    )


def _omissions_text(entry: ReportedRun) -> str:
    """Return sentences on words, rows and topics that the report does not show."""
    reading = entry.spec.reading
    left_out = dict(rows_about(reading)).get("left out", "nothing")
    for name, text in option_texts(reading).items():
        if name in CHOSEN and text:
            rule = _option_in_words(name, reading["options"][name])
            left_out = left_out.replace(f" by {text}", f" ({rule})")
    parts = [f"{capital(left_out)}." if left_out != "nothing" else ""]
    if edits := _arrangement(entry):
        parts.append(f"Topics were merged, hidden or ordered by hand: {edits}.")
        if any(map(hides, edits_of(entry))):
            parts.append("Shares are of the words of the topics that are shown.")
    options = (reading or {}).get("options", {})
    ordered = options.get("phrases") or (options.get("ngrams") or 1) > 1
    parts.append(
        "Word order plays a part only within the sequences of words that were counted; words that were not counted play none."
        if ordered
        else "Word order plays no part, nor do words that were not counted."
    )
    return " ".join(filter(None, parts))


def _prediction_text(run: xr.Dataset) -> str:
    """Return sentences on the held-out perplexity; that there is none without held-out tokens."""
    if not (number := _perplexity(run)):
        return "No words were held out, so how well the topics predict words is unknown."
    return (
        f"Words that were held out are as hard to guess as {number} equally likely words, out of {run.sizes['word']:,} "
        "(the held-out perplexity; lower is better). It compares models; it does not say that topics make sense to people."
    )
