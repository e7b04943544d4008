"""The gallery of figures: whole, small, the same bytes from the same runs; and engines that every eye tells apart."""

import importlib.util
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from workbench.engines import ENGINES, IMPORTED, get_engine
from workbench.views.elements import look_of

HERE = Path(__file__).parents[2] / "docs" / "gallery"
SEEN = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "everybody": np.eye(3),
}
"""Linear RGB as it is seen: Machado, Oliveira & Fernandes (2009), severity 1."""
NOTICED = 12
"""CIELAB distance that marks of a few points need; 2.3 is just noticeable between large fields."""


def gallery():
    spec = importlib.util.spec_from_file_location("gallery", HERE / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lab(colour: str, matrix) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(matrix) @ linear, 0, 1)
    xyz = (
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        @ seen
    )
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 1e-9))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", SEEN)
def test_engines_with_one_line_or_one_marker_keep_their_colours_apart(eyes):
    every = {name: look_of(name) for name in (*ENGINES, *IMPORTED) if get_engine(name).colour}
    for (engine, one), (another, other) in combinations(every.items(), 2):
        if family_of(engine) == family_of(another) and (
            one.line == other.line or one.marker == other.marker
        ):
            assert (
                np.linalg.norm(lab(one.colour, SEEN[eyes]) - lab(other.colour, SEEN[eyes]))
                > NOTICED
            ), (engine, another)


def family_of(engine: str) -> str:
    """The folder of an engine; the HDP is compared with LDA."""
    return (ENGINES | IMPORTED)[engine].split(".")[1].replace("hdp", "lda")


def test_the_page_shows_each_figure_in_both_widths_with_its_caption():
    page = (HERE / "README.md").read_text()
    shown = set(re.findall(r"([\w.-]+)-2\.svg", page))
    assert shown >= {
        "ordering",
        "differences",
        "coherence",
        "topic-map-cgs",
        "topic-flow-svb-cgs-r1-to-cgs",
        "topic-words-cgs",
    }
    for name in shown:
        widths = [
            re.search(r'width="([\d.]+)pt"', (HERE / f"{name}-{columns}.svg").read_text())[1]
            for columns in (1, 2)
        ]
        assert 0 < float(widths[0]) <= 3.4 * 72 + 0.1 and 4.5 * 72 < float(widths[1]) <= 504.1
        assert (HERE / f"{name}.txt").read_text().split("\n\n")[0] in page
    links = re.findall(r'\]\(([^)]+)\)|src="([^"]+)"', page)
    assert all((HERE / (link or source)).exists() for link, source in links)


def test_nothing_on_the_pages_comes_from_elsewhere():
    for name in ("README.md", "two-columns.html"):
        assert "://" not in (HERE / name).read_text()
    assert sum(path.stat().st_size for path in HERE.iterdir()) < 2_000_000


@pytest.mark.slow
def test_the_same_runs_give_the_same_bytes(store, tmp_path, monkeypatch):
    module, expected = gallery(), ["ordering", "topic-map-cgs", "topic-flow-svb-cgs-r1-to-cgs"]
    monkeypatch.setattr(module, "shown", expected.__contains__)
    written = []
    for name in "ab":
        (tmp_path / name).mkdir()
        assert module.build(store, tmp_path / name) == expected
        written.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert written[0] == written[1] and len(written[0]) == 9
