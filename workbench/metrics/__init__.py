"""Metrics: what sessions cost, turn by turn, and how often tool use went wrong in them."""

from __future__ import annotations
