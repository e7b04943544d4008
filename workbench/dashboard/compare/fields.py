"""The fields of the form, made from the settings and options of a request."""

import panel as pn

from workbench.corpus.catalog.named import DEFAULT
from workbench.dashboard.compare.wording import label_of, label_of_value, labelled
from workbench.dashboard.shared.form import SEVERAL, line, menu
from workbench.dashboard.shared.policy import policy
from workbench.engines.options import SharedOption, shared_options
from workbench.runs.loading import named_sets
from workbench.runs.request import (
    COLUMNS,
    FILE,
    MISSING,
    OF_FILES,
    reading_names,
    request_fields,
    written,
)

SPLIT = "r"
"""The option of the hybrids whose field stands beside the number of topics."""
OF_COLUMNS = tuple(f"{OF_FILES}{name}" if name == "time" else name for name in COLUMNS)
READING = reading_names(records=False)
ALWAYS = ("format", *OF_COLUMNS)
"""Settings for reading a file that are never in a fold."""
WIDEST = 18
"""Maximum number of letters of a label or word in half the width of the form."""


def grouped(hyper: bool) -> dict[tuple[str, ...], list[SharedOption]]:
    """Return the options by the engines that share them, most engines first: those of priors, or all others but r."""
    groups: dict[tuple[str, ...], list[SharedOption]] = {}
    for one in shared_options():
        if one.is_hyper == hyper and one.key != SPLIT:
            groups.setdefault(one.engines, []).append(one)
    return dict(sorted(groups.items(), key=lambda group: -len(group[0])))


def corpora() -> dict[str, str]:
    """Return the data sets of the catalogs by menu entry, and an entry for a file if visitors may name or send one."""
    marked = {
        name: f"{name} (not downloaded)" if one.whereabouts() in MISSING else name
        for name, one in named_sets().items()
    }
    own = policy().takes_paths or policy().takes_uploads
    return {mark: name for name, mark in marked.items()} | ({FILE: FILE} if own else {})


def path_field() -> pn.widgets.TextInput:
    """Return the text field for the path of a file."""
    example = "docword.….txt.gz, .csv, .jsonl, folder of .txt"
    return line("Path of the corpus", placeholder=example, wide=True)


def corpus_field() -> pn.widgets.Select:
    """Return the menu of data sets."""
    return menu("Corpus", corpora(), DEFAULT, wide=True)


def field_of(name: str, default=None, help: str = "") -> pn.widgets.Widget:
    """Return the field for a setting or option of a request, holding text; ``default`` and ``help`` replace its own."""
    about = request_fields()[name]
    metadata, choices = about.metadata, about.metadata["choices"]
    default = about.default if default is None else default
    label = metadata["label"] or label_of(about.name)
    help = help or labelled(metadata["help"], choices)
    example = metadata["example"] or "a number or inf" * metadata.get("infinite", False)
    wide = max(len(label), len(example)) > WIDEST
    if choices and not metadata.get("otherwise"):
        words = (
            choices if isinstance(choices, dict) else {one: label_of_value(one) for one in choices}
        )
        wide = wide or max(map(len, words.values())) > WIDEST
        options = {word: written(value) for value, word in words.items()}
        return menu(label, options, written(default), help, wide)
    if metadata["several"]:
        help = f"{help.rstrip('.')}. {SEVERAL}"
    return line(
        label, written(default), help, wide, example, columns=[] if name in OF_COLUMNS else None
    )


def shown_value(field: pn.widgets.Widget) -> str:
    """Return the value of a field as the field shows it."""
    if isinstance(field, pn.widgets.Select):
        return next((word for word, value in field.options.items() if value == field.value), "")
    return field.value or "empty"
