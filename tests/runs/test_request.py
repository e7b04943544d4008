"""Requests of runs: texts of a form or a link, mistakes, and the runs that are laid out."""

from pathlib import Path

import pytest
from form_values import REST, option_value
from toys import simulated

from workbench.engines import get_engine
from workbench.engines.options import shared_options
from workbench.records import Records
from workbench.runs.request import FILE, OF_RECORDS, RunRequest, written


@pytest.mark.parametrize("one", shared_options(), ids=lambda one: one.key)
def test_the_texts_of_a_request_are_those_that_it_was_made_of(one):
    value, *_ = option_value(one)
    engine = one.engines[0]
    texts = {one.key: written(value), "engines": engine}
    request = RunRequest.from_query(texts)
    assert request.to_query() == texts
    assert written(request.options[engine][one.field.name]) == written(value)


def test_settings_of_documents_and_of_records_go_round():
    of_records = {name for name in REST if name.startswith(OF_RECORDS)} - {"records.model"}
    usual = {"corpus": FILE, "path": "some file.csv"}
    for names, engine in (
        (of_records, "bn-vb"),
        (
            {*REST, "seeds", "jobs", "start"} - of_records - {*usual, "engines", "records.model"},
            "network-gibbs",
        ),
    ):
        values = {name: written(REST[name][0]) for name in names if name in REST}
        extra = {name: "2" for name in ("seeds", "jobs", "start") if name in names}
        texts = usual | {"engines": engine} | values | extra
        assert RunRequest.from_query(texts).to_query() == texts


def test_cells_are_every_combination_of_the_values_engine_by_engine():
    request = RunRequest(
        engines=("svb-cgs", "cgs"), n_topics=[2, 3], options={"svb-cgs": {"r": [0, 1]}}, seeds=2
    )
    cells = request.cells(simulated(), Path("runs"))
    specs = [(cell.spec.engine, cell.spec.n_topics, cell.spec.seed) for cell in cells]
    hybrids = [("svb-cgs", k, seed) for k in (2, 3) for _ in (0, 1) for seed in (0, 1)]
    assert sorted(specs) == sorted(hybrids + [("cgs", k, s) for k in (2, 3) for s in (0, 1)])
    assert len(cells) == request.n_runs() == 12
    assert len({cell.spec.hash for cell in cells}) == 12


def test_a_request_of_no_engine_has_one_mistake():
    assert [name for name, _ in RunRequest(engines=()).mistakes()] == ["engines"]


def test_requests_of_records_are_those_whose_engines_are_all_of_records():
    records = [name for name in ("cgs", "bn-vb") if get_engine(name).model.data is Records]
    assert records == ["bn-vb"]
    assert [RunRequest(engines=names).of_records for names in (("bn-vb",), ("cgs", "bn-vb"))] == [
        True,
        False,
    ]
