"""Bodies that a recorder moved to other files, put back where their names stand."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass

from workbench.formats.importers._fields import BODY, ELSEWHERE, fields, first, normalised
from workbench.formats.importers._files import Beside
from workbench.ir import JsonValue
from workbench.limits import MAX_RECORD_DEPTH, MAX_RECORD_NODES


@dataclass(slots=True)
class Moved:
    """Puts bodies back. A name to which no file belongs stays as it is, and whoever reads the record says so."""

    beside: Beside
    _nodes: int = MAX_RECORD_NODES

    def put_back(self, value: JsonValue, depth: int = 0) -> JsonValue:
        """A value with every body that lies beside its file."""
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
        kept = {key: item for key, item in held.items() if normalised(key) not in ELSEWHERE}
        return {**kept, **_body(data)}


def _body(data: bytes) -> dict[str, JsonValue]:
    """As WireMock keeps a body in the mapping itself: text, or base64 for what is none."""
    try:
        return {"body": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64Body": b64encode(data).decode("ascii")}
