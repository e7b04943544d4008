"""How far runs are, where stderr is no terminal."""

from toys import simulated

import workbench as wb
from workbench.runs import progress
from workbench.runs.progress import bars


def test_several_runs_have_a_line_each_at_their_end_and_one_now_and_then(
    tmp_path, capsys, monkeypatch
):
    for engine in ("cgs", "svb"):
        wb.fit(
            simulated(),
            engine,
            n_topics=2,
            n_iterations=6,
            store=tmp_path,
            name=engine,
            progress=False,
        )
    runs = [wb.Run(tmp_path / name) for name in ("cgs", "svb")]
    with bars(runs) as move:
        move(runs[:1])
        move(runs[:1])
        monkeypatch.setattr(progress, "REPORTED_EVERY", 0.0)
        move(runs[:1])
        move(runs)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "cgs seed 0: 6 iterations; 1 of 2 runs done",
        "50% of all iterations; 1 of 2 runs done",
        "svb seed 0: 6 iterations; 2 of 2 runs done",
        "100% of all iterations; 2 of 2 runs done",
    ]


def test_progress_prints_nothing_where_it_is_off(tmp_path, capsys):
    wb.fit(simulated(), "cgs", n_topics=2, n_iterations=2, store=tmp_path, progress=False)
    with bars(wb.open_runs(tmp_path), is_shown=False) as move:
        move(wb.open_runs(tmp_path)[:0])
    assert capsys.readouterr().err == ""
