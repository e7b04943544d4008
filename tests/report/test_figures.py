"""Files of figures: which there are, that their bytes are always the same, and that they stand alone."""

import csv
import io
import os
import re
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import numpy as np
import pytest
from comparisons import made_up, picture_names, tiny_comparison, tiny_run, with_topics
from PIL import Image

import workbench as wb
from workbench.measures import MeasureError
from workbench.report.drawing import draw
from workbench.report.files import ReportError
from workbench.report.gathering import gather
from workbench.runs.store.layout import StoreError
from workbench.views import perplexity_layout
from workbench.views.elements import look_of


@pytest.fixture(scope="module")
def figures(store, tmp_path_factory):
    """name → bytes of everything that the store's runs make."""
    folder = tmp_path_factory.mktemp("figures")
    return {path.name: path.read_bytes() for path in wb.save_figures(wb.open_runs(store), folder)}


def of_kind(figures: dict[str, bytes], kind: str) -> list[bytes]:
    """The files of one kind."""
    return [content for name, content in figures.items() if name.endswith(f".{kind}")]


def test_each_figure_comes_in_each_format_with_caption_and_data(store, figures):
    names = picture_names(wb.open_runs(store))
    assert list(figures) == [
        f"{name}.{kind}" for name in names for kind in ("svg", "pdf", "png", "txt", "csv")
    ]
    assert all(content.startswith(b"<?xml") for content in of_kind(figures, "svg"))
    assert all(content.startswith(b"%PDF") for content in of_kind(figures, "pdf"))
    assert all(content.startswith(b"\x89PNG") for content in of_kind(figures, "png"))


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(store, tmp_path, figures):
    """The other has another hash seed, another time, and drew for a browser before."""
    code = (
        "import holoviews, holoviews.plotting.bokeh; holoviews.Store.set_current_backend('bokeh'); "
        "import sys, workbench as wb; wb.save_figures(wb.open_runs(sys.argv[1]), sys.argv[2])"
    )
    environment = os.environ | {"PYTHONHASHSEED": "2", "SOURCE_DATE_EPOCH": f"{2 * 10**9}"}
    command = [sys.executable, "-c", code, store, tmp_path]
    subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {name for name in written if written[name] != figures[name]} == set()
    assert written.keys() == figures.keys()


def test_threads_do_not_disturb_each_other_and_leave_nothing_behind():
    import matplotlib
    from matplotlib import pyplot

    panels, settings = list(perplexity_layout(tiny_comparison())), dict(matplotlib.rcParams)
    alone = draw(panels, 2, ("svg",))
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda _: draw(panels, 2, ("svg",)), range(3)))
    assert all(drawn == alone for drawn in together)
    assert dict(matplotlib.rcParams) == settings
    assert pyplot.get_fignums() == []


def test_pdf_embeds_truetype_and_no_type_3(figures):
    for content in of_kind(figures, "pdf"):
        packed = re.findall(rb"stream\r?\n(x\x9c.*?)\r?\nendstream", content, re.DOTALL)
        streams = [zlib.decompressobj().decompress(part) for part in packed]
        whole = content + b"".join(streams)
        assert b"/FontFile2" in whole and b"DejaVuSans" in whole
        assert b"/Type3" not in whole and b"/Subtype /Type3" not in whole
        assert b"/CreationDate" not in whole


def test_svg_needs_nothing_from_outside(figures):
    for svg in map(bytes.decode, of_kind(figures, "svg")):
        # names of formats, not places
        drawn = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
        drawn = re.sub(r'<!DOCTYPE[^>]*>|xmlns(:\w+)?="[^"]*"', "", drawn)
        assert "http" not in drawn
        assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', drawn))
        assert "<text" not in drawn and "font-family" not in drawn, "letters are outlines"
        assert "<image" not in drawn and "<script" not in drawn


def test_svg_lines_are_in_the_colours_of_the_style(figures):
    svg = figures["perplexity-by-iterations.svg"].decode().lower()
    assert all(look_of(engine).colour in svg for engine in ("svb", "svb-cgs", "cgs"))


def test_the_data_behind_a_figure_are_the_records_in_full(store, figures):
    rows = list(csv.DictReader(figures["perplexity-by-iterations.csv"].decode().splitlines()))
    assert len(rows) == 6 * 12
    run = wb.open_run(rows[0]["run"], store)
    own = [row for row in rows if row["run"] == rows[0]["run"]]
    for name in (
        "test_perplexity",
        "test_perplexity_state",
        "test_perplexity_average",
        "elapsed",
        "updates",
    ):
        np.testing.assert_array_equal([float(row[name]) for row in own], run[name].values)
    sizes = list(csv.DictReader(figures["topic-sizes.csv"].decode().splitlines()))
    assert len(sizes) == 3 * 12 * 4
    bounds = list(csv.DictReader(figures["bound.csv"].decode().splitlines()))
    assert {row["label"] for row in bounds if row["bound"]} == {"svb"}
    finals = list(csv.DictReader(figures["ordering.csv"].decode().splitlines()))
    assert [row["label"] for row in finals] == [
        "svb",
        "svb",
        "svb-cgs r=1",
        "svb-cgs r=1",
        "cgs",
        "cgs",
    ]
    last = {run.name: run.dataset()["test_perplexity"].values[-1] for run in wb.open_runs(store)}
    assert {row["run"]: float(row["test_perplexity"]) for row in finals} == last


def test_a_caption_tells_settings_split_seeds_and_command(figures):
    caption = figures["perplexity-by-seconds.txt"].decode()
    for actual in (
        "topics: 4",
        "alpha (per topic): 0.1",
        "iterations: 12",
        "burn-in: 3 iterations",
        "inference seeds: 0, 1",
        "20 % of the tokens of the corpus, split seed 0",
        "documents: 12",
        "tokens (held out): 36",
        "one standard error",
        ".npz --engines svb,cgs,svb-cgs --topics 4 --alpha 0.1 --beta 0.1 --iterations 12 --seed 0 --seeds 2 --burn-in 3",
    ):
        assert actual in caption


def test_every_picture_holds_its_title_and_caption(figures):
    for name in ("ordering", "topic-map-cgs"):
        caption = figures[f"{name}.txt"].decode()
        root = ElementTree.fromstring(figures[f"{name}.svg"])
        assert root.find("{*}desc").text == caption
        title = root.find("{*}title").text
        png = Image.open(io.BytesIO(figures[f"{name}.png"]))
        assert (png.text["Title"], png.text["Description"]) == (title, caption)
        actual = re.search(
            rb"/Title \((.*?[^\\])\)\n/Subject \((.*?[^\\])\) ?", figures[f"{name}.pdf"], re.DOTALL
        ).groups()
        texts = [
            re.sub(r"\\(.)", lambda one: {"n": "\n"}.get(one[1], one[1]), text.decode())
            for text in actual
        ]
        assert texts == [title, caption]


def test_names_of_corpora_are_escaped_in_pictures():
    (panel, _), actual = perplexity_layout(tiny_comparison()), "<b>Ärger</b> & ]]> → 5 ± 1"
    drawn = draw([panel], 1, title=actual, caption=actual)
    root = ElementTree.fromstring(drawn["svg"])
    assert root.find("{*}title").text == root.find("{*}desc").text == actual
    assert Image.open(io.BytesIO(drawn["png"])).text["Description"] == actual


def test_the_caption_of_a_figure_names_the_settings_of_the_runs_that_it_shows_alone(figures):
    one, two, all_six = (
        figures[f"{name}.txt"].decode()
        for name in ("topic-map-cgs", "topic-flow-svb-cgs-r1-to-cgs", "ordering")
    )
    assert (
        "inference seeds: 0\n" in one
        and ".npz --engines cgs --topics 4" in one
        and "--seeds" not in one
    )
    assert "inference seeds: 0\n" in two and "--engines cgs,svb-cgs " in two
    assert "inference seeds: 0, 1\n" in all_six and "--engines svb,cgs,svb-cgs " in all_six


def test_every_way_of_naming_runs_is_understood(store):
    run = wb.open_runs(store)[0]
    for way in (
        run,
        run.path,
        str(run.path),
        run.name,
        run.dataset(),
        [run.name],
        (name for name in [run.name]),
    ):
        (result,) = gather(way, store)
        assert result.dataset.identical(run.dataset()) and result.spec == run.spec
    assert gather(run)[0].corpora[0].content_hash == run.spec.train


def undescribed(svg: bytes) -> bytes:
    return re.sub(rb"<desc>.*?</desc>", b"", svg, flags=re.DOTALL)


@pytest.mark.slow
def test_a_comparison_in_memory_draws_the_same_lines_as_its_runs(tmp_path, figures):
    drawn = {
        path.name: path.read_bytes()
        for path in wb.save_figures(tiny_comparison(), tmp_path, ["svg"])
    }
    for name in ("ordering.svg", "perplexity-by-iterations.svg", "state-and-average.svg"):
        assert undescribed(drawn[name]) == undescribed(figures[name])
    assert not [name for name in drawn if name.startswith("topic-words")]


def test_without_held_out_tokens_there_is_no_perplexity_figure(undrawn, tmp_path):
    written = wb.save_figures(tiny_comparison(1, 0.0), tmp_path, "png")
    assert {path.stem for path in written} == {"bound", "objectives", "topic-sizes"}
    assert "Nothing was held out" in (tmp_path / "objectives.txt").read_text()


def test_captions_say_that_one_seed_has_no_error(undrawn, tmp_path):
    wb.save_figures([made_up("cgs", [30, 20]), made_up("svb", [40, 30])], tmp_path, "svg")
    assert "one run each, so no standard error" in (tmp_path / "ordering.txt").read_text()
    assert "topic-words" not in " ".join(path.name for path in tmp_path.iterdir())


def test_captions_give_the_iterations_of_runs_of_different_length(undrawn, tmp_path):
    wb.save_figures([tiny_run("cgs", 5), tiny_run("svb", 12)], tmp_path, "svg")
    assert "different lengths (5 to 12 iterations)" in (tmp_path / "topic-sizes.txt").read_text()


def test_runs_on_different_data_are_drawn_apart(undrawn, tmp_path):
    runs = [
        made_up(engine, [30, 20], train=name, corpus=name)
        for name in ("kos/a", "kos-a")
        for engine in ("cgs", "svb")
    ]
    written = {path.name for path in wb.save_figures(runs, tmp_path, "svg")}
    assert {
        "ordering-kos-a.svg",
        "ordering-kos-a-2.svg",
        "topic-sizes-kos-a.svg",
    } <= written and "ordering.svg" not in written
    assert (tmp_path / "ordering-kos-a-2.txt").read_text().startswith("On kos-a. Held-out")
    table = (tmp_path / "ordering-kos-a.csv").read_text()
    assert {row["label"] for row in csv.DictReader(table.splitlines())} == {"cgs", "svb"}


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 2])
def test_one_topic_and_more_than_fit_on_a_page_are_drawn(columns, tmp_path):
    for n_topics in (1, 41):
        wb.save_figures(with_topics(n_topics), tmp_path / str(n_topics), "svg", columns)
        svg = (tmp_path / str(n_topics) / "topic-words-cgs.svg").read_text()
        height = float(re.search(r'height="([\d.]+)pt"', svg)[1]) / 72
        assert height <= 9.5  # a page of paper and its rim
    caption = (tmp_path / "41" / "topic-words-cgs.txt").read_text()
    assert (
        f"The {40 if columns == 2 else 20} largest of 41 topics are drawn; all are in the table."
        in caption
    )
    assert len((tmp_path / "41" / "topic-words-cgs.csv").read_text().splitlines()) == 1 + 41 * 20


def test_a_run_without_a_record_is_left_out_and_named(undrawn, unfinished, tmp_path):
    wb.save_figures([unfinished, made_up("cgs", [30, 20])], tmp_path, "svg")
    actual = f"Left out, because they have no committed iteration yet: {unfinished.name}."
    assert actual in (tmp_path / "ordering.txt").read_text()
    with pytest.raises(MeasureError, match="has no committed iteration yet"):
        gather([unfinished, made_up("cgs", [30, 20])])


def test_one_column_is_narrower_and_taller():
    panels = list(perplexity_layout(tiny_comparison()))
    drawn = [draw(panels, columns, ("svg",))["svg"].decode() for columns in (1, 2)]
    narrow, wide = (
        [float(size) for size in re.findall(r'(?:width|height)="([\d.]+)pt"', svg)] for svg in drawn
    )
    assert narrow[0] == pytest.approx(3.4 * 72) and wide[0] == pytest.approx(7 * 72)
    assert narrow[1] > wide[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda out: wb.save_figures([], out), MeasureError, "no run was given"),
        (
            lambda out: wb.save_figures(3, out),
            MeasureError,
            "wanted runs: handles, paths, names or Datasets; got int",
        ),
        (lambda out: wb.save_figures("nothing", out, store=out), StoreError, "no run 'nothing'"),
        (
            lambda out: wb.save_figures(tiny_run(), out, "gif"),
            ReportError,
            "figures are written as svg, pdf, png; got 'gif'",
        ),
        (lambda out: wb.save_figures(tiny_run(), out, ()), ReportError, "got no format"),
        (
            lambda out: wb.save_figures(tiny_run(), out, columns=3),
            ReportError,
            "1 or 2 columns wide; got 3",
        ),
        (
            lambda out: wb.save_figures(tiny_run(), 7),
            ReportError,
            "wanted a folder to write to; got int",
        ),
        (
            lambda out: wb.export_run(tiny_run(), 7),
            ReportError,
            "wanted a folder to write to; got int",
        ),
        (lambda out: wb.write_report([], out / "r.html"), MeasureError, "no run was given"),
        (
            lambda out: wb.write_report(tiny_run(), out.parent),
            ReportError,
            "is a folder; give the name of a file",
        ),
        (
            lambda out: wb.write_report(tiny_run(), 7),
            ReportError,
            "wanted a path to write to; got int",
        ),
        (
            lambda out: wb.write_report(tiny_run(), out / "r.html", "vb"),
            MeasureError,
            "no reference 'vb'",
        ),
    ],
)
def test_wrong_input_gets_one_sentence_and_writes_nothing(call, error, message, tmp_path):
    with pytest.raises(error, match=message):
        call(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [wb.save_figures, wb.write_report])
def test_a_run_without_an_iteration_says_so(write, unfinished, tmp_path):
    with pytest.raises(MeasureError, match="has no committed iteration yet"):
        write(unfinished, tmp_path / "out")


@pytest.mark.parametrize(
    ("write", "form"), [(wb.save_figures, "svg"), (wb.export_run, "npz")], ids=["figures", "export"]
)
def test_a_folder_that_is_a_file_says_so(write, form, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(ReportError, match="cannot write .*; choose another place"):
        write(tiny_run(), tmp_path / "taken", form)
    assert list(tmp_path.iterdir()) == [tmp_path / "taken"]
