"""The command line. Results go to stdout, as tables or as JSON (``--json``); progress and messages go to stderr.

Exit status: 0 done, 2 wrong input (one line says what and how to mend it), 130 interrupted and
resumable, 143 the same after SIGTERM, 1 anything else. Imports come after Ctrl-C can be caught.
"""

import gc
import sys
from threading import Timer

INTERRUPTED = 130
STARTING = 5.0
"""Seconds from the start of a command without garbage collection: imports make many objects and hardly any
garbage, and the collection took an eighth of the CPU time of a short run."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    starting = Timer(STARTING, gc.enable)
    starting.daemon = True
    gc.disable()
    try:
        starting.start()
        if hasattr(sys.stdout, "reconfigure"):  # a character that it lacks is escaped, as on stderr
            sys.stdout.reconfigure(errors="backslashreplace")
        from workbench.cli.app import run_command

        return run_command(arguments)
    except KeyboardInterrupt:
        return end_with(
            "interrupted; recorded iterations are kept, and `workbench resume RUN` continues",
            INTERRUPTED,
        )
    finally:
        starting.cancel()
        gc.enable()


def end_with(message: str, status: int) -> int:
    """Print a message as one line on stderr and return the exit status."""
    print("workbench: " + " ".join(message.split()), file=sys.stderr)
    return status


def entry() -> None:
    """Run the command line as the console script ``workbench``, and exit with its status."""
    status = main()
    gc.freeze()  # the interpreter looks for cycles before it ends
    sys.exit(status)
