"""Effects of columns on shares of topics, against plain regressions."""

import sys

import numpy as np
import pandas as pd
import pytest
from comparisons import tiny_run
from measures.test_groups import with_tokens
from scipy.stats import t as students_t

import workbench as wb
from workbench.corpus.document_table import DocumentTable
from workbench.measures import MeasureError, effect_curve, effects
from workbench.measures.effects import N_DRAWS, columns_of_documents, formula_of
from workbench.measures.groups import COLUMN

N = 40
MODULE = sys.modules["workbench.measures.effects"]  # the package has a function of this name
COLUMNS = pd.DataFrame(
    {
        "party": ["left", "right", "centre", "right"] * 10,
        "year": np.arange(N) % 7 + 2000.0,
        "place": [""] + ["here", "there"] * 19 + ["here"],
    }
)


def drawn(n_snapshots: int = 1, engine: str = "cgs"):
    """A run of some snapshots whose tokens are drawn; the first snapshots are of the burn-in."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 40, N)
    lengths[7] = 0
    run = with_tokens(np.ones((N, 3)))
    tokens = np.stack(
        [
            np.stack(
                [
                    rng.multinomial(n, p)
                    for n, p in zip(lengths, rng.dirichlet([2, 1, 1], N), strict=True)
                ]
            )
            for _ in range(n_snapshots)
        ]
    ).astype(float)
    spec = run.attrs["spec"].replace('"engine": "cgs"', f'"engine": "{engine}"')
    assert engine in spec
    return (
        run.drop_vars(["n_dk", "n_kw", "n_k"])
        .assign(
            n_dk=(("snapshot", "document", "topic"), tokens),
            n_kw=(("snapshot", "topic", "word"), tokens.sum(axis=1)[..., None]),
            n_k=(("iteration", "topic"), tokens[-1:].sum(axis=1)),
        )
        .assign_coords(snapshot_iteration=("snapshot", 9 + np.arange(n_snapshots)))
        .assign_attrs(spec=spec)
    )


def plainly(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and their covariance by HC3, document by document."""
    inverse = np.linalg.inv(x.T @ x)
    slopes = inverse @ x.T @ y
    middle = np.zeros_like(inverse)
    for row, value in zip(x, y, strict=True):
        leverage = row @ inverse @ row
        middle += np.outer(row, row) * ((value - row @ slopes) / (1 - leverage)) ** 2
    return slopes, inverse @ middle @ inverse


def design(kept: np.ndarray) -> np.ndarray:
    columns = COLUMNS[kept]
    return np.stack(
        [
            np.ones(kept.sum()),
            columns["party"] == "left",
            columns["party"] == "right",
            columns["year"],
        ],
        axis=1,
    ).astype(float)


@pytest.mark.parametrize("n_snapshots", [1, 6])
def test_effects_are_means_of_regressions_on_the_snapshots_after_the_burn_in(n_snapshots):
    run = drawn(n_snapshots)
    found = effects(run, "~ party + year", COLUMNS)
    assert found["term"].values.tolist() == ["Intercept", "party[T.left]", "party[T.right]", "year"]
    kept = run["n_dk"].values[-1].sum(axis=1) > 0
    assert found.attrs["n_documents"] == N - 1 and found.attrs["n_left_out"] == 1
    used = range(max(n_snapshots - 4, 0), n_snapshots)  # after iteration 10, or the last
    assert found.attrs["n_draws"] == len(used)
    for topic in range(3):
        tokens = run["n_dk"].values[used][:, kept]
        shares = tokens[..., topic] / tokens.sum(axis=-1)
        slopes = np.array([plainly(design(kept), each)[0] for each in shares])
        _, covariance = plainly(design(kept), shares.mean(axis=0))
        if len(used) > 1:
            x = design(kept)
            between, inverse = np.cov(slopes.T), np.linalg.pinv(x)
            of_documents = inverse @ np.diag(shares.var(axis=0, ddof=1)) @ inverse.T
            root = np.linalg.cholesky(x.T @ x)  # coordinates in which no unit of a column counts
            values, vectors = np.linalg.eigh(root.T @ (between - of_documents) @ root)
            back = np.linalg.solve(root.T, vectors)
            of_topics = sum(max(v, 0) * np.outer(e, e) for v, e in zip(values, back.T, strict=True))
            covariance = covariance + between / len(used) + of_topics
        own = found.sel(topic=topic)
        np.testing.assert_allclose(own["effect"], slopes.mean(axis=0))
        np.testing.assert_allclose(own["covariance"], covariance, rtol=1e-7, atol=1e-12)
        error = np.sqrt(np.diagonal(covariance))
        np.testing.assert_allclose(own["effect_error"], error)
        half = students_t.ppf(0.975, N - 1 - 4) * error
        np.testing.assert_allclose(own["effect_low"], slopes.mean(axis=0) - half)
        np.testing.assert_allclose(own["effect_high"], slopes.mean(axis=0) + half)


def test_shares_of_a_run_that_is_no_sampler_are_drawn_around_the_expected_tokens():
    run = drawn(3, "svb")
    found, last = effects(run, "~ party", COLUMNS), drawn(3)["n_dk"].values[-1]
    kept = last.sum(axis=1) > 0
    point, covariance = plainly(design(kept)[:, :3], last[kept, 0] / last[kept].sum(axis=1))
    own = found.sel(topic=0)
    assert found.attrs["n_draws"] == N_DRAWS
    np.testing.assert_allclose(own["effect"], point, atol=0.03)
    assert (own["effect_error"].values > np.sqrt(np.diagonal(covariance))).all()
    assert effects(run, "~ party", COLUMNS).equals(found)
    assert not effects(run, "~ party", COLUMNS, seed=1).equals(found)


def test_a_curve_is_the_mean_of_all_documents_with_one_value():
    run = drawn(6)
    kept = run["n_dk"].values[-1].sum(axis=1) > 0
    shown = effects(run, "~ party * year", COLUMNS)
    curve = effect_curve(run, "~ party * year", "party", COLUMNS)
    assert curve["value"].values.tolist() == ["centre", "left", "right"]
    year = COLUMNS["year"][kept].mean()
    rows = np.array([[1, 0, 0, year, 0, 0], [1, 1, 0, year, year, 0], [1, 0, 1, year, 0, year]])
    np.testing.assert_allclose(curve["share"], rows @ shown["effect"].values)
    error = [[np.sqrt(row @ c @ row) for c in shown["covariance"].values] for row in rows]
    np.testing.assert_allclose(curve["share_error"], error)
    np.testing.assert_allclose(
        curve["change"], (rows - rows[0]) @ shown["effect"].values, atol=1e-12
    )
    error = [[np.sqrt(row @ c @ row) for c in shown["covariance"].values] for row in rows - rows[0]]
    np.testing.assert_allclose(curve["change_error"], error, atol=1e-12)
    by_year = effect_curve(run, "~ party + year", "year", COLUMNS, n_points=4)
    np.testing.assert_allclose(by_year["value"], [2000, 2002, 2004, 2006])
    assert np.all(by_year["change"][0] == 0)


def test_columns_are_those_of_the_run_and_of_a_table():
    run = tiny_run("cgs")
    n = run.sizes["document"]
    run = run.assign_coords({f"{COLUMN}time": ("document", ["2020-07-01", ""] * (n // 2))})
    columns = columns_of_documents(run, {"code": ["7", "8"] * (n // 2)})
    assert columns["code"].tolist() == [7, 8] * (n // 2)
    assert columns["year"][0] == pytest.approx(2020.5, abs=0.01) and np.isnan(columns["year"][1])
    table = DocumentTable({"kind": ("a", "b") * (n // 2)})
    assert columns_of_documents(run, table)["kind"].tolist() == ["a", "b"] * (n // 2)


def test_a_formula_of_columns_bends_numbers_of_many_values():
    columns = pd.DataFrame({"a b": ["x", "y"] * 10, "n": range(20), "few": [1, 2, 3, 4] * 5})
    formula = formula_of(columns)
    assert formula == "~ `a b` + bs(`n`, df=3) + `few`"
    run = with_tokens(np.random.default_rng(0).integers(1, 9, (20, 2)))
    assert effects(run, formula, columns).sizes["term"] == 6


@pytest.mark.parametrize(
    ("call", "said"),
    [
        *(
            (lambda formula=formula, columns=columns: effects(drawn(), formula, columns), said)
            for formula, columns, said in (
                (
                    "~ partie",
                    COLUMNS,
                    "the documents have no column 'partie'; did you mean 'party'?",
                ),
                (
                    "~ party +",
                    COLUMNS,
                    "a formula is like '~ party . bs.*; '~ party .' is none: Operator",
                ),
                (
                    "year ~ party",
                    COLUMNS,
                    "a formula has its right side alone, as '~ party'; got 'year ~ party'",
                ),
                (
                    "~ year + I(2 * year)",
                    COLUMNS,
                    "determine each other in these documents: I.2 . year. follows",
                ),
                (
                    "~ C(year) * party * place",
                    COLUMNS,
                    "42 terms take more than 42 documents; these are 38",
                ),
                *(
                    ("~ x", table, "the table must")
                    for table in ("party", [1, 2], {"x": 1.0}, {"x": [1, 2]})
                ),
                (
                    "~ year",
                    {"time": ["2001", "no date", "2002", "2003"] * (N // 4)},
                    "no column 'year'; the time of document 1 is 'no date'",
                ),
                (
                    "~ m",
                    {"m": [1.0, np.inf, 2.0, 3.0] * (N // 4)},
                    "m is inf in document 1; it must be finite",
                ),
            )
        ),
        *(
            (
                lambda name=name: formula_of(pd.DataFrame({name: ["x", "y"]})),
                "a formula cannot name the column",
            )
            for name in ("a` + np.load('x') + `b", "1", "", "lambda", " ")
        ),
        (
            lambda: effect_curve(drawn(), "~ party", "year", COLUMNS),
            "the formula '~ party' has no column 'year' to draw",
        ),
        (
            lambda: effect_curve(drawn(), "~ C(m)", "m", {"m": np.arange(N) % 4}, n_points=3),
            "m has categories in '~ C.m.', and more than are drawn",
        ),
        (
            lambda: wb.effects(tiny_run("cgs").drop_vars("n_dk"), "~ party"),
            "no topic counts of documents",
        ),
        (
            lambda: columns_of_documents(tiny_run("cgs"), {"kind": ["a", "b"]}),
            "a value for each of 12 training documents; 'kind' is another",
        ),
    ],
)
def test_wrong_input_gets_a_sentence(call, said):
    with pytest.raises(MeasureError, match=said):
        call()


@pytest.mark.parametrize("only", ["only", "a"])  # "a" is the reference
def test_levels_of_several_documents_keep_their_intervals_beside_one_that_rests_on_one(only):
    columns = COLUMNS.assign(party=[only, *COLUMNS["party"][1:]])
    curve = effect_curve(drawn(6), "~ party + year", "party", columns)
    assert np.isnan(curve["share_error"].sel(value=only)).all()
    assert np.isfinite(curve["share_error"].sel(value=["left", "right", "centre"])).all()


def test_a_term_that_rests_on_one_document_has_no_error():
    columns = COLUMNS.assign(party=["only", *COLUMNS["party"][1:]])
    found = effects(drawn(6), "~ party + year", columns)
    is_unknown = found["term"].values == "party[T.only]"
    assert np.isnan(found["effect_error"][is_unknown]).all() and np.isfinite(found["effect"]).all()
    others = effects(
        drawn(6).isel(document=slice(1, None)), "~ party + year", columns[1:].reset_index(drop=True)
    )
    np.testing.assert_allclose(found["effect_error"][~is_unknown], others["effect_error"])


def test_no_unit_and_no_origin_of_a_column_counts():
    run, columns = drawn(12), COLUMNS.assign(days=lambda each: 365.25 * (each["year"] - 2003))
    one, other = (effects(run, f"~ party + {name}", columns) for name in ("year", "days"))
    for name in ("effect", "effect_error"):
        ratio = one[name].isel(term=3).values / other[name].isel(term=3).values
        np.testing.assert_allclose(ratio, 365.25, rtol=1e-6)
    turned = columns.assign(party=columns["party"].replace("centre", "z"))
    shares = [
        effect_curve(run, "~ party", "party", each)["share_error"] for each in (columns, turned)
    ]
    np.testing.assert_allclose(shares[0].values[[1, 2, 0]], shares[1].values)


def test_topics_that_are_gone_at_the_last_snapshot_keep_their_tokens(monkeypatch):
    monkeypatch.setattr(MODULE, "used_topics", lambda run: run.isel(topic=[0, 1]))
    run = drawn(6)
    tokens = run["n_dk"].values.copy()
    tokens[-1, :, 0] += tokens[-1, :, 2]
    tokens[:, :, 2][-1] = 0
    died = run.assign(n_dk=(run["n_dk"].dims, tokens))
    died = died.assign(
        n_kw=(run["n_kw"].dims, tokens.sum(axis=1)[..., None]),
        n_k=(run["n_k"].dims, tokens[-1:].sum(axis=1)),
    )
    found = effects(died, "~ year", COLUMNS)
    kept = tokens[-1].sum(axis=1) > 0
    shares = tokens[2:, kept] / tokens[2:, kept].sum(axis=-1, keepdims=True)
    x = np.stack([np.ones(kept.sum()), COLUMNS["year"][kept]], axis=1)
    assert found["topic"].values.tolist() == [0, 1]
    slopes = np.linalg.lstsq(x, shares.mean(axis=0)[:, :2])[0]
    np.testing.assert_allclose(found["effect"], slopes, atol=1e-9)


def test_a_sample_of_many_documents_is_drawn_at_random(monkeypatch):
    n = 400
    run = with_tokens(np.random.default_rng(0).integers(1, 9, (n, 2)))
    columns = {"order": ["odd", "even"] * (n // 2), "x": np.arange(n) % 7}
    whole = effect_curve(run, "~ x + order", "x", columns)
    monkeypatch.setattr(MODULE, "MOST_AVERAGED", 200)
    some = effect_curve(run, "~ x + order", "x", columns)
    slope = effects(run, "~ x + order", columns)["effect"].sel(term="order[T.odd]").values
    assert (np.abs(some["share"] - whole["share"]).values <= 0.1 * np.abs(slope)).all()


def test_rows_of_a_table_are_those_of_the_documents_whatever_its_index():
    shuffled = COLUMNS.set_index(np.random.default_rng(0).permutation(N))
    assert effects(drawn(6), "~ party + year", shuffled).equals(
        effects(drawn(6), "~ party + year", COLUMNS)
    )


def test_values_of_columns_are_numbers_texts_or_years():
    n = N // 4
    table = {
        "when": pd.to_datetime(["2020-07-01", None, "2021-01-01", "2022-01-01"] * n),
        "is": [True, None, False, True] * n,
        "mixed": ["a", 1, 2.5, None] * n,
        "time": [2001, None, "2002-07-02", 2003] * n,
    }
    columns = columns_of_documents(drawn(), table)
    assert columns["when"][[0, 2]].tolist() == pytest.approx([2020.5, 2021], abs=0.01)
    assert columns["year"][[0, 2]].tolist() == pytest.approx([2001, 2002.5], abs=0.01)
    assert columns[["when", "is", "mixed", "year"]].isna().sum().tolist() == [n] * 4
    assert set(columns["is"].dropna()) == {"True", "False"}
    assert set(columns["mixed"].dropna()) == {"a", "1", "2.5"}
    curve = effect_curve(drawn(), "~ mixed", "mixed", table)
    assert curve["value"].values.tolist() == ["1", "2.5", "a"]


def test_numbers_of_few_values_are_drawn_at_these():
    columns = COLUMNS.assign(m=np.arange(N) % 4)
    curve = effect_curve(drawn(), "~ C(m)", "m", columns)
    assert curve["value"].values.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(curve["share"].sum("topic"), 1)
    dotted = COLUMNS.rename(columns={"year": "a.b"})
    assert effect_curve(drawn(), "~ `a.b`", "a.b", dotted).sizes["value"] == 7
