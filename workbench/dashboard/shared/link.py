"""The choices on a page as parameters of its address (the link), written and read.

Anybody can write an address, so every value is checked when it is read, and an invalid one changes nothing. Default values
are left out of the address.
"""

import math
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

import panel as pn

from workbench.dashboard.shared.policy import policy
from workbench.runs.request import RunRequest, request_fields, written
from workbench.runs.spec import RunSpec

LONGEST = 500
"""Maximum number of characters of a value."""


class QueryParameter(NamedTuple):
    """A query parameter of the page's address: its present text, its default, and a function that sets it.

    ``take`` returns whether the text is valid.
    """

    current: Callable[[], str]
    default: str
    take: Callable[[str], bool]


def widget_parameter(widget) -> QueryParameter:
    """Return the query parameter of the page's address for a widget; the present value becomes the default."""
    return QueryParameter(
        lambda: written(widget.value), written(widget.value), lambda text: take(widget, text)
    )


def attribute_parameter(
    owner, name: str, is_valid: Callable[[str], bool] = lambda text: True
) -> QueryParameter:
    """Return the query parameter of the page's address for a text attribute; ``is_valid``: whether a text is valid."""

    def take(text: str) -> bool:
        try:
            if fits := is_valid(text):
                setattr(owner, name, text[:LONGEST])
        except ValueError:
            return False
        return fits

    return QueryParameter(lambda: getattr(owner, name), "", take)


def take(widget, text: str) -> bool:
    """Set a widget to a value given as text; return whether the text is valid."""
    try:
        value = _value(widget, text[:LONGEST])
    except (ValueError, KeyError):
        return False
    widget.value = value
    return True


def _value(widget, text: str):
    if hasattr(widget, "of_text"):
        return widget.of_text(text)
    if isinstance(widget, pn.widgets.CheckButtonGroup):
        values = {written(value): value for value in widget.values}
        return [values[value_text] for value_text in text.split(",")] if text else []
    if isinstance(widget, (pn.widgets.Select, pn.widgets.RadioButtonGroup)):
        return {written(value): value for value in reversed(widget.values)}[text]
    if isinstance(widget, (pn.widgets.IntInput, pn.widgets.FloatInput, pn.widgets.FloatSlider)):
        number = int(text) if isinstance(widget, pn.widgets.IntInput) else float(text)
        low, high = (
            (-math.inf if widget.start is None else widget.start),
            (math.inf if widget.end is None else widget.end),
        )
        if not low <= number <= high or not -math.inf < number < math.inf:
            raise ValueError(number)
        return number
    return text


def to_query(parameters: dict[str, QueryParameter]) -> str:
    """Return the query of the page's address with all values that differ from the default, as ``?axis=seconds``, or ""."""
    texts = {
        name: parameter.current()
        for name, parameter in parameters.items()
        if parameter.current() != parameter.default
    }
    return "?" + urlencode(texts, safe=",") if texts else ""


def from_query(search: str, parameters: dict[str, QueryParameter]) -> list[str]:
    """Set the parameters of a query to its values; return the names of those with invalid values."""
    texts = dict(parse_qsl(search.lstrip("?"), keep_blank_values=True))
    return [
        name
        for name, text in texts.items()
        if name in parameters and not parameters[name].take(text)
    ]


def query_of(spec: RunSpec) -> dict[str, str]:
    """Return a dict field of the form -> text, for the settings of a run; visitors on other machines get no path."""
    query = RunRequest.of_spec(spec).to_query()
    if policy().others:
        query.pop("path", None)
    return query


def follow_address(parameters: dict[str, QueryParameter]) -> str:
    """Set the parameters to the values in the page's address; return a sentence about invalid values, or "" without any."""
    refused_names = (
        from_query(pn.state.location.search or "", parameters)
        if pn.state.location is not None
        else []
    )
    return (
        f"The link's {', '.join(refused_names)} could not be used; the defaults are shown instead."
        if refused_names
        else ""
    )


def left_out_of_link(parameters: dict[str, QueryParameter]) -> str:
    """Return a sentence on the settings of runs in the page's address that the page's form lacks, or "" without any."""
    address = pn.state.location.search or "" if pn.state.location is not None else ""
    texts = dict(parse_qsl(address.lstrip("?")))
    names = [name for name in texts if name in request_fields() and name not in parameters]
    return f"This form has no {', '.join(names)}; the defaults are used." if names else ""


def write_address(parameters: dict[str, QueryParameter]) -> None:
    """Write the choices on the visitor's page into its address."""
    if pn.state.location is not None:
        pn.state.location.search = to_query(parameters)
