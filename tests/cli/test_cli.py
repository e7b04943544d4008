"""The command line in one process: what it prints, where, and with which exit status."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb


def test_fit_prints_one_json_object_and_nothing_else_on_stdout(command, six_documents):
    status, out, _ = command(
        "fit", six_documents, "-e", "svb-cgs", "-k", 2, "-n", 12, "-o", "r=inf", "--json"
    )
    (told,) = json.loads(out)["runs"]
    assert status == 0 and out.count("\n") == 1
    assert (
        told["engine"] == "svb-cgs" and told["options"]["r"] == "inf" and told["n_iterations"] == 12
    )
    ds = wb.open_run(told["path"])
    assert told["test_perplexity"] == float(ds.test_perplexity[-1])
    assert {
        "name",
        "test_perplexity_state",
        "test_perplexity_average",
        "elapsed",
        "cpu_time",
    } <= set(told)


def test_without_a_test_set_json_says_null(told, six_documents):
    (run,) = told("fit", six_documents, "-k", 2, "-n", 3, "--holdout", 0)["runs"]
    assert run["test_perplexity"] is run["test_perplexity_average"] is None and run["elapsed"] > 0


def test_without_json_results_are_on_stdout_and_notes_alone_on_stderr(command, six_documents):
    status, out, err = command("fit", six_documents, "-k", 2, "-n", 3, "--name", "mine")
    assert status == 0 and "mine" in out and "finished" in out
    assert "K=2, 3 iterations" in err and "finished" not in err
    quiet = command("fit", six_documents, "-k", 2, "-n", 3, "--name", "other", "-q")
    assert quiet[0] == 0 and "other" in quiet[1] and quiet[2] == ""


@pytest.mark.parametrize("line", ["runs", "topics mine", "engines", "engines cgs"])
def test_a_reader_that_is_gone_is_no_failure_to_report(command, six_documents, line):
    command("fit", six_documents, "-k", 2, "-n", 2, "--name", "mine", "-q")
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", *line.split()],
            stdout=pipe,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": ""},
        )
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.slow
def test_compare_reopens_the_runs_and_varies_the_inference_seed_alone(told, six_documents):
    line = f"compare {six_documents} -e svb,svb-cgs:r=2 -k 2 -n 12 --seeds 2 --jobs 2 -q".split()
    first, second = (told(*line)["runs"] for _ in range(2))
    assert first == second and [run["label"] for run in first] == [
        "svb",
        "svb",
        "svb-cgs r=2",
        "svb-cgs r=2",
    ]
    assert [run["seed"] for run in first] == [0, 1, 0, 1] and len(wb.open_runs()) == 4
    assert len({run.spec.test for run in wb.open_runs()}) == 1


def test_a_finished_run_says_so_and_is_extended_on_request(command, told, six_documents):
    command("fit", six_documents, "-k", 2, "-n", 5, "--name", "mine")
    status, _, err = command("resume", "mine")
    assert status == 0 and "mine is finished (5 iterations); --iterations raises its end" in err
    assert told("resume", "mine", "--iterations", 9)["runs"][0]["n_iterations"] == 9
    assert (
        command("resume", "mine", "--iterations", 4)[0] == 0
        and wb.open_run("mine").sizes["iteration"] == 9
    )


def test_runs_are_listed_shown_and_removed(command, told, six_documents):
    command("fit", six_documents, "-k", 2, "-n", 5, "--name", "mine")
    assert [run["name"] for run in told("runs")["runs"]] == ["mine"]
    assert "mine" in command("runs")[1]
    shown = told("show", "mine")
    assert shown["status"]["state"] == "finished" and shown["spec"]["split"] == {
        "fraction": 0.1,
        "per": "corpus",
        "seed": 0,
    }
    assert "split seed 0" in command("show", "mine")[1]
    assert command("remove", "mine", "--yes")[0] == 0
    assert told("runs") == {"runs": []}
    assert "no runs in runs; `workbench compare docstrings` makes some" in command("runs")[2]


def test_show_tells_that_other_kernels_took_a_run_on(command, told, six_documents, monkeypatch):
    command("fit", six_documents, "-k", 2, "-n", 5, "--name", "mine")
    (began,) = told("show", "mine")["made_by"]
    assert began[0] == 0 and "made by kernels" not in command("show", "mine")[1]
    for module in ("reader", "provenance"):
        monkeypatch.setattr(f"workbench.runs.store.{module}.KERNELS", "others")
    assert (
        command("resume", "mine", "-n", 7)[2].count(
            "run 'mine' was computed with other kernels than those installed now"
        )
        == 1
    )
    assert f"made by kernels {began[1]}, others after iteration 5" in command("show", "mine")[1]
    assert told("show", "mine")["made_by"] == [began, [5, "others"]]


def test_the_store_is_the_one_of_the_flag_or_the_environment(
    command, six_documents, monkeypatch, tmp_path
):
    command("fit", six_documents, "-k", 2, "-n", 2, "--name", "a", "--store", tmp_path / "one")
    monkeypatch.setenv("WORKBENCH_STORE", str(tmp_path / "two"))
    command("fit", six_documents, "-k", 2, "-n", 2, "--name", "b")
    assert (tmp_path / "one" / "a").is_dir() and (tmp_path / "two" / "b").is_dir()
    assert "$WORKBENCH_STORE" in command("runs", "--help")[1]


@pytest.mark.slow
def test_figures_and_report_are_written(command, six_documents, tmp_path):
    command("fit", six_documents, "-k", 2, "-n", 12, "--name", "a")
    command("fit", six_documents, "-e", "svb", "-k", 2, "-n", 12, "--name", "b")
    assert command("figures", "a", "b", "--out", "figures", "--format", "svg,png")[0] == 0
    assert list((tmp_path / "figures").glob("*.svg")) and list((tmp_path / "figures").glob("*.png"))
    assert command("report", "a", "--out", "report.html")[0] == 0
    assert "<svg" in (tmp_path / "report.html").read_text()
    assert command("report", "a", "b", "--for", "readers", "--out", "readers.html")[0] == 0
    assert "found in a further run" in (tmp_path / "readers.html").read_text()
    status, _, said = command("report", "a", "--for", "children")
    assert status == 2 and "one of researchers, readers; got" in said


@pytest.mark.slow
def test_the_doctor_finds_this_machine_well(told):
    assert [check["ok"] for check in told("doctor")["checks"]] == [True] * 7


def test_a_table_of_texts_is_read_as_asked(told, tmp_path):
    rows = [f"{i},green ideas sleep {'furiously' * (i % 2)}\n" for i in range(9)]
    (tmp_path / "talks.csv").write_text("id,body\n" + "".join(rows))
    as_asked = ("--read", "text=body", "--read", "title=id", "--read", "min_documents=5")
    ds = wb.open_run(told("fit", "talks.csv", *as_asked, "-k", 2, "-n", 2)["runs"][0]["path"])
    assert ds.word.values.tolist() == ["green", "ideas", "sleep"] and ds.document.values[8] == "8"


def test_a_mistake_of_ours_is_told_in_one_line_with_status_1(command, six_documents, monkeypatch):
    monkeypatch.setattr("workbench.runs.loading.load_data", lambda *a, **k: 1 / 0)
    status, _, err = command("fit", six_documents)
    assert (
        status == 1
        and err
        == "workbench: ZeroDivisionError: division by zero (WORKBENCH_DEBUG=1 shows where)\n"
    )


def test_a_damaged_run_hides_no_other_and_can_be_removed(command, tmp_path, six_documents):
    for name in ("whole", "damaged"):
        command("fit", six_documents, "-k", 2, "-n", 2, "--name", name, "-q")
    shutil.rmtree(tmp_path / "runs" / "damaged" / "data.zarr" / "numbers")
    status, out, err = command("runs", "--json")
    assert status == 0 and [run["name"] for run in json.loads(out)["runs"]] == ["whole"]
    assert (
        "damaged cannot be read: run 'damaged' is damaged: data.zarr/numbers/zarr.json cannot be read"
        in err
    )
    assert command("show", "damaged")[0] == 2
    assert (
        command("remove", "damaged", "--yes")[0] == 0
        and not (tmp_path / "runs" / "damaged").exists()
    )


@pytest.mark.parametrize("file", ["status.json", "end.json", "kernels.json", "control.json"])
def test_a_folder_in_the_place_of_a_file_hides_no_run(command, told, tmp_path, six_documents, file):
    for name in ("whole", "damaged"):
        command("fit", six_documents, "-k", 2, "-n", 2, "--name", name, "-q")
    (tmp_path / "runs" / "damaged" / file).unlink(missing_ok=True)
    (tmp_path / "runs" / "damaged" / file).mkdir()
    assert "whole" in [run["name"] for run in told("runs")["runs"]]
    status, out, _ = command("doctor", "damaged")
    assert status == 1 and f"{file} cannot be read (Is a directory)" in " ".join(out.split())
    assert command("show", "damaged")[0] in (0, 2) and command("remove", "damaged", "--yes")[0] == 0


def test_remove_deletes_nothing_without_a_yes(command, monkeypatch, six_documents):
    command("fit", six_documents, "-k", 2, "-n", 2, "--name", "mine", "-q")
    for answer in ("n\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        status, _, err = command("remove", "mine")
        assert (
            status == 1
            and "nothing was removed; --yes deletes without asking" in err
            and "interrupted" not in err
        )
    assert wb.open_runs()


def test_an_interrupt_while_the_commands_are_imported_is_said(command, monkeypatch):
    class Interrupting:
        def find_spec(self, name, path=None, target=None):
            if name == "workbench.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "workbench.cli.app", raising=False)
    monkeypatch.setattr("sys.meta_path", [Interrupting(), *sys.meta_path])
    status, _, err = command("runs")
    assert status == 130 and err.startswith("workbench: interrupted; ")


def test_an_early_interrupt_is_said(command, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.runs.loading.load_data", interrupted)
    status, _, err = command("fit", "docstrings")
    assert status == 130 and "interrupted; recorded iterations are kept" in err


@pytest.mark.slow
def test_doctor_finds_a_store_that_is_a_file(command, tmp_path):
    (tmp_path / "file").write_text("")
    for store, fine in ((tmp_path / "file", False), (tmp_path / "not" / "yet" / "there", True)):
        status, out, _ = command("doctor", "--store", store, "--json")
        checks = {check["check"]: check["ok"] for check in json.loads(out)["checks"]}
        assert checks["store"] == fine and (fine or status == 1)


@pytest.fixture
def online(command, six_documents):
    """A run of online-vb named mine."""
    line = "-e online-vb -k 2 -n 2 --name mine -q".split()
    assert command("fit", six_documents, *line)[0] == 0


def test_update_takes_a_text_a_line_from_standard_input_and_says_what_came(
    command, online, monkeypatch
):
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(b"ant bee ant\n\nzebra cat\nzebra\n"))
    )
    status, out, err = command("update", "mine", "-", "--name", "later", "--json")
    assert status == 0 and json.loads(out)["runs"][0]["name"] == "later"
    assert "2 documents in 1 batch;" in err and "2 of 6 tokens (33.3%)" in err
    assert "left out is 1 document without a word that it knows" in err
    stream = wb.Run("runs/later").spec.start["stream"]
    assert (
        stream["n_documents"],
        stream["n_left_out"],
        stream["n_tokens"],
        stream["n_unknown"],
    ) == (2, 1, 4, 2)


@pytest.fixture
def news(tmp_path):
    """24 texts over ten words, and one of an unknown word, as a folder, a table, lines, and their words, a word a line."""
    words = "ant bee cat dog elk fox gnu hen ibex jay".split()
    texts = [" ".join(words[(3 * d + at * at) % 10] for at in range(12)) for d in range(24)] + [
        "zebra"
    ]
    (tmp_path / "folder").mkdir()
    for at, text in enumerate(texts):
        (tmp_path / "folder" / f"{at:02}.txt").write_text(text)
    (tmp_path / "news.csv").write_text(
        "id,body\n" + "".join(f"{at},{text}\n" for at, text in enumerate(texts))
    )
    (tmp_path / "lines.txt").write_text("".join(f"{text}\n\n" for text in texts))
    (tmp_path / "words.txt").write_text("".join(f"{word}\n" for word in words))
    return texts


def test_fit_stream_reads_a_folder_a_table_and_lines_and_says_what_came(command, news, monkeypatch):
    given = ("--vocabulary", "words.txt", "-k", 2, "-o", "batch_size=5")
    runs = []
    for documents in (
        ("folder",),
        ("news.csv", "--read", "text=body"),
        ("-", "--total-documents", 25),
    ):
        monkeypatch.setattr(
            "sys.stdin", io.TextIOWrapper(io.BytesIO(Path("lines.txt").read_bytes()))
        )
        status, out, err = command("fit-stream", *documents, *given, "--json")
        assert (
            status == 0 and "24 documents in 5 batches;" in err and "1 of 289 tokens (0.3%)" in err
        ), err
        assert "left out is 1 document without a word that it knows" in err
        runs.append(json.loads(out)["runs"][0]["options"] | {"name": None})
    assert (
        runs[0] == runs[1] == runs[2]
        and runs[0]["total_documents"] == 25
        and runs[0]["batches_before"] == 5
    )


def test_fit_stream_takes_its_vocabulary_from_words_a_run_or_a_corpus(command, told, news):
    """The same words, so the same run each time; of texts the options that choose words hold for the sample alone."""
    read, cut = ("-q", "--read", "text=body"), ("--read", "min_documents=2")
    command("fit", "news.csv", *read, *cut, "--name", "first", "-k", 2, "-n", 1)
    command("data", "convert", "news.csv", "shards", "--shards", *read, *cut)
    words = ("words.txt",), ("first",), ("runs/first",), ("shards",), ("news.csv", *cut)
    line = ("fit-stream", "news.csv", "-k", 2, *read, "--vocabulary")
    assert len({told(*line, *vocabulary)["runs"][0]["name"] for vocabulary in words}) == 1


def test_fit_stream_passes_over_files_as_python_does(command, news, tmp_path):
    line = (
        "fit-stream news.csv news.csv -k 2 -o batch_size=5 --passes 3 --read text=body --name twice"
    )
    assert command(*line.split(), "--vocabulary", "words.txt")[0] == 0
    documents, words = (
        wb.FileDocuments("news.csv", "news.csv", text="body"),
        (tmp_path / "words.txt").read_text().split(),
    )
    run = wb.fit_stream(
        documents,
        words,
        2,
        options={"batch_size": 5},
        passes=3,
        store=tmp_path / "other",
        progress=False,
    )
    assert wb.Run("runs/twice").spec.hash == run.spec.hash
    assert run.spec.start["stream"]["n_passes"] == 3 and run.spec.options["total_documents"] == 50


def test_a_stopped_stream_goes_on_as_its_line_says(command, news, monkeypatch):
    """Ctrl-C while the 18th line is waited for: two batches of five were visited, and one is held back."""

    def lines(*_):
        for number, text in enumerate(news):
            if number == 17:
                os.kill(os.getpid(), signal.SIGINT)
            yield text

    given = ("--vocabulary", "words.txt", "-k", 2, "-o", "batch_size=5", "--total-documents", 25)
    with monkeypatch.context() as patched:
        patched.setattr("workbench.cli.streaming._lines", lines)
        status, _, err = command("fit-stream", "-", *given, "--name", "stopped")
    assert (
        status == 130
        and "`workbench update stopped FILES --skip 10` continues with the others" in err
    )
    assert command("update", "stopped", "folder", "--skip", 10, "--name", "on", "-q")[0] == 0
    assert command("fit-stream", "folder", *given, "--name", "whole", "-q")[0] == 0
    on, whole = (wb.Run(f"runs/{name}").dataset()["n_kw"].values[-1] for name in ("on", "whole"))
    assert on == pytest.approx(whole, rel=1e-9)


def test_update_says_which_line_of_standard_input_is_no_text(command, online, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ant\nb\xffe\n")))
    status, out, err = command("update", "mine", "-", "-q")
    assert (status, out) == (2, "") and err.strip() == (
        "workbench: line 2 of standard input is not UTF-8; convert it, or give a file and --read encoding=cp1252"
    )
    assert [run.name for run in wb.open_runs()] == ["mine"]
