"""Runs of the HDP beside runs of LDA: priors that only some models have, and what each is set against."""

import numpy as np
import xarray as xr
from comparisons import made_up

from workbench.measures import labels_of, summary, topics_by_size

WIDER = {"n_topics": 2, "alpha": 0.5, "beta": 0.1}


def test_labels_ignore_priors_that_one_of_the_models_lacks():
    assert labels_of([made_up("cgs", [1]), made_up("cv-hdp", [1]), made_up("g-hdp", [1])]) == [
        "cgs",
        "cv-hdp",
        "g-hdp",
    ]
    runs = [made_up("cgs", [1]), made_up("cgs", [1], model=WIDER), made_up("cv-hdp", [1])]
    assert labels_of(runs) == ["cgs, alpha=0.1", "cgs, alpha=0.5", "cv-hdp"]


def test_an_hdp_is_compared_with_lda_of_the_same_number_of_topics():
    more = {"n_topics": 3, "alpha": 0.1, "beta": 0.1}
    runs = [made_up("cgs", [5], model=more), made_up("cgs", [4]), made_up("cv-hdp", [3])]
    table = summary(runs)
    # alone with K=3: the best of all
    assert table["reference"].values.tolist() == ["cv-hdp, K=2", "cgs, K=2", "cgs, K=2"]
    assert table["difference"].values.tolist() == [2, 0, -1]
    assert summary([made_up("svb", [4]), made_up("cv-hdp", [5])])["reference"].values.tolist() == [
        "svb",
        "svb",
    ]


def test_used_topics_of_an_hdp_are_those_with_a_token():
    n_kw = np.array([[0.0, 0.0], [1.0, 0.0], [200.0, 99.0], [0.3, 0.2]])
    counts = {
        "n_kw": (("snapshot", "topic", "word"), n_kw[None]),
        "n_k": (("iteration", "topic"), n_kw.sum(axis=1)[None]),
    }
    counts["phi"] = (("topic", "word"), n_kw)  # only has to be there
    labels = {
        "snapshot_iteration": ("snapshot", [1]),
        "word": ["a", "b"],
        "iteration": [1],
        "topic": range(4),
    }
    for engine, shown in (("g-hdp", [2, 1]), ("cgs", [2, 1, 3, 0])):
        assert topics_by_size(xr.Dataset(counts, labels, made_up(engine, [1]).attrs)) == shown
