"""Reads single members of a large JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire._loads import loads
from workbench.wire.body_text import BodyText, WholeText
from workbench.wire.json_index import JsonIndex


class Members:
    """Members of the object in a text; each is parsed on first access and cached.

    Of a repeated key the last member counts. In broken text the complete members before the break are found.
    """

    def __init__(self, text: bytes | BodyText) -> None:
        self._body: BodyText = WholeText(text) if isinstance(text, bytes) else text
        self._values: dict[str, JsonValue] = {}

    @property
    def text(self) -> bytes:
        """The text of the object."""
        return self._body.whole()

    def get(self, key: str) -> JsonValue:
        """Value of a key; None if absent.

        Raises:
            WireError: it is not JSON.
        """
        if key not in self._values:
            text = self._text_of(key)
            self._values[key] = loads(text) if text else None
        return self._values[key]

    def _text_of(self, key: str) -> bytes:
        if self._texts is not None:
            return bytes(self._texts[key]) if key in self._texts else b""
        text = self.text
        span = JsonIndex(text).span(f"/{escape(key)}")
        return text[slice(*span)] if span else b""

    @cached_property
    def _texts(self) -> Mapping[str, Any] | None:
        """Raw text of the members; None if finding them needs the full parser."""
        from msgspec import MsgspecError, Raw
        from msgspec.json import decode

        try:
            return decode(self.text, type=dict[str, Raw])
        except (MsgspecError, ValueError, RecursionError):
            return None


class ParsedMembers(Members):
    """Members of an object of which all but one were parsed before.

    Args:
        text: the object.
        values: the members that were parsed.
        other: name of the one that was not.
    """

    def __init__(self, text: BodyText, values: Mapping[str, JsonValue], other: str) -> None:
        super().__init__(text)
        self._known, self._other = values, other

    def get(self, key: str) -> JsonValue:
        return super().get(key) if key == self._other else self._known.get(key)
