"""Every number of the specification that the code, the tests and the documentation cite is a section or an equation there."""

import re
from pathlib import Path

import pytest
from documented import ROOT

FOLDER = ROOT / "docs" / "specification"
PAGES = {
    "LDA": "lda_networks",
    "networks": "lda_networks",
    "stick-breaking": "stick_breaking",
    "HDP": "hdp",
}
"""The name of a specification in a citation, and its page."""
CITATION = re.compile(
    r"\b(?:spec|specification)(?: of (?:the )?(?P<name>LDA|networks|stick-breaking|HDP),?)?,?\s+"
    r"(?:section )?\(?"
    r"(?P<numbers>[A-H]\d*(?:\.\d+)?\b(?:(?:, | and |-)[A-H]\.?\d+)*|\d+(?:\.\d+)?)"
)


def citations(text: str, path: Path) -> list[tuple[str, str]]:
    """The page and the number of each citation in a text of this path."""
    pairs = []
    for match in CITATION.finditer(re.sub(r"\s+#?\s*", " ", text)):
        numbers = re.split(r", | and |-", match["numbers"])
        if match["name"]:
            page = PAGES[match["name"]]
        elif "stick_breaking" in path.as_posix():
            page = "stick_breaking"
        else:
            page = "hdp" if numbers[0][0].isdigit() else "lda_networks"
        pairs += [(page, number) for number in numbers]
    return pairs


def anchors() -> set[tuple[str, str]]:
    """The page and the id of each anchor of the specification."""
    return {
        (page.stem, anchor)
        for page in FOLDER.glob("*.md")
        for anchor in re.findall(r'^<a id="([\w.]+)"></a>$', page.read_text("utf-8"), re.M)
    }


def test_citations_finds_numbers_and_their_page():
    text = (
        "see spec A.9, 2 and A8; spec A2, C.3; spec 4.5a; spec of stick-breaking B.7 and D.2; spec"
    )
    assert citations(text, Path("kernels/lda/x.py")) == [
        ("lda_networks", "A.9"),
        ("lda_networks", "A2"),
        ("lda_networks", "C.3"),
        ("hdp", "4.5"),
        ("stick_breaking", "B.7"),
        ("stick_breaking", "D.2"),
    ]
    assert citations("spec D.4", Path("kernels/stick_breaking/x.py")) == [("stick_breaking", "D.4")]
    assert ("lda_networks", "A.9") in anchors()
    assert ("lda_networks", "A.99") not in anchors()


@pytest.mark.parametrize("folder", ["workbench", "tests", "docs", "benchmarks"])
def test_every_cited_number_of_the_specification_has_an_anchor(folder):
    files = [
        file
        for suffix in ("py", "md")
        for file in (ROOT / folder).rglob(f"*.{suffix}")
        if file != Path(__file__) and FOLDER not in file.parents
    ]
    missing = {
        f"{file.relative_to(ROOT)}: {number} is not in docs/specification/{page}.md"
        for file in files
        for page, number in citations(file.read_text(encoding="utf-8"), file.relative_to(ROOT))
        if (page, number) not in anchors()
    }
    assert missing == set()
