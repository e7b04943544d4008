"""The figures of many visitors: what is told of them, and what a visitor finds in a page. No time is asserted."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import load
import pandas as pd
from visitors import CONTROLS, Visitor, _objects


def test_the_page_tells_reactions_memory_and_what_is_left_of_sessions_that_were_closed():
    rows = pd.DataFrame(
        [
            {
                "contender": "clicks",
                "page": "topics",
                "sessions": 30,
                "median": 120.4,
                "p95": 300.0,
                "opened_alone": 0.5,
                "memory": 2.25,
                "busy": 0.4,
            },
            {
                "contender": "churn",
                "page": "topics",
                "after": 50,
                "views": 3,
                "waited": 68.0,
                "memory": 250.0,
                "objects": 213_878,
            },
        ]
    )
    told = load.told(rows)
    assert "topics, 30 sessions" in told and "| median reaction, ms | ≤ 300 | 120 |" in told
    assert (
        "| MiB a session | ≤ 3 | 2.25 |" in told
        and "| topics, after 50 | 3 | 68.0 | 250.0 | 213,878 |" in told
    )
    assert load.told(rows[:1]).count("|---|") == load.told(rows[1:]).count("|---|") == 1


def test_models_are_found_however_deep_they_are():
    inner = {"type": "object", "id": "p2", "attributes": {"labels": ["a"]}}
    document = {
        "doc": {"roots": [{"type": "object", "id": "p1", "attributes": {"children": [inner]}}]}
    }
    assert [one["id"] for one in _objects(document)] == ["p1", "p2"]


def in_a_loop(work):
    """What work comes to, in a thread of its own: a browser test before may have left a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def test_every_click_gives_a_control_a_value_that_it_has_not_and_ends_with_its_effect():
    for page, controls in CONTROLS.items():
        for number in range(4):
            visitor, sent = Visitor(f"http://somewhere/{page}"), []
            visitor._models = [
                {
                    "id": f"p{at}",
                    "attributes": {one.telling[0]: one.telling[1], one.sets: one.values[0]},
                }
                for at, one in enumerate(controls)
            ]

            async def answer(event, visitor=visitor, sent=sent):
                sent.append((event["model"]["id"], event["new"]))
                next(wait for wait in visitor._waits.values() if not wait.done()).set_result(None)

            visitor._patch = answer

            async def clicks(visitor=visitor, number=number):
                return [await visitor.click(number, turn) for turn in range(8)]

            assert all(seconds >= 0 for seconds in in_a_loop(clicks))
            for at, control in enumerate(controls):
                values = [control.values[0], *(value for model, value in sent if model == f"p{at}")]
                assert len(values) == 5 and all(one != other for one, other in pairwise(values))
