"""The CSV file of simulated news: the same each time, and with what its docstring says."""

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.cli import main
from workbench.corpus.quality import quality_of
from workbench.errors import DataError


def test_it_has_what_was_simulated(tmp_path):
    path = wb.write_example_csv(tmp_path / "news.csv", 3000, seed=2)
    table, corpus = (
        pd.read_csv(path),
        wb.load_corpus(path, title="id", time="date", label="category"),
    )
    assert list(table) == ["id", "date", "category", "source", "text"] and len(table) == 3000
    found = quality_of(corpus)
    assert (
        len(found.empty) == 15
        and found.repeated.tolist() == [11]
        and found.originals.tolist() == [10]
    )
    late = table["date"] > "2021-12-31"
    shares = {
        name: [(own == name).mean() for own in (table["category"][~late], table["category"][late])]
        for name in ("technology", "health", "money")
    }
    assert (
        shares["technology"][1] > 1.3 * shares["technology"][0]
        and shares["health"][1] > shares["health"][0]
    )
    assert shares["money"][1] < 0.6 * shares["money"][0]
    # five standard errors
    assert abs((table["source"] == "web").mean() - 0.5) < 5 * 0.5 / np.sqrt(3000)


def test_equal_seeds_give_equal_bytes(tmp_path):
    files = [
        wb.write_example_csv(tmp_path / f"{at}.csv", 40, seed) for at, seed in enumerate((1, 1, 2))
    ]
    one, same, other = (file.read_bytes() for file in files)
    assert one == same != other


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n_documents": 5}, "n_documents must be a whole number of at least 20; got 5"),
        ({"seed": -1}, "seed must be a whole"),
    ],
)
def test_what_is_out_of_range_is_refused(tmp_path, settings, said):
    with pytest.raises(DataError, match=said):
        wb.write_example_csv(tmp_path / "news.csv", **settings)
    assert not [*tmp_path.iterdir()]


def test_the_command_writes_it_and_replaces_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert (
        main(["data", "example", "--documents", "30"]) == 0
        and "workbench fit news.csv" in capsys.readouterr().err
    )
    before = (tmp_path / "news.csv").read_bytes()
    assert (
        main(["data", "example"]) == 2
        and "news.csv is there already; --force replaces it" in capsys.readouterr().err
    )
    assert (tmp_path / "news.csv").read_bytes() == before
