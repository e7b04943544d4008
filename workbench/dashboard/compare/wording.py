"""Labels of settings, and error sentences reworded with them."""

import re

from workbench.dashboard.shared.background import sentence_of
from workbench.errors import ALONE, Got, Named, one_sentence
from workbench.numbers import capital
from workbench.runs.request import OF_FILES, request_fields

OPTION = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")
"""Pattern of the name of an option with several words."""
EMPTY = {None: "; the field is empty", "": "; there is none beside a comma"}
"""The end of a sentence about an empty value."""


def label_of(name: str) -> str:
    """Return the label of a setting or option: the declared one, else its name in words."""
    known = request_fields()
    called = (one for one in known.values() if one.field.name == name)
    about = known.get(name) or known.get(f"{OF_FILES}{name}") or next(called, None)
    return (about and about.field.metadata["label"]) or capital(name.replace("_", " "))


def counted(n: int) -> str:
    """Return a number of runs in words: "1 run", "3 runs"."""
    return "1 run" if n == 1 else f"{n:,} runs"


def labelled(text: str, choices: tuple = ()) -> str:
    """Return a text about an option, with the names of other options and of choices replaced by their labels."""
    words = [
        f"“{label_of(word)}”" if OPTION.fullmatch(word) and word not in choices else word
        for word in text.split(" ")
    ]
    text = " ".join(words)
    for choice in map(str, choices):
        text = text.replace(choice, choice.replace("_", " "))
    return text


def worded(error: ValueError) -> str:
    """Return the message of an error as one sentence, with settings named by the labels that the page shows."""
    return sentence_of(ValueError(one_sentence(getattr(error, "parts", (str(error),)), _worded)))


def _worded(part) -> str:
    if isinstance(part, Got) and part.value in (None, ""):
        return EMPTY[part.value]
    if not isinstance(part, Named):
        return str(part)
    label = f"“{label_of(part.field)}”"
    if part.value is ALONE:
        return label
    return f"under {label}" if part.value is ... else f"{label} {label_of_value(part.value)}"


def label_of_value(value) -> str:
    """Return the label of an option's value in its menu."""
    return {"True": "yes", "False": "no", "None": "none"}.get(
        str(value), str(value).replace("_", " ")
    )
