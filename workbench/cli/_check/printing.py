"""Prints the reports of ``check`` in the form that was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.cli._check import formats
from workbench.cli._check.file_report import FileReport
from workbench.cli._check.formats import Errors


def print_reports(how: str, reports: Sequence[FileReport], errors: Errors, unclaimed: Sequence[str] = ()) -> None:
    """Print the reports in one of the formats of ``check --format``.

    Args:
        unclaimed: paths of files in folders that are no recordings; the formats of other programs do not list them.
    """
    if how == "junit":
        from workbench.cli._check import junit

        junit.junit(reports, errors)
    elif how == "sarif":
        formats.sarif(reports, errors)
    else:
        {"text": formats.text, "json": formats.as_json}[how](reports, errors, unclaimed)
