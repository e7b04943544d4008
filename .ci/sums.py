"""Prints the sums of the closing lines of pytest in a log, such as "1234 passed, 0 failed, 2 skipped".

A second log is of the tests that failed and were run again, one by one: these are failed or "passed only alone".
The exit status is 1 where no test passed, or where one failed or went wrong.
"""

import re
import sys
from collections import Counter
from pathlib import Path

CLOSING = re.compile(r"^=* ?((?:\d+ \w+(?:, )?)+) in \d[\d.]*s", re.MULTILINE)


def sums(log: str) -> Counter:
    """The numbers of tests by outcome, over all closing lines; errors are failures."""
    numbers = Counter()
    for closing in CLOSING.findall(log):
        for number, outcome in re.findall(r"(\d+) (\w+)", closing):
            numbers["failed" if outcome.startswith("error") else outcome] += int(number)
    return numbers


if __name__ == "__main__":
    numbers, *again = (sums(Path(log).read_text(errors="replace")) for log in sys.argv[1:])
    for rerun in again:
        numbers["failed"] -= rerun["passed"]
        numbers["passed only alone"] += rerun["passed"]
    outcomes = ["passed", "failed", "skipped", *(["passed only alone"] if again else [])]
    print(", ".join(f"{numbers[outcome]} {outcome}" for outcome in outcomes))
    sys.exit(numbers["passed"] == 0 or numbers["failed"] > 0)
