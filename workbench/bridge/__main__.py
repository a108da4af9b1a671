"""``python -m workbench.bridge``: one recording with a bridge in it (see ``workbench.bridge.process``).

Its task is that of ``workbench.recorder`` with {"rules": {"spoken", "model", "profile", "on": […], "off": […]}}, and so
are its answers; the last one has {"changes": {KIND: COUNT}} beside the rest.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from workbench import adapters
from workbench.bridge.asking import Rules, Upstream
from workbench.bridge.path import Path as Way
from workbench.bridge.path import reached
from workbench.capability import CapabilityProfile, Store
from workbench.capability.corrections import switched
from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.recorder.apart import KeeperApart
from workbench.recorder.capture import Capture
from workbench.recorder.child import say, serve
from workbench.recorder.routes import parse_upstream

SWITCH = 0.001
"""Seconds after which a thread lets the relays go on, see ``workbench.recorder``."""


def main(task: Mapping[str, JsonValue]) -> int:
    """Record until told to end."""
    sys.setswitchinterval(SWITCH)
    rules, out = _rules(task["rules"]), Path(task["out"])
    with ExitStack() as stack:
        upstreams = reached(task["upstreams"], rules.spoken, stack)
        for name, upstream in upstreams.items():
            parse_upstream(name, upstream.url)
        is_new = not out.exists()
        keeper = KeeperApart(out, hop=task["hop"], client=task["client"], trouble=lambda line: say({"trouble": line}))
        capture = Capture(keeper)
        try:
            changes = asyncio.run(_record(upstreams, rules, capture, task, out))
        except UsageError:  # it cannot listen: nothing was recorded
            capture.close()
            if is_new:
                out.unlink(missing_ok=True)
            raise
        say({**asdict(capture.close()), "changes": changes})
    return 0


def _rules(told: Mapping[str, JsonValue]) -> Rules:
    """Raises UsageError for a protocol, profile or correction that there is not."""
    adapters.get(told["spoken"])
    switched((), told["on"], told["off"])
    profiles: Sequence[CapabilityProfile] = ()
    chosen = None
    if told["profile"] == "auto":
        profiles = tuple(Store.of_user().latest())
    elif told["profile"] != "none":
        chosen = Store.of_user().named(told["profile"])
    return Rules(
        told["spoken"], told["model"], profiles, chosen, told["on"], told["off"], dict(os.environ), time.time()
    )


async def _record(
    upstreams: Mapping[str, Upstream], rules: Rules, capture: Capture, task: Mapping[str, JsonValue], out: Path
) -> Mapping[str, int]:
    async with Way(upstreams, rules, capture, hop=task["hop"], port=task["port"]) as way:
        urls = way.urls
        capture.listening(" · ".join(urls.values()))
        say({"port": way.port, "urls": urls, "out": str(out)})
        await _until_told()
    if way.tap_failure:
        say({"trouble": f"the recording stopped before its end ({way.tap_failure!r})"})
    return dict(way.filing.counts)


async def _until_told() -> None:
    """Wait for the end of standard input, or a signal."""
    loop, end = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end.set)

    def read() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(end.set)

    threading.Thread(target=read, daemon=True).start()
    await end.wait()


if __name__ == "__main__":
    raise SystemExit(serve(main))
