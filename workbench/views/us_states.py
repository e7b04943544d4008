"""Outlines of the 48 contiguous states of the USA, and which of them places are.

Source: U.S. Census Bureau, TIGER/Line Shapefiles; simplified by ``data/make_us_states.py``.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

PARALLELS, CENTRE = (29.5, 45.5), (37.5, -96.0)
"""Of the projection: its standard parallels, and the latitude and longitude of its origin."""


class State(NamedTuple):
    """A state: its name, and each of its polygons as (point, 2): longitude, latitude."""

    name: str
    polygons: tuple[np.ndarray, ...]


@lru_cache(maxsize=1)
def us_states() -> dict[str, State]:
    """The states by postal code."""
    found = json.loads((Path(__file__).parent / "us_states.json").read_text(encoding="utf-8"))
    return {
        code: State(
            state["name"], tuple(np.array(ring).reshape(-1, 2) / 100 for ring in state["rings"])
        )
        for code, state in found.items()
    }


def albers(longitude: np.ndarray, latitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y of Albers' projection with equal areas, in units of the Earth's radius."""
    first, second, centre = np.radians([*PARALLELS, CENTRE[0]])
    n = (np.sin(first) + np.sin(second)) / 2
    c = np.cos(first) ** 2 + 2 * n * np.sin(first)
    turn = n * np.radians(np.asarray(longitude) - CENTRE[1])
    radius, origin = (
        np.sqrt(c - 2 * n * np.sin(each)) / n for each in (np.radians(latitude), centre)
    )
    return radius * np.sin(turn), origin - radius * np.cos(turn)


def inside(polygon: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which points lie within a polygon (point, 2), by how many of its sides lie to the right of each."""
    found, (x0, y0) = np.zeros(len(x), bool), polygon.T
    for xa, ya, xb, yb in zip(x0, y0, np.roll(x0, -1), np.roll(y0, -1), strict=True):
        if ya != yb:
            found ^= ((ya > y) != (yb > y)) & (x < xa + (y - ya) * (xb - xa) / (yb - ya))
    return found


def states_of(
    names: Sequence[str], longitude: np.ndarray, latitude: np.ndarray
) -> list[str | None]:
    """The postal code of each place, by its name, as "OH" or "Ohio", else by where it lies; None of a place without a state.

    Of several places that lie in one state none is the state, as cities are not.
    """
    states = us_states()
    codes = {state.name.casefold(): code for code, state in states.items()} | {
        code.casefold(): code for code in states
    }
    found = [codes.get(name.strip().casefold()) for name in names]
    lying = np.full(len(found), "", object)
    for code, state in states.items():
        for polygon in state.polygons:
            lying[inside(polygon, longitude, latitude)] = code
    taken = [code or there for code, there in zip(found, lying, strict=True)]
    return [
        code or (there if there and taken.count(there) == 1 else None)
        for code, there in zip(found, lying, strict=True)
    ]
