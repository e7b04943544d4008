"""Fields in the style of the page, and a form of fields with error sentences under them."""

from collections.abc import Callable, Iterable
from typing import ClassVar

import panel as pn
import param
from bokeh.models import CategoricalSlider
from panel.widgets.select import SingleSelectBase

from workbench.dashboard.shared.link import QueryParameter
from workbench.dashboard.shared.shell import LAYOUT_CSS, Box, Toggles, in_form, styled, text
from workbench.numbers import capital

SEVERAL = "Several values, separated by commas, give one run each."
WIDE = "wb-wide"
"""Style class of a field as wide as its form."""


def line(
    label: str,
    value: str = "",
    help: str = "",
    wide: bool = False,
    placeholder: str = "",
    columns: list[str] | None = None,
):
    """Return a text field; ``columns``: names to suggest; None: a field without suggestions."""
    if columns is None:
        return _field(pn.widgets.TextInput, label, value, help, wide, placeholder=placeholder)
    return _field(
        pn.widgets.AutocompleteInput,
        label,
        value,
        help,
        wide,
        placeholder=placeholder,
        options=columns,
        restrict=False,
        min_characters=0,
    )


def menu(label: str, options: dict[str, object], value, help: str = "", wide: bool = False):
    """Return a menu; ``options``: entry → value.

    If a value is an empty text it must be the first, since Panel takes an empty text for the first value.
    """
    return _field(pn.widgets.Select, label, value, help, wide, options=options)


def whole_number(label: str, value: int | None, help: str = "", wide: bool = False, **settings):
    """Return a field for a whole number, with value None while it is empty."""
    return _field(pn.widgets.IntInput, label, value, help, wide, **settings)


def _field(kind: type, label: str, value, help: str, wide: bool, **settings):
    settings |= {"description": as_sentence(help)} if help else {}
    return in_form(kind(label=label, value=value, css_classes=[WIDE] if wide else [], **settings))


class Fold(Toggles):
    """A button that opens and closes what is below it; ``value`` is empty while the fold is closed."""

    def __init__(self, title: str, on_toggle: Callable):
        self.title = title
        super().__init__(label="Show more", css_classes=[WIDE, "wb-fold"], options=[title])
        styled(self, sizing_mode="stretch_width")
        self.param.watch(on_toggle, "value")

    @property
    def is_open(self) -> bool:
        """Return whether the fold is open."""
        return bool(self.value)

    def unfold(self, is_open: bool = True) -> None:
        """Open or close the fold."""
        self.value = self.options if is_open else []

    def show(self, content: str) -> None:
        """Show a text on what the fold contains, such as its changed settings, after the fold's title."""
        title = f"{self.title}: {content}" if content else self.title
        self.param.update(options=[title], value=[title] if self.is_open else [])


class Steps(SingleSelectBase):
    """A slider over named values, whose names screen readers read; of Panel's own slider they read only positions.

    ``value_throttled`` is the value at which it was let go.
    """

    tooltips = param.Boolean(default=False)
    value_throttled = param.Parameter()

    _allows_values: ClassVar = False
    _rename: ClassVar = {"options": "categories"}
    _widget_type: ClassVar = CategoricalSlider

    def _process_property_change(self, props: dict) -> dict:
        let_go = props.pop("value_throttled", None)
        params = super()._process_property_change(props)
        return params if let_go is None else params | {"value_throttled": self._items[let_go]}

    def _process_param_change(self, params: dict) -> dict:
        params.pop("value_throttled", None)  # only the browser sets it
        return super()._process_param_change(params)


class Offers(pn.widgets.Select):
    """A menu of the values present now, after an entry for the default (value ""); a chosen value stays when it is gone.

    ``label_of`` returns the entry of a value.
    """

    def __init__(self, label: str, default: str, label_of: Callable[[str], str] = str):
        self._default, self._label_of = {default: ""}, label_of
        super().__init__(label=label, options=self._default, value="", width=230)
        styled(self)

    def offer(self, values: Iterable[str]) -> None:
        """Set the entries of the menu: the default, these values, and the value chosen now."""
        all_values = dict.fromkeys(filter(None, [*values, self.value]))
        self.options = self._default | {self._label_of(value): value for value in all_values}

    def parameter(self, is_valid: Callable[[str], bool] = lambda value: True) -> QueryParameter:
        """Return the menu's query parameter in the page's address; it may have a value not offered now, if ``is_valid``."""

        def take(value: str) -> bool:
            if fits := not value or is_valid(value):
                self.offer([*self.values, value])
                self.value = value
            return fits

        return QueryParameter(lambda: self.value, "", take)


class Fields(dict):
    """A dict name -> field of a form, in which each field is made when it is first looked up."""

    def __init__(self, make: Callable[[str], pn.viewable.Viewable]):
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> pn.viewable.Viewable:
        self[name] = self._make(name)
        return self[name]


class Form(Box):
    """A form that shows some of the fields, with an error sentence under each wrong one."""

    wrong = param.Dict(default={}, doc="Field → what is wrong with it, told below it.")

    _rename: ClassVar = {"wrong": None}

    def __init__(self, fields: dict[str, pn.viewable.Viewable]):
        self._fields, self.seen = fields, list(fields)
        self._sentences: dict[str, pn.viewable.Viewable] = {}
        super().__init__(
            css_classes=["wb-fields"],
            stylesheets=[LAYOUT_CSS],
            sizing_mode="stretch_width",
            margin=0,
        )
        self.param.watch(lambda event: self._lay_out(), "wrong")
        self._lay_out()

    def show(self, names: list[str]) -> None:
        """Show the fields with these names, in this order."""
        self.seen = names
        self._lay_out()

    def _lay_out(self) -> None:
        objects = []
        for name in self.seen:
            objects.append(field := self._fields[name])
            classes = dict.fromkeys([*(field.css_classes or []), f"field-{name}", "wb-wrong"])
            field.css_classes = [
                each for each in classes if each != "wb-wrong" or name in self.wrong
            ]
            if name in self.wrong:
                sentence = self._sentences.setdefault(name, text(css_classes=[WIDE]))
                sentence.say(self.wrong[name], "bad")
                objects.append(sentence)
        if objects != self.objects:
            self.objects = objects


def as_sentence(text: str) -> str:
    """Return the text with a capital letter in front and a full stop at the end."""
    return f"{capital(text)}{'' if text.endswith(('.', '…')) else '.'}" if text else ""
