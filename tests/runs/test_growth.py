"""A run that finds more topics than it began with: in memory, in a store, read while it grows, resumed, started from."""

import numpy as np
import pytest
import zarr
from runs.stopped import compute_until
from same_bits import same_bits

import workbench as wb
from workbench.engines import ENGINES
from workbench.models import LDA, Priors
from workbench.runs.execution.fit import warm_start_from
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on
from workbench.runs.recorded import priors_of
from workbench.runs.spec import make_spec
from workbench.runs.store import writer
from workbench.runs.store.layout import StoreError
from workbench.runs.store.places import DATA
from workbench.runs.store.reader import RunReader
from workbench.runs.store.writer import create_run

SETTINGS = {"n_topics": 2, "n_iterations": 20, "snapshot_every": 8, "record_every": 3, "burn_in": 3}


@pytest.fixture(autouse=True)
def growing_registered(monkeypatch):
    monkeypatch.setitem(ENGINES, "growing", "engines.growing_engine")
    monkeypatch.setattr(writer, "GROWING_CAPACITY", 2)


@pytest.fixture(scope="module")
def halves():
    return wb.hold_out_tokens(LDA(4, 0.3, 0.2).simulate(10, 12, 20, seed=3)[0], 0.2, 0)


@pytest.fixture
def path(train, test, tmp_path):
    """The folder of a run of the growing engine that nobody has begun."""
    return create_run(tmp_path, make_spec(train, "growing", test=test, **SETTINGS), train, test)


def test_memory_and_store_have_room_for_every_topic(train, test, tmp_path):
    in_memory = wb.fit(train, "growing", test=test, progress=False, **SETTINGS)
    stored = wb.fit(train, "growing", test=test, store=tmp_path, progress=False, **SETTINGS)
    same_bits(in_memory, stored)
    assert in_memory.sizes["topic"] == 2 + 6
    n_k = in_memory["n_k"]
    np.testing.assert_array_equal((n_k > 0).sum("topic"), 2 + n_k["iteration"] // 3)
    np.testing.assert_array_equal(n_k.sum("topic"), train.n_tokens)
    np.testing.assert_array_equal(in_memory["n_kw"].sum(["topic", "word"]), train.n_tokens)
    np.testing.assert_array_equal(in_memory["n_kw"].isel(snapshot=0, topic=slice(4, None)), 0)


def test_snapshots_and_events_are_recorded_whatever_the_cadence(train):
    ds = wb.fit(train, "growing", progress=False, **SETTINGS)
    assert ds["iteration"].values.tolist() == [3, 6, 7, 8, 9, 12, 15, 16, 18, 20]
    assert ds["snapshot_iteration"].values.tolist() == [8, 16, 20]


def test_theta_and_phi_are_those_of_the_priors_as_learnt(train, test):
    ds = wb.fit(train, "growing", test=test, progress=False, **SETTINGS)
    priors = priors_of(ds)
    np.testing.assert_allclose(priors.alphas, 2.0 * 2 / 3 / 8, rtol=1e-15)
    assert (priors.beta, priors.rest) == (pytest.approx(5.0 / 12), pytest.approx(2.0 / 3))
    n_dk = ds["n_dk"].isel(snapshot=-1).values
    expected = (n_dk + priors.alphas) / (n_dk.sum(axis=1, keepdims=True) + 2.0)
    np.testing.assert_allclose(ds["theta"], expected, rtol=1e-12)
    np.testing.assert_allclose(ds["phi"].sum("word"), 1, rtol=1e-12)
    with_rest, n_kw = priors.with_rest(ds["n_kw"].isel(snapshot=-1).values)
    np.testing.assert_allclose(with_rest.phi(n_kw)[-1], 1 / 12, rtol=1e-12)
    assert Priors(priors.alphas, priors.beta).with_rest(n_kw)[1] is n_kw
    unseen = wb.infer(ds, train)
    assert unseen["theta"].sizes["topic"] == 8
    assert np.all(unseen["theta"].sum("topic") < 1)


@pytest.mark.parametrize("stop", [2, 4, 8, 13])
def test_a_run_that_is_stopped_and_resumed_has_the_same_bits(halves, path, tmp_path, stop):
    train, test = halves
    whole = wb.fit(
        train, "growing", test=test, store=tmp_path / "whole", progress=False, **SETTINGS
    )
    compute_until(path, halves, stop)
    assert Run(path).progress().sizes["iteration"] < whole.sizes["iteration"]
    # all that is committed comes again, the first rows with fewer topics than the last
    (path / "checkpoint.npz").unlink()
    again = wb.resume(path, progress=False)
    for name in ("n_k", "alpha", "test_perplexity"):
        np.testing.assert_array_equal(again[name].sel(iteration=whole["iteration"]), whole[name])
    np.testing.assert_array_equal(again["n_kw"].isel(snapshot=-1), whole["n_kw"].isel(snapshot=-1))


def test_a_chunk_that_is_gone_is_not_made_anew_where_topics_grow(halves, path):
    """Chunks of new topics are made full of zeros; of what was committed before none may be."""
    compute_until(path, halves, 10)
    first = sorted((path / DATA / "n_kw" / "c" / "0").rglob("*"))
    (gone,) = [file for file in first if file.is_file() and file.parent.name == "0"]
    gone.unlink()
    n_topics = wb.Run(path).progress().sizes["topic"]
    carry_on(path)
    assert wb.Run(path).progress().sizes["topic"] > n_topics and not gone.exists()
    with pytest.raises(StoreError, match="is damaged: the chunk data.zarr/n_kw/0/0/0 is gone"):
        wb.Run(path).dataset()["n_kw"].load()


def test_a_reader_that_was_there_before_sees_the_run_grow(halves, path, monkeypatch):
    reader, widths = RunReader(path), []

    def look(position, scores):
        widths.append(reader.progress().sizes["topic"])
        assert reader.dataset().sizes["topic"] == widths[-1]

    for seconds in ("FLUSH_EVERY", "FLUSH_WITHIN"):
        monkeypatch.setattr(writer, seconds, 0.0)
    compute_until(path, halves, 100, look)
    assert widths == sorted(widths)
    assert (widths[0], widths[-1]) == (2, 8)
    assert zarr.open_group(str(path / DATA), mode="r")["numbers"].shape[1] > 1


def test_other_runs_start_from_it_with_more_and_with_fewer_topics(train, test):
    ds = wb.fit(train, "growing", test=test, progress=False, **SETTINGS)
    for n_topics in (5, 8, 11):
        start, record = warm_start_from(ds, train, n_topics)
        assert (start.n_kw.shape, record["n_topics"]) == ((n_topics, 12), 8)
        assert (record["dropped"] > 0) == (n_topics < 8)
        assert (start.topics.min() == -1) == (n_topics < 8)


def test_a_comparison_gives_alpha_and_beta_to_those_whose_model_has_them(train):
    joined = wb.compare(train, ["growing", "cgs"], alpha=0.2, beta=0.3, progress=False, **SETTINGS)
    assert joined.sizes["run"] == 2
