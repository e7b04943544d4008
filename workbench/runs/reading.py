"""The record of how a run's data were read: non-default options, the source, and what was left out.

`workbench.data.reading` describes the record.
"""

import json
import shlex
from inspect import signature
from itertools import chain
from pathlib import Path

from workbench.corpus.formats.readers import read_corpus
from workbench.corpus.texts.counting import LISTS, PRUNING, TEXT_OPTIONS, count_words, written
from workbench.data.encodings import STRICT
from workbench.data.opening import data_folders
from workbench.data.reading import GIVEN, ORIGINS
from workbench.numbers import with_noun
from workbench.records.reading import read_records
from workbench.runs.loading import named_set
from workbench.runs.spec import RunSpec

DEFAULTS = {
    name: list(about.default) if isinstance(about.default, tuple) else about.default
    for function in (read_records, read_corpus)
    for name, about in signature(function).parameters.items()
} | written({name: signature(count_words).parameters[name].default for name in TEXT_OPTIONS})
"""Option of reading or counting → its default, as a record has it."""
SHOWN = ("text", "stop_words", *PRUNING)
"""Options that are shown with their default, too."""
REASONS = {
    "comments": "comment line",
    "bad_dates": "bad date",
    "repeated_documents": "repeated document",
}
"""Recorded reason for which rows are left out → what they are called."""
UNSEEN = ("name", "keep_text", "format")
"""Options that do not change what is read from a file."""


def changed_options(reading: dict | None) -> dict:
    """Return the recorded options that differ from the default, as a dict."""
    options = (reading or {}).get("options", {}) if "data_set" not in (reading or {}) else {}
    return {
        name: options[name]
        for name in DEFAULTS
        if options.get(name, DEFAULTS[name]) != DEFAULTS[name]
    }


def option_texts(reading: dict | None) -> dict[str, str | None]:
    """Return option → its text in a label, such as "min_documents=10" or "+10 stop words"; None for a default."""
    changed = changed_options(reading)
    return {
        name: _text(name, changed[name]) if name in changed else None
        for name in DEFAULTS
        if name not in UNSEEN
    }


def _text(name: str, value) -> str:
    """Return an option and its value as a short text."""
    if name in LISTS and isinstance(value, list):
        n, noun = len(value) or "no", "phrase" if name == "phrases" else "stop word"
        return f"{'+' * (name == 'more_stop_words')}{n} {noun}{'s' * (n != 1)}"
    if name == "tokenizer" or value == GIVEN:
        return f"a {name} of its own"
    if name == "vocabulary":
        return f"vocabulary of {Path(value).name}"
    return f"{name}={','.join(value) if isinstance(value, list) else value}"


def is_again(spec: RunSpec) -> bool:
    """Return whether a run's data can be reproduced from its spec: the recorded name or path, options and split."""
    options = (spec.reading or {}).get("options", {})
    entries = [entry for value in options.values() if isinstance(value, list) for entry in value]
    has_unnamed = options.get("tokenizer") or GIVEN in options.values() or "," in "".join(entries)
    return origin_of(spec) is not None and bool(spec.split or spec.test is None) and not has_unnamed


def origin_of(spec: RunSpec) -> str | None:
    """Return the name or path from which a run's data can be read again; None if no record has one."""
    if spec.reading is None:
        return spec.corpus if named_set(spec.corpus) else None
    return next(
        (spec.reading[key] for key in ("data_set", "shards", "path") if key in spec.reading),
        None,
    )


def command_words(spec: RunSpec) -> list[str]:
    """Return the words of a command that name a run's data: a data set, or a path with the options of its reading."""
    reading, origin = spec.reading or {}, origin_of(spec)
    if origin is None or origin != reading.get("path"):
        return [origin or spec.corpus]
    return [origin, *read_words(reading)]


def read_words(reading: dict) -> list[str]:
    """Return the words of a command that set the recorded options of reading: ``--read NAME=VALUE``, repeated."""
    options = changed_options(reading)
    if "files" in reading:  # of a stream, whose texts are never kept
        options.pop("keep_text", None)
    if (encoding := reading.get("found", {}).get("encoding", STRICT)) != STRICT:
        options["encoding"] = encoding
    pairs = ((name, _typed_text(name, value)) for name, value in options.items())
    return [*chain.from_iterable(("--read", f"{name}={value}") for name, value in pairs)]


def environment(spec: RunSpec) -> str:
    """Return the prefix that lets a command find a named data set, such as "WORKBENCH_DATA=/data ", or ""."""
    data_set = named_set(origin_of(spec) or "")
    folder = data_set.folder() if hasattr(data_set, "folder") else None
    folders = [
        data_folder
        for data_folder in data_folders()
        if folder in (data_folder, data_folder / "records")
    ]
    return f"WORKBENCH_DATA={shlex.quote(str(folders[0].resolve()))} " if folders else ""


def _typed_text(name: str, value) -> str:
    """Return an option's value as text for ``--read``; a string that would be parsed as JSON is put in quotes."""
    if value is None or value == []:
        return ""
    if isinstance(value, list):
        return ",".join(value) + "," * (name in LISTS and len(value) == 1)
    if not isinstance(value, str):
        return json.dumps(value)
    try:
        json.loads(value)
    except ValueError:
        return value if value == value.strip() else json.dumps(value)
    return json.dumps(value)


def rows_about(reading: dict | None) -> list[tuple[str, str]]:
    """Return (what, text) about how data were read: source, columns, how words were chosen, what was left out."""
    if reading is None:
        return [("source", "not recorded")]
    details, options = reading.get("found", {}), reading.get("options", {})
    changed, is_counted = changed_options(reading), "stop_words" in options
    format_words = [details[key] for key in ("format", "encoding") if key in details]
    format_words += [f"separator {details['separator']!r}"] if "separator" in details else []
    sources = [reading[key] for key in (*ORIGINS, "upload") if key in reading]
    sources += [", ".join(path for path, _ in reading.get("files", []))] * ("files" in reading)
    option_descriptions = {
        name: _text(name, options[name])
        for name in DEFAULTS
        if name in changed or (is_counted and name in SHOWN and options.get(name) is not None)
    }
    words = [text for name, text in option_descriptions.items() if name in TEXT_OPTIONS]
    left_out = [
        with_noun(n, REASONS.get(reason, reason))
        if isinstance(n, int)
        else f"{n[0]:,} words with {n[1]:,} tokens by {_text(reason, options[reason])}"
        for reason, n in reading.get("left_out", {}).items()
    ]
    source = (sources[0] if sources else "made in Python") + (
        f" ({', '.join(format_words)})" if format_words else ""
    )
    rows = [
        ("source", source + ", changed since it was read" * ("changed" in reading)),
        ("sha256 of the file", reading.get("sha256", "")),
        (
            "read with",
            ", ".join(
                text for name, text in option_descriptions.items() if name not in TEXT_OPTIONS
            ),
        ),
        ("words", ", ".join(words)),
        ("left out", "; ".join(left_out) or "nothing"),
    ]
    return [(key, text) for key, text in rows if text]
