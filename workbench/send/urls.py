"""Request URLs: a base URL joined with an adapter's path."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlunsplit

from workbench import regex
from workbench.wire import in_url, split_url

_VERSION: Final = regex.compile(r"/v[0-9]+[a-z0-9]*(?=/|$)")


def join_url(base: str, path: str) -> str:
    """URL of a path below a base URL.

    A base with a version keeps it ("…/v1" and "/v1/messages", "…/api/paas/v4" and "/v1/chat/completions"); a base that
    already ends with the path is complete; queries of both are kept.
    """
    parts, tail = split_url(base), split_url(path)
    front, back = parts.path.rstrip("/"), tail.path
    bare = _VERSION.sub("", back, count=1) if _VERSION.match(back) else back
    if not front.endswith(bare):
        step = re.match(r"/[^/]+", back)
        if step and front.endswith(step[0]):
            back = back[step.end() :]
        elif _VERSION.search(front):
            back = bare
        front += back
    query = "&".join(filter(None, (parts.query, tail.query)))
    return urlunsplit((parts.scheme, parts.netloc, front, query, ""))


def server_url(base: str, path: str) -> str:
    """URL of a path of the server itself, outside of its versioned API ("…/v1" and "/props")."""
    parts, tail = split_url(base), split_url(path)
    front = re.sub(r"/v[0-9]+[a-z0-9]*$", "", parts.path.rstrip("/"))
    return urlunsplit((parts.scheme, parts.netloc, front + tail.path, tail.query, ""))


def path_of(url: str) -> str:
    """Path and query of a recorded URL, without keys."""
    parts = split_url(url)
    return with_query_of(parts.path, url, is_same=True)


def with_query_of(path: str, url: str, *, is_same: bool) -> str:
    """An adapter's path with the query of the recorded URL, without keys.

    Args:
        is_same: keep the recorded query unchanged; else the path's own query comes first (it may select streaming).
    """
    front, _, own = path.partition("?")
    pairs = [p for p in split_url(url).query.split("&") if p and not in_url(f"?{p}")]
    if not is_same:
        named = {p.partition("=")[0] for p in (*own.split("&"), "alt")}
        pairs = [*filter(None, own.split("&")), *(p for p in pairs if p.partition("=")[0] not in named)]
    return "?".join(filter(None, (front, "&".join(pairs))))
