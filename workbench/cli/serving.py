"""The command that serves the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.flags import Store
from workbench.cli.printing import store_path

OTHERS = "Where others come in"


def serve(
    port: Annotated[
        int, typer.Option("--port", help="Port on this machine; 0: a free one.")
    ] = 5006,
    store: Store = None,
    show: Annotated[bool, typer.Option("--show", help="Open a browser.")] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Look and download: nothing is started or changed.")
    ] = False,
    max_upload: Annotated[
        float, typer.Option("--max-upload", help="MB of a file that a page takes.", metavar="MB")
    ] = 5.0,
    address: Annotated[
        str,
        typer.Option(
            "--address",
            help="Where it listens: 127.0.0.1, this machine alone; 0.0.0.0, wherever it is reached.",
            rich_help_panel=OTHERS,
        ),
    ] = "127.0.0.1",
    origins: Annotated[
        list[str] | None,
        typer.Option(
            "--origin",
            help="Name of the server in browsers, as https://stats.example.org; may be given several times.",
            metavar="HOST",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            "--prefix",
            help="Path under which a proxy passes requests on.",
            metavar="PATH",
            rich_help_panel=OTHERS,
        ),
    ] = "",
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            help="File with the password as its first line, readable by you alone.",
            metavar="FILE",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    oauth: Annotated[
        str | None,
        typer.Option(
            "--oauth",
            help="Provider who says who somebody is: github, google, okta, generic …; its key and secret are in "
            "PANEL_OAUTH_KEY and PANEL_OAUTH_SECRET.",
            metavar="PROVIDER",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            "--user",
            help="Account of that provider that may come in; may be given several times.",
            metavar="NAME",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    no_password: Annotated[
        bool,
        typer.Option(
            "--no-password",
            help="Everybody who reaches the server may come in.",
            rich_help_panel=OTHERS,
        ),
    ] = False,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data",
            help="Folder from which others may read corpora; may be given several times.",
            metavar="DIR",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            help="The most of something: start, session, waiting (runs), pages, topics, iterations, memory (GB of all "
            "runs at work), as topics=200; inf lifts it. May be given several times.",
            metavar="NAME=N",
            rich_help_panel=OTHERS,
        ),
    ] = None,
) -> None:
    """Serve the dashboard, on this machine only unless told otherwise; runs of the store appear by themselves."""
    from workbench.dashboard.server.serve import Serving
    from workbench.dashboard.server.serve import serve as serve_pages

    serving = Serving(
        port=port,
        address=address,
        prefix=prefix,
        origins=tuple(origins or ()),
        password_file=password_file,
        oauth=oauth,
        users=tuple(users or ()),
        no_password=no_password,
        read_only=read_only,
        data=tuple(data or ()),
        max_upload=max_upload,
        limits=tuple(limits or ()),
    )
    serve_pages(serving, store_path(store), show)
