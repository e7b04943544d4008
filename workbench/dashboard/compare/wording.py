"""Labels of settings, and error sentences reworded with them."""

import re

from workbench.dashboard.shared.background import sentence_of
from workbench.errors import ALONE, Got, Named, one_sentence
from workbench.numbers import capital, with_noun
from workbench.runs.request import OF_FILES, request_fields

OPTION = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")
"""Pattern of the name of an option with several words."""
EMPTY = {None: "; the field is empty", "": "; there is none beside a comma"}
"""The end of a sentence about an empty value."""


def label_of(name: str) -> str:
    """Return the label of a setting or option: the declared one, else its name in words."""
    fields = request_fields()
    fields_of_name = (field for field in fields.values() if field.field.name == name)
    field_of_label = (
        fields.get(name) or fields.get(f"{OF_FILES}{name}") or next(fields_of_name, None)
    )
    return (field_of_label and field_of_label.field.metadata["label"]) or capital(
        name.replace("_", " ")
    )


def number_of_runs(n: int) -> str:
    """Return a number of runs in words: "1 run", "3 runs"."""
    return with_noun(n, "run")


def with_labels(text: str, choices: tuple = ()) -> str:
    """Return a text about an option, with the names of other options and of choices replaced by their labels."""
    words = [
        f"“{label_of(word)}”" if OPTION.fullmatch(word) and word not in choices else word
        for word in text.split(" ")
    ]
    text = " ".join(words)
    for choice in map(str, choices):
        text = text.replace(choice, choice.replace("_", " "))
    return text


def error_sentence(error: ValueError) -> str:
    """Return the message of an error as one sentence, with settings named by the labels that the page shows."""
    return sentence_of(ValueError(one_sentence(getattr(error, "parts", (str(error),)), _part_text)))


def _part_text(message_part) -> str:
    if isinstance(message_part, Got) and message_part.value in (None, ""):
        return EMPTY[message_part.value]
    if not isinstance(message_part, Named):
        return str(message_part)
    label = f"“{label_of(message_part.field)}”"
    if message_part.value is ALONE:
        return label
    return (
        f"under {label}"
        if message_part.value is ...
        else f"{label} {label_of_value(message_part.value)}"
    )


def label_of_value(value) -> str:
    """Return the label of an option's value in its menu."""
    return {"True": "yes", "False": "no", "None": "none"}.get(
        str(value), str(value).replace("_", " ")
    )
