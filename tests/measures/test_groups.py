"""Topics by group and over time, against plain loops."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from comparisons import made_up, tiny_run
from scipy import stats
from toys import simulated

import workbench as wb
from workbench.corpus.document_table import DocumentTable
from workbench.measures import (
    MeasureError,
    group_differences,
    topics_by_group,
    topics_over_time,
    with_columns,
    words_by_group,
)
from workbench.measures.groups import columns_of, fitting_period


def fitted(corpus):
    """A short run of three topics."""
    return wb.fit(corpus, "cvb0", 3, n_iterations=3, progress=False)


def with_tokens(n_dk):
    """A run of which documents have these tokens of its topics."""
    n_dk = np.array(n_dk, float)
    n_topics = n_dk.shape[1]
    run = made_up("cgs", [1])
    return (
        run.drop_vars([name for name in (*run, *run.coords) if "topic" in run[name].dims])
        .assign(
            {
                "n_dk": (("snapshot", "document", "topic"), n_dk[None]),
                "n_kw": (("snapshot", "topic", "word"), n_dk.sum(axis=0)[None, :, None]),
                "n_k": (("iteration", "topic"), n_dk.sum(axis=0)[None]),
                "phi": (("topic", "word"), np.ones((n_topics, 1))),
            }
        )
        .assign_coords(document=[f"d{d}" for d in range(len(n_dk))], word=["w"])
    )


def test_shares_lifts_and_sizes_are_those_of_a_plain_loop():
    run, n_documents = tiny_run("cgs"), tiny_run("cgs").sizes["document"]
    groups = (["b", None, "a"] * n_documents)[:n_documents]
    result = topics_by_group(run, groups)
    n_dk = run["n_dk"].isel(snapshot=-1).values
    assert result["group"].values.tolist() == ["a", "b"]
    for name in "ab":
        own = [n_dk[d] for d in range(n_documents) if groups[d] == name]
        share = sum(own) / sum(map(np.sum, own))
        grouped = [n_dk[d] for d in range(n_documents) if groups[d]]
        overall = sum(grouped) / sum(map(np.sum, grouped))
        here = result.sel(group=name)
        np.testing.assert_allclose(here["share"], share, rtol=1e-12)
        np.testing.assert_allclose(here["lift"], share / overall, rtol=1e-12)
        assert (int(here["n_documents"]), int(here["n_tokens"])) == (
            len(own),
            round(sum(map(np.sum, own))),
        )


def wilson(share: float, n: float, t: float) -> tuple[float, float]:
    """The shares p at which share is off by t standard errors of n tokens: roots of (share - p)^2 = t^2 p (1 - p) / n."""
    return tuple(sorted(np.roots([1 + t**2 / n, -2 * share - t**2 / n, share**2]).real))


def test_intervals_are_wilsons_for_tokens_that_vary_as_documents_do():
    random = np.random.default_rng(1)
    n_dk = np.array([random.multinomial(n, [0.2, 0.3, 0.5]) for n in random.integers(9, 99, 30)])
    groups, ends = np.repeat(["x", "y"], [12, 18]), {}
    result = topics_by_group(with_tokens(n_dk), groups)
    for name in "xy":
        own = n_dk[groups == name]
        lengths = [sum(tokens) for tokens in own]
        weights = [length / sum(lengths) for length in lengths]
        share = own.sum(axis=0) / sum(lengths)
        variance = sum(
            (w * (tokens / sum(tokens) - share)) ** 2 / (1 - 2 * w + sum(v**2 for v in weights))
            for w, tokens in zip(weights, own, strict=True)
        )
        freedom, binomial = sum(w**3 for w in weights) ** -0.5 - 1, share * (1 - share)
        mixed = freedom * variance / binomial + 2 * sum(variance) / sum(binomial)
        t = stats.t.ppf(0.975, freedom + 2)
        ends[name] = [wilson(r, (freedom + 2) / m, t) for r, m in zip(share, mixed, strict=True)]
        np.testing.assert_allclose(result.sel(group=name)["low"], [low for low, _ in ends[name]])
        np.testing.assert_allclose(result.sel(group=name)["high"], [high for _, high in ends[name]])
    difference = group_differences(with_tokens(n_dk), groups, "x", "y").sortby("topic")
    np.testing.assert_allclose(difference["difference"], difference["one"] - difference["other"])
    for topic, ((low, _), (_, high)) in enumerate(zip(ends["x"], ends["y"], strict=True)):
        row = difference.isel(topic=topic)
        below = (row["one"] - low) ** 2 + (high - row["other"]) ** 2
        assert float(row["low"]) == pytest.approx(float(row["difference"] - np.sqrt(below)))


def test_every_period_from_the_first_to_the_last_has_a_row():
    run = with_tokens([[3, 1], [0, 4], [2, 2], [1, 0], [5, 5]])
    dates = ["2024-01-31", "2024-02-01T23:59", pd.Timestamp("2024-05-05"), None, "1 February 2024"]
    result = topics_over_time(run, dates, "month")
    assert result["period"].values.tolist() == [
        "2024-01",
        "2024-02",
        "2024-03",
        "2024-04",
        "2024-05",
    ]
    assert result["time"].values[1] == np.datetime64("2024-02-01")
    np.testing.assert_allclose(
        result["share"].values[[0, 1, 4]], [[0.75, 0.25], [5 / 14, 9 / 14], [0.5, 0.5]]
    )
    assert np.isnan(result["share"].values[2:4]).all() and result[
        "n_documents"
    ].values.tolist() == [
        1,
        2,
        0,
        0,
        1,
    ]
    assert np.isnan(result["low"].values[0]).all() and np.isfinite(result["low"].values[1]).all()
    by_year = topics_over_time(run, [1999, "2001", 2001.0, np.int64(2000), float("nan")])
    assert by_year["period"].values.tolist() == ["1999", "2000", "2001"]
    assert by_year["n_tokens"].values.tolist() == [4, 1, 8]
    weeks = topics_over_time(run, ["2024-12-30", "2025-01-06", None, None, None], "week")
    assert weeks["period"].values.tolist() == ["2025-W01", "2025-W02"]  # as ISO 8601 counts them
    aware = topics_over_time(run, ["2024-01-01T00:30+02:00"] * 5, "day")
    assert aware["period"].values.tolist() == ["2024-01-01"]  # the day where it was written


def test_topics_by_group_leaves_out_empty_topics_of_an_hdp():
    run = tiny_run("cv-hdp")
    result = topics_by_group(run, ["one"] * run.sizes["document"])
    assert result.sizes["topic"] <= run.sizes["topic"]
    np.testing.assert_allclose(result["share"].sum("topic"), 1, rtol=1e-9)


def test_an_empty_document_counts_as_a_document_and_changes_no_interval():
    tokens = [[3, 1], [2, 3], [2, 2], [5, 4], [3, 3]]
    result, more = (
        topics_by_group(with_tokens(each), ["a"] * len(each))
        for each in (tokens, [*tokens, [0, 0]])
    )
    for name in ("share", "low", "high", "lift"):
        np.testing.assert_allclose(result[name], more[name])
    assert (int(result["n_documents"][0]), int(more["n_documents"][0])) == (5, 6)
    assert result["low"].values.min() > 0 and result["high"].values.max() < 1
    assert np.isnan(
        topics_by_group(with_tokens([[0, 0], [1, 1]]), ["empty", "a"]).sel(group="empty")["share"]
    ).all()


def test_intervals_end_between_nought_and_one_and_groups_of_equal_documents_have_one():
    result = topics_by_group(with_tokens([[9, 1], [10, 0]]), ["a", "a"]).isel(group=0)
    assert 0 < result["low"][1] < 0.05 < result["high"][1] < 1
    missing = topics_by_group(with_tokens([[5, 5, 0], [6, 4, 0], [1, 1, 8]]), ["a", "a", "b"])
    # Wilson's interval of a topic that no document of the group has
    assert missing["low"][0, 2] == 0 < missing["high"][0, 2] < 1
    assert np.isnan(missing.sel(group="b")["low"]).all()
    difference = group_differences(with_tokens([[3, 1]] * 4), list("aabb"), "a", "b")
    assert not difference[["difference", "low", "high"]].to_array().any()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (
            lambda run: topics_by_group(run, ["a"]),
            "groups must have one entry for each of 3 documents; got 1",
        ),
        (
            lambda run: topics_by_group(run, "abc"),
            "have no 'abc'; their columns are none; give groups with an entry",
        ),
        (
            lambda run: topics_by_group(run, [None] * 3),
            "no document has a group; give one for each document",
        ),
        (lambda run: topics_by_group(run, [["a"]] * 3), "a group must be a name or a number"),
        (lambda run: topics_over_time(run, [None] * 3), "no document has a time"),
        (
            lambda run: topics_over_time(run, ["2024", "often", None]),
            "the time of document 1 is 'often', which is no date",
        ),
        (
            lambda run: topics_over_time(run, [1.5, 2, 3]),
            "the time of document 0 is '1.5', which is no date",
        ),
        (lambda run: topics_over_time(run, [True, 2, 3]), "the time of document 0 is 'True'"),
        (lambda run: topics_over_time(run, [1e300, 2, 3]), "the time of document 0 is '1e[+]300'"),
        (
            lambda run: topics_over_time(run, [1900, 2000, 2100], "day"),
            "the times span 73,050 periods of a day",
        ),
        (
            lambda run: topics_over_time(run, [1900, 2000, 2100], "century"),
            "the period must be one of year, quarter",
        ),
        (
            lambda run: group_differences(run, ["a", "b", "b"], "a", "c"),
            "there is no group 'c'; there are a, b",
        ),
        (
            lambda run: group_differences(run, ["a", "a", "b"], "a", "b"),
            "no document of group 'b' has a token",
        ),
        (
            lambda run: topics_by_group(run.drop_vars("n_dk"), ["a"] * 3),
            "has no topic counts of documents",
        ),
    ],
)
def test_groups_refuse_wrong_input(call, sentence):
    with pytest.raises(MeasureError, match=sentence):
        call(with_tokens([[3, 1], [0, 4], [0, 0]]))


def test_runs_have_labels_and_times_of_their_documents():
    corpus = replace(
        simulated(20, 15, 30),
        labels=("a", "b") * 10,
        times=tuple(f"20{10 + d}-05-01" for d in range(20)),
    )
    run = fitted(corpus)
    assert topics_by_group(run).equals(topics_by_group(run, corpus.labels))
    assert (
        topics_over_time(run).equals(topics_over_time(run, corpus.times))
        and topics_over_time(run).sizes["time"] == 20
    )
    with pytest.raises(
        MeasureError,
        match="have no 'kind'; their columns are 'label'; give groups with an entry for each",
    ):
        topics_by_group(run, "kind")


def test_columns_of_a_table_are_those_by_which_documents_can_be_grouped():
    corpus = replace(simulated(20, 15, 30), labels=("a", "b") * 10)
    columns = {
        "label": ("u", "v", "v", "v") * 5,
        "same": ("a", "b") * 10,
        "one": ("x",) * 20,
        "n": (1, 2, None, 4, None) * 4,
        "each": tuple(map(str, range(20))),
    }
    run = with_columns(fitted(corpus), DocumentTable(columns))
    assert columns_of(run) == ["label", "label of the table", "n"]
    assert topics_by_group(run, "n")["group"].values.tolist() == ["1", "2", "4"]
    assert with_columns(run, None).identical(run)


def test_words_of_a_group_are_those_of_its_expected_tokens():
    corpus = simulated(20, 15, 30)
    run, groups = fitted(corpus), (["a", None, "b", "b"] * 5)
    theta, phi = run["theta"].values, run["phi"].values
    result = words_by_group(run, corpus, groups, 4)
    expected = {name: np.zeros_like(phi) for name in "ab"}
    for d, name in enumerate(groups):
        for at in range(corpus.indptr[d], corpus.indptr[d + 1]) if name else ():
            p = theta[d] * phi[:, corpus.words[at]]
            expected[name][:, corpus.words[at]] += corpus.counts[at] * p / p.sum()
    for name, tokens in expected.items():
        for topic in range(3):
            order = np.argsort(-tokens[topic], kind="stable")[:4]
            own = result.sel(group=name, topic=topic)
            np.testing.assert_allclose(own["n_tokens"], tokens[topic][order], rtol=1e-12)
            assert own["word"].values.tolist() == [corpus.vocabulary[w] for w in order]
    # there are no more words
    assert (words_by_group(run, corpus, groups, 40)["word"].values[..., 15:] == "").all()


@pytest.mark.parametrize(
    ("times", "period"),
    [
        ([1990, 2020, None], "year"),
        (["1990", "2020"], "year"),
        (["2020-01-01", "2020-02-09"], "day"),
        (["2020-01-01", "2020-02-10"], "week"),
        (["2020-01-01", "2022-12-31"], "month"),
        (["2010-01-01", "2019-01-01"], "quarter"),
        (["1950-01-01", None, "2019-01-01"], "year"),
        (["1050-01-01", "2019-01-01"], "year"),
    ],
)
def test_fitting_period_is_the_shortest_with_few_enough_periods(times, period):
    assert fitting_period(times) == period
