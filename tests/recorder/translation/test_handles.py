"""Handles are known again, whatever they are packed in, and nothing else is taken for one."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode

import pytest

from workbench.ir import Carrier, Reasoning
from workbench.recorder.translation.reasoning_proofs import handle, name_in, name_of


@pytest.mark.parametrize("carrier", [Carrier.THINKING, Carrier.ENCRYPTED_ITEM, Carrier.THOUGHT_SIGNATURE])
def test_a_handle_is_known_again(carrier):
    proof = handle("1f2e3d", carrier)
    assert name_in(proof) == "1f2e3d"
    assert (
        name_of(Reasoning(carrier, "hm", signature=proof)) == name_of(Reasoning(carrier, None, data=proof)) == "1f2e3d"
    )


@pytest.mark.parametrize(
    ("proof", "name"),
    [
        (None, None),
        (3, None),
        ("", None),
        ("EqQBCkYIBRgCIkA", None),
        (b64encode(b"workbenches, and more").decode(), None),
        ("d29ya2JlbmNo!!!", None),
        (b64encode(b"workbench\xff\xfe\xfd").decode(), None),
        ("workbench:", ""),
        ("workbench:UP", ""),
        ("workbench:a1 b", ""),
        (urlsafe_b64encode(b"workbench:a1").decode(), "a1"),
    ],
)
def test_what_is_marked_is_a_handle_and_nothing_else(proof, name):
    assert name_in(proof) == name
