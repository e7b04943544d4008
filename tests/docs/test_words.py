"""`make words` refuses phrases that docs/plain_words.txt replaces, in the texts for people."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from documented import ROOT
from missing import skip_without

PHRASES = [
    line.split("->")[0]
    for line in (ROOT / "docs" / "plain_words.txt").read_text(encoding="utf-8").splitlines()
]


def words(text: Path) -> str:
    """What `make words` prints of a file."""
    folder = Path(sys.executable).parent
    if not (folder / "codespell").exists() or shutil.which("make") is None:
        skip_without("codespell, of the extra 'test', and make check the words")
    command = ["make", "-s", "words", f"BIN={folder}", f"TEXTS={text}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def test_words_reports_every_phrase_and_no_other(tmp_path):
    text = tmp_path / "planted.md"
    text.write_text("".join(f"Before, {phrase.capitalize()} after.\n" for phrase in PHRASES))
    assert words(text).count(" ==> ") == len(PHRASES)
    text.write_text("A run is resumed; usually so. The toldness of bytold.\n")
    assert words(text) == ""


@pytest.mark.parametrize("name", ["README.md", "docs", "workbench/cli"])
def test_texts_for_people_have_none_of_the_phrases(name):
    assert words(Path(name)) == ""
