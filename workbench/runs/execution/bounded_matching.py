"""Match a visitor's regular expression in a separate process with limited CPU time and memory.

``python -I -S bounded_matching.py`` reads one request from stdin, as JSON, and prints the matches; it imports only the standard
library, so that it starts in a few hundredths of a second. Python's regular expressions cannot be interrupted and block all
other threads, so one that needs exponential time would stop a server.
"""

import contextlib
import json
import re
import resource
import subprocess
import sys
from functools import lru_cache

SECONDS = 2
"""Limit of CPU time in seconds, an integer; unlike wall-clock time it does not depend on how busy the machine is."""
PATIENCE = 15.0
"""Seconds of wall-clock time after which the process is killed in any case."""
N_BYTES = 2**29
"""Limit of the memory of the process, in bytes."""


@lru_cache(maxsize=64)
def find_spans(pattern: str, text: str) -> tuple[tuple[int, int], ...] | None:
    """Return (start, end) of each match in the text; None if matching takes too long or the pattern is invalid.

    If the pattern has groups, they are those of its last group. Results are cached.
    """
    request = json.dumps({"pattern": pattern, "text": text})
    with contextlib.suppress(subprocess.TimeoutExpired, OSError, ValueError):
        process = subprocess.run(
            [sys.executable, "-I", "-S", __file__],
            input=request,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=PATIENCE,
        )
        return tuple(map(tuple, json.loads(process.stdout))) if process.returncode == 0 else None
    return None


def main() -> int:
    for limit, most in ((resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_AS, N_BYTES)):
        # the limit is lower already, or the system has none
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most))
    request = json.load(sys.stdin)
    pattern = re.compile(request["pattern"])
    spans = (match.span(pattern.groups) for match in pattern.finditer(request["text"]))
    print(json.dumps([span for span in spans if span[0] >= 0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
