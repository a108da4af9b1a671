"""Prints the reports of ``check`` in the form that was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.cli import _check_formats
from workbench.cli._check_formats import Errors
from workbench.cli._report import FileReport


def print_reports(how: str, reports: Sequence[FileReport], errors: Errors, unclaimed: Sequence[str] = ()) -> None:
    """Print the reports in one of the formats of ``check --format``.

    Args:
        unclaimed: paths of files in folders that are no recordings; the formats of other programs do not list them.
    """
    if how == "junit":
        from workbench.cli import _junit

        _junit.junit(reports, errors)
    elif how == "sarif":
        _check_formats.sarif(reports, errors)
    else:
        {"text": _check_formats.text, "json": _check_formats.as_json}[how](reports, errors, unclaimed)
