"""The whole path of one recording: the client's relay, the bridge, the upstream's relay."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbench.errors import UsageError
from workbench.recorder.events import EventListener, SafeListener
from workbench.recorder.relay.server import Relay
from workbench.recorder.translation.records import Filing
from workbench.recorder.translation.requests import Rules, Upstream
from workbench.recorder.translation.server import Bridge
from workbench.send.target import Target, resolve
from workbench.simulator import Simulator, serve

if TYPE_CHECKING:
    from workbench.recorder.breakpoints.gate import BreakpointGate


def places(hop: str) -> tuple[str, str]:
    """Names of the two places, behind the one that people gave."""
    return (f"{hop}:client", f"{hop}:upstream") if hop else ("client", "upstream")


def reached(targets: Mapping[str, str], spoken: str, stack: ExitStack) -> dict[str, Upstream]:
    """The upstreams that people named; simulators are served until ``stack`` is closed.

    Raises:
        UsageError: there is no such target, or it does not speak the protocol.
    """
    found = {}
    for name, text in targets.items():
        target = resolve(text, spoken)
        if target.protocols and spoken not in target.protocols:
            raise UsageError(f"{target.name} does not speak {spoken}", hint=f"say --as {'|'.join(target.protocols)}")
        url = _simulated(target, stack) if target.is_simulator else target.base(spoken)
        found[name] = Upstream(target, url)
    return found


def served(targets: Mapping[str, str], stack: ExitStack) -> dict[str, str]:
    """Name → URL of upstreams; simulators among them are served until ``stack`` is closed. Raises UsageError."""
    found = {}
    for name, text in targets.items():
        target = None if "://" in text else resolve(text)
        found[name] = _simulated(target, stack) if target and target.is_simulator else text
    return found


def _simulated(target: Target, stack: ExitStack) -> str:
    """Where a simulator listens."""
    return stack.enter_context(serve(Simulator(target.contract))).url


class Path:
    """Relay, bridge and relay, listening in one loop. An async context manager, too.

    Args:
        upstreams: by name.
        rules: how requests are changed.
        listener: receives the events of both hops.
        hop: in front of their names.
        port: of the client's relay.
        gate: breakpoints of the client's relay, where there may be any.

    Attributes:
        filing: what was done.
    """

    def __init__(
        self,
        upstreams: Mapping[str, Upstream],
        rules: Rules,
        listener: EventListener,
        *,
        hop: str = "",
        port: int = 0,
        gate: BreakpointGate | None = None,
    ) -> None:
        client, upstream = places(hop)
        self.filing = Filing(listener, client)
        self._listener = SafeListener(self.filing)
        origins = {name: _origin(each.url) for name, each in upstreams.items()}
        self._up = Relay(origins, self._listener, hop=upstream)
        self._bridge = Bridge(upstreams, self._up.url, rules, self.filing, self._listener)
        self._names, self._hop, self._port, self._gate = tuple(upstreams), client, port, gate
        self._down: Relay | None = None

    async def start(self) -> None:
        """Listen. Raises UsageError if the port is taken."""
        await self._up.start()
        await self._bridge.start()
        bridged = {name: self._bridge.url(name) for name in self._names}
        self._down = Relay(bridged, self._listener, port=self._port, hop=self._hop, gate=self._gate)
        try:
            await self._down.start()
        except UsageError:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop listening and end what goes on, from the client's side on."""
        if self._down:
            await self._down.close()
        await self._bridge.close()
        await self._up.close()

    async def __aenter__(self) -> Path:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def port(self) -> int:
        """Where clients find it, once started."""
        assert self._down
        return self._down.port

    def url(self, name: str) -> str:
        """The base URL a client uses for that upstream, once started. Raises KeyError."""
        assert self._down
        return self._down.url(name)

    @property
    def listener_failure(self) -> Exception | None:
        """The exception that disabled the listener; None if there was none."""
        return self._listener.failure


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
