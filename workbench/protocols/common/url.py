"""Names in the path of a URL."""

from __future__ import annotations

from urllib.parse import quote


def segment(name: str | None) -> str:
    """A name, as untrusted as it may be, as one segment of a path."""
    return quote(name or "", safe="", errors="surrogatepass")
