"""When to use which engine, as it is told wherever engines are chosen."""

import re

import pytest

import workbench as wb
from workbench.engines import ENGINES, FIRST_CHOICE, get_engine

LONGEST = 220
"""Characters of a sentence that a tooltip shows with a title and a source."""


def engines_in(text: str) -> set[str]:
    """The words of a text that look like names of engines: those with a hyphen, and those that an engine has."""
    words = re.findall(r"[a-z][a-z0-9-]+", text)
    return {
        word for word in words if word in ENGINES or re.search(r"-(cgs|hdp|gibbs|lds|gp|vb)$", word)
    }


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_says_in_a_sentence_when_to_use_it_and_names_others_that_there_are(name):
    when = get_engine(name).when
    assert (
        when[0].isupper() and when.endswith(".") and 40 < len(when) <= LONGEST and "  " not in when
    )
    assert engines_in(when) <= set(ENGINES) - {name}
    assert wb.engines()[name]["when"] == when


def test_no_two_engines_are_for_the_same():
    assert len({get_engine(name).when for name in ENGINES}) == len(ENGINES)


def test_the_first_choice_names_engines_that_there_are():
    assert {"cvb0", "cgs", "g-hdp", "hmm", "bn-vb"} == engines_in(FIRST_CHOICE)
