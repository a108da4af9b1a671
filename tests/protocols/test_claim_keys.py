"""An adapter that is not asked would not have claimed the body."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SHARED
from workbench import protocols
from workbench.config import resources
from workbench.formats import importers
from workbench.ir import JsonValue
from workbench.protocols import _claim_keys

FILES = [
    path
    for folder in (resources.folder("sessions"), SHARED / "recordings", SHARED / "seeds")
    for path in sorted(folder.rglob("*"))
    if path.is_file() and path.stat().st_size < 200_000
]
KEYS = sorted(key for name in protocols.protocols() for keys in _claim_keys.claim_keys(name) or () for key in keys)
VALUES = ["", "bedrock-2023-05-31", "realtime.response", "interaction", [], [{"role": "user"}], {}, {"contents": []}]


def not_asked(value: JsonValue, *, is_request: bool) -> list[protocols.Adapter]:
    asked = _claim_keys.that_may_claim(value if is_request else None, None if is_request else value)
    names = {adapter.name for adapter in asked}
    return [adapter for adapter in protocols.every() if adapter.name not in names]


def check(value: JsonValue) -> None:
    for adapter in not_asked(value, is_request=True):
        assert adapter.claims_request(value) == 0, (adapter.name, value)
    for adapter in not_asked(value, is_request=False):
        assert adapter.claims_response(value) == 0, (adapter.name, value)


def test_each_protocol_of_ours_lists_its_keys() -> None:
    for name in protocols.protocols():
        assert _claim_keys.claim_keys(name) is not None, name
        assert protocols.traits(name) == protocols.get(name).traits


def test_no_recorded_body_is_claimed_by_who_is_not_asked() -> None:
    checked = 0
    for path in FILES:
        session = importers.open_found(str(path))
        for n in range(min(len(session), 4) if session else 0):
            exchange = session.exchange(n)  # type: ignore[union-attr]
            for side in (exchange.request, exchange.response):
                try:
                    check(json.loads(side.body.raw) if side else None)
                    checked += 1
                except ValueError:
                    continue
        if session:
            session.close()
    assert checked > 50


@given(st.dictionaries(st.sampled_from([*KEYS, "model", "system", "type", "stop_reason"]), st.sampled_from(VALUES)))
def test_no_object_is_claimed_by_who_is_not_asked(value: dict[str, JsonValue]) -> None:
    check(value)
    check([value])
