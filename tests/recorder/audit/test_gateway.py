"""A gateway that is started for the time of an audit."""

from __future__ import annotations

import pytest

from workbench.recorder.audit.client import read_base
from workbench.recorder.audit.run import GatewayUnreachable, run_gateway


async def test_one_that_ends_at_once_says_why() -> None:
    with pytest.raises(
        GatewayUnreachable,
        match=r"exited with status 3 before it accepted connections: no config http://up; the gateway must accept",
    ):
        async with run_gateway(
            ["sh", "-c", 'echo "no config $WORKBENCH_UPSTREAM"; exit 3'],
            read_base("http://127.0.0.1:1"),
            "http://up",
            9,
        ):
            pass


async def test_one_that_never_listens_is_ended() -> None:
    with pytest.raises(GatewayUnreachable, match=r"is not listening on http://127.0.0.1:1 after 0 seconds"):
        async with run_gateway(["sleep", "60"], read_base("http://127.0.0.1:1"), "http://up", 0):
            pass
