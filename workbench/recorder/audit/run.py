"""Runs an audit: a plain request for each protocol, then case after case, client and upstream in one loop."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import IO

from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.limits import SNIPPET
from workbench.protocols import DecodedExchange
from workbench.recorder.audit.case import AuditCase, Pairs
from workbench.recorder.audit.cases import PROTOCOLS, cases_of, conversion_cases, hello
from workbench.recorder.audit.client import AuditClient, GatewayURL
from workbench.recorder.audit.sighting import CaseStage, PieceTimeout
from workbench.recorder.audit.upstream import AuditUpstream
from workbench.recorder.audit.verdicts import AuditPlace, CaseSightings, CaseVerdict, judge_case
from workbench.wire import Exchange

PATIENCE = 1.0
"""Seconds that a piece of an answer may take through a gateway before it counts as held back."""

DEADLINE = 20.0
"""Seconds that a whole answer may take: gateways that ask again wait in between."""

_HURRIED = 4.0
"""The same once an answer did not come in that time."""

_SECRET = 8
"""Characters from which a value of a header that was given is kept from what is shown."""

_AT_THE_END = 0.5  # seconds that a hang-up may take to get to the upstream beyond the signs of life


class GatewayUnreachable(WorkbenchError):
    """The gateway does not pass requests to the audit's upstream."""


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """Settings of an audit.

    Attributes:
        protocols: to audit; empty for all that reach the audit's upstream.
        to: protocol that the gateway uses upstream; empty if it is to be observed.
        model: to request; empty for one of the provider.
        headers: sent with every request: credentials.
        only: names of the cases to send; empty for all.
    """

    gateway: GatewayURL
    protocols: tuple[str, ...] = ()
    to: str = ""
    model: str = ""
    headers: Pairs = ()
    only: tuple[str, ...] = ()
    patience: float = PATIENCE
    deadline: float = DEADLINE

    def mask(self, text: str) -> str:
        """A text without the credentials that are sent: gateways quote them."""
        for _, value in self.headers:
            for secret in (value, value.rpartition(" ")[2]):
                text = text.replace(secret, "…") if len(secret) >= _SECRET else text
        return text


@dataclass(slots=True)
class AuditResult:
    """Results of an audit.

    Attributes:
        verdicts: of every case, in order.
        ways: protocol → protocol that the gateway uses upstream for it.
        skipped: protocol → why it was not audited.
        exchanges: both sightings of every case, as exchanges of a session with two hops.
        strays: requests that the gateway sent by itself.
    """

    verdicts: list[CaseVerdict] = field(default_factory=list)
    ways: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)
    strays: tuple[str, ...] = ()


_DISTINCTIVE = 64
"""Bytes from which a body tells which request it answers."""

Progress = Callable[[str, int, int], None]
"""``progress(protocol, done, of)``."""


async def run_audit(
    plan: AuditPlan, upstream: AuditUpstream, on_progress: Progress = lambda protocol, done, of: None
) -> AuditResult:
    """Send every case through the gateway. ``upstream`` has started. Raises GatewayUnreachable."""
    return await _AuditRun(plan, upstream, on_progress).all()


class _AuditRun:
    def __init__(self, plan: AuditPlan, upstream: AuditUpstream, on_progress: Progress) -> None:
        self._plan, self._upstream, self._progress = plan, upstream, on_progress
        self._client = AuditClient(plan.gateway, plan.headers, plan.deadline)
        self._patience = PieceTimeout(plan.patience)
        self._audit = AuditResult()
        self._answered: dict[bytes, str] = {}
        self._refusals: set[int] = set()
        self._epoch = time.time() - asyncio.get_running_loop().time()

    async def all(self) -> AuditResult:
        places = {protocol: await self._hello(protocol) for protocol in self._plan.protocols or PROTOCOLS}
        reached = {protocol: place for protocol, place in places.items() if place}
        if not reached:
            raise self._unreachable()
        for protocol, place in reached.items():
            await self._protocol(protocol, place)
        self._audit.strays = tuple(dict.fromkeys(self._upstream.strays))
        return self._audit

    async def _hello(self, protocol: str) -> AuditPlace | None:
        """Send a plain request; where it arrived, None if it did not."""
        plain = hello(protocol, self._plan.model)
        seen = await self._stage(plain)
        self._remember(plain, seen)
        if not seen.upstream:
            self._audit.skipped[protocol] = _why(seen)
            self._refusals |= {seen.client.response.status} if seen.client.response else set()
            return None
        return AuditPlace(
            plain.request.path,
            seen.upstream[-1].url.removeprefix(self._upstream.url),
            self._upstream_protocol(protocol, seen),
        )

    def _upstream_protocol(self, protocol: str, seen: CaseSightings) -> str:
        """Protocol that the gateway uses upstream."""
        there = DecodedExchange(0, seen.upstream[-1].exchange("hello", 0.0)).protocol
        protocol_name = self._plan.to or there or protocol
        if protocol_name not in PROTOCOLS:
            protocol_name = protocol
        self._audit.ways[protocol] = protocol_name
        return protocol_name

    def _unreachable(self) -> GatewayUnreachable:
        why = "; ".join(f"{protocol}: {why}" for protocol, why in self._audit.skipped.items())
        if len(set(self._audit.skipped.values())) == 1:
            why = next(iter(self._audit.skipped.values()))
        odd = f"; the received bytes are not HTTP/1.1: {self._upstream.refused[0]}" if self._upstream.refused else ""
        url = self._upstream.url
        hint = f"point the gateway's upstream at {url} (for base URLs with a version: {url}/v1)"
        if self._refusals & {401, 403}:
            hint = "give the gateway's key with --key-variable or --header"
        elif any(400 <= status < 500 for status in self._refusals):
            hint += ", and set --model to a model that the gateway serves"
        return GatewayUnreachable(
            f"no request reached the audit's upstream ({self._plan.gateway.url}) through {why}{odd}", hint=hint
        )

    async def _protocol(self, protocol: str, place: AuditPlace) -> None:
        model = self._plan.model
        known = (
            cases_of(protocol, model) if place.spoken == protocol else conversion_cases(protocol, place.spoken, model)
        )
        cases = [case for case in known if not self._plan.only or case.name in self._plan.only]
        for done, case in enumerate(cases):
            self._progress(protocol, done, len(cases))
            seen = await self._stage(case)
            self._keep(protocol, case, seen, place)
        self._progress(protocol, len(cases), len(cases))

    async def _stage(self, case: AuditCase) -> CaseSightings:
        loop, stage = asyncio.get_running_loop(), CaseStage(case, self._patience)
        self._upstream.stage = stage
        try:
            here = await self._client.send(case.request, stage, leaves=self._plan.patience if case.hangs_up else None)
        except OSError as error:
            raise GatewayUnreachable(
                f"nothing accepts connections at {self._plan.gateway.url} ({error.strerror or error})",
                hint=f"start the gateway, with {self._upstream.url} as its upstream",
            ) from error
        if here.is_late:
            self._client.deadline = min(
                self._client.deadline, _HURRIED
            )  # or an audit of a hanging gateway takes an hour
        if case.hangs_up and stage.sightings:
            await stage.wait_for_hang_up(_AT_THE_END + self._plan.patience)
        self._upstream.stage = None
        for there in stage.sightings:
            there.ended = there.ended or loop.time()
        return CaseSightings(here, tuple(stage.sightings), stage.pieces_held)

    def _keep(self, protocol: str, case: AuditCase, seen: CaseSightings, place: AuditPlace) -> None:
        audit, first = self._audit, len(self._audit.exchanges)
        sightings = (seen.client, *seen.upstream)
        exchanges = [s.exchange(f"{protocol}/{case.name}/{n}", self._epoch) for n, s in enumerate(sightings)]
        audit.exchanges += exchanges
        decoded = [DecodedExchange(first + n, exchange) for n, exchange in enumerate(exchanges)]
        verdict = judge_case(protocol, case, seen, place, decoded, self._answered)
        self._remember(case, seen)
        found = tuple(replace(f, words=self._plan.mask(f.words)) for f in verdict.damages)
        audit.verdicts.append(replace(verdict, damages=found))

    def _remember(self, case: AuditCase, seen: CaseSightings) -> None:
        """Remember each response body with its case."""
        bodies = (b"".join(there.response_body.pieces) for there in seen.upstream)
        self._answered.update((body, case.name) for body in bodies if len(body) > _DISTINCTIVE)


def _why(seen: CaseSightings) -> str:
    """The reason why a plain request did not arrive."""
    if seen.client.response is None:
        return seen.client.note or "there was no response"
    output = b"".join(seen.client.response_body.pieces)[:SNIPPET].decode("utf-8", "replace")
    words = " ".join(output.split())
    return f"the gateway answered {seen.client.response.status} itself" + (f": {words}" if words else "")


_LOOKS = 0.05  # seconds between two looks whether it listens
_LEAVES = 5.0  # seconds it has to end


@asynccontextmanager
async def run_gateway(words: Sequence[str], gateway: GatewayURL, upstream: str, seconds: float) -> AsyncIterator[None]:
    """Run a gateway: ``{upstream}`` in its words, and WORKBENCH_UPSTREAM, are the URL of the audit's upstream.

    Raises:
        Unreached: it ended, or did not listen in so many seconds.
        OSError: it cannot be started.
    """
    own = [word.replace("{upstream}", upstream) for word in words]
    with tempfile.TemporaryFile() as output:
        process = await asyncio.create_subprocess_exec(
            *own, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            env=os.environ | {"WORKBENCH_UPSTREAM": upstream},
        )  # fmt: skip
        try:
            await _wait_until_listening(process, gateway, seconds, output, own[0])
            yield
        finally:
            await _end(process)


async def _wait_until_listening(
    process: asyncio.subprocess.Process, gateway: GatewayURL, seconds: float, output: IO[bytes], name: str
) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while True:
        if process.returncode is not None:
            last = _last_line(output)
            what = f"{name} exited with status {process.returncode} before it accepted connections" + (
                f": {last}" if last else ""
            )
            raise GatewayUnreachable(what, hint=f"the gateway must accept connections at {gateway.url}")
        with suppress(OSError):
            _, writer = await asyncio.open_connection(gateway.host, gateway.port)
            writer.close()
            return
        if loop.time() > until:
            raise GatewayUnreachable(
                f"{name} is not listening on {gateway.url} after {seconds:g} seconds",
                hint="set a longer time with --wait",
            )
        await asyncio.sleep(_LOOKS)


def _last_line(output: IO[bytes]) -> str:
    output.seek(0)
    lines = [line for line in output.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip()[:SNIPPET] if lines else ""


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the gateway with all its child processes."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVES):
                await process.wait()
                return
