"""The figures of correlated topics that are more than a grid of runs."""

import pytest
from missing import skip_without

import workbench as wb
from workbench.corpus import data_sets


@pytest.mark.slow
def test_the_pairs_of_topics_that_the_paper_highlights_are_found_framed_and_judged(tmp_path):
    if data_sets()["ap1000"].folder() is None:
        skip_without("WORKBENCH_DATA names no folder with the files of ap1000")
    made = wb.reproduce("ctm-fig2-topics", tmp_path, quick=True, formats=["png"])
    assert [verdict.outcome for verdict in made.verdicts] == ["holds", "holds"]
    caption = (tmp_path / "ctm-fig2-topics.txt").read_text()
    assert (
        "30 topics and 150 sweeps, not 100 and 600" in caption
        and "(percent, year, billion, rate), topic" in caption
    )
    assert len((tmp_path / "ctm-fig2-topics.csv").read_text().splitlines()) == 1 + 30 * 30
