"""The toy protocol, installed as a third party's package is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench import plugins, protocols
from workbench.protocols.clients import differences

FOLDER = Path(__file__).resolve().parent
"""Holds the package and its metadata, as ``site-packages`` does."""


def forget() -> None:
    """Look for parts again."""
    for cached in (
        plugins.names,
        plugins.load,
        plugins.third_party,
        protocols.get,
        protocols.protocols,
        differences.policies,
    ):
        cached.cache_clear()


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("PYTHONPATH", f"{FOLDER}:{FOLDER.parents[1]}")
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    forget()
    yield
    monkeypatch.undo()
    for name in [n for n in sys.modules if n.partition(".")[0] == "telegraph"]:
        del sys.modules[name]
    forget()
