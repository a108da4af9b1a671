"""The whole path of a translated recording: the client's relay, the translation server, the upstream's relay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbench import protocols
from workbench.errors import UsageError
from workbench.recorder.events import EventListener, SafeListener
from workbench.recorder.relay.server import Relay
from workbench.recorder.translation.records import TurnRecords
from workbench.recorder.translation.requests import TranslationRules, TranslationUpstream
from workbench.recorder.translation.server import TranslationServer
from workbench.send import Target, resolve
from workbench.simulator import Simulator, serve

if TYPE_CHECKING:
    from workbench.recorder.breakpoints.gate import BreakpointGate


def hop_names(hop: str) -> tuple[str, str]:
    """Names of the two hops, after the name that was given."""
    return (f"{hop}:client", f"{hop}:upstream") if hop else ("client", "upstream")


def resolve_upstreams(targets: Mapping[str, str], protocol: str, stack: ExitStack) -> dict[str, TranslationUpstream]:
    """Upstreams for the targets that were named; simulators are served until ``stack`` is closed.

    Raises:
        UsageError: there is no such target, or it does not support the protocol.
    """
    found = {}
    for name, target_text in targets.items():
        text, is_socket = over_http(target_text)
        if is_socket and not protocols.get(protocol).opening:
            raise UsageError(f"{protocol} is not available over WebSockets", hint="give an https:// URL")
        target = resolve(text, protocol)
        if target.protocols and protocol not in target.protocols:
            raise UsageError(
                f"{target.name} does not support {protocol}", hint=f"use --as {'|'.join(target.protocols)}"
            )
        url = _simulator_url(target, stack) if target.is_simulator else target.base(protocol)
        found[name] = TranslationUpstream(target, url, is_socket or protocols.get(protocol).is_socket_only)
    return found


def over_http(upstream: str) -> tuple[str, bool]:
    """The upstream with ``http`` for ``ws`` and ``https`` for ``wss``, and whether its scheme was one of these."""
    is_socket = upstream.startswith(("ws://", "wss://"))
    return f"http{upstream[2:]}" if is_socket else upstream, is_socket


def serve_simulators(targets: Mapping[str, str], stack: ExitStack) -> dict[str, str]:
    """Name → URL of upstreams; simulators among them are served until ``stack`` is closed. Raises UsageError."""
    found = {}
    for name, text in targets.items():
        target = None if "://" in text else resolve(text)
        found[name] = _simulator_url(target, stack) if target and target.is_simulator else text
    return found


def _simulator_url(target: Target, stack: ExitStack) -> str:
    """Serve a simulator; its URL."""
    return stack.enter_context(serve(Simulator(target.contract))).url


class TranslationPath:
    """Relay, translation server and relay, listening in one loop. An async context manager, too.

    Args:
        upstreams: by name.
        rules: how requests are changed.
        listener: receives the events of both hops.
        hop: prefix of their names.
        port: of the client's relay.
        gate: breakpoints of the client's relay, if there can be any.
        passes_websockets: clients may speak WebSockets; else they are refused with 426.
        on_refusal: called with one line for each reason why that relay refuses requests.

    Attributes:
        records: adds the changes to the recording.
    """

    def __init__(
        self,
        upstreams: Mapping[str, TranslationUpstream],
        rules: TranslationRules,
        listener: EventListener,
        *,
        hop: str = "",
        port: int = 0,
        gate: BreakpointGate | None = None,
        passes_websockets: bool = True,
        on_refusal: Callable[[str], None] = lambda line: None,
    ) -> None:
        client, upstream = hop_names(hop)
        self.records = TurnRecords(listener, client)
        self._listener = SafeListener(self.records)
        origins = {name: _origin(each.url) for name, each in upstreams.items()}
        self._up = Relay(origins, self._listener, hop=upstream)
        self._server = TranslationServer(upstreams, self._up.url, rules, self.records, self._listener)
        self._names, self._hop, self._port, self._gate = tuple(upstreams), client, port, gate
        self._on_refusal, self._passes_websockets = on_refusal, passes_websockets
        self._down: Relay | None = None

    async def start(self) -> None:
        """Listen. Raises UsageError if the port is in use."""
        await self._up.start()
        await self._server.start()
        translated = {name: self._server.url(name) for name in self._names}
        self._down = Relay(
            translated,
            self._listener,
            port=self._port,
            hop=self._hop,
            gate=self._gate,
            passes_websockets=self._passes_websockets,
            on_refusal=self._on_refusal,
        )
        try:
            await self._down.start()
        except UsageError:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop listening and end what is in progress, beginning at the client's side."""
        if self._down:
            await self._down.close()
        await self._server.close()
        await self._up.close()

    async def __aenter__(self) -> TranslationPath:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def port(self) -> int:
        """Port for clients, after ``start``."""
        assert self._down
        return self._down.port

    def url(self, name: str) -> str:
        """Base URL that a client uses for that upstream, after ``start``. Raises KeyError."""
        assert self._down
        return self._down.url(name)

    @property
    def listener_failure(self) -> Exception | None:
        """The exception that disabled the listener; None if there was none."""
        return self._listener.failure


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
