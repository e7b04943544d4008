"""Make the outlines of the 48 contiguous states that maps of years and places are drawn with.

    pip install bokeh_sampledata      # in an environment of its own; it brings shapely
    python data/make_us_states.py

writes ``workbench/views/us_states.json`` and prints what `data/README.md` records: by postal code the state's name and its
polygons, each longitude and latitude in turn, whole numbers of hundredths of a degree. The same version gives the same bytes.

Source: U.S. Census Bureau, TIGER/Line Shapefiles (2009), by way of bokeh_sampledata. Borders are simplified as one coverage,
so that neighbours still share theirs; islands smaller than ``SMALLEST`` are left out.
"""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from bokeh_sampledata.us_states import records
from shapely import coverage_simplify
from shapely.geometry.polygon import orient

OUT = Path(__file__).parent.parent / "workbench" / "views" / "us_states.json"
ELSEWHERE = ("AK", "DC", "HI")
TOLERANCE = 0.05
"""Degrees: the area of a triangle that is cut off is at most its square."""
SMALLEST = 0.02
"""Square degrees."""


def main() -> None:
    states = [state for state in records() if state["code"] not in ELSEWHERE]
    simple = coverage_simplify([state["geometry"] for state in states], TOLERANCE)
    outlines = {}
    for state, shape in zip(states, simple, strict=True):
        parts = sorted(getattr(shape, "geoms", [shape]), key=lambda part: -part.area)
        parts = [part for at, part in enumerate(parts) if at == 0 or part.area >= SMALLEST]
        rings = [
            np.rint(100 * np.array(orient(part).exterior.coords[:-1])).astype(int).ravel().tolist()
            for part in parts
        ]
        outlines[state["code"]] = {"name": state["name"], "rings": rings}
    lines = (
        f"{json.dumps(code)}:{json.dumps(outline, separators=(',', ':'))}"
        for code, outline in outlines.items()
    )
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    n_points = sum(len(ring) // 2 for outline in outlines.values() for ring in outline["rings"])
    made = f"{len(outlines)} states, {n_points} points, {OUT.stat().st_size} bytes"
    print(
        f"bokeh_sampledata {version('bokeh_sampledata')}: {made}, sha256 {hashlib.sha256(OUT.read_bytes()).hexdigest()}"
    )


if __name__ == "__main__":
    main()
