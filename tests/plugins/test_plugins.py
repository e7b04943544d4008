"""Engines, models, views and formats of other packages: the templates of the documentation, outside the package."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from documented import ROOT, blocks_of
from same_bits import same_bits

import workbench as wb
from workbench.dashboard.compare.engine_choice import families
from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.page import ComparePage
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.compare.starting import start_runs
from workbench.engines import ENGINES, OF_RUNS
from workbench.models import LDA
from workbench.models.options import OptionError
from workbench.plugins import find_plugins, load_plugins
from workbench.runs.spec import RunSpec, SpecError, make_spec

TEMPLATES = {"blocked-gibbs": "blocked_gibbs", "unigrams-em": "unigrams_em"}
"""Engine → module, of the pages write_an_engine.md and write_a_family.md."""
OPTIONS = {"blocked-gibbs": {"n_sweeps": 2}, "unigrams-em": {"n_clusters": 2}}
ENTRY_POINTS = """\
[workbench.engines]
blocked-gibbs = blocked_gibbs
unigrams-em = unigrams_em
[workbench.models]
two-levels = outside.networks:two_levels
[workbench.views]
outside = outside.view:VIEW
[workbench.formats]
bars = outside.lines
"""
PROGRAM = """
import contextlib, io, json, sys
from workbench.cli import main
done = []
for command in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(command)
    done.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(done))
"""
"""Runs commands of the command line in one process; prints status, output and errors of each."""


def install(folder: Path, entry_points: str) -> Path:
    """Write the metadata of an installed package into the folder."""
    about = folder / "outside-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(entry_points)
    return folder


def code_of(engine: str) -> str:
    """Return the module of a template, from its page."""
    page = {"blocked-gibbs": "write_an_engine.md", "unigrams-em": "write_a_family.md"}[engine]
    return dict(blocks_of(ROOT / "docs" / "how-to" / page))[f"{TEMPLATES[engine]}.py"]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder with the installed package: modules and metadata."""
    folder = install(tmp_path_factory.mktemp("site"), ENTRY_POINTS)
    for engine, module in TEMPLATES.items():
        (folder / f"{module}.py").write_text(code_of(engine))
    shutil.copytree(Path(__file__).parent / "outside", folder / "outside")
    return folder


@pytest.fixture
def registered(site, monkeypatch):
    """The templates as a notebook registers them; they are forgotten after the test."""
    before = dict(ENGINES)
    monkeypatch.syspath_prepend(site)
    for name, module in TEMPLATES.items():
        wb.register_engine(name, module)
    yield
    ENGINES.clear()
    ENGINES.update(before)
    OF_RUNS.clear()
    for module in TEMPLATES.values():
        sys.modules.pop(module, None)


@pytest.fixture(scope="module")
def split():
    """Training and test corpus: 12 documents of 15 tokens."""
    corpus = LDA(4, 0.3, 0.2).simulate(12, 20, 15, seed=3)[0]
    return wb.hold_out_tokens(corpus, fraction=0.1, seed=0)


def commands(folder: Path, path: list[Path], *given: str) -> list:
    """Return status, output and errors of commands, run in the folder with these folders on the path."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [*path, ROOT]))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([each.split() for each in given])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_template_of_an_engine_has_at_most_95_lines():
    assert len([line for line in code_of("blocked-gibbs").splitlines() if line.strip()]) <= 95


def test_register_engine_refuses_a_taken_name_and_a_module_that_is_none(site, monkeypatch):
    monkeypatch.syspath_prepend(site)
    for name, module, sentence in (
        ("cgs", "blocked_gibbs", "'cgs' is the name of another engine; choose another name"),
        ("mine", "__main__", "write the engine into a file of its own"),
        ("mine", "nowhere", "install the package that has it (nowhere), or put its folder on"),
        (
            "mine",
            "json",
            "engine 'mine' of the module json fails (module 'json' has no attribute 'engine')",
        ),
        ("My Engine", "blocked_gibbs", "small letters and digits with hyphens between"),
    ):
        with pytest.raises(OptionError) as refused:
            wb.register_engine(name, module)
        assert sentence in str(refused.value)
    assert not {"mine", "My Engine"} & ENGINES.keys()


def test_make_spec_names_the_module_of_a_plug_in_alone(registered, split):
    own, outside = (make_spec(split[0], name, 2) for name in ("cgs", "blocked-gibbs"))
    assert own.module is None and outside.module == "blocked_gibbs"
    assert RunSpec.from_json(outside.to_json()).module == "blocked_gibbs"
    other = RunSpec.from_json(outside.to_json().replace("blocked_gibbs", "elsewhere"))
    assert other.hash != outside.hash
    with pytest.raises(SpecError, match="of the module elsewhere, and here that is an engine of"):
        other.refuse_missing()


@pytest.mark.slow
@pytest.mark.parametrize("engine", TEMPLATES)
def test_a_killed_run_of_a_plug_in_is_resumed_with_the_same_bits(
    engine, registered, split, tmp_path
):
    train, test = split
    settings = dict(test=test, n_iterations=3000, options=OPTIONS[engine])
    run = wb.start(train, engine, store=tmp_path, **settings)

    def wait_for(reached) -> dict:
        while not reached(status := run.status()):
            assert status["state"] not in ("failed", "finished"), status
            time.sleep(0.01)
        return status

    wait_for(lambda status: status["iteration"] >= 20)
    run.pause()  # writes a checkpoint
    paused = wait_for(lambda status: status["state"] == "paused")
    os.kill(paused["pid"], signal.SIGKILL)
    run.wait(30)
    assert run.state == "interrupted"
    resumed = wb.resume(run, progress=False)
    whole = wb.fit(train, engine, progress=False, **settings)
    # the pause left a snapshot more
    same_bits(resumed.isel(snapshot=[-1]), whole.isel(snapshot=[-1]))


def test_the_form_of_the_page_offers_a_plug_in_and_starts_it(registered, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.dashboard.compare.starting.enqueue", lambda paths, jobs: None)
    form = Settings()
    assert set(TEMPLATES) <= {name for names in families().values() for name in names}
    form.fields["engines"].value = ["blocked-gibbs"]
    form.fields["n_sweeps"].value = "2"
    assert not mistakes_in(form.request())
    (run,), *_ = start_runs(tmp_path, form.request())
    assert (run.spec.module, run.spec.options) == ("blocked_gibbs", {"n_sweeps": 2})


def test_the_page_draws_the_runs_of_plug_ins(registered, split, tmp_path):
    train, test = split
    for engine, options in OPTIONS.items():
        settings = dict(test=test, n_iterations=3, options=options, progress=False)
        wb.fit(train, engine, store=tmp_path, name=engine, **settings)
    page = ComparePage(tmp_path)
    for _ in range(100):
        page.tick()
        if len(page.figure.curve.colours()) == 2:
            break
    assert set(page.figure.curve.colours()) == set(TEMPLATES) and len(page.table.rows) == 2


@pytest.mark.slow
def test_the_command_line_uses_plug_ins_of_all_kinds_and_shows_their_runs_without_them(
    site, tmp_path
):
    lines = ["a|b|c", "a|a|b", "c|d|d", "d|e|c", "a|b|e"] * 4
    (tmp_path / "words.bars").write_text("\n".join(lines))
    listed, swept, fitted, _, drawn, report = commands(
        tmp_path,
        [site],
        "engines --json",
        "sweep words.bars --engine blocked-gibbs --grid n_sweeps=1,2 --topics 2 --iterations 5"
        " --jobs 2 --json",
        "fit words.bars --engine unigrams-em --iterations 5 --name clusters --json",
        "fit words.bars --engine blocked-gibbs --topics 2 --iterations 5 --name topics --json",
        "figures runs/clusters --out figures --format svg --json",
        "report runs/clusters runs/topics --out report.html",
    )
    assert set(TEMPLATES) <= {each["name"] for each in json.loads(listed[1])["engines"]}
    runs = json.loads(swept[1])["runs"]
    assert [run["options"]["n_sweeps"] for run in runs] == [1, 2], swept
    assert all(run["state"] == "finished" for run in runs)
    assert (fitted[0], drawn[0], report[0]) == (0, 0, 0), (fitted, drawn, report)
    assert (tmp_path / "figures" / "outside.svg").exists()
    page = (tmp_path / "report.html").read_text()
    assert "A view from outside" in page
    assert "unigrams-em is a plug-in, of the module unigrams_em" in page

    listed, shown, report, resumed = commands(
        tmp_path,
        [],
        "runs --json",
        "show clusters --json",
        "report runs/clusters --out without.html",
        "resume clusters --iterations 9",
    )
    assert len(json.loads(listed[1])["runs"]) == 4
    run = json.loads(shown[1])
    assert run["state"] == "finished" and run["test_perplexity"] > 1
    assert report[0] == 0, report
    assert "that of an engine which is not installed" in (tmp_path / "without.html").read_text()
    assert resumed[0] == 2
    (sentence,) = resumed[2].splitlines()
    assert "install the package that has it (unigrams_em), or put its folder on" in sentence
    assert wb.open_run("clusters", tmp_path / "runs").sizes["iteration"] == 5


@pytest.mark.slow
def test_a_network_of_another_package_has_its_name_in_model(site, tmp_path):
    program = (
        "from workbench.models.networks.network import Network;"
        "print(Network.of('two-levels', n_topics=4).variables[0].size)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [site, ROOT]))}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "4\n", done.stderr


def test_find_plugins_leaves_out_a_taken_name_with_a_warning(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(install(tmp_path, "[workbench.engines]\ncgs = a\nnew-cgs = b\n"))
    sentence = r"plug-in 'cgs' \(workbench.engines, a\) is left out: its name is taken"
    with pytest.warns(UserWarning, match=sentence):
        assert list(find_plugins("engines", ENGINES)) == ["new-cgs"]


def test_load_plugins_leaves_out_what_fails_with_a_warning(tmp_path, monkeypatch):
    entries = "[workbench.views]\nbroken = nowhere:VIEW\nworks = json:loads\n"
    monkeypatch.syspath_prepend(install(tmp_path, entries))
    with pytest.warns(UserWarning, match="'broken' .* is left out: No module named 'nowhere'"):
        assert load_plugins("views", []) == {"works": json.loads}
