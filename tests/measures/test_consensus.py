"""The topics that several runs agree on: planted ones are supported, others are not."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import workbench as wb
from workbench.measures import MeasureError, consensus
from workbench.measures.consensus import NEAR
from workbench.models import LDA

N_PLANTED, N_FITTED, N_RUNS = 8, 12, 6


def fitted(corpus, seed: int, n_topics: int = 3, n_iterations: int = 5):
    settings = dict(alpha=0.1, beta=0.05, n_iterations=n_iterations, progress=False)
    return wb.fit(corpus, "cgs", n_topics=n_topics, seed=seed, **settings)


@pytest.fixture(scope="module")
def corpus():
    return LDA(3, 0.1, 0.05).simulate(40, 30, 30, seed=1)[0]


def changed(run, order, seed: int = 7):
    """The run as one of another seed, with its topics in another order."""
    spec = run.attrs["spec"].replace('"seed": 0', f'"seed": {seed}')
    assert spec != run.attrs["spec"]
    moved = run.isel(topic=order).assign_coords(topic=run["topic"].values)
    return moved.assign_attrs(spec=spec, name=f"seed {seed}")


def test_the_same_topics_in_another_order_have_all_support_and_no_range(corpus):
    run = fitted(corpus, 0)
    found = consensus([run, changed(run, [2, 0, 1])])
    assert found["support"].values.tolist() == [1, 1, 1]
    assert found["n_found"].values.tolist() == [2, 2, 2] and found.attrs["n_runs"] == 2
    for name in ("phi", "theta"):
        for end in ("", "_low", "_high"):
            np.testing.assert_allclose(found[name + end], run[name], rtol=1e-12)


def test_a_topic_of_one_run_has_no_support_and_ranges_are_over_the_runs_that_have_a_topic(corpus):
    run = fitted(corpus, 0).load()
    other, third = changed(run, [0, 1, 2]), changed(run, [0, 1, 2], 8)
    for each in (other, third):
        phi = each["phi"].values.copy()
        phi[1] = np.roll(phi[1], 11)
        each["phi"] = each["phi"].dims, phi
    third["theta"] = third["theta"] * 0.5
    found = consensus([run, other, third])
    support = dict(zip(found["topic"].values.tolist(), found["support"].values, strict=True))
    assert found.attrs["run"] in {"seed 7", "seed 8"}  # two of three agree on all
    assert support == {0: 1, 1: 0.5, 2: 1}
    theta = found[["theta", "theta_low", "theta_high"]].sel(topic=0)
    np.testing.assert_allclose(theta["theta_low"], run["theta"].sel(topic=0) / 2)
    np.testing.assert_allclose(theta["theta_high"], run["theta"].sel(topic=0))
    np.testing.assert_allclose(theta["theta"], run["theta"].sel(topic=0) * 2.5 / 3)


def test_runs_that_cannot_agree_are_refused(corpus):
    run = fitted(corpus, 0)
    with pytest.raises(MeasureError, match="give two or more, such as of several seeds"):
        consensus(run)
    other = LDA(3, 0.1, 0.05).simulate(40, 30, 30, seed=2)[0]
    with pytest.raises(MeasureError, match="several training corpora"):
        consensus([run, fitted(other, 1)])


def supports(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The support of the planted topics of a simulated corpus, and of the others."""
    corpus, truth = LDA(N_PLANTED, 0.1, 0.05).simulate(300, 300, 60, seed=seed)
    found = consensus([fitted(corpus, at, N_FITTED, 150) for at in range(N_RUNS)])
    distances = cdist(found["phi"], truth["phi"], "jensenshannon") / np.sqrt(np.log(2))
    rows, columns = linear_sum_assignment(distances)
    planted = np.zeros(len(distances), bool)
    planted[rows[distances[rows, columns] <= NEAR]] = True
    return found["support"].values[planted], found["support"].values[~planted]


@pytest.mark.parametrize(
    "n_corpora",
    [pytest.param(4, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.long)],
)
def test_planted_topics_are_supported_and_others_are_not(n_corpora):
    planted, others = map(np.concatenate, zip(*map(supports, range(n_corpora)), strict=True))
    print(f"{len(planted)} planted {planted.mean():.3f}, {len(others)} others {others.mean():.3f}")
    assert len(planted) > 7 * n_corpora and planted.mean() >= 0.9
    assert others.mean() <= 0.1
