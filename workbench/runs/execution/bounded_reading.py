"""Read data that a visitor names or uploads in a separate process with limited memory and time.

``python -m workbench.runs.execution.bounded_reading`` reads one request from stdin, as JSON, and prints one line of JSON: the
file with the data, or the parts of an error message. So no file, archive, size in a name or pattern of a word can exhaust the
memory of the server or block one of its threads; nothing from the visitor is unpickled.
"""

import contextlib
import json
import math
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import psutil

from workbench.corpus import Corpus
from workbench.corpus.document_table import COPIES, DocumentTable
from workbench.corpus.formats.header import columns_in
from workbench.corpus.texts.counting import DROPPED
from workbench.data import saving
from workbench.data.available_memory import available_memory
from workbench.data.opening import path_of
from workbench.data.reading import noting
from workbench.errors import ALONE, DataError, InputError, Named, one_sentence
from workbench.numbers import format_size
from workbench.records import Records
from workbench.runs.loading import load_data, named_set

SECONDS = 60.0
"""Default limit of the time of reading, in seconds; WORKBENCH_READING_SECONDS changes it."""
SHARE = 4
"""Reading may use 1 / SHARE of the available memory, and the data afterwards 1 / SHARE of that."""
GRACE = 5.0
"""Seconds after the time limit at which the process is killed."""
KINDS = {kind.__name__: kind for kind in (Corpus, Records)}


def read_bounded(
    name_or_path: str | Path,
    kind: type = Corpus,
    seconds: float | None = None,
    n_bytes: int | None = None,
    most: int | None = None,
    only_columns: bool = False,
    dropped: dict | None = None,
    **options,
) -> Corpus | Records:
    """Read a named data set, a file or a folder in a process with limits of time and memory.

    Parameters
    ----------
    seconds : float, default `SECONDS`
        Limit of time.
    n_bytes : int, default 1 / `SHARE` of the available memory
        Limit of the memory of the reading process, including imported packages.
    most : int, default 1 / `SHARE` of ``n_bytes``
        Limit of the bytes of the data in this process; larger data are refused before they are transferred.
    only_columns : bool
        See `columns_bounded`.
    dropped : dict, optional
        Filled while texts are counted, see `workbench.corpus.texts.counting.DROPPED`.
    **options
        Options of `load_data` whose values JSON can represent.

    Raises
    ------
    DataError
        The data are invalid, are a pipe or a device, or need more memory or time.
    """
    seconds = _seconds() if seconds is None else seconds
    n_bytes = available_memory().n_bytes // SHARE if n_bytes is None else n_bytes
    most = n_bytes // SHARE if most is None else most
    with tempfile.TemporaryDirectory(prefix="workbench-reading-") as folder:
        request = {
            "name": str(name_or_path),
            "kind": kind.__name__,
            "options": options,
            "folder": folder,
            "seconds": seconds,
            "n_bytes": n_bytes,
            "most": most,
            "only_columns": only_columns,
        }
        with contextlib.suppress(subprocess.TimeoutExpired):
            process = subprocess.run(
                [sys.executable, "-m", __name__],
                input=json.dumps(request),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=seconds + GRACE,
                env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
            reply = _answer(process.stdout)
            if "columns" in reply:
                return reply["columns"]
            if dropped is not None:
                dropped.update(reply.get("dropped", {}))
            if "file" in reply:
                data = saving.load_data(Path(folder) / reply["file"], kind)
                return (
                    replace(data, table=DocumentTable.load(Path(folder) / reply["table"]))
                    if reply["table"]
                    else data
                )
            if "parts" in reply:
                raise DataError(*map(_restored, reply["parts"]), field=reply["field"])
            if process.returncode not in (-signal.SIGALRM, -signal.SIGXCPU):
                raise DataError(
                    f"{name_or_path} takes more than the {format_size(n_bytes)} of memory that a page may take to "
                    "read it; give a part of it, or read it with Python or the command line"
                )
    simpler = (", or a simpler ", Named("token_pattern")) if "token_pattern" in options else ()
    raise DataError(
        f"{name_or_path} was not read within {seconds:g} seconds; give a part of it",
        *simpler,
        ", or read it with Python or the command line",
    )


def columns_bounded(path: str | Path, **options) -> dict[str, list[str]]:
    """Return the columns of a file and their first values, read in a process with limits of time and memory."""
    return read_bounded(path, only_columns=True, **options)


def _seconds() -> float:
    """Return the time limit of reading in seconds: WORKBENCH_READING_SECONDS if it is set, else `SECONDS`."""
    limit = os.environ.get("WORKBENCH_READING_SECONDS") or SECONDS
    try:
        seconds = float(limit)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise DataError(
            f"WORKBENCH_READING_SECONDS must be a number of seconds above 0; got {limit!r}; change it, or unset it"
        )
    return seconds


def _answer(output: str) -> dict:
    """Return the last line that the reading process printed, parsed as JSON; {} if there is none."""
    try:
        return json.loads(output.splitlines()[-1])
    except (ValueError, IndexError):
        return {}


def _plain(part: object) -> str | list:
    """Convert a piece of an error message for JSON: text stays text, a `Named` (mention of a setting) becomes a list."""
    if not isinstance(part, Named):
        return one_sentence([part])  # shortened as in the message
    return [
        part.field,
        {"value": "…" if part.value is ... else None if part.value is ALONE else str(part.value)},
        part.text,
    ]


def _restored(part: str | list) -> str | Named:
    """Return the piece of an error message (text or `Named`) that `_plain` converted for JSON."""
    if isinstance(part, str):
        return part
    field, value_field, text = part
    value = value_field["value"]
    return Named(field, ALONE if value is None else ... if value == "…" else value, text)


def _check_size(name: str | Path, n_bytes: int, table_bytes: int | None, most: int) -> None:
    """Raise DataError if the data, with texts and columns, need more than ``most`` bytes.

    n_bytes : bytes of the data; table_bytes : bytes of the texts and columns, if any
    """
    if (total := n_bytes + (table_bytes or 0)) > most:
        texts = (
            (", or leave out its texts and columns with ", Named("keep_text", False))
            if n_bytes <= most
            else ()
        )
        raise DataError(
            f"{name} takes about {format_size(total)} of memory once it is read, of which a page may take "
            f"{format_size(most)}; give a part of it",
            *texts,
            ", or read it with Python or the command line",
        )


def main() -> int:
    request = json.load(sys.stdin)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which ends the process at any point
    signal.setitimer(signal.ITIMER_REAL, request["seconds"])
    kind, name = KINDS[request["kind"]], request["name"]
    # the limit is lower already, or the system has none
    with contextlib.suppress(ValueError, OSError):
        most = psutil.Process().memory_info().vms + request["n_bytes"]
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        if not named_set(name):
            name = path_of(name)
            # a missing file has its own error
            mode = name.stat().st_mode if name.exists() else stat.S_IFREG
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise DataError(
                    f"{name} is neither a file nor a folder but a device or a pipe; give a file"
                )
        if request.get("only_columns"):
            print(json.dumps({"columns": columns_in(name, **request["options"])}))
            return 0
        with noting(DROPPED) as notes:
            data = load_data(name, kind, **request["options"])
        data.require_memory("it is not handed over to a page: use Python or the command line")
        table, file = getattr(data, "table", None), data.save(request["folder"])
        _check_size(
            name,
            data.memory_bytes + COPIES * file.stat().st_size,
            table and table.memory_bytes,
            request["most"],
        )
        answer = {
            "file": file.name,
            "table": table and table.save(request["folder"]).name,
            "dropped": notes[DROPPED],
        }
    except InputError as error:
        answer = {"parts": [*map(_plain, error.parts)], "field": error.field}
    except MemoryError:
        return 1
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
