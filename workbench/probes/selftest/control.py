"""The same request written in another way: none of it may be taken for a fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from workbench.errors import WireError
from workbench.wire import Body, HttpRequest, loads


def rewrite(request: HttpRequest) -> Iterator[HttpRequest]:
    """The request reformatted: indented, in ASCII only, and with its top-level keys reversed."""
    try:
        value = loads(request.body.raw)
    except WireError:
        return
    for text in (
        json.dumps(value, indent=2, ensure_ascii=False),
        json.dumps(value, ensure_ascii=True, separators=(",", ":")),
        json.dumps(_reverse_keys(value), ensure_ascii=False),
    ):
        yield replace(request, body=Body(text.encode("utf-8", "surrogatepass")))


def _reverse_keys(value: Any) -> Any:
    """The top-level keys of a body the other way round."""
    return dict(reversed(value.items())) if isinstance(value, dict) else value
