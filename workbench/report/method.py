"""Sentences of the report for readers: about the corpus, on the method, and what to be careful about."""

import json
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress

import numpy as np
import xarray as xr

from workbench.engines import get_engine
from workbench.measures import MeasureError, convergence, finds_topics
from workbench.measures.documents import largest_topics
from workbench.measures.selection import last_iteration
from workbench.measures.topics import topic_labels, used_topics
from workbench.numbers import capital, format_number, join_words
from workbench.report.captions import data_rows, settings, statistics
from workbench.report.gathering import ReportedRun
from workbench.runs.progress import decimals
from workbench.runs.reading import LISTS, rows_about
from workbench.runs.store.edition import LEAST, read_edition

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
    "max_share": "none in more than {:.0%} of the documents",
    "max_words": "the {} most frequent",
    "min_letters": "of at least {} letters",
    "ngrams": "with sequences of up to {} words",
    "vocabulary": "those of a given list",
}
"""Option of reading that chooses words → what it does, with its value."""
NO_PRIORS = {
    "corpus",
    "read with",
    "topics",
    "iterations",
    "burn-in",
    "vocabulary",
    "counts",
    "singletons",
    "held-out tokens",
    "inference seeds",
    "threads",
    "started from",
}
"""Names of `settings` that are no priors."""
UNCHOSEN = {"min_documents": 1, "max_share": 1.0, "min_letters": 1, "ngrams": 1}
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
    options, rules_text = (entry.spec.reading or {}).get("options", {}), []
    for name, text in CHOSEN.items() if "stop_words" in options else ():
        value = options.get(name)
        if name in LISTS and isinstance(value, list):
            rules_text += [f"without {len(value):,} given words"] * bool(value)
        elif value and value != UNCHOSEN.get(name):
            rules_text.append(text.format(capital(value) if isinstance(value, str) else value))
    of_split = dict(settings([entry]))
    rules_text += [
        of_split[name] for name in ("vocabulary", "counts", "singletons") if name in of_split
    ]
    return "; ".join(rules_text)


def method(entry: ReportedRun) -> str:
    """Return a paragraph on the method, to be pasted into a text: model, priors, inference, words, software."""
    spec, sizes, used_settings = entry.spec, dict(statistics([entry])), dict(settings([entry]))
    engine, edits = get_engine(spec.engine), _arrangement(entry)
    model = re.split("[.:,]", engine.model.__doc__ or engine.model.__name__)[0].strip()
    priors = [f"{name} {value}" for name, value in used_settings.items() if name not in NO_PRIORS]
    course = [
        f"{used_settings['iterations']} iterations" if "iterations" in used_settings else "",
        f"burn-in {used_settings['burn-in']}" if "burn-in" in used_settings else "",
        f"seed {spec.seed}",
        f"settings {spec.label()}" if spec.label() != spec.engine else "",
    ]
    of_topics = f"{spec.n_topics or entry.dataset.sizes['topic']} topics"
    if spec.parts()[1].nonparametric:
        of_topics = f"an inferred number of topics, {'initially' if finds_topics(spec) else 'at most'} {spec.n_topics},"
    sentences = [
        f"We fitted a topic model ({model[:1].lower()}{model[1:]}) with {of_topics} "
        f"to {sizes.get('documents', 'the')} documents of {spec.corpus} with {sizes.get('tokens (training)', 'the')} "
        f"training tokens of {sizes.get('word types', 'its')} word types",
        f"Priors: {'; '.join(priors)}" if priors else "",
        f"Inference: {engine.title}, {engine.source}; {', '.join(filter(None, course))}",
        f"Words counted: {word_rules}" if (word_rules := rules_of_words(entry)) else "",
        f"Held out: {used_settings['held-out tokens']}{_perplexity(entry.dataset)}"
        if spec.test
        else "",
        f"Topics were edited by hand afterwards: {edits}" if edits else "",
        "Words of a topic are ranked by relevance (Sievert & Shirley 2014), lambda = 0.6; passages are from the documents "
        "with the highest lower 95 % limit (Wilson 1927) of the topic's share",
        f"Software: {CITATION}, version {_version(entry)}",
    ]
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _version(entry: ReportedRun) -> str:
    """Return the version of workbench that made the run."""
    return json.loads(entry.dataset.attrs.get("versions", "{}")).get("workbench", "unknown")


def _perplexity(run: xr.Dataset) -> str:
    """Return the last held-out perplexity as a clause of a sentence; "" without one."""
    value = float(run["test_perplexity"].values[-1]) if "test_perplexity" in run else np.nan
    return (
        f"; held-out perplexity {format_number(value, decimals(value))}"
        if np.isfinite(value)
        else ""
    )


def _arrangement(entry: ReportedRun) -> str:
    """Return the edits that merged, hid and ordered the topics as one text; "" without one."""
    edits = entry.dataset.attrs.get("edition", "").split("; ")
    return "; ".join(edit for edit in edits if edit.split(" ")[0] in LEAST)


def commands_of_edits(entries: list[ReportedRun]) -> list[str]:
    """Return the commands that edit and label the topics of the first run again, if it is stored, and that write the report."""
    entry, names = entries[0], [each.dataset.attrs["name"] for each in entries]
    if entry.path is None:
        return []
    run, lines = entry.dataset, []
    if "edition" in run.attrs:
        lines.append(["edit", names[0], *read_edition(entry.path).texts])
    labels = topic_labels(run).items()
    lines += [["label", names[0], str(topic), label] for topic, label in labels if label]
    lines.append(["report", *names, "--for", "readers"])
    return [shlex.join(["workbench", *words]) for words in lines]


def cautions(
    entries: list[ReportedRun], again: xr.Dataset | None, names: Mapping[int, str]
) -> list[tuple[str, str]]:
    """Return (heading, sentences) of what to be careful about, with the numbers of the first run where it has them."""
    entry, run = entries[0], entries[0].dataset
    rows = [
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
        ("Documents mix topics", _mixing_text(run)),
        ("Chance between computations", _chance_text(entries, again, names)),
        ("The number of topics", _number_of_topics(entry, len(names))),
        ("Short documents", _length_text(run)),
        ("What was left out", _omissions_text(entry)),
        ("How well words are predicted", _prediction_text(run)),
        (
            "What the intervals leave out",
            "Intervals over documents say how much a share would vary among other documents of the same kind. None of the "
            "intervals knows that the model is a simplification, and none is corrected for the many topics that are compared: "
            "of twenty differences one seems real by chance. Differences between groups or years have many possible causes.",
        ),
    ]
    if last_iteration(run) < entry.spec.n_iterations:
        rows.append(
            (
                "Not finished",
                f"The run has {last_iteration(run):,.0f} of its {entry.spec.n_iterations:,} iterations; its topics may "
                "still change.",
            )
        )
    return [(heading, text) for heading, text in rows if text]


def _mixing_text(run: xr.Dataset) -> str:
    """Return a sentence on how large the largest topic of a document is."""
    _, share, _ = largest_topics(used_topics(run), np.arange(run.sizes["document"]))
    return (
        f"A share is one of words, not of documents. In half of the documents the largest topic has less than "
        f"{np.nanmedian(share):.0%} of the words; in {np.nanmean(share < 0.5):.0%} of them no topic has half."
    )


def _chance_text(
    entries: list[ReportedRun], again: xr.Dataset | None, names: Mapping[int, str]
) -> str:
    """Return sentences on topics that other runs do not find, and on R-hat of chains; what to do without other runs."""
    if again is None:
        return (
            "Topics are computed from a random start, and another start gives somewhat other topics. There is one run here, so "
            "which of them are chance is unknown; a report with further runs, with other seeds, says which are found again."
        )
    n_others = len(entries) - 1
    each = f"each of {n_others} further runs" if n_others > 1 else "a further run"
    alone = again["topic"].values[again["n_found"].values < n_others].tolist()
    text = (
        f"Of {len(names)} topics {len(names) - len(alone)} are found in {each}: half or more of their ten most probable words "
        "are among those of one topic there."
    )
    if alone:
        topic_names = join_words([f"“{names[topic]}”" for topic in alone[:MOST_NAMED]])
        text += f" Not so {topic_names}; build nothing on these alone."
    with suppress(MeasureError):
        agreement = convergence([each.dataset for each in entries])
        if len(agreement["label"]) == 1 and "log_joint" in agreement["quantity"]:
            r_hat = float(agreement["r_hat"].sel(quantity="log_joint").item())
            verdict = (
                "agree"
                if r_hat <= R_HAT
                else "do not agree: they found topics of different quality"
            )
            text += f" R-hat of the log joint is {r_hat:.3f}: the runs {verdict}."
    return text


def _number_of_topics(entry: ReportedRun, n_topics: int) -> str:
    """Return sentences on who chose the number of topics."""
    if entry.spec.parts()[1].nonparametric:
        return f"The model found {n_topics} topics; another prior would find another number, and small topics come and go."
    return (
        f"That there are {entry.spec.n_topics or n_topics} topics was chosen, not found. With fewer some would join, with more "
        "some would split; what is said of a topic should hold for other numbers too."
    )


def _length_text(run: xr.Dataset) -> str:
    """Return sentences on documents with few counted words."""
    tokens = np.rint(run["n_dk"].isel(snapshot=-1).sum("topic").values)
    n_short = int((tokens < FEW_WORDS).sum())
    return (
        f"Half of the documents have at most {np.median(tokens):,.0f} counted words. {n_short:,} of {len(tokens):,} have fewer "
        f"than {FEW_WORDS}: what is said of the topics of one of these rests on little. Passages are from documents in which a "
        "topic surely prevails, so they are clearer than most."
    )


def _omissions_text(entry: ReportedRun) -> str:
    """Return sentences on words, rows and topics that the report does not show."""
    left_out = dict(rows_about(entry.spec.reading)).get("left out", "nothing")
    sentences = [f"{capital(left_out)}." if left_out != "nothing" else ""]
    if edits := _arrangement(entry):
        sentences.append(f"Topics were merged, hidden or ordered by hand: {edits}.")
        if "hide" in edits:
            sentences.append("Shares are of the words of the topics that are shown.")
    sentences.append("Word order plays no part, nor do words that were not counted.")
    return " ".join(filter(None, sentences))


def _prediction_text(run: xr.Dataset) -> str:
    """Return sentences on the held-out perplexity; that there is none without held-out tokens."""
    if not (clause := _perplexity(run)):
        return "No words were held out, so how well the topics predict words is unknown."
    number = clause.rpartition(" ")[2]
    return (
        f"Words that were held out are as hard to guess as {number} equally likely words, out of {run.sizes['word']:,} "
        "(the held-out perplexity; lower is better). It compares models; it does not say that topics make sense to people."
    )
