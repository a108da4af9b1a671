from __future__ import annotations

import pytest

from workbench.errors import UsageError
from workbench.tui.pause_listener import with_secrets
from workbench.wire.exchange import Redaction

MARK = Redaction("body", 5, 9, "api-key")


def test_an_edit_goes_on_with_the_secrets_in_place_of_their_stand_ins() -> None:
    recorded, held = b'{"k":xxxx,"a":1}', b'{"k":real,"a":1}'
    assert with_secrets(b'{"a":2,"k":xxxx}', recorded, held, [MARK]) == b'{"a":2,"k":real}'
    assert with_secrets(b"{}", b"1", b"22", []) == b"{}"
    with pytest.raises(UsageError, match="stand-ins"):
        with_secrets(recorded, recorded, held + b" ", [MARK])
