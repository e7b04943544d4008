"""Mutated files, specs, links and requests, each from a valid one: the process that tries them; `test_fuzz` starts it.

Input i of a seed is always the same one, so that a campaign goes on where it stopped. Each must give a valid object or one of
the package's errors, of one line. Printed are what does not, as it happens, and at the end how many came out how, as JSON.
The process ends itself after `SECONDS` of computing on one input, and may take `MEMORY` bytes more than at its start, so that
a hang and a full memory are failures too. The number of the present input stands in a file.
"""

import argparse
import contextlib
import gzip
import io
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import psutil
from fuzz_targets import RARE, TARGETS, Target

from workbench.errors import InputError

TOLD_EVERY = 1000
"""Inputs after which the counts so far are printed, for those of a process that is killed."""
SECONDS, MEMORY = 2.0, 300 * 2**20
ACCEPTED, REFUSED, WRONG = "accepted", "refused", "wrong"
UNUSUAL = "\u2028 \u2029 \x85 \x1c \x1e \ufeff \u0661 \ud7ff \U0001f600"
PIECES = [
    *(bytes([one]) for one in range(256)),
    *UNUSUAL.encode().split(b" "),
    b"\xed\xa0\x80",
    b"\xff\xfe",
    b"\r\n",
    b"\n\n",
    b"-1",
    b"-0",
    b"1e309",
    b"1e18",
    b"nan",
    b"NaN",
    b"inf",
    b"null",
    b"true",
    b"0x10",
    b"1_0",
    b"2147483648",
    b"4294967301",
    b"9223372036854775808",
    b"99999999999999999999",
    b"9" * 5000,
    b"0." + b"0" * 400 + b"1",
    b"[]",
    b"{}",
    b'""',
    b"'",
    b'"',
    b"\\ud800",
    b"\\",
    b"[[",
    b"]]",
    b'{"a":',
    b"%s",
    b"=",
    b"..",
    b"/",
    b"~",
    b"*",
    b"PK\x03\x04",
    b"\x1f\x8b\x08",
    b"doc",
    b"shape",
    b"name",
    b"|O",
    b"<i8",
    b"(2,)",
]
VALUES = [
    None,
    True,
    0,
    -1,
    1,
    2,
    2**31,
    2**32 + 5,
    2**63,
    10**400,
    0.5,
    -0.5,
    1e308,
    1e-308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "2",
    "\u2028",
    "a\nb",
    "\ud800",
    "\0",
    "x" * 5000,
    [],
    {},
    [[]],
    [1],
    ["a", "a"],
    [None],
    {"a": 1},
    [[["a"]]],
    "document",
    "topic",
]
NUMBERS = (b"0", b"-1", b"2147483648", b"4294967301", b"1" * 25, b"1.5")
CHANGES = (
    *("flip", "put") * 3,
    "splice",
    "splice",
    "cut",
    "double",
    "truncate",
    "number",
    "repeat",
)
OFTEN = (2, 64, 2000, 20_000)
"""How often a piece is repeated: at last deeper than Python nests, and what is linear takes no second."""
IN_MEMORY = Path("/dev/shm")
"""Files of one moment stay from the disk where there is such a folder."""
RARELY = 1000
"""Every so many inputs is one for what takes half a second to read one."""
LARGEST = 2**20
"""Bytes of an input."""


def mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """The bytes after a few changes: bits flipped, pieces cut, doubled, put in or repeated, a part of another input."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at, end = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
        near = min(at + chance.choice((1, 2, 8, 64)), len(data))
        match chance.choice(CHANGES):
            case "flip" if at < len(data):
                data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
            case "put":
                data = data[:at] + chance.choice(PIECES) + data[chance.choice((at, near)) :]
            case "cut":
                data = data[:at] + data[near:]
            case "double":
                data = data[:end] + data[at:end] + data[end:]
            case "truncate":
                data = data[:end]
            case "splice":
                start = chance.randint(0, len(other))
                data = (
                    data[:at] + other[start : start + chance.choice((1, 8, 64, 4096))] + data[near:]
                )
            case "number" if digit := re.compile(b"[0-9]").search(data, at):
                data = data[: digit.start()] + chance.choice(NUMBERS) + data[digit.end() :]
            case "repeat" if chance.random() < 0.1:
                data = data[:at] + chance.choice(PIECES)[:64] * chance.choice(OFTEN) + data[at:]
        data = data[:LARGEST]
    return data


def member_mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """A zip file with the name or the content of one member changed, and right checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        members = [(info.filename, file.read(info)) for info in file.infolist()]
    at = chance.randrange(len(members))
    name, content = members[at]
    if chance.random() < 0.2:
        name = (
            mutated(name.encode(), b"word.npy", chance)
            .decode("utf-8", "replace")[:1000]
            .partition("\0")[0]
            or "x"
        )
    else:
        head = chance.choice((128, len(content)))  # of an array: its type and shape
        content = mutated(content[:head], other, chance) + content[head:]
    members[at] = name, content
    packed = io.BytesIO()
    kind = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w", kind) as file:
        warnings.simplefilter("ignore")  # two members of one name
        for name, content in members:
            file.writestr(name, content)
    return packed.getvalue()


def value_mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """JSON, or lines of it, with one value of one line replaced, doubled or left out."""
    lines = data.rstrip(b"\n").split(b"\n")
    at = chance.randrange(len(lines))
    value = json.loads(lines[at])
    inner = value
    while True:
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        if not keys:
            break
        key = chance.choice(keys)
        if isinstance(inner[key], dict | list) and inner[key] and chance.random() < 0.7:
            inner = inner[key]
            continue
        match chance.choice(("replace", "replace", "double", "leave out")):
            case "replace":
                inner[key] = chance.choice(VALUES)
            case "double" if isinstance(inner, list):
                inner.append(inner[key])
            case "double":
                inner[chance.choice(("name", "x", ""))] = inner[key]
            case _:
                del inner[key]
        break
    lines[at] = json.dumps(value).encode()
    return b"\n".join(lines)


def input_of(seed: int, number: int) -> tuple[Target, bytes]:
    """An input, and what takes it."""
    chance = random.Random(f"{seed} {number}")
    target = (
        chance.choice(RARE or TARGETS)
        if number % RARELY == RARELY - 1
        else TARGETS[number % len(TARGETS)]
    )
    data, other = chance.choice(target.seeds), chance.choice(chance.choice(TARGETS).seeds)
    inside = (
        member_mutated
        if data.startswith(b"PK")
        else value_mutated
        if data.startswith(b"{")
        else mutated
    )
    change = inside if chance.random() < 0.6 else mutated
    packing = chance.random() if target.packed else 1.0
    if packing < 0.15:
        return target, gzip.compress(change(data, other, chance), 1, mtime=0)
    if packing < 0.3:
        return target, mutated(gzip.compress(data, 1, mtime=0), other, chance)
    return target, change(data, other, chance)


def outcome(target: Target, data: bytes, folder: Path) -> tuple[str, str]:
    """How an input came out, and of a wrong one what was wrong."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            target.take(data, folder)
        return ACCEPTED, ""
    except InputError as error:
        good = len(str(error).splitlines()) == 1 and len(str(error)) < 5000
        return (
            (REFUSED, "")
            if good
            else (WRONG, f"a sentence of {len(str(error))} characters: {str(error)[:100]!r}")
        )
    except Exception as error:
        frame = error.__traceback__
        while frame.tb_next is not None:
            frame = frame.tb_next
        where = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}"
        return WRONG, f"{type(error).__name__} at {where}: {str(error)[:100]!r}"


def run(seed: int, numbers: range, until: float, state: Path) -> dict[str, dict]:
    """How many inputs of each target came out how, and the seconds they took; until a time (`time.time`)."""
    found, seconds = {target.name: Counter() for target in (*TARGETS, *RARE)}, Counter()

    def figures() -> dict[str, dict]:
        return {name: counts | {"seconds": seconds[name]} for name, counts in found.items()}

    place = IN_MEMORY if IN_MEMORY.is_dir() else None
    with (
        tempfile.TemporaryDirectory(dir=place) as folder,
        open(state, "wb", buffering=0) as present,
    ):
        # each begins from what is valid; imports what it needs, before the limits
        for target in (*TARGETS, *RARE):
            for data in target.seeds:
                target.take(data, Path(folder))
        warnings.simplefilter("error")
        # which is said
        warnings.filterwarnings("ignore", "[^ ]* is not UTF-8 and was read as", UserWarning)
        most = psutil.Process().memory_info().vms + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        for number in numbers:
            os.pwrite(present.fileno(), b"%20d" % number, 0)
            if time.time() > until:
                break
            target, data = input_of(seed, number)
            began = time.perf_counter()
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            came, what = outcome(target, data, Path(folder))
            signal.setitimer(signal.ITIMER_PROF, 0)
            seconds[target.name] += time.perf_counter() - began
            found[target.name][came] += 1
            if number % TOLD_EVERY == 0:
                print(json.dumps(figures()), flush=True)
            if what:
                print(json.dumps([number, target.name, what]), flush=True)
        else:
            os.pwrite(present.fileno(), b"%20d" % numbers.stop, 0)
    return figures()


def main() -> int:
    about = argparse.ArgumentParser(description=__doc__)
    for name in ("--seed", "--first", "--stop", "--step"):
        about.add_argument(name, type=int, required=True)
    about.add_argument("--until", type=float, default=float("inf"))
    about.add_argument("--state", type=Path, default=os.devnull)
    asked = about.parse_args()
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    print(
        json.dumps(
            run(asked.seed, range(asked.first, asked.stop, asked.step), asked.until, asked.state)
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
