"""Keys of bodies, of which one is in each that a protocol claims: without them its adapter need not be imported.

They are in ``claim_keys.json`` in the folder of the protocol: lists of names for ``request`` and ``response``. An
adapter without that file, such as one of a plug-in, is always asked. That no adapter claims a body without its keys is
tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from workbench import plugins
from workbench.config import resources
from workbench.ir import JsonValue
from workbench.protocols import Adapter, get, protocols
from workbench.wire import jsontext

_PACKAGE: Final = "workbench.protocols"


def that_may_claim(request: JsonValue, response: JsonValue) -> Iterator[Adapter]:
    """The adapters that may claim one of two parsed bodies; None for one that is absent."""
    asked, answered = (value if isinstance(value, dict) else {} for value in (request, response))
    foreign = plugins.third_party(_PACKAGE)
    for name in protocols():
        keys = None if name.replace("-", "_") in foreign else claim_keys(name)
        if keys is None or not (keys[0].isdisjoint(asked) and keys[1].isdisjoint(answered)):
            yield get(name)


@cache
def claim_keys(protocol: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Keys of the requests and of the responses that a protocol claims; None if its folder does not list them."""
    text = resources.protocol_file(protocol, "claim_keys.json")
    if text is None:
        return None
    keys: Any = jsontext.loads(text)
    return frozenset(keys["request"]), frozenset(keys["response"])
