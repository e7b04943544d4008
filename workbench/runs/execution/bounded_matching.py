"""Match a regular expression of a visitor in a separate process, with limits of processor time and memory.

Run as a file, ``python -I -S bounded_matching.py`` reads one request from stdin, as JSON, and answers with the places found; it
imports the standard library alone, so that it starts in a few hundredths of a second. Python's regular expressions cannot be
interrupted and hold all other threads, so one that needs exponential time would stop a server for good.
"""

import contextlib
import json
import re
import resource
import subprocess
import sys
from functools import lru_cache

SECONDS = 2
"""Of the processor that matching may take; whole, and of no clock, so that a busy machine changes nothing."""
PATIENCE = 15.0
"""Seconds after which the process is ended all the same."""
N_BYTES = 2**29
"""That the process may take."""


@lru_cache(maxsize=64)
def find_spans(pattern: str, text: str) -> tuple[tuple[int, int], ...] | None:
    """Return start and end of every match (or of its group, if there is one); None where matching takes too long.

    None, too, for an invalid pattern. Results are cached, so that a second look at a document takes no time.
    """
    request = json.dumps({"pattern": pattern, "text": text})
    with contextlib.suppress(subprocess.TimeoutExpired, OSError, ValueError):
        done = subprocess.run(
            [sys.executable, "-I", "-S", __file__],
            input=request,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=PATIENCE,
        )
        return tuple(map(tuple, json.loads(done.stdout))) if done.returncode == 0 else None
    return None


def main() -> int:
    for limit, most in ((resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_AS, N_BYTES)):
        # a limit that is lower already, a system without it
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most))
    request = json.load(sys.stdin)
    pattern = re.compile(request["pattern"])
    spans = (match.span(pattern.groups) for match in pattern.finditer(request["text"]))
    print(json.dumps([span for span in spans if span[0] >= 0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
