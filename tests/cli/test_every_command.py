"""Whatever commands there are: each has its help, and where it promises JSON it prints that and nothing else."""

import json
import shutil

import numpy as np
import pytest
from cli.conftest import write_six

import workbench as wb
from workbench.cli.app import app
from workbench.runs.spec import make_spec
from workbench.runs.store.writer import create_run

SMALL = ("-k", "2", "-n", "2", "-q")
EXAMPLES = {
    "fit": ("SIX", *SMALL),
    "compare": ("SIX", "-e", "svb,cgs", *SMALL),
    "sweep": ("SIX", "--grid", "r=1,2", *SMALL),
    "resume": ("a",),
    "fit-stream": ("SIX", "-k", "2", "-q"),
    "update": ("o", "SIX"),
    "infer": ("a", "SIX"),
    "bound": ("h",),
    "audit": ("a", "SIX"),
    "runs": (),
    "show": ("a",),
    "topics": ("a",),
    "documents": ("a",),
    "note": ("a", "a first try", "--tag", "good"),
    "label": ("a", "0", "animals"),
    "edit": ("a", "merge 0 1"),
    "pause": ("a",),
    "retune": ("t", "alpha=0.5"),
    "branch": ("a", "add 1"),
    "stop": ("a",),
    "remove": ("a", "--yes"),
    "figures": ("a", "--format", "svg"),
    "report": ("a",),
    "export": ("a",),
    "import": ("model.npz", "--like", "a"),
    "reproduce": (),
    "ledger": (),
    "engines": (),
    "doctor": (),
    "data list": (),
    "data info": ("docstrings",),
    "data fetch": ("bars",),
    "data convert": ("SIX", "six.csv"),
    "data example": ("news.csv",),
}
"""Arguments with which each command that has --json does something: SIX is a corpus, a, h and o are runs of cgs, svb-cgs and
online-vb, and model.npz has theta and phi of a."""


def all_commands(group=app, before=()):
    """(words, callback) of every command, those of groups too."""
    for one in group.registered_commands:
        yield (*before, one.name or one.callback.__name__.replace("_", "-")), one.callback
    for inner in group.registered_groups:
        yield from all_commands(inner.typer_instance, (*before, inner.name))


NAMES = [" ".join(words) for words, _ in all_commands()]
WITH_JSON = [
    " ".join(words) for words, callback in all_commands() if "json" in callback.__annotations__
]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(command, name):
    status, out, _ = command(*name.split(), "--help")
    assert status == 0 and f"Usage: workbench {name}" in out


def test_all_but_the_server_can_speak_json():
    assert set(NAMES) - set(WITH_JSON) == {"serve"}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with a corpus, a store with the runs a, h and o, t that has not begun, and model.npz."""
    folder = tmp_path_factory.mktemp("fitted")
    corpus = wb.load_corpus(folder / write_six(folder))
    train, test = wb.hold_out_tokens(corpus, 0.1)
    for name, engine in (("a", "cgs"), ("h", "svb-cgs"), ("o", "online-vb")):
        about = dict(n_iterations=2, store=folder / "runs", name=name, progress=False)
        wb.fit(train, engine, 2, test=test, **about)
    unbegun = make_spec(train, "cgs", 2, test=test, name="t")
    create_run(folder / "runs", unbegun, train, test)
    last = wb.open_run("a", folder / "runs").isel(snapshot=-1)
    words = last.word.values.astype(str)
    np.savez(folder / "model.npz", phi=last.phi, theta=last.theta, words=words)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_JSON)
def test_json_is_one_object_on_stdout_and_nothing_else(command, fitted, tmp_path, name):
    assert name in EXAMPLES, f"give EXAMPLES arguments for `workbench {name}`"
    shutil.copytree(fitted, tmp_path, dirs_exist_ok=True)
    arguments = [argument.replace("SIX", "docword.six.txt") for argument in EXAMPLES[name]]
    status, out, err = command(*name.split(), *arguments, "--json")
    assert status == 0, err
    assert isinstance(json.loads(out), dict) and out.count("\n") == 1


@pytest.mark.parametrize("name", WITH_JSON)
def test_a_mistake_leaves_stdout_empty(command, name):
    status, out, err = command(*name.split(), "--json", "--no-such-flag")
    assert status == 2 and out == "" and "No such option: --no-such-flag" in err
