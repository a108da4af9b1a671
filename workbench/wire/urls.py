"""URLs as they were recorded: any text at all."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split(url: str) -> SplitResult:
    """A URL in its parts. One that is none (``http://[``) is all path."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")
