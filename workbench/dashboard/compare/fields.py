"""The fields of the form, made from the settings and options of a request."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import panel as pn

from workbench.corpus.catalog.named import DEFAULT
from workbench.dashboard.compare.wording import (
    label_of,
    label_of_value,
    number_of_runs,
    with_labels,
)
from workbench.dashboard.shared.form import SEVERAL, as_sentence, line, menu
from workbench.dashboard.shared.policy import policy
from workbench.runs.loading import named_set, named_sets
from workbench.runs.reading import origin_of
from workbench.runs.request import DATA, FILE, MISSING, request_fields, written
from workbench.runs.spec import RunSpec

ALWAYS = tuple(name for name, one in request_fields().items() if one.section == DATA)
"""Settings for reading a file that are never in a fold."""
OF_COLUMNS = ALWAYS[1:]
WIDEST = 18
"""Maximum number of letters of a label or word in half the width of the form."""


def corpus_field() -> pn.widgets.Select:
    """Return the menu of data sets."""
    return menu("Corpus", corpora(), DEFAULT, wide=True)


def corpora(files: Iterable[str] = ()) -> dict[str, str]:
    """Return the entries of the menu of data sets: a file to name, if visitors may, ``files`` of runs, and named data sets."""
    named_entries = {
        f"{name} (not downloaded)" if data_set.whereabouts() in MISSING else name: name
        for name, data_set in named_sets().items()
    }
    file_entry = {FILE: FILE} if policy().takes_paths or policy().takes_uploads else {}
    n_uses = Counter([*named_sets(), *(Path(file).name for file in files)])
    used_files = {name if n_uses[name := Path(file).name] == 1 else file: file for file in files}
    return file_entry | used_files | named_entries


def files_of(specs: Iterable[RunSpec]) -> dict[str, RunSpec]:
    """Return a dict file -> its last run, of the existing files that runs were read from; none for other machines' visitors."""
    if policy().others:
        return {}
    origins = {origin: spec for spec in specs if (origin := origin_of(spec)) is not None}
    return {
        origin: spec
        for origin, spec in origins.items()
        if named_set(origin) is None and policy().find(origin) is not None
    }


def about_corpus(name: str, n_runs: int) -> str:
    """Return what a corpus is and in how many runs of the store it is used, as a text; empty for a file without runs."""
    data_set = named_set(name)
    sentences = [data_set.title] if data_set else []
    sentences += [f"used in {number_of_runs(n_runs)} here"] if n_runs else []
    return as_sentence("; ".join(sentences))


def path_field() -> pn.widgets.TextInput:
    """Return the text field for the path of a file."""
    return line(
        "Path of the corpus",
        placeholder="docword.….txt.gz, .csv, .jsonl, folder of .txt",
        wide=True,
    )


def field_of(name: str, default=None, help: str = "") -> pn.widgets.Widget:
    """Return the text field or menu for a setting or option; ``default`` and ``help`` replace the declared ones."""
    request_field = request_fields()[name]
    metadata, choices = request_field.field.metadata, request_field.field.metadata["choices"]
    default = request_field.default if default is None else default
    label = metadata["label"] or label_of(request_field.field.name)
    help = help or with_labels(metadata["help"], choices)
    example = metadata["example"] or "a number or inf" * metadata.get("infinite", False)
    wide = max(len(label), len(example)) > WIDEST
    if choices and not metadata.get("otherwise"):
        words = (
            choices
            if isinstance(choices, dict)
            else {request_field: label_of_value(request_field) for request_field in choices}
        )
        wide = wide or max(map(len, words.values())) > WIDEST
        options = {word: written(value) for value, word in words.items()}
        return menu(label, options, written(default), help, wide)
    if metadata["several"]:
        help = f"{help.rstrip('.')}. {SEVERAL}"
    return line(
        label, written(default), help, wide, example, columns=[] if name in OF_COLUMNS else None
    )


def displayed_value(field: pn.widgets.Widget) -> str:
    """Return the value of a field as the field shows it."""
    if isinstance(field, pn.widgets.Select):
        return next((word for word, value in field.options.items() if value == field.value), "")
    return field.value or "empty"
