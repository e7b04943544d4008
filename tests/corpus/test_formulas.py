"""Formulas of documents' columns: what is allowed of a stranger, and the terms of other documents."""

import pickle

import numpy as np
import pandas as pd
import pytest
from toys import corpus_of_table

from workbench.corpus.document_table import DocumentTable
from workbench.corpus.formulas import Design, checked_formula, columns_of_corpus
from workbench.errors import DataError

COLUMNS = pd.DataFrame(
    {
        "party": ["a", "b", "c", "a", "b", "c", "a", "b"],
        "x": [0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 9.0, 11.0],
        "of us": [1.0, 0.0, 4.0, 2.0, 2.0, 0.0, 7.0, 1.0],
    }
)


@pytest.mark.parametrize(
    "formula",
    [
        "~ party",
        "party * x",
        "~ bs(x, df=3) + party",
        "~ C(party, Sum) + I(x - 2000) + I(x**2)",
        "~ bs(`of us`, df=4, knots=[2000, 2010])",
        "~ log(x + 1) + poly(x, 2):party",
        "",
        "~ 1",
        "~ (party + x)**2",
        "~ I(x**2) + I(x**3) + I(x * 2 / 3)",
        "~ C(party, Treatment('b')) + bs(x, df=4, knots=[-1, 2])",
        "~ cr(x, df=4, constraints='center')",
    ],
)
def test_checked_formula__formulas_of_columns_and_numbers_are_allowed(formula):
    assert checked_formula(f" {formula} ", DataError) == formula


@pytest.mark.parametrize(
    "formula",
    [
        "~ I(eval('1'))",
        "~ {().__class__.__base__}",
        "~ x.__class__()",
        "~ np.load(x)",
        "~ Q('x')",
        "~ {open}('x')",
        "~ {[y for y in x]}",
        "~ I(f'{x}')",
        "~ C(party, contr.sum)",
        "~ bs(x, df=100000)",
        "~ bs(x, 100000)",
        "~ poly(x, degree=1000)",
        "~ poly(x, 9**3)",
        "~ bs(x, df=9**5)",
        "~ bs(x, df=I(30000))",
        "~ I(9**9**9)",
        "~ I('a' * 999999999)",
        "~ I([1] * 999999999)",
        "~ x**99",
        "~ a*b*c*d*e*f",
        "~ (a*b*c*d*e*f)",
        "~ (a + b)**9",
        "~ ((a + b + c + d + e + f)**3)**3",
        "~ (a + b)^3",
        "~ (a + b)**3**3**3**3",
        "~ x" + " + x" * 200,
        "~ 0 + party",
        "~ party - 1",
        "y ~ x",
        "~ x | party",
        "~ party + (",
        "~ .",
        "~ `<b>x</b>`",
        "~ `$x$`",
    ],
)
def test_checked_formula__formulas_that_do_more_are_refused(formula):
    with pytest.raises(DataError):
        checked_formula(formula, DataError)


def test_design__terms_of_other_documents_have_the_knots_and_levels_of_training():
    design = Design.of("~ party + bs(x, df=3)", COLUMNS, DataError)
    assert design.terms[:3] == ("Intercept", "party[T.b]", "party[T.c]")
    other = COLUMNS.iloc[[4, 1]]
    np.testing.assert_allclose(design.of_documents(other), design.values[[4, 1]])
    unknown = COLUMNS.assign(party=["a", "d", None, *"abcab"])
    found = design.of_documents(unknown)
    assert np.isnan(found[1:3]).all() and np.isfinite(found[[0, *range(3, 8)]]).all()
    assert np.isnan(design.of_documents(COLUMNS[["x"]])).all()
    same = pickle.loads(pickle.dumps(design))  # as it is sent to the workers of a cluster
    np.testing.assert_allclose(same.of_documents(other), design.values[[4, 1]])


@pytest.mark.parametrize(
    ("formula", "training", "others", "terms"),
    [
        ("~ p", ["1", "2", "x"], ["1", "2"], [[1, 0, 0], [1, 1, 0]]),
        ("~ p", ["1", "2", "x"], [2.0, 7.0], [[1, 1, 0], [None] * 3]),
        ("~ p", [1, 2, 3], ["3", "n/a"], [[1, 3], [None] * 2]),
        ("~ p", [1, 2, 3], [30], [[1, 30]]),
        ("~ C(p)", [1, 2, 2], [3, 2], [[None] * 2, [1, 1]]),
        ("~ log(p)", [1, 2, 3], [-1, 1, 0], [[None] * 2, [1, 0], [None] * 2]),
        ("~ bs(p, degree=1)", [1, 2, 4], [5, -1], [[1, 1], [1, 0]]),
    ],
)
def test_design__each_document_is_read_by_itself_as_training_was(formula, training, others, terms):
    design = Design.of(formula, pd.DataFrame({"p": training * 4}), DataError)
    expected = np.array(terms, float)
    np.testing.assert_allclose(design.of_documents(pd.DataFrame({"p": others})), expected)
    for row, other in enumerate(others):
        alone = design.of_documents(pd.DataFrame({"p": [other]}))
        np.testing.assert_allclose(alone, expected[[row]])


def test_design__coefficients_of_standard_terms_give_the_same_means():
    design = Design.of("~ party * x", COLUMNS, DataError)
    standard = np.random.default_rng(0).normal(size=(3, 6))
    np.testing.assert_allclose(design.standard[:, 1:].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(design.standard[:, 1:].std(axis=0), 1)
    means = design.values @ design.coefficients(standard).T
    np.testing.assert_allclose(means, design.standard @ standard.T)


def test_columns_of_corpus__labels_times_inputs_and_table_are_columns():
    corpus = corpus_of_table(
        np.ones((2, 2), int),
        labels=("p", None),
        times=("2001-07-02", 1999),
        inputs={"latitude": [1.5, 2.5]},
        table=DocumentTable({"size": ["10", "20"], "open": [True, False]}),
    )
    columns = columns_of_corpus(corpus, DataError)
    assert columns["label"].isna().tolist() == [False, True]
    np.testing.assert_allclose(columns["year"], [2001 + 182 / 365.25, 1999])
    assert columns["size"].tolist() == [10, 20] and columns["open"].tolist() == ["True", "False"]
    assert columns["latitude"].tolist() == [1.5, 2.5]
