"""An error about an input has the field that it is about and the value that came, and its sentence names the field."""

import pickle

import pytest

import workbench as wb
from workbench.errors import Got, InputError, Named


def corpus():
    return wb.synthetic.bars(3, 12, 9)[0]


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"n_topics": 0}, "n_topics"),
        ({"alpha": -1}, "alpha"),
        ({"alpha": (0.1, 0.2)}, "alpha"),
        ({"beta": "x"}, "beta"),
        ({"n_iterations": 0}, "n_iterations"),
        ({"seed": -1}, "seed"),
        ({"burn_in": 1.5}, "burn_in"),
        ({"n_threads": 0}, "n_threads"),
        ({"record_every": 0}, "record_every"),
        ({"stop_on": "luck"}, "stop_on"),
        ({"stop_on": "bound"}, "stop_on"),
        ({"stop_on": "perplexity", "stop_tolerance": -1}, "stop_tolerance"),
        ({"holdout": 1.5}, "holdout"),
        ({"holdout_per": "word"}, "holdout_per"),
        ({"split_seed": -1}, "split_seed"),
        ({"top_words": 0}, "top_words"),
        ({"top_words": 99}, "top_words"),
        ({"singletons": "some"}, "singletons"),
        ({"options": {"scan": "some"}}, "scan"),
        ({"zzz": 1}, "zzz"),
    ],
)
def test_an_error_has_the_field_and_the_value(settings, field):
    with pytest.raises(InputError) as error:
        wb.compare(corpus(), ["cgs"], progress=False, **settings)
    wrong = {**settings, **settings.get("options", {})}[field]
    assert (error.value.field, error.value.value) == (field, wrong)


@pytest.mark.parametrize(
    "option, value", [("r", "often"), ("phases", "interleaved"), ("a_alpha", 2), ("qq", 1)]
)
def test_an_error_about_an_option_has_its_name(option, value):
    with pytest.raises(InputError) as error:
        wb.fit(corpus(), "svb-cgs", options={option: value})
    assert error.value.field == option


def test_a_sentence_is_its_parts_and_survives_a_process():
    error = InputError.must_be(Named("n_topics", text="topics"), "a whole number", "ten").within(
        "somewhere: "
    )
    assert (
        str(error) == "somewhere: topics must be a whole number; got 'ten'"
        and error.field == "n_topics"
    )
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.parts, again.value) == (str(error), error.parts, "ten")
    assert [str(part) for part in (Named("r"), Named("r", 1), Named("text", ...), Got(None))] == [
        "r",
        "r=1",
        "with text=…",
        "; got None",
    ]
