"""Maps and courses over time of rows with inputs, without pixels."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.path import Path as Outline

import workbench as wb
from workbench.corpus import hold_out_rows
from workbench.measures import spec_of
from workbench.measures.rows import places_of, shares_of
from workbench.report.drawing import draw, inline_svg
from workbench.views.every import draw_view, pictures
from workbench.views.rows_with_inputs import albers, states_of, us_states

pytest.importorskip("holoviews")

PLACES = {
    "OH": (40.3, -82.8),
    "Kansas": (38.5, -98.4),
    "a town": (39.0, -108.5),
    "CA": (37.2, -119.3),
}


def rows_of_places(places=PLACES, years=(2000, 2001, 2002), titles="{place} {year}") -> wb.Corpus:
    """A row of 30 tokens of three words for each place and year."""
    rows = [(place, year) for place in places for year in years]
    counts = np.random.default_rng(0).multinomial(30, [0.5, 0.3, 0.2], len(rows))
    at, words = counts.nonzero()
    return wb.Corpus.from_pairs(
        at,
        words,
        counts[at, words],
        vocabulary=("Ann", "Bob", "Cid"),
        n_documents=len(rows),
        name="rows",
        titles=[titles.format(place=place, year=year) for place, year in rows],
        inputs={
            "year": [float(year) for _, year in rows],
            "latitude": [places[place][0] for place, _ in rows],
            "longitude": [places[place][1] for place, _ in rows],
        },
    )


@pytest.fixture(scope="module")
def run_and_corpora():
    train, test = hold_out_rows(rows_of_places(), "year", at_least=2002)
    run = wb.fit(
        train,
        "sbm-gp",
        test=test,
        n_iterations=6,
        burn_in=2,
        options={"average_after": 2},
        progress=False,
    )
    return run, {spec_of(run).train: train, spec_of(run).test: test}


def drawn(picture) -> str:
    """The picture as it stands on a page."""
    svg = draw(picture.panels, 2, ("svg",), picture.legend, picture.height)["svg"].decode()
    return inline_svg(svg, picture.name, picture.title, picture.hover)


def test_us_states_are_48_polygons_around_their_centres():
    states = us_states()
    assert len(states) == 48 and {"AK", "HI", "DC"}.isdisjoint(states)
    assert sum(len(ring) for state in states.values() for ring in state.polygons) < 3000
    points = {
        "OH": (-82.8, 40.3),
        "CO": (-105.5, 39.0),
        "TX": (-99.0, 31.5),
        "FL": (-81.6, 28.1),
        "MI": (-84.6, 43.5),
    }
    for code, point in points.items():
        x, y = (np.array([part]) for part in point)
        there = [
            other
            for other, state in states.items()
            if any(Outline(ring).contains_point((x[0], y[0])) for ring in state.polygons)
        ]
        assert there == [code]


def test_neighbours_share_their_border():
    (colorado,), (kansas,) = (us_states()[code].polygons for code in ("CO", "KS"))
    assert len(set(map(tuple, colorado)) & set(map(tuple, kansas))) >= 2


def test_states_of_matches_names_or_coordinates_of_a_single_place():
    longitude, latitude = (
        np.array([-82.8, 0.0, -105.5, -99.0, -98.0, 2.3]),
        np.array([40.3, 0.0, 39.0, 31.5, 31.0, 48.9]),
    )
    result = states_of(["here", "kansas", "there", "one", "other", "Paris"], longitude, latitude)
    assert result == ["OH", "KS", "CO", None, None, None]


def test_the_projection_has_equal_areas_as_the_sphere():
    """Cells of one degree by one degree: their areas on the plane are those on the sphere, but for their curved sides."""
    for latitude in (27.0, 38.0, 48.0):
        x, y = albers(
            np.array([-100.0, -99.0, -99.0, -100.0]), latitude + np.array([0.0, 0.0, 1.0, 1.0])
        )
        area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
        low, high = np.radians([latitude, latitude + 1.0])
        # sides bend by 1e-4 of a degree
        assert area == pytest.approx(np.radians(1.0) * (np.sin(high) - np.sin(low)), rel=1e-3)


def test_rows_of_a_place_are_found_with_their_years_and_names(run_and_corpora):
    places = places_of(run_and_corpora[0])
    assert places.names == ["OH", "Kansas", "a town", "CA"] and places.time_name == "year"
    assert places.of_row.tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert places.time[:3].tolist() == [2000, 2001, 2002] and places.latitude.tolist() == [
        40.3,
        38.5,
        39.0,
        37.2,
    ]


def test_places_without_names_of_their_own_have_their_coordinates():
    run = wb.fit(rows_of_places(titles="row of {year}"), "static", n_iterations=1, progress=False)
    assert places_of(run).names[0] == "40.3, -82.8"


def test_shares_of_add_up_training_and_test_tokens(run_and_corpora):
    # as `rows_of_places` draws them
    counts = np.random.default_rng(0).multinomial(30, [0.5, 0.3, 0.2], 12)
    assert shares_of(1, *run_and_corpora[1].values()) == pytest.approx(counts[:, 1] / 30)
    alone = shares_of(1, next(iter(run_and_corpora[1].values())))
    assert np.isnan(alone[2::3]).all() and np.isfinite(alone[:2]).all()


def test_draw_word_map_has_maps_of_counts_and_probabilities_with_hover_texts(
    run_and_corpora,
):
    run, corpora = run_and_corpora
    (picture,) = draw_view("word-map", [run], corpora=corpora, word="Bob", time=2001)
    assert len(picture.panels) == 2 and len(picture.rows) == 4
    header = dict(zip(picture.header, picture.rows[1], strict=True))
    at = [str(title) for title in run["document"].values].index("Kansas 2001")
    assert (header["place"], header["time"], header["word"]) == ("Kansas", 2001.0, "Bob")
    assert header["probability"] == pytest.approx(float(run["probability"][at, 1]))
    assert header["share"] == pytest.approx(shares_of(1, *corpora.values())[at])
    svg, polygons = (
        drawn(picture),
        sum(len(us_states()[code].polygons) for code in ("OH", "KS", "CA", "CO")),
    )
    assert (
        svg.count("<title>") == 2 * polygons
        and f"Kansas\nBob 2001: {header['probability']:.2%}" in svg
    )


def test_draw_word_map_without_corpora_has_no_counts_and_the_widest_word(run_and_corpora):
    (picture,) = draw_view("word-map", [run_and_corpora[0]])
    assert len(picture.panels) == 1
    widest = run_and_corpora[0]["word"].values[
        np.ptp(run_and_corpora[0]["probability"].values, axis=0).argmax()
    ]
    assert picture.rows[0][5] == widest and picture.rows[0][4] == 2002, (
        "the last year, which is predicted"
    )


def test_places_elsewhere_are_points_and_rows_without_places_have_no_map():
    elsewhere = rows_of_places({"Rome": (41.9, 12.5), "Oslo": (59.9, 10.8)})
    run = wb.fit(elsewhere, "static", n_iterations=1, progress=False)
    (picture,) = draw_view("word-map", [run])
    assert [part.__class__.__name__ for part in picture.panels[0]] == ["Points"] and drawn(
        picture
    ).count("<title>") == 2
    alone = replace(elsewhere, inputs=elsewhere.inputs[:, :1], input_names=("year",)).of_documents(
        range(3)
    )
    run = wb.fit(alone, "static", n_iterations=1, progress=False)
    assert {picture.name for picture in pictures([run])} & {"word-map", "rows-by-year"} == {
        "rows-by-year"
    }
