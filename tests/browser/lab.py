"""A JupyterLab of this machine, and a notebook in it as a reader sees it."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-of-the-test"
SILENT = (
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
)
"""JupyterLab itself must not ask anybody outside, so that whatever is asked is ours."""


@contextmanager
def jupyter_lab(folder: Path, store: Path):
    """The address of a JupyterLab on a folder, with settings and kernels of its own."""
    home = folder.parent / f"{folder.name}-home"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    places = {
        f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")
    }
    places |= {
        f"JUPYTERLAB_{name}_DIR": str(home / name.lower()) for name in ("SETTINGS", "WORKSPACES")
    }
    found = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = (
        os.environ
        | places
        | {"IPYTHONDIR": str(home), "WORKBENCH_STORE": str(store), "PYTHONPATH": found}
    )
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={TOKEN}",
        f"--ServerApp.root_dir={folder}",
        *SILENT,
    ]
    silent = (
        home
        / "settings"
        / "@jupyterlab"
        / "apputils-extension"
        / "notification.jupyterlab-settings"
    )
    silent.parent.mkdir(parents=True)
    silent.write_text('{"fetchNews": "false"}')  # or it asks the reader whether it may
    log = home / "log"
    with open(log, "w") as file:
        server = subprocess.Popen(command, env=environment, stdout=file, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(server, f"{address}/api?token={TOKEN}", log)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def _wait(server, address: str, log: Path) -> None:
    for _ in range(400):
        assert server.poll() is None, log.read_text()
        try:
            urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(log.read_text())


def write_notebook(path: Path, *cells: str) -> None:
    """A notebook with these cells of code."""
    code = [
        {
            "cell_type": "code",
            "id": f"cell-{at}",
            "metadata": {},
            "source": cell,
            "outputs": [],
            "execution_count": None,
        }
        for at, cell in enumerate(cells)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    path.write_text(
        json.dumps({"cells": code, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
    )
