"""What the tests of the pages share: where they are, and their blocks of Python."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python(?P<mark>[^\n]*)\n(?P<code>.*?)^```$", re.M | re.S)


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """The blocks of Python of a page: what stands behind the word "python", and the code."""
    return [
        (found["mark"].strip(), found["code"])
        for found in BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


RUN = [
    page
    for page in (
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    )
    if blocks_of(page)
]
"""Pages whose blocks of Python are run."""
