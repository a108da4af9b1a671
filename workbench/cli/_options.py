"""Checks of options that several commands have, and the sentences that refuse their values."""

from __future__ import annotations

import argparse

from workbench.errors import UsageError


def port(text: str) -> int:
    """Type of an option: a TCP port; 0 for a free one."""
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (0 to 65535)")
    return number


def demand_budget(count: int | None) -> None:
    """Raise UsageError for a budget below one request; None is no limit."""
    if count is not None and count < 1:
        raise UsageError(f"--budget {count} allows no request", hint="use 1 or more")


def no_model_request(name: str, hint: str) -> UsageError:
    """The refusal of a session in which no request to a model was decoded."""
    return UsageError(f"no request to a model in {name}", hint=hint)
