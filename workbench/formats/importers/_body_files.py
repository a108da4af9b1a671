"""Restores bodies that a recorder stored in separate files."""

from __future__ import annotations

from base64 import b64encode

from workbench.formats.importers._fields import BODY, ELSEWHERE, fields, first, normalize_name
from workbench.formats.importers._files import BodyFiles
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.limits import MAX_RECORD_DEPTH, MAX_RECORD_NODES


@dataclass(slots=True)
class BodyRestorer:
    """Inserts bodies from files. A name without a file is kept; the reader of the record reports it."""

    beside: BodyFiles
    _nodes: int = MAX_RECORD_NODES

    def put_back(self, value: JsonValue, depth: int = 0) -> JsonValue:
        """A value with the bodies of all files that exist."""
        self._nodes -= 1
        if depth > MAX_RECORD_DEPTH or self._nodes < 0:
            return value
        if isinstance(value, list):
            return [self.put_back(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        held = {key: self.put_back(item, depth + 1) for key, item in value.items()}
        found = fields(held)
        name = first(found, ELSEWHERE)
        data = self.beside.read(name) if isinstance(name, str) and first(found, BODY) is None else None
        if data is None:
            return held
        kept = {key: item for key, item in held.items() if normalize_name(key) not in ELSEWHERE}
        return {**kept, **_body(data)}


def _body(data: bytes) -> dict[str, JsonValue]:
    """The fields that WireMock uses for an inline body: text, or base64 for binary data."""
    try:
        return {"body": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64Body": b64encode(data).decode("ascii")}
