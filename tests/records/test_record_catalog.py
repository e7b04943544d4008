"""Named records: found, verified by content, and as published."""

import pytest
from data_files import put, refused
from missing import skip_without

from workbench.records import DataError, load_records, record_sets
from workbench.records.catalog import RECORD_SETS, words_of_text

TABLE = "colour,size\nred,2\nblue,10\n"


@pytest.mark.parametrize("name", RECORD_SETS)
def test_a_set_is_as_described(name):
    about = record_sets()[name]
    if about.folder() is None:
        skip_without(f"WORKBENCH_DATA names no folder with {about.file}")
    records = load_records(name)
    sizes = {
        "records": about.n_records,
        "fields": about.n_fields,
        "distinct": about.n_distinct,
        "missing": about.n_missing,
    }
    assert {each: records.describe()[each] for each in sizes} == sizes
    assert (records.name, records.content_hash) == (name, about.content)
    assert about.whereabouts() == "here" and about.facts()["folder"] == str(about.folder())


def test_the_votes_come_with_the_package_and_the_party_is_kept_apart(monkeypatch, tmp_path):
    monkeypatch.delenv("WORKBENCH_DATA", raising=False)
    votes, kept = load_records("votes"), load_records("votes:party=keep")
    assert votes.fields == tuple(f"V{at}" for at in range(1, 17)) and kept.fields == (
        "party",
        *votes.fields,
    )
    assert (
        kept.name == "votes:party=keep"
        and load_records("votes", party="keep").content_hash == kept.content_hash
    )
    assert (
        kept.of_fields(votes.fields).content_hash == votes.content_hash
        and load_records("votes:party=drop").name == "votes"
    )
    assert kept.levels[0] == ("democrat", "republican")
    assert record_sets()["votes"].folder().joinpath("votes.csv").stat().st_size < 20_000
    monkeypatch.setattr("workbench.data.opening.PACKAGE", tmp_path / "workbench")
    assert "the bundled records 'votes' are missing from this installation" in refused(
        load_records, "votes"
    )


def test_a_word_is_a_record_whose_fields_are_its_letters(tmp_path):
    records = words_of_text(put(tmp_path, "a.txt", "A cab; a Cab,\nI'd"))
    assert (
        records.fields == ("letter@1", "letter@2", "letter@3")
        and records.n_levels.tolist() == [26] * 3
    )
    assert records.values.tolist() == [[0, -1, -1], [2, 0, 1], [3, -1, -1], [8, -1, -1]]
    assert records.multiplicities.tolist() == [2, 2, 1, 1]
    assert "a.txt holds no word of the letters a to z" in refused(
        words_of_text, put(tmp_path, "a.txt", "1984")
    )


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        (
            "vote",
            {},
            "no records and no file 'vote' (a path works too); did you mean 'votes'?",
        ),
        (
            "votes",
            {"fields": ["V1"]},
            "the data set 'votes' has no option 'fields'; there are party",
        ),
        (
            "bfi-n",
            {"fields": ["N1"]},
            "the data set 'bfi-n' is read as published, without fields; leave the options out",
        ),
        ("votes:party=maybe", {}, "party must be drop or keep; got 'maybe'"),
        ("votes:party", {}, "an option in a name is written votes:option=value; got 'party'"),
        (
            "votes:party=keep",
            {"party": "drop"},
            "the option 'party' of 'votes' is given twice; leave one of them out",
        ),
    ],
)
def test_what_is_no_name_or_option_is_refused_in_one_sentence(name, given, sentence):
    assert refused(load_records, name, **given).startswith(sentence)


def test_a_path_is_loaded_and_files_that_are_not_the_published_ones_are_refused(
    tmp_path, monkeypatch
):
    path = put(tmp_path, "a.csv", TABLE)
    assert load_records(path).content_hash == load_records(str(path)).content_hash
    with pytest.raises(DataError, match="there is no file .*none.csv; check the path"):
        load_records(tmp_path / "none.csv")
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path / "data"))
    assert record_sets()["ability"].whereabouts() == "by hand"
    with pytest.raises(
        DataError,
        match=r"the records 'ability' are not on this machine and .* holds ability.csv, from psych/",
    ):
        load_records("ability")
    (tmp_path / "data" / "records").mkdir(parents=True)
    put(tmp_path / "data" / "records", "ability.csv", TABLE)
    with pytest.raises(
        DataError,
        match="is not the published 'ability': content with the sha256 7d6ff5e5c6f4… was wanted, ",
    ):
        load_records("ability")
