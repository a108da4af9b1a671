"""The type of a message that an error says is not known."""

from __future__ import annotations

import pytest

from workbench.protocols.common.unknown_types import unknown_type


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "Invalid value: 'session.refresh'. Supported values are: 'session.update'."}, "session.refresh"),
        ({"message": "Invalid value: 'session.refresh'.", "param": "type"}, "session.refresh"),
        ("Unknown event type: response.create", "response.create"),
        ({"message": "unsupported websocket request type: response.steer"}, "response.steer"),
        ({"message": "Unrecognized message type 'response.append'"}, "response.append"),
        ({"message": "Invalid value: 'alloy'. Supported values are: 'ash'.", "param": "session.voice"}, ""),
        ({"message": "The message could not be read"}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_type_that_a_server_does_not_know(error, expected):
    assert unknown_type(error) == expected
