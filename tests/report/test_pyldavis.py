"""What pyLDAvis makes of a run, and the sentence where it is not installed."""

import json
import sys
import warnings

import numpy as np
import pytest
from foreign_models import sklearn_model, split_corpus
from missing import skip_without_program

import workbench as wb
from workbench.errors import InputError


@pytest.fixture
def pyldavis():
    skip_without_program("pyLDAvis", "pyldavis")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it imports
        import pyLDAvis
    return pyLDAvis


@pytest.fixture
def run():
    return wb.fit(split_corpus()[0], "cgs", n_topics=4, n_iterations=10, progress=False)


def test_pyldavis_prepares_a_run_as_it_does_its_arguments(pyldavis, run, tmp_path):
    result = wb.to_pyldavis(run)
    wb.export_run(run, tmp_path, "pyldavis")
    given = json.loads((tmp_path / "pyldavis.json").read_text())
    expected = pyldavis.prepare(**given, n_jobs=1)
    assert isinstance(result, pyldavis.PreparedData) and result.topic_order == expected.topic_order
    for name in ("topic_coordinates", "topic_info", "token_table"):
        one, other = (getattr(each, name) for each in (result, expected))
        assert one.astype(str).equals(other.astype(str)), name
    html = pyldavis.prepared_data_to_html(result)
    assert run["word"].values[int(run["phi"].values[0].argmax())] in html
    unsorted = wb.to_pyldavis(run, sort_topics=False, R=5)
    assert unsorted.topic_order == [1, 2, 3, 4] and unsorted.R == 5
    np.testing.assert_allclose(unsorted.topic_coordinates["Freq"].sum(), 100)


def test_an_imported_model_is_prepared_too(pyldavis, tmp_path):
    path = wb.import_run(sklearn_model(), tmp_path, corpus=split_corpus()[0])
    assert len(wb.to_pyldavis(path).topic_order) == 3


def test_to_pyldavis_refuses_what_pyldavis_cannot_show(pyldavis, run):
    with pytest.raises(InputError, match="this run has one"):
        wb.to_pyldavis(wb.fit(split_corpus()[0], "cgs", n_topics=1, n_iterations=2, progress=False))
    with pytest.raises(InputError, match="check the settings n_jobs, colour"):
        wb.to_pyldavis(run, colour="red")


def test_to_pyldavis_without_pyldavis_names_the_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyLDAvis", None)
    with pytest.raises(InputError, match=r"pip install 'topic-workbench\[pyldavis\]'"):
        wb.to_pyldavis(run)
