import pytest
from toys import simulated

import workbench as wb
from workbench.runs.execution.run import extend
from workbench.runs.spec import SpecError
from workbench.runs.store.layout import StoreError


def test_an_unknown_setting_gets_one_sentence_with_the_nearest():
    with pytest.raises(SpecError, match=r"^no setting 'n_topic'; did you mean 'n_topics'\?$"):
        wb.compare(simulated(), ["cgs"], n_topic=3)
    with pytest.raises(
        SpecError, match="^no setting 'zzz'; there are engines, seeds, seed, holdout, "
    ):
        wb.compare(simulated(), ["cgs"], zzz=3)


def test_what_is_no_run_is_told_by_its_kind():
    for wrong, kind in ((3, "int"), (None, "NoneType"), ([], "list")):
        with pytest.raises(
            StoreError, match=f"^a run is a Run, a path, or a name in the store; got {kind}$"
        ):
            wb.open_run(wrong)


def test_a_run_whose_end_is_moved_to_where_it_stopped_is_finished(tmp_path):
    wb.fit(simulated(), "cgs", n_topics=2, n_iterations=6, store=tmp_path, progress=False)
    (run,) = wb.open_runs(tmp_path)
    for end, state in ((9, "stopped"), (6, "finished"), (3, "finished")):
        extend(run.path, end)
        assert run.state == state
