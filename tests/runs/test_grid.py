import math

import pytest
from toys import simulated

from workbench.corpus import CorpusError
from workbench.models.options import OptionError
from workbench.runs.execution.sweep import lay_out
from workbench.runs.spec import SpecError


def test_every_combination_is_a_cell_the_last_key_varying_fastest():
    cells = lay_out(simulated(), {"r": [0, "inf"], "topics": [2, 3]}, beta=0.3)
    assert [cell.key_values for cell in cells] == [
        {"r": 0, "n_topics": 2},
        {"r": 0, "n_topics": 3},
        {"r": math.inf, "n_topics": 2},
        {"r": math.inf, "n_topics": 3},
    ]
    assert [(cell.spec.options["r"], cell.spec.model["n_topics"]) for cell in cells] == [
        (0, 2),
        (0, 3),
        ("inf", 2),
        ("inf", 3),
    ]
    assert {cell.spec.model["beta"] for cell in cells} == {0.3} and {
        cell.spec.engine for cell in cells
    } == {"svb-cgs"}


def test_settings_of_the_split_are_keys_too():
    cells = lay_out(
        simulated(),
        {"split_seed": [0, 1], "top_words": ["none", 10], "singletons": ["keep", "train"]},
        "cgs",
        n_topics=2,
    )
    assert [cell.train.n_words for cell in cells] == [20, 20, 10, 10] * 2
    assert (
        len({cell.spec.train for cell in cells}) == 8
        and len({cell.spec.test for cell in cells}) == 4
    )
    assert cells[-1].spec.split == {
        "fraction": 0.1,
        "seed": 1,
        "per": "corpus",
        "top_words": 10,
        "singletons": "train",
    }
    cells = lay_out(simulated(), {"merge": [1, 3], "repeat": [1, 2]}, "cgs", n_topics=2)
    assert [
        (cell.train.n_documents, cell.train.n_tokens + cell.test.n_tokens) for cell in cells
    ] == [(12, 180), (12, 360), (4, 180), (4, 360)]
    assert len({cell.spec.hash for cell in cells}) == 4


def test_an_engine_without_the_option_has_one_run_in_all_its_cells():
    cells = lay_out(simulated(), {"r": [1, 2, 1.0], "engine": ["svb", "svb-cgs"]}, n_topics=2)
    assert [(cell.key_values["r"], cell.key_values["engine"]) for cell in cells] == [
        (1, "svb"),
        (1, "svb-cgs"),
        (2, "svb"),
        (2, "svb-cgs"),
    ]
    assert len({cell.spec.hash for cell in cells}) == 3 and cells[0].spec == cells[2].spec


def test_seeds_are_a_key_like_any_other():
    by_number = lay_out(simulated(), {"n_topics": [2]}, seeds=3, seed=5)
    assert [cell.key_values for cell in by_number] == [
        {"n_topics": 2, "seed": seed} for seed in (5, 6, 7)
    ]
    by_key = lay_out(simulated(), {"n_topics": [2], "seed": range(5, 8)})
    assert [cell.spec for cell in by_key] == [cell.spec for cell in by_number]


def test_shared_options_go_to_the_engines_that_have_them():
    cells = lay_out(simulated(), {"engine": ["cgs", "svb-cgs"]}, options={"r": 3}, n_topics=2)
    assert "r" not in cells[0].spec.options and cells[1].spec.options["r"] == 3


def test_a_vector_of_alpha_is_one_value():
    cells = lay_out(simulated(), {"alpha": [0.1, [0.1, 0.2]]}, n_topics=2)
    assert [cell.spec.model["alpha"] for cell in cells] == [0.1, [0.1, 0.2]]


def test_a_share_of_each_document_is_another_split_than_one_of_the_corpus():
    whole, each = lay_out(simulated(), {"holdout_per": ["corpus", "document"]}, "cgs")
    assert [cell.spec.split["per"] for cell in (whole, each)] == ["corpus", "document"]
    assert each.test.document_tokens.tolist() == [1] * 12 != whole.test.document_tokens.tolist()


def test_alpha_goes_to_the_engines_that_have_it():
    lda, hdp = lay_out(simulated(), {"engine": ["cgs", "g-hdp"]}, alpha=0.3, beta=0.2)
    assert lda.spec.model == {"n_topics": 10, "alpha": 0.3, "beta": 0.2} and hdp.spec.model == {
        "n_topics": 10
    }


WRONG = [
    ({}, {}, SpecError, "a grid is a dict of lists, as {'n_topics': [10, 20]}; got {}"),
    (
        {"n_topic": [2]},
        {},
        SpecError,
        "no key 'n_topic' for a grid of svb-cgs; did you mean 'n_topics'?",
    ),
    (
        {"zzz": [2]},
        {"engine": "cgs"},
        SpecError,
        "no key 'zzz' for a grid of cgs; there are engine, n_topics, alpha",
    ),
    ({"r": [1]}, {"engine": "cgs"}, SpecError, "no key 'r' for a grid of cgs"),
    ({"r": []}, {}, SpecError, "'r' has no value in the grid; give it at least one"),
    (
        {"topics": [2], "n_topics": [3]},
        {},
        SpecError,
        "the grid has 'n_topics' twice; put its values into one list",
    ),
    (
        {"n_topics": [2]},
        {"n_topics": 3},
        SpecError,
        "'n_topics' is both in the grid and a separate argument; leave one out",
    ),
    (
        {"r": [1]},
        {"options": {"r": 2}},
        SpecError,
        "'r' is both in the grid and a separate argument",
    ),
    ({"seed": [1]}, {"seeds": 2}, SpecError, "'seed' is both in the grid and a separate argument"),
    ({"r": [1]}, {"seeds": 0}, SpecError, "seeds must be a whole number of at least 1; got 0"),
    ({"r": [1]}, {"n_topic": 3}, SpecError, "no setting 'n_topic'; did you mean 'n_topics'?"),
    (
        {"holdout_per": ["word"]},
        {},
        CorpusError,
        "per must be one of corpus, document, half; got 'word'",
    ),
    (
        {"alpha": [0.1]},
        {"engine": "cv-hdp"},
        SpecError,
        "cv-hdp has no alpha per topic; leave it out, and set the option",
    ),
    (
        {"r": [-2]},
        {},
        OptionError,
        "option 'r' of svb-cgs must be a number of at least 0 or inf; got -2",
    ),
    ({"engine": ["sbv"]}, {}, OptionError, "no engine 'sbv'"),
]


@pytest.mark.parametrize(
    ("grid", "beside", "error", "sentence"), WRONG, ids=[row[3][:50] for row in WRONG]
)
def test_a_wrong_grid_gets_one_sentence(grid, beside, error, sentence):
    with pytest.raises(error) as told:
        lay_out(simulated(), grid, **beside)
    assert sentence in str(told.value) and "\n" not in str(told.value)
