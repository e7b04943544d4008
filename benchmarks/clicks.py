"""How soon does a page answer when many use it? ``python benchmarks/clicks.py [--page compare] [--sessions 30] [--json]``

Sessions of a page, all there at once, in each of which a control is clicked once a second, beside ten runs that go on; a
reaction is the time from the click until the property that it changes comes back. Visitors and runs are processes of their
own. Memory is what the server holds while all are there, over what it held before they came, when a few had come and gone;
those few give the warm opening: page, web socket, document.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from server import empty_out, memory, n_alive, serve, visit


def measure(url: str, given) -> None:
    visit("sessions", url, 1)
    alone = visit("sessions", url, 3)["opened"]
    empty_out()
    before, held, ended = memory(), [], threading.Event()

    def look() -> None:
        while not ended.wait(1.0):
            if n_alive() == given.sessions:
                held.append((memory(), time.monotonic(), time.process_time()))

    watching = threading.Thread(target=look)
    watching.start()
    told = visit("clicks", url, given.sessions, given.seconds)
    ended.set()
    watching.join()
    milliseconds = 1e3 * np.array(told["reactions"])
    told = {
        "page": given.page,
        "sessions": given.sessions,
        "reactions": len(milliseconds),
        "median": np.median(milliseconds),
        "p95": np.quantile(milliseconds, 0.95),
        "longest": milliseconds.max(),
        "opened_alone": np.median(alone),
        "opened_together": np.median(told["opened"]),
        "memory": (held[-1][0] - before) / given.sessions if held else np.nan,
        "before": before,
        "busy": (held[-1][2] - held[0][2]) / (held[-1][1] - held[0][1])
        if len(held) > 1
        else np.nan,
    }
    told = {
        name: round(value, 3) if isinstance(value, float) else value for name, value in told.items()
    }
    print(
        json.dumps(told)
        if given.json
        else "\n".join(f"{name}: {value}" for name, value in told.items()),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", choices=("compare", "topics"), default="compare")
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long they click")
    parser.add_argument("--runs", type=int, default=10, help="runs that go on")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as store:
        command = [
            sys.executable,
            Path(__file__).with_name("live.py"),
            store,
            "--runs",
            str(given.runs),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runs:
            try:
                runs.stdout.readline()
                serve(store, given.page, lambda url: measure(url, given))
            finally:
                runs.kill()


if __name__ == "__main__":
    main()
