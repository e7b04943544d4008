"""The Oracle page in a browser: its numbers are those of the enumeration, for toys that are offered, typed and linked."""

import math

import numpy as np
import pytest
from browser.desk import cells, fill, until
from browser.servers import our_server, serving
from browser.test_names import NAMELESS
from toys import LDA_ENGINES

import workbench as wb
from workbench.dashboard.oracle.answers import toy_of
from workbench.dashboard.oracle.toys import TOYS, Toy

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATIENCE = 180.0  # kernels are compiled by the first toy
SIX, FOUR = 5.1e-7, 5.1e-5  # half of the last digit that is shown


ONE_START = """
from functools import partial
from workbench.dashboard.oracle import answers
answers.against_exact = partial(answers.against_exact, n_starts=1)
"""


@pytest.fixture(scope="module")
def url(store):
    """The Compare page of a server whose engines begin once each."""
    program, flag, serve_it = our_server()
    with serving([program, flag, ONE_START + serve_it], store) as address:
        yield address


def numbers(page, table: str) -> np.ndarray:
    """The numbers of a table beside its first column; NaN for a dash."""
    rows = [
        [cell.replace("−", "-").replace("–", "nan") for cell in row[1:]]
        for row in cells(page, table)
    ]
    return np.array(rows, float)


def evidence(page) -> float:
    """The log evidence as the page says it; NaN where it says none."""
    said = page.get_by_text("log p(words) =")
    return (
        float(said.inner_text().split(" = ")[1].split()[0].replace("−", "-"))
        if said.count()
        else math.nan
    )


def check(page, toy: Toy) -> None:
    """Waits for this toy's numbers, which are those of the enumeration."""
    truth = wb.exact(*toy_of(toy))
    until(
        lambda: evidence(page) == pytest.approx(float(truth["log_evidence"]), abs=SIX),
        "the evidence is there",
        PATIENCE,
    )
    exact = truth["predictive"].values
    until(
        lambda: np.allclose(numbers(page, "exact p(w|d)"), exact, rtol=0, atol=FOUR),
        "the exact probabilities are there",
    )
    table = "engines beside the exact posterior"
    page.get_by_role("figure", name="Bounds and errors on a toy").first.wait_for(
        timeout=1000 * PATIENCE
    )
    until(
        lambda: [row[0] for row in cells(page, table)] == LDA_ENGINES,
        "every engine is there",
        PATIENCE,
    )
    found = numbers(page, table)
    sure = np.delete(found[:, :4], 1, axis=1)  # not the collapsed bound
    assert (
        np.nanmax(sure) <= float(truth["log_evidence"]) + FOUR
        and np.isfinite(sure).any(axis=0).all()
    )


def test_numbers_are_those_of_the_enumeration(url, new_page):
    page = new_page(url.replace("compare", "oracle"))
    first, unequal, _ = TOYS.values()
    check(page, first)
    page.get_by_label("Toy", exact=True).select_option("Unequal alpha (toy A)")
    check(page, unequal)
    assert evidence(page) == pytest.approx(-11.259462, abs=SIX)  # printed, spec E.4
    fill(page, "Counts", "2 1 0\n1 1 3")
    check(page, unequal._replace(counts="2,1,0;1,1,3"))
    assert page.get_by_label("Toy", exact=True).input_value() == "My own"
    address = page.url
    assert "counts=2" in address
    body = page.locator("body").aria_snapshot()
    assert [line for line in body.splitlines() if NAMELESS.match(line)] == []
    check(new_page(address), unequal._replace(counts="2,1,0;1,1,3"))
