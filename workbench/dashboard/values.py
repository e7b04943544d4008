"""A field for one number or several: "10" is a run, "10, 20, 40" are three."""

from __future__ import annotations

import math

import panel as pn
import param

SEVERAL = "several with commas between them are a run each"


class Values(pn.widgets.TextInput):
    """The field. What is typed is checked by those who take the numbers."""

    infinite = param.Boolean(default=False, doc="May one of them be inf?")
    whole = param.Boolean(default=False, doc="Are they whole numbers?")

    _rename = {"infinite": None, "whole": None}  # noqa: RUF012 (Panel's own way)

    def read(self):
        """The number, a list of several, None where nothing is typed; a text that is no number as it is."""
        found = [number(text) for text in self.value.split(",") if text.strip()]
        different = list(dict.fromkeys(found))
        return different if len(different) > 1 else different[0] if found else None

    def fits(self, text: str) -> bool:
        """Does a text of a link hold nothing but numbers?"""
        return all(self._fits(number(each)) for each in text.split(","))

    def _fits(self, value: int | float | str) -> bool:
        if isinstance(value, str) or (self.whole and not isinstance(value, int)):
            return False
        return math.isfinite(value) or (self.infinite and value > 0)


def number(text: str) -> int | float | str:
    """The text as a whole number, else as a number, else as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()


def listed(value) -> list:
    """The values of a field: several as they are, one alone in a list."""
    return value if isinstance(value, list) else [value]
