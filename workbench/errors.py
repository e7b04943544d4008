"""Errors about inputs: one sentence each (what was wanted, what came, what to do), and the field that it is about.

A sentence is made of parts, so that the command line can name the flag of a setting and the page its label where
Python names the argument.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import NamedTuple


class ALONE:
    """Stands for no value beside the name of a setting; a class, so that a copy of it is itself."""


class Named(NamedTuple):
    """A setting in a sentence: its name, ``name=value``, or ``with name=…`` where the value is an ellipsis."""

    field: str
    value: object = ALONE
    text: str = ""          # what Python calls it, where that is not its name

    def __str__(self) -> str:
        if self.value is ...:
            return f"with {self.field}=…"
        return self.text or (self.field if self.value is ALONE else f"{self.field}={self.value}")


class Got(NamedTuple):
    """The end of a sentence: the value that came."""

    value: object

    def __str__(self) -> str:
        return f"; got {self.value!r}"


class InputError(ValueError):
    """An input that cannot be used.

    Parameters
    ----------
    *parts : str, Named or Got
        The sentence, one part after the other.
    field : str, optional
        Name of the setting, option or argument that is wrong; by default the first that the sentence names.
    value : optional
        What came.
    """

    def __init__(self, *parts, field: str | None = None, value=None):
        super().__init__("".join(map(str, parts)))
        self.parts, self.value = parts, value
        self.field = field or next((part.field for part in parts if isinstance(part, Named)), None)

    @classmethod
    def must_be(cls, named: Named | str, wanted: str, value, **more) -> InputError:
        """The error that a setting must be what is wanted, and that this value came."""
        named = Named(named) if isinstance(named, str) else named
        return cls(named, f" must be {wanted}", Got(value), value=value, **more)

    def within(self, where: str) -> InputError:
        """The same error with a beginning that says where."""
        return type(self)(where, *self.parts, field=self.field, value=self.value)


def nearest_or_all(name, known, otherwise: str = "", cutoff: float = 0.6, also=()) -> str:
    """The end of a sentence about an unknown name: the nearest (of ``also`` too), else ``otherwise`` or all there are."""
    near = get_close_matches(str(name), [*known, *also], 1, cutoff)
    return f"did you mean '{near[0]}'?" if near else otherwise or f"there are {', '.join(known)}"


class DataError(InputError):
    """Data that cannot be used as they are, or a split that cannot be made."""
