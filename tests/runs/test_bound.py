"""The bound B of a run in a store: taken at its last checkpoint, refused for what is no hybrid."""

import pytest
import twins

import workbench as wb
from workbench.engines.engine import StepContext
from workbench.engines.lda import hybrid_bound
from workbench.engines.lda.hybrid_bound import whole
from workbench.models import LDA
from workbench.models.options import OptionError
from workbench.runs.afterwards.bound import HYBRIDS
from workbench.runs.execution.run import Run
from workbench.runs.spec import SpecError
from workbench.runs.store.archive import read_checkpoint


@pytest.fixture(scope="module")
def few_tokens():
    """3 documents of 4 tokens over 4 words."""
    return LDA(2, 0.5, 0.5).simulate(3, 4, 4, seed=2)[0]


@pytest.fixture(scope="module")
def runs(tmp_path_factory, few_tokens):
    """A store with a finished run of 8 iterations of each engine."""
    store = tmp_path_factory.mktemp("bounds")
    for engine in (*HYBRIDS, "svb", "cgs"):
        wb.fit(
            few_tokens, engine, n_topics=2, n_iterations=8, store=store, name=engine, progress=False
        )
    return store


def quietly(run, method, **sizes):
    return wb.hybrid_bound(run, method, progress=False, **sizes)


@pytest.mark.parametrize("name", HYBRIDS)
def test_the_bound_is_that_of_the_last_checkpoint_and_below_the_evidence(runs, few_tokens, name):
    run = Run(runs / name)
    engine, model, options = run.spec.parts()
    kept = read_checkpoint(run.path / "checkpoint.npz", engine).state
    given = few_tokens, *HYBRIDS[name].for_bound(few_tokens, options, kept)
    told = quietly(run, "exact")
    assert told["bound"] == hybrid_bound.exact(*whole(*given))
    assert told["bound"] < twins.enumerate_topics(few_tokens, model.alphas, model.beta).log_sum
    assert (told["method"], told["run"], told["engine"], told["iteration"]) == (
        "exact",
        name,
        name,
        8,
    )
    assert (
        told["n_sampled"] == few_tokens.counts[given[1].sampled].sum() > 0
        and told["entropy"] == given[-1]
    )
    annealed = quietly(run, "ais", seed=3, n_runs=5, n_temperatures=4)
    assert (
        annealed["log_weights"]
        == hybrid_bound.ais(*whole(*given), StepContext(3, 0), 5, 4).log_weights.tolist()
    )
    assert (
        annealed["log_weights"]
        == quietly(run, "ais", seed=3, n_runs=5, n_temperatures=4, n_threads=2)["log_weights"]
    )
    assert 1 <= annealed["effective_runs"] <= 5 and annealed["standard_error"] > 0
    bracket = quietly(run, "bracket", n_sweeps=6, burn_in=2)
    assert (bracket["low"], bracket["high"]) == hybrid_bound.bracket(
        *whole(*given), StepContext(0, 0), 6, 2
    )


def test_a_run_is_found_by_name_and_progress_is_told_on_stderr(runs, capsys):
    told = wb.hybrid_bound("svb-cgs", "ais", n_runs=2, n_temperatures=3, store=runs)
    out, err = capsys.readouterr()
    assert told["run"] == "svb-cgs" and out == "" and "6/6" in err
    wb.hybrid_bound(runs / "svb-cgs", "bracket", n_sweeps=3, burn_in=4)
    assert "7/7" in capsys.readouterr().err


def test_what_is_refused_is_told_in_a_sentence(runs, few_tokens, tmp_path):
    hybrids = r"the bound B belongs to the hybrids \(svb-cgs, cvb-cgs, cvb0-cgs, adaptive-cgs, mixed-cgs\); run "
    for wrong, sentence in [
        (
            lambda: quietly(runs / "svb", "ais"),
            hybrids + "'svb' is svb, and its Dataset holds bound",
        ),
        (
            lambda: quietly(runs / "cgs", "ais"),
            hybrids + "'cgs' is cgs, and its Dataset holds log_joint",
        ),
        (
            lambda: quietly(runs / "svb-cgs", "aiss"),
            "method must be one of ais, bracket, exact; got 'aiss'",
        ),
        (
            lambda: quietly(runs / "svb-cgs", "ais", n_runs=0),
            "runs must be a whole number of at least 1; got 0",
        ),
        (
            lambda: quietly(runs / "svb-cgs", "bracket", burn_in=-1),
            "burn-in must be a whole number of at least 0; got -1",
        ),
        (
            lambda: quietly(wb.open_run(runs / "svb-cgs"), "ais"),
            "a Dataset keeps no state of the engine; give a run in a",
        ),
    ]:
        with pytest.raises(SpecError, match=sentence):
            wrong()
    many = LDA(2, 0.5, 0.5).simulate(12, 40, 20, seed=2)[0]
    wb.fit(many, "svb-cgs", n_topics=2, n_iterations=2, store=tmp_path, name="many", progress=False)
    with pytest.raises(OptionError, match="method exact enumerates at most 65,536 assignments"):
        quietly(tmp_path / "many", "exact")
    (tmp_path / "many" / "checkpoint.npz").unlink()
    with pytest.raises(
        SpecError, match="run 'many' has no whole checkpoint; `workbench resume many` makes one"
    ):
        quietly(tmp_path / "many", "bracket")
