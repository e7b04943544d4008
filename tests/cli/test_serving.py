"""The flags of `workbench serve`, each for itself."""

from dataclasses import fields
from pathlib import Path

import pytest

from workbench.dashboard.server import serve as server
from workbench.dashboard.server.serve import Serving

PLACE = ("--address", "0.0.0.0", "--no-password")
FLAGS = {
    "port": (("--port", 5077), 5077),
    "address": (PLACE, "0.0.0.0"),
    "no_password": (PLACE, True),
    "prefix": (("--prefix", "/lab"), "/lab"),
    "read_only": (("--read-only",), True),
    "origins": (
        (*PLACE, "--origin", "https://a.example", "--origin", "b.example"),
        ("https://a.example", "b.example"),
    ),
    "password_file": (("--password-file", "secret"), Path("secret")),
    "oauth": (("--oauth", "github"), "github"),
    "users": (("--oauth", "github", "--user", "ann", "--user", "bob"), ("ann", "bob")),
    "data": (("--data", ".", "--data", ".."), (Path("."), Path(".."))),
    "max_upload": (("--max-upload", 7.5), 7.5),
    "limits": (("--limit", "topics=20", "--limit", "memory=2"), ("topics=20", "memory=2")),
}
"""Field of `Serving` → flags, and what they make of it."""


@pytest.fixture
def asked(command, monkeypatch):
    """A function of flags: how the pages would have been served, the store, and whether a browser is opened."""
    found = []
    monkeypatch.setattr(server, "serve", lambda *given: found.append(given))

    def asked(*flags):
        assert command("serve", *flags)[0] == 0
        return found.pop()

    return asked


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_of_serve_changes_its_own_setting_alone(asked, name):
    flags, value = FLAGS[name]
    serving, _, _ = asked(*flags)
    assert getattr(serving, name) == value != getattr(Serving(), name)
    together = {"address", "no_password", "origins"} if flags[:3] == PLACE else {"oauth", "users"}
    others = (
        {each.name for each in fields(Serving)} - {name} - (together if name in together else set())
    )
    assert {other: getattr(serving, other) for other in others} == {
        other: getattr(Serving(), other) for other in others
    }


def test_store_and_browser_are_passed_on_and_every_setting_has_a_flag(asked, tmp_path):
    assert asked("--store", tmp_path, "--show")[1:] == (tmp_path, True) and asked()[2] is False
    assert set(FLAGS) == {each.name for each in fields(Serving)} - {"lifetime"}
