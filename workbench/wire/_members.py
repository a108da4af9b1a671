"""Reads single members of a large JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire._loads import loads
from workbench.wire.json_index import JsonIndex


class Members:
    """Members of the object in a text; each is parsed on first access and cached.

    Of a repeated key the last member counts. In broken text the complete members before the break are found.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._values: dict[str, JsonValue] = {}

    def get(self, key: str) -> JsonValue:
        """Value of a key; None if absent.

        Raises:
            WireError: it is not JSON.
        """
        if key not in self._values:
            text = self._text(key)
            self._values[key] = loads(text) if text else None
        return self._values[key]

    def _text(self, key: str) -> bytes:
        if self._texts is not None:
            return bytes(self._texts[key]) if key in self._texts else b""
        span = JsonIndex(self.text).span(f"/{escape(key)}")
        return self.text[slice(*span)] if span else b""

    @cached_property
    def _texts(self) -> Mapping[str, Any] | None:
        """Raw text of the members; None if finding them needs the full parser."""
        from msgspec import MsgspecError, Raw
        from msgspec.json import decode

        try:
            return decode(self.text, type=dict[str, Raw])
        except (MsgspecError, ValueError, RecursionError):
            return None
