"""Do sessions that are closed go away? ``python benchmarks/churn.py [--page compare] [--sessions 200] [--tabs 0] [--json]``

Opens sessions of a page as a browser does (page, web socket, document, two seconds of ticks), ten at a time, closes them, and
prints how many pages are still alive, after how long, and how much memory the server holds. Alive must come back to 0, memory
and objects must level off. With ``--tabs`` real browser tabs follow.
"""

import argparse
import gc
import json
import tempfile

from server import empty_out, memory, n_alive, serve, visit


def measure(url: str, given) -> None:
    """Sends visitors, and tells after each fifty what is left of them."""

    def come_and_go(after: int, what: str, number: int) -> None:
        visit(what, url, number)
        told = {"after": after, "what": what, "waited": round(empty_out(), 1), "views": n_alive()}
        gc.collect()
        told |= {"memory": round(memory(), 1), "objects": len(gc.get_objects())}
        said = "after {after} {what}: {views} alive after {waited} s, {memory} MiB, {objects} objects".format(
            **told
        )
        print(json.dumps(told) if given.json else said, flush=True)

    come_and_go(1, "sessions", 1)
    step = min(50, given.sessions)
    for after in range(step, given.sessions + 1, step):
        come_and_go(after, "sessions", step)
    if given.tabs:
        come_and_go(given.tabs, "tabs", given.tabs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--page",
        choices=("compare", "sweep", "topics", "oracle", "ledger"),
        default="compare",
    )
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--tabs", type=int, default=0)
    parser.add_argument("--store", help="a store with runs in it; otherwise an empty one")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty:
        serve(given.store or empty, given.page, lambda url: measure(url, given))


if __name__ == "__main__":
    main()
