"""The command that makes runs again: what it says, and that planning it again gives the same hashes."""

import shlex
from dataclasses import replace

import pytest
from comparisons import tiny_corpus

from workbench.records import load_records
from workbench.report.commands import command_of, commands, missing_in_commands, wrapped
from workbench.runs.execution.compare import plan

DIAL = ("svb", "cgs", ("svb-cgs", {"r": 0}), ("svb-cgs", {"r": "inf"}), "svb-cgs")


def planned(command: str):
    """The specs that the words of a command ask for."""
    words = shlex.split(command)
    assert words[:3] == ["workbench", "compare", "simulated"]
    given: dict = {"option": []}
    for name, value in zip(words[3::2], words[4::2], strict=True):
        if name == "--option":
            given["option"].append(value.split("=", 1))
        else:
            given[name.removeprefix("--").replace("-", "_")] = value
    alpha = [float(one) for one in given["alpha"].split(",")] if "alpha" in given else [None]
    beta = float(given["beta"]) if "beta" in given else None
    return plan(
        tiny_corpus(),
        given["engines"].split(","),
        seeds=int(given.get("seeds", 1)),
        seed=int(given["seed"]),
        holdout=float(given["holdout"]),
        split_seed=int(given.get("split_seed", 0)),
        options=dict(given["option"]),
        n_topics=int(given["topics"]),
        alpha=alpha[0] if len(alpha) == 1 else alpha,
        beta=beta,
        merge=int(given.get("merge", 1)),
        repeat=int(given.get("repeat", 1)),
        top_words=int(given["top_words"]) if "top_words" in given else None,
        singletons=given.get("singletons", "keep"),
        n_iterations=int(given["iterations"]),
        burn_in=int(given.get("burn_in", 10)),
        holdout_per=given.get("holdout_per", "corpus"),
    )[0]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"seeds": 3, "seed": 7},
        {"holdout_per": "document", "holdout": 0.2},
        {"engines": DIAL, "seeds": 2},
        {"holdout": 0.25, "split_seed": 4, "burn_in": 3},
        {"holdout": 0, "alpha": [0.1, 0.2, 0.3], "n_topics": 3, "beta": 0.01},
        {
            "engines": (
                "svb",
                ("svb", {"schedule": "sequential"}),
                ("svb-cgs", {"schedule": "sequential", "n_chains": 2}),
            )
        },
        {"options": {"schedule": "sequential"}},
        {"top_words": 12, "singletons": "both-full"},
        {"holdout": 0, "singletons": "train"},
        {"merge": 3, "repeat": 2},
        {"engines": ("cv-hdp", "g-hdp"), "seeds": 2},
        {
            "engines": ("cv-hdp", "cgs", ("g-hdp", {"alpha_total": 2.0, "learn_alpha": False})),
            "alpha": 0.3,
        },
    ],
)
def test_the_commands_ask_for_exactly_the_runs(settings):
    specs = plan(tiny_corpus(), **settings)[0]
    again = [spec for command in commands(specs) for spec in planned(command)]
    assert sorted(spec.hash for spec in again) == sorted(spec.hash for spec in specs)
    assert {spec.n_iterations for spec in again} == {spec.n_iterations for spec in specs}


def test_one_comparison_is_one_command():
    assert len(commands(plan(tiny_corpus(), seeds=3)[0])) == 1
    assert len(commands(plan(tiny_corpus(), DIAL)[0])) == 3
    (command,) = commands(plan(tiny_corpus(), ["g-hdp", "cgs"], alpha=0.3)[0])
    assert "--engines g-hdp,cgs" in command and "--alpha 0.3" in command


def test_the_command_of_one_run_asks_for_that_run():
    for spec in plan(tiny_corpus(), DIAL, seeds=2, split_seed=4)[0]:
        command = command_of(spec)
        assert command.startswith(f"workbench fit simulated --engine {spec.engine} ")
        (again,) = planned(command.replace("fit", "compare", 1).replace("--engine", "--engines", 1))
        assert again.hash == spec.hash


def test_commands_separate_warm_starts():
    cold = plan(tiny_corpus(), ["cgs"])[0][0]
    warm = replace(cold, start={"name": "first one", "hash": "0", "iteration": 50, "counts": "0"})
    actual = [shlex.split(command) for command in commands([cold, warm])]
    assert "--start" not in actual[0] and actual[1][actual[1].index("--start") + 1] == "first one"


def test_seeds_with_gaps_need_a_command_each():
    specs = [plan(tiny_corpus(), ["cgs"], seed=seed)[0][0] for seed in (0, 1, 5)]
    assert [("--seeds 2" in command, "--seed 5" in command) for command in commands(specs)] == [
        (True, False),
        (False, True),
    ]


GIVEN = "The test set was given as a corpus; the command draws another one."
FROM_FILE = "simulated was read from a file or made in Python: replace its name by its path."


@pytest.mark.parametrize(
    ("changes", "notes"),
    [
        ({}, [FROM_FILE]),
        ({"corpus": "docstrings"}, []),
        ({"corpus": "docstrings", "split": None}, [GIVEN]),
        ({"corpus": "bars:side=3:seed=2"}, []),
    ],
    ids=["from a file", "named", "a given test set", "simulated"],
)
def test_commands_name_the_corpus_and_note_what_is_missing(changes, notes):
    specs = [replace(spec, **changes) for spec in plan(tiny_corpus())[0]]
    assert missing_in_commands(specs) == notes
    assert f"compare {specs[0].corpus} --engines" in commands(specs)[0]


def test_a_name_with_blanks_is_quoted():
    spec = replace(plan(tiny_corpus(), ["cgs"])[0][0], corpus="my corpus; rm -rf /")
    assert shlex.split(commands([spec])[0])[2] == "my corpus; rm -rf /"


def test_a_long_command_goes_over_several_lines_without_changing():
    (command,) = commands(plan(tiny_corpus(), seeds=3, burn_in=3, split_seed=4)[0])
    lines = wrapped(command)
    assert max(map(len, lines.splitlines())) < 100 and "\\\n" in lines
    assert shlex.split(lines.replace("\\\n", " ")) == shlex.split(command)


@pytest.mark.parametrize(("per", "flags"), [("cell", ""), ("record", " --holdout-per record")])
def test_commands_name_a_named_data_set_of_records(per, flags):
    specs = plan(load_records("votes"), ["bn-vb"], holdout=0.2, holdout_per=per, n_iterations=7)[0]
    expected = (
        "workbench compare votes --engines bn-vb --alpha 0.5 --beta 0.5 --iterations 7 --seed 0 --holdout 0.2"
        + flags
    )
    assert commands(specs) == [expected] and missing_in_commands(specs) == []
