"""The log of moves, and who began from whom."""

import re
from html import unescape

import pytest

from workbench.dashboard.compare.history import Moves, family, moves_table, tree
from workbench.dashboard.shared.downloads import Handover
from workbench.measures import Move

TRIED = (Move(20, "split", 3, 17, 12.44, True), Move(24, "merge", 5, 3, -1234.5, False))


def lines(html: str) -> list[list[str]]:
    """The cells of each row of a table's body."""
    rows = re.findall("<tr class.*?</tr>", html)
    return [
        [unescape(cell) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)] for row in rows
    ]


def test_moves_are_told_the_latest_first_with_what_became_of_them():
    html = moves_table(TRIED, "a-run")
    assert lines(html) == [
        ["24", "merge", "5 → 3", "−1,234.5", "undone"],
        ["20", "split", "3 → 17", "+12.4", "kept"],
    ]
    assert re.findall('<tr class="(.*?)"', html) == ["back", "kept"]
    assert "<script>" not in moves_table(TRIED, "<script>")


def test_the_log_is_there_for_a_run_that_tries_moves_and_follows_it(reading_of):
    log, one = Moves(Handover()), reading_of("one")
    for reading, n_lines, told in (
        (one, 0, None),
        (None, 0, None),
        (one._replace(moves=TRIED[:1]), 1, "one: 1 tried, 1 kept (1 split)"),
        (one._replace(moves=TRIED), 2, "2 tried, 1 kept"),
        (reading_of("two")._replace(moves=TRIED), 2, "two: 2 tried"),
        (one, 0, None),
    ):
        log.show(reading)
        assert log.card.visible == (told is not None)
        assert told is None or (told in log.html.object and len(lines(log.html.object)) == n_lines)


@pytest.fixture
def related(reading_of):
    """Newest first: a run at random, two of one parent, a child of one of these, their parent, an orphan."""

    def began(name, parent, iteration):
        return reading_of(
            name, start={"name": "its old name", "hash": parent, "iteration": iteration}
        )

    return (
        reading_of("alone"),
        began("grandchild", "older-child", 9),
        began("younger-child", "parent", 50),
        began("older-child", "parent", 50),
        reading_of("parent"),
        began("orphan", "gone", 1000),
        reading_of("broken", state="unreadable")._replace(spec=None),
    )


def test_the_family_stands_in_order_and_whose_parent_is_gone_says_so(related):
    assert family(related) == [
        (0, "its old name (not in this store)", ""),
        (1, "orphan", "from iteration 1,000"),
        (0, "parent", ""),
        (1, "older-child", "from iteration 50"),
        (2, "grandchild", "from iteration 9"),
        (1, "younger-child", "from iteration 50"),
    ]
    assert family(related[:1]) == family(()) == []


def test_the_tree_joins_each_run_to_its_parent_in_the_colours_of_the_curves(related):
    html = tree(family(related), {"parent": "#0072b2"})
    circles = [
        tuple(map(int, found)) for found in re.findall(r'<circle cx="(\d+)" cy="(\d+)"', html)
    ]
    joints = [
        tuple(map(int, found)) for found in re.findall(r'd="M(\d+),(\d+) V(\d+) H(\d+)"', html)
    ]
    parents = {1: 0, 3: 2, 4: 3, 5: 2}
    assert joints == [
        (*circles[parent], circles[child][1], circles[child][0])
        for child, parent in parents.items()
    ]
    assert re.findall('r="5" style="fill:(.*?)"', html) == ["#0072b2"]
    assert "orphan from iteration 1,000; parent; older-child" in html
    assert tree([], {}) == "" and "<b>" not in tree([(0, "<b>", ""), (1, "x", "<b>")], {})
