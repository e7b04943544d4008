"""What a field of the form holds, and how it is read from what is typed and from a link.

A field is no widget: all of them are drawn by one part of the page, see `workbench.dashboard.shared.form`.
"""

import math
from collections.abc import Callable

from workbench.numbers import parse_number

SEVERAL = "Several values, separated by commas, give one run each."


class Field:
    """A line of text. ``value`` is what it holds; callbacks given to `watch` are called when that changes."""

    kind = "text"

    def __init__(
        self,
        label: str,
        value="",
        meaning: str = "",
        wide: bool = False,
        placeholder: str = "",
        **more,
    ):
        self.label, self.meaning, self.visible = label, as_sentence(meaning), True
        # what else the browser draws it with
        self.looks = {"wide": wide, "placeholder": placeholder} | more
        self._value, self._watchers = value, []

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, value) -> None:
        if value != self._value:
            self._value = value
            for tell in self._watchers:
                tell()

    def watch(self, tell: Callable[[], None]) -> None:
        self._watchers.append(tell)

    def read(self):
        """The value as the run takes it."""
        return self.value

    def shown(self) -> str | list[str]:
        """The value as the browser shows it."""
        return written(self.value)

    def typed(self, text):
        """The value for what was typed or chosen in the browser. Raises ValueError where it cannot be."""
        if not isinstance(text, str):
            raise ValueError(text)
        return text

    def of(self, text: str):
        """The value for a text of a link. Raises ValueError where there is none."""
        return text


class Values(Field):
    """One number or several: "10" is a run, "10, 20, 40" are three. It is checked by those who take the numbers."""

    def __init__(
        self,
        label: str = "",
        value: str = "",
        meaning: str = "",
        infinite=False,
        whole=False,
        **looks,
    ):
        super().__init__(label, value, meaning, **looks)
        self.infinite, self.whole = infinite, whole

    def read(self):
        """The number, a list of several, None where nothing is typed; a text that is no number as it is, nothing as ''."""
        if not self.value.strip():
            return None
        different = list(dict.fromkeys(map(parse_number, self.value.split(","))))
        return different if len(different) > 1 else different[0]

    def of(self, text: str) -> str:
        if not all(self._fits(parse_number(each)) for each in text.split(",")):
            raise ValueError(text)
        return text

    def _fits(self, value: int | float | str) -> bool:
        if isinstance(value, str) or (self.whole and not isinstance(value, int)):
            return False
        return -math.inf < value < math.inf or (self.infinite and value > 0)


class Number(Field):
    """One number; None where nothing is typed."""

    kind = "number"

    def __init__(
        self,
        label: str,
        value: float | None,
        meaning: str = "",
        whole: bool = True,
        step: float = 1,
        **looks,
    ):
        super().__init__(label, value, meaning, step=step, **looks)
        self._whole = whole

    def typed(self, text) -> float | None:
        text = super().typed(text)
        if not text.strip():
            return None
        found = parse_number(text)
        if isinstance(found, str):
            raise ValueError(text)
        return self._checked(found if self._whole else float(text))

    def of(self, text: str) -> float:
        return self._checked(int(text) if self._whole else float(text))

    def _checked(self, found: float) -> float:
        if not -math.inf < found < math.inf:
            raise ValueError(found)
        return found


class Menu(Field):
    """One of several. ``options``: what the menu says → the value."""

    kind = "menu"

    def __init__(self, label: str, options: dict[str, object], value, meaning: str = "", **looks):
        super().__init__(label, value, meaning, **looks)
        self.options = options

    def shown(self) -> str:
        return next((told for told, value in self.options.items() if value == self.value), "")

    def typed(self, text):
        if text not in self.options:
            raise ValueError(text)
        return self.options[text]

    def of(self, text: str):
        for value in self.options.values():
            if written(value) == text:
                return value
        raise ValueError(text)


class Column(Field):
    """The name of a column of the file: typed, or chosen from those of the file once they are known."""

    kind = "column"
    none = "(none)"
    """What the menu says for no column."""

    def __init__(
        self, label: str, value: str = "", meaning: str = "", needed: bool = False, **looks
    ):
        super().__init__(label, value, meaning, **looks)
        self.usual, self.options, self._needed = value, [], needed

    def offer(self, columns: list[str], likely: str | None, guess: bool) -> None:
        """Has the menu offer these columns, none of them for one that is typed; and sets the likely one if ``guess``."""
        self.options = ([] if self._needed or not columns else [self.none]) + columns
        if guess and columns and self.value not in columns:
            self.value = likely or self.usual

    def shown(self) -> str:
        return (
            self.value
            if not self.options or self.value in self.options
            else ""
            if self._needed
            else self.none
        )

    def typed(self, text) -> str:
        text = super().typed(text)
        if self.options and text not in self.options:
            raise ValueError(text)
        return "" if text == self.none and self.options else text


class Upload(Field):
    """A file that was sent to the server; what the browser may say is that it is to be removed."""

    kind = "file"

    def shown(self) -> str:
        return "" if self.value is None else self.value.told()

    def typed(self, text) -> None:
        if text != "":
            raise ValueError(text)

    def of(self, text: str):
        raise ValueError(text)


class Ticks(Field):
    """Any of several names; ``hints``: sentences about each. ``meaning`` says which to choose."""

    kind = "ticks"

    def __init__(
        self,
        label: str,
        options: list[str],
        value: list[str],
        meaning: str = "",
        hints=None,
        **looks,
    ):
        super().__init__(
            label, value, meaning, options=options, hints=hints or [""] * len(options), **looks
        )
        self.options = options

    def shown(self) -> list[str]:
        return list(self.value)

    def typed(self, text) -> list[str]:
        """The names in the order of ``options``."""
        if not isinstance(text, list) or not all(name in self.options for name in text):
            raise ValueError(text)
        return [name for name in self.options if name in text]

    def of(self, text: str) -> list[str]:
        return self.typed([name for name in text.split(",") if name])


def as_sentence(text: str) -> str:
    """The text with a capital letter in front and a full stop behind."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '…')) else '.'}" if text else ""


def written(value) -> str:
    """A value as text."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def as_list(value) -> list:
    """Return the values of a field: several as they are, one alone in a list."""
    return value if isinstance(value, list) else [value]
