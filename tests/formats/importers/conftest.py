"""What the importers' tests share: our own fixture files."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of fixtures, all written for these tests."""
    return Path(__file__).resolve().parents[2] / "data" / "importers"
