"""Simulators that are served, as the tests of the simulator have them."""

from __future__ import annotations

from tests.simulator.conftest import served

__all__ = ["served"]
