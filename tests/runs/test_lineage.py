"""A run that begins from the counts of another: in memory, in a store, in a worker; restarts; and what is refused."""

import json

import numpy as np
import pytest
from toys import HDP_ENGINES, LDA_ENGINES

import workbench as wb
from workbench.corpus import CorpusError
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import cgs
from workbench.models import LDA
from workbench.runs.execution.fit import warm_start_from
from workbench.runs.execution.run import Run
from workbench.runs.spec import SpecError, make_spec
from workbench.runs.store.archive import WARM_STARTS
from workbench.runs.store.layout import StoreError

SETTINGS = {"n_topics": 4, "n_iterations": 15, "burn_in": 3, "progress": False}


@pytest.fixture(scope="module")
def halves(forty_documents):
    return forty_documents


@pytest.fixture(scope="module")
def source(forty_documents):
    """Sixty iterations of `cgs`."""
    train, test = forty_documents
    return wb.fit(train, "cgs", test=test, **(SETTINGS | {"n_iterations": 60}))


def test_the_record_says_where_it_came_from(train, test, source):
    ds = wb.fit(train, "svb-cgs", test=test, start=source, **SETTINGS)
    start = json.loads(ds.attrs["spec"])["start"]
    assert {name: start[name] for name in ("name", "hash", "iteration")} == {
        "name": source.attrs["name"],
        "hash": source.attrs["spec_hash"],
        "iteration": 60,
    }
    assert "warm" in ds.attrs["title"]


def test_the_hash_covers_the_counts_taken_and_not_their_name(train, source):
    cold = wb.fit(train, "svb", **SETTINGS).attrs["spec_hash"]
    warm = wb.fit(train, "svb", start=source, **SETTINGS).attrs["spec_hash"]
    renamed = wb.fit(train, "svb", start=source.assign_attrs(name="other"), **SETTINGS).attrs[
        "spec_hash"
    ]
    other = wb.fit(train, "svb", start=source.assign(n_kw=source["n_kw"] + 1), **SETTINGS).attrs[
        "spec_hash"
    ]
    assert warm == renamed
    assert len({cold, warm, other}) == 3


def test_memory_store_and_worker_give_the_same_bits_and_the_source_may_go(train, test, tmp_path):
    source = wb.fit(train, "cgs", test=test, store=tmp_path, **SETTINGS)
    name = source.attrs["name"]
    in_memory = wb.fit(train, "cvb-cgs", test=test, start=source, **SETTINGS)
    settings = {name: value for name, value in SETTINGS.items() if name != "progress"}
    run = wb.start(train, "cvb-cgs", test=test, start=name, store=tmp_path, **settings)
    assert run.wait(60) == "finished"
    assert run.dataset()["phi"].identical(in_memory["phi"])
    Run(tmp_path / name).remove()
    (run.path / "checkpoint.npz").unlink()  # it begins again, and must give the same numbers
    longer = wb.resume(run, n_iterations=20, progress=False)
    assert longer.sizes["iteration"] == 20
    np.testing.assert_array_equal(longer["test_perplexity"][:15], in_memory["test_perplexity"])


def test_other_documents_take_the_topics_alone(train, source):
    half = train.of_documents(np.arange(20))
    ds = wb.fit(half, "cgs", start=source, **SETTINGS)
    assert ds.sizes["document"] == 20
    spec = make_spec(half, "cgs", n_topics=4, start=None)
    assert ds.attrs["spec_hash"] != spec.hash


def test_a_run_with_fewer_topics_is_padded_and_of_one_with_more_the_largest_are_taken(
    train, source
):
    n_kw = source["n_kw"].isel(snapshot=-1).values
    more, record = warm_start_from(source, train, 6)
    np.testing.assert_array_equal(more.n_kw, np.vstack([n_kw, np.zeros((2, 30))]))
    assert (more.n_dk.shape, record["n_topics"], record["dropped"]) == ((40, 6), 4, 0.0)
    smallest = int(n_kw.sum(axis=1).argmin())
    fewer, record = warm_start_from(source, train, 3)
    np.testing.assert_array_equal(fewer.n_kw, np.delete(n_kw, smallest, axis=0))
    np.testing.assert_array_equal(fewer.n_dk.sum(axis=0), fewer.n_kw.sum(axis=1))
    assert record["dropped"] == pytest.approx(n_kw[smallest].sum() / n_kw.sum(), abs=1e-6)
    before = source["token_topics"].isel(snapshot=-1).values
    np.testing.assert_array_equal(fewer.topics == -1, before == smallest)
    np.testing.assert_array_equal(
        np.bincount(fewer.topics[fewer.topics >= 0], minlength=3), fewer.n_kw.sum(axis=1)
    )


@pytest.mark.parametrize("n_topics", [3, 4, 7])
@pytest.mark.parametrize("engine", [*LDA_ENGINES, *HDP_ENGINES])  # runs of networks begin at random
def test_any_engine_starts_from_a_sampler_with_any_number_of_topics(
    train, source, engine, n_topics
):
    ds = wb.fit(
        train, engine, start=source, **(SETTINGS | {"n_topics": n_topics, "n_iterations": 2})
    )
    assert ds.sizes["topic"] >= n_topics
    # counts of topics that were not taken are missed for a while
    whole = "n_k" if get_engine(engine).whole_counts else "n_dk"
    totals = ds[whole].sum([dim for dim in ds[whole].dims if dim not in ("iteration", "snapshot")])
    np.testing.assert_allclose(totals, train.n_tokens, rtol=1e-9)  # rounding


def test_a_chain_goes_on_from_the_very_topics_of_another(train, source):
    """The state before the first sweep: `init` alone."""
    start, _ = warm_start_from(source, train, 4)
    state = cgs.init(train, LDA(4, 0.1, 0.1), None, StepContext(0, 0), start)
    np.testing.assert_array_equal(state.topics, source["token_topics"].isel(snapshot=-1))
    np.testing.assert_array_equal(state.n_wk[:, :4].T, source["n_kw"].isel(snapshot=-1))
    other, _ = warm_start_from(source, train.of_documents(np.arange(20)), 4)
    assert other.topics is None


def test_a_comparison_may_start_from_a_run(train, source):
    joined = wb.compare(train, ["svb", "cgs"], holdout=0, start=source, **SETTINGS)
    assert all("warm" in label for label in joined["label"].values)


@pytest.mark.slow
def test_comparisons_and_sweeps_look_for_a_name_in_their_store(train, tmp_path):
    wb.fit(train, "cgs", store=tmp_path, name="first", **SETTINGS)
    joined = wb.compare(train, ["cgs"], holdout=0, start="first", store=tmp_path, **SETTINGS)
    swept = wb.sweep(train, {"r": [0, 1]}, holdout=0, start="first", store=tmp_path, **SETTINGS)
    assert all("warm" in label for label in [*joined["label"].values, *swept["label"].values])


def test_fit_refuses_a_start_of_other_words_without_counts_or_that_is_no_run(
    train, source, tmp_path
):
    for documents, start, sentence in (
        (
            LDA(4, 0.3, 0.2).simulate(40, 29, 60, seed=3)[0],
            source,
            "has another vocabulary than the corpus",
        ),
        (train, source.drop_vars(["n_kw", "n_dk"]), "has no counts yet to start from"),
        (train, "nowhere", "no run 'nowhere'"),
        (train, 3, "a run is a Run, a path, or a name in the store; got int"),
    ):
        with pytest.raises((SpecError, StoreError), match=sentence):
            wb.fit(documents, "cgs", start=start, store=tmp_path, **SETTINGS)


def test_counts_that_are_gone_or_damaged_fail_with_a_sentence(train, source, tmp_path):
    ds = wb.fit(train, "svb", start=source, store=tmp_path, **SETTINGS)
    run = Run(tmp_path / ds.attrs["name"])
    (run.path / "checkpoint.npz").unlink()
    (kept,) = (tmp_path / WARM_STARTS).iterdir()
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.raises(SpecError, match="the counts that this run starts from cannot be read"):
        wb.resume(run, n_iterations=30, progress=False)


# ---------------------------------------------------------------------- restarts


def test_of_several_restarts_the_highest_bound_is_kept(train, test, tmp_path):
    best = wb.fit(train, "vb", test=test, restarts=4, store=tmp_path, **SETTINGS)
    tried = json.loads(best.attrs["restarts"])
    assert [entry["seed"] for entry in tried] == [0, 1, 2, 3]
    for entry in tried:
        alone = wb.fit(train, "vb", test=test, seed=entry["seed"], **SETTINGS)
        assert float(alone["bound"][-1]) == entry["bound"]
    assert float(best["bound"][-1]) == max(entry["bound"] for entry in tried)
    assert {run.name for run in wb.open_runs(tmp_path)} == {entry["name"] for entry in tried}


def test_one_restart_is_the_run_itself(train):
    assert "restarts" not in wb.fit(train, "svb", **SETTINGS).attrs


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"engine": "cgs", "restarts": 2},
            "restarts are compared by their bound and cgs has none; vb, svb, online-vb, cvb, cvb0",
        ),
        (
            {"engine": "svb", "restarts": 2, "name": "mine"},
            "name is for a single run, and restarts makes several; got 'mine'",
        ),
        (
            {"engine": "svb", "restarts": 2, "start": "source"},
            "restarts and start cannot be combined",
        ),
        ({"engine": "svb", "restarts": 0}, "restarts must be a whole number of at least 1; got 0"),
    ],
)
def test_restarts_that_make_no_sense_are_refused(train, source, given, sentence):
    given = given | ({"start": source} if "start" in given else {})
    with pytest.raises((SpecError, CorpusError)) as error:
        wb.fit(train, **(SETTINGS | given))
    assert str(error.value).startswith(sentence)
