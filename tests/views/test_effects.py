"""Pictures of effects of columns, without pixels."""

from dataclasses import replace

import numpy as np
import pytest
from toys import simulated

import workbench as wb
from workbench.corpus.document_table import DocumentTable
from workbench.measures import MeasureError, effect_curve, with_columns
from workbench.views.effects import ALL, effect_controls
from workbench.views.every import draw_view, pictures

pytest.importorskip("holoviews")
HOSTILE = "a` + np.load('nowhere') + `b"


@pytest.fixture(scope="module")
def run():
    """A run of three topics on documents with a label, a time and two columns, one of a hostile name."""
    corpus = replace(
        simulated(40, 15, 30),
        labels=("a", "b") * 20,
        times=tuple(f"20{year:02}-03-01" for year in range(40)),
    )
    fitted = wb.fit(corpus, "cgs", 3, n_iterations=20, snapshot_every=5, progress=False)
    table = DocumentTable({HOSTILE: tuple("xxyyz" * 8), "n": tuple(map(str, range(20))) * 2})
    return with_columns(fitted, table)


def test_a_column_is_chosen_and_the_others_are_kept(run):
    of, beside = effect_controls(run)
    assert of.choices == ("label", HOSTILE, "n", "year") and beside.choices[1] == ALL
    (picture,) = draw_view("effects", [run], of="n", beside=ALL)
    assert f"by n with label, {HOSTILE}, year as they are" in picture.caption
    wanted = effect_curve(
        run.drop_vars(f"document_{HOSTILE}"),
        "~ bs(n, df=3) + label + kind + bs(year, df=3)",
        "n",
        {"kind": run[f"document_{HOSTILE}"].values},
    )
    column = picture.header.index("share")
    shares = np.array([row[column] for row in picture.rows], float)
    np.testing.assert_allclose(shares, wanted["share"].transpose("topic", "value").values.ravel())


def test_a_column_of_a_hostile_name_is_a_column(run):
    (picture,) = draw_view("effects", [run], of=HOSTILE)
    assert picture.hover["Points"][0][0].split("\n")[1].startswith(f"{HOSTILE} x: ")


def test_no_column_stands_for_a_function_of_the_formula_and_names_are_those_of_the_file(run):
    run = run.assign_coords(document_bs=("document", ["p", "q"] * 20))
    (picture,) = draw_view("effects", [run], of="n")
    assert picture.rows
    twice = run.assign_coords(document_other=run["document_bs"].variable)
    with pytest.raises(MeasureError, match="other.T.q. follows|label.T.b. follows|bs.T.q. follows"):
        draw_view("effects", [twice], of="other", beside=ALL)


def test_too_few_documents_are_left_out_of_a_report_and_told_where_they_were_asked_for():
    corpus = replace(simulated(2, 15, 30), labels=("a", "b"))
    few = wb.fit(corpus, "cgs", 2, n_iterations=3, progress=False)
    assert "effects" not in [picture.name for picture in pictures([few])]
    corpus = replace(simulated(6, 15, 30), labels=tuple("aabbcc"), times=tuple(range(2000, 2006)))
    few = wb.fit(corpus, "cgs", 2, n_iterations=3, progress=False)
    with pytest.raises(MeasureError, match="terms take more than|determine each other"):
        draw_view("effects", [few], of="year", beside=ALL)


def test_a_value_of_one_document_has_no_interval():
    corpus = replace(simulated(9, 15, 30), labels=("a", "b", "b") * 2 + ("b", "b", "c"))
    run = wb.fit(corpus, "cgs", 2, n_iterations=3, progress=False)
    (picture,) = draw_view("effects", [run])
    text = picture.hover["Points"][0][2].split("\n")[1]
    assert text.startswith("label c: ") and text.endswith("%")
