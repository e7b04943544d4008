"""What all pages have in common."""

from workbench.dashboard.shared.shell import PAGES, lay_out, links


def test_the_head_links_to_every_page_and_marks_the_one_that_is_seen():
    html = links({"compare": "Compare", "topics": "Topics <1>"}, "topics")
    assert html.count("<a ") == 2 and html.count("aria-current") == 1
    assert (
        '<a href="compare">Compare</a><a href="topics" aria-current=page>Topics &lt;1&gt;</a>'
        in html
    )


def test_a_page_that_is_the_only_one_links_to_nothing():
    assert links({"compare": "Compare"}, "compare") == ""


def test_every_page_is_headed_by_the_links():
    heading = lay_out("workbench", "a page", [], [], next(iter(PAGES)))[0][0]
    assert (
        "<h1>workbench <small>a page</small></h1>" in heading.object
        and links(PAGES, next(iter(PAGES))) in heading.object
    )
