"""URLs as recorded: any text."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split_url(url: str) -> SplitResult:
    """Parts of a URL. An invalid one (``http://[``) is all path."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")
