"""Outlines of the 48 contiguous states of the USA, and a look-up of the state of a place.

Source: U.S. Census Bureau, TIGER/Line Shapefiles; simplified by ``data/make_us_states.py``.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

PARALLELS, CENTRE = (29.5, 45.5), (37.5, -96.0)
"""Standard parallels of the projection, and latitude and longitude of its origin."""


class State(NamedTuple):
    """A US state: its name, and polygons (point, 2) of longitude and latitude."""

    name: str
    polygons: tuple[np.ndarray, ...]


@lru_cache(maxsize=1)
def us_states() -> dict[str, State]:
    """Return postal code → state, for the 48 contiguous states."""
    outlines = json.loads((Path(__file__).parent / "us_states.json").read_text(encoding="utf-8"))
    return {
        code: State(
            state["name"], tuple(np.array(ring).reshape(-1, 2) / 100 for ring in state["rings"])
        )
        for code, state in outlines.items()
    }


def albers(longitude: np.ndarray, latitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of Albers' equal-area projection, in units of the Earth's radius."""
    first, second, centre = np.radians([*PARALLELS, CENTRE[0]])
    n = (np.sin(first) + np.sin(second)) / 2
    c = np.cos(first) ** 2 + 2 * n * np.sin(first)
    theta = n * np.radians(np.asarray(longitude) - CENTRE[1])
    radius, origin = (
        np.sqrt(c - 2 * n * np.sin(angle)) / n for angle in (np.radians(latitude), centre)
    )
    return radius * np.sin(theta), origin - radius * np.cos(theta)


def inside(polygon: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return which points (x, y) are inside a polygon (point, 2), by the parity of edges to their right."""
    is_inside, (x0, y0) = np.zeros(len(x), bool), polygon.T
    for xa, ya, xb, yb in zip(x0, y0, np.roll(x0, -1), np.roll(y0, -1), strict=True):
        if ya != yb:
            is_inside ^= ((ya > y) != (yb > y)) & (x < xa + (y - ya) * (xb - xa) / (yb - ya))
    return is_inside


def states_of(
    names: Sequence[str], longitude: np.ndarray, latitude: np.ndarray
) -> list[str | None]:
    """Return the postal code of each place's state, found by name ("OH" or "Ohio") or coordinates; None for other places.

    Coordinates are not used for several places in one state, which are taken for cities.
    """
    states = us_states()
    codes = {state.name.casefold(): code for code, state in states.items()} | {
        code.casefold(): code for code in states
    }
    codes_by_name = [codes.get(name.strip().casefold()) for name in names]
    codes_by_place = np.full(len(codes_by_name), "", object)
    for code, state in states.items():
        for polygon in state.polygons:
            codes_by_place[inside(polygon, longitude, latitude)] = code
    all_codes = [
        code or place_code for code, place_code in zip(codes_by_name, codes_by_place, strict=True)
    ]
    return [
        code or (place_code if place_code and all_codes.count(place_code) == 1 else None)
        for code, place_code in zip(codes_by_name, codes_by_place, strict=True)
    ]
