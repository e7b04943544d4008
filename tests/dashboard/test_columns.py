"""The columns of a file of one's own: offered in menus, the obvious ones chosen."""

import pytest
from bokeh.document import Document

import workbench as wb
from workbench.dashboard.compare.columns import columns_of, guess_columns
from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.page import ComparePage
from workbench.dashboard.compare.starting import start_runs
from workbench.dashboard.shared.policy import PolicyError
from workbench.dashboard.shared.uploads import ReceivedFile
from workbench.runs.request import FILE
from workbench.runs.store.archive import get_corpus

OF_COLUMNS = ("text", "title", "label", "file.time")


@pytest.fixture
def make_page(tmp_path, monitor, queued):
    """A function that makes a page on an empty store, whose form is shown."""

    def make() -> ComparePage:
        page = ComparePage(tmp_path / "runs")
        page.settings.form.get_root(Document())
        return page

    return make


@pytest.fixture
def page(make_page):
    return make_page()


def send(page, name: str, content: bytes) -> ReceivedFile:
    """What happens when a file has arrived."""
    field = page.settings.fields["upload"]
    file = field.inbox.receive()
    file.write(content)
    field.inbox.keep(file, name)
    return field.value


def held(page) -> list[str]:
    return [page.settings.fields[name].value for name in OF_COLUMNS]


def offered(page, name: str = "text") -> list[str]:
    """The columns that a field offers."""
    return page.settings.fields[name].options


def test_the_columns_of_the_example_are_known(tmp_path):
    columns = columns_of(str(wb.write_example_csv(tmp_path / "news.csv", 20)), None, "detect")
    assert list(columns) == ["id", "date", "category", "source", "text"]
    assert guess_columns(columns) == {
        "text": "text",
        "title": "id",
        "label": "category",
        "file.time": "date",
    }


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        (
            {"Body": ["x"], "Headline": ["y"], "Year": ["2024", ""]},
            {"text": "Body", "title": "Headline", "file.time": "Year"},
        ),
        ({"a": ["one two three four five"], "b": ["one two"]}, {"text": "a"}),
        ({"a": ["1"], "b": ["2"]}, {}),
        (
            {"text": ["x"], "date": ["soon"], "year": ["2024"]},
            {"text": "text", "file.time": "year"},
        ),
        ({"text": ["x"], "date": ["", ""]}, {"text": "text"}),
        ({}, {}),
        ({"text": [], "label": []}, {"text": "text", "label": "label"}),
    ],
)
def test_a_column_is_chosen_where_its_name_or_its_values_make_it_obvious(columns, wanted):
    assert guess_columns(columns) == wanted


def test_a_file_that_arrives_is_the_corpus_with_its_columns_offered(page, tmp_path):
    content = wb.write_example_csv(tmp_path / "news.csv", 30).read_bytes()
    received = send(page, "my news.csv", content)
    form = page.settings
    assert form.request().corpus == received and form.fields["corpus"].value == FILE
    assert "path" not in form.form.seen and form.fields["upload"].held.startswith("my news.csv, ")
    assert held(page) == ["text", "id", "category", "date"] and not form.form.wrong
    assert (
        offered(page) == offered(page, "file.time") == ["id", "date", "category", "source", "text"]
    )
    values = {"engines": ["cgs"], "n_topics": "3", "label": "source", "title": ""}
    for name, value in values.items():
        form.fields[name].value = value
    assert not mistakes_in(form.request())
    ((run,), *_) = start_runs(page.store, form.request())
    train = get_corpus(page.store, run.spec.train)
    assert (
        run.spec.corpus == "my news"
        and train.times[0].startswith("20")
        and set(train.labels) == {"web", "print"}
    )


def test_another_file_has_its_own_columns_and_none_takes_them_away(page):
    send(page, "a.csv", b"id,date,text\n1,2024-07-31,red ants\n")
    send(page, "b.jsonl", b'{"body": "red ants", "name": "x", "about": 1}\n')
    assert held(page) == ["body", "name", "label", ""] and offered(page) == [
        "body",
        "name",
        "about",
    ]
    send(page, "docword.c.txt", b"1\n1\n1\n1 1 1\n")
    assert not {*OF_COLUMNS} & {*page.settings.form.seen} and offered(page) == []
    page.settings.fields["upload"]._handle_msg({"clear": True})
    assert page.settings.request().corpus == "" and {"path", *OF_COLUMNS} <= {
        *page.settings.form.seen
    }
    assert not [*page.settings.fields["upload"].inbox._folder.iterdir()]


def test_a_path_that_is_typed_has_the_same_columns(page, tmp_path):
    fields = page.settings.fields
    fields["corpus"].value, fields["path"].value = FILE, str(tmp_path / "none.csv")
    assert offered(page) == [] and "No file" in page.settings.form.wrong["path"]
    (tmp_path / "a.csv").write_text("id,body\n1,red ants\n")
    fields["path"].value = str(tmp_path / "a.csv")
    assert held(page) == ["body", "id", "label", ""] and offered(page) == ["id", "body"]


def test_what_a_link_says_of_columns_stands(make_page, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("id,body,date\n1,red ants,2024\n")

    def follow(parts):
        for name, text in {"corpus": FILE, "path": str(tmp_path / "a.csv"), "text": "id"}.items():
            assert parts[name].take(text)
        return ""

    monkeypatch.setattr("workbench.dashboard.compare.page.follow_address", follow)
    page = make_page()
    assert held(page) == ["id", "title", "label", ""] and offered(page) == ["id", "body", "date"]


def test_what_is_wrong_with_a_file_stands_at_its_field_under_its_own_name(page, ruled):
    for others in (False, True):
        ruled(others=others, uploads=True)
        for name, content, said in (
            (
                "my news.csv",
                b'id,text\n1,"red\n',
                "The file, line 2: not a CSV row (unexpected end of data); check the quotes",
            ),
            ("texts.zip", b"PK\x03\x04", None),
            ("a.what", b"\0\1\2", "The file has a format that is not recognised"),
        ):
            send(page, name, content)
            if said is None:  # of a zip there are no columns
                page.settings.preview.clicks += 1
                said = "is damaged, or no zip archive"
            wrong = page.settings.form.wrong["format" if name == "a.what" else "upload"]
            assert (
                said.lower() in wrong.lower()
                and "workbench-upload" not in wrong
                and "/tmp" not in wrong
            ), wrong


def test_a_file_that_was_removed_meanwhile_is_missed(page):
    received = send(page, "a.csv", b"id,text\n1,red ants\n")
    received.path.unlink()
    page.settings.start.clicks += 1
    assert page.settings.form.wrong == {"upload": "The uploaded file is gone; choose it again"}
    with pytest.raises(PolicyError, match="gone"):
        start_runs(page.store, page.settings.request())


def test_where_others_come_in_a_file_is_sent_and_no_path_is_typed(ruled, make_page):
    ruled(others=True, uploads=True)
    form = make_page().settings
    form.fields["corpus"].value, form.fields["path"].value = FILE, "/etc/passwd"
    assert "upload" in form.form.seen and "path" not in form.form.seen
    form.start.clicks += 1
    wanted = "The corpus needs a file; upload one or choose a corpus of the list"
    assert form.form.wrong["upload"] == wanted
    told = form.fields["upload"].settings
    assert told["open"] and "path" not in told["hint"] and told["most"] == 5 * 2**20
    assert told["otherwise"] == "give a part of it"


def test_without_a_server_of_ours_the_field_tells_what_it_needs(ruled, make_page):
    told = make_page().settings.fields["upload"].settings
    assert not told["open"] and "`workbench serve`" in told["hint"]
    ruled(read_only=True, uploads=True, others=True)
    assert FILE not in make_page().settings.fields["corpus"].options


@pytest.mark.parametrize("said", ["/etc/passwd", ["x"], None, {"path": "/etc/passwd"}])
def test_a_browser_cannot_say_which_file_arrived(page, said):
    page.settings.fields["upload"]._handle_msg(said)
    assert page.settings.fields["upload"].value is None
