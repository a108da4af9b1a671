"""Fixtures for tests of an agent or a gateway: providers on loopback that refuse like the real ones.

    def test_my_agent_sends_its_reasoning_back(strict_provider):
        url = strict_provider("deepseek")
        my_agent.run("list the files", base_url=f"{url}/v1", api_key="any")
        assert not url.refusals

If such a test fails, a section of the report lists the refusals: rule, place, the provider's text, and a repair.

The plugin is active wherever Workbench is installed; it imports nothing before a fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from workbench.simulator import ServedRequest, Simulator
    from workbench.wire.session import Session


class ProviderUrl(str):
    """Base URL of a simulated provider, ``http://127.0.0.1:PORT``, and its requests.

    Attributes:
        simulator: that serves it.
    """

    simulator: Simulator

    def report(self) -> Iterator[str]:
        """Lines about each refused request: request, rule and place, the provider's text, a repair."""
        from workbench import limits
        from workbench.edits.repairs import offer
        from workbench.safetext import visible

        offer_few = partial(offer, budget=limits.MAX_CHECK_TRIALS)
        for served in self.refusals:
            finding = served.finding
            if finding is None:
                yield visible(served.line())
                continue
            yield visible(f"{served.method} {served.target} {served.status}")
            yield visible(f"  {finding.rule} at {finding.pointer or '/'}: {finding.message}")
            if finding.refusal:
                yield visible(f"  {self.simulator.label} says: {finding.refusal}")
            repair = self.simulator.best_repair(served, offer_few)
            if repair:
                yield visible(f"  repair: {repair} (verified against the contract only)")

    @property
    def requests(self) -> list[ServedRequest]:
        """Every request so far: method, target, status, verdict, finding, body."""
        return list(self.simulator.served)

    @property
    def refusals(self) -> list[ServedRequest]:
        """Refused requests; ``finding`` has rule, place and the provider's text."""
        return [served for served in self.simulator.served if served.is_refused]


class ToolServerUrl(str):
    """URL of a recorded tool server (MCP, streamable HTTP) on loopback. No tool is run: it answers what was recorded.

    Attributes:
        command: starts the same server over stdio, for clients that take a command.
        calls: name, arguments and response (``result`` or ``error``) of each recorded call; equal calls in their order.
    """

    command: list[str]
    calls: list[tuple[str, dict[str, Any], dict[str, Any]]]

    def ask(self, *requests: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Send requests, as (method, params), in a session of their own, and return their responses without ids."""
        from urllib.request import Request, urlopen

        from workbench.wire import dumps, loads

        opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        responses = []
        for number, (method, params) in enumerate([("initialize", opening), *requests]):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            with urlopen(Request(self, dumps(message), headers), timeout=60) as answer:
                response = loads(answer.read())
                headers = {"mcp-session-id": answer.headers["mcp-session-id"], **headers}
            responses.append({name: response[name] for name in ("result", "error") if name in response})
        return responses[1:]


Provider = Callable[..., ProviderUrl]
ToolServers = Callable[..., dict[str, ToolServerUrl]]

_USED = pytest.StashKey[list[ProviderUrl]]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Add the refusals of a failed test to its report."""
    outcome = yield
    report = outcome.get_result()
    for url in item.stash.get(_USED, ()) if report.failed else ():
        lines = "\n".join(url.report())
        if lines:
            report.sections.append((f"workbench: refused by {url.simulator.label}", lines))


@pytest.fixture
def strict_provider(request: pytest.FixtureRequest) -> Iterator[Provider]:
    """``strict_provider("deepseek")``: the base URL of a provider that refuses what its contract enforces.

    Args of the function:
        label: a contract with or without a variant: "anthropic", "openai", "deepseek:v3.2", a file of your own.
        script: the text of a script (``workbench simulate --help``), instead of dials.
        known: a ``workbench.wire.session.Session`` whose responses may be replayed.
        dials: settings of its model: ``parallel=2``, ``arguments="truncated"``, ``stream="cut"``, ``http="429:once"``,
            ``calls="hermes"``, ``latency=0.01``.

    Each call starts another server, until the end of the test. Every protocol of the contract is served, with and
    without ``/v1``: give OpenAI clients ``f"{url}/v1"``, Anthropic's and Google's the URL itself.
    """
    with ExitStack() as stack:
        yield partial(_provide, stack, request.node.stash.setdefault(_USED, []), permissive=False)


@pytest.fixture
def permissive_provider(request: pytest.FixtureRequest) -> Iterator[Provider]:
    """Like ``strict_provider``, but everything well-formed is answered; ``requests`` contain the verdicts."""
    with ExitStack() as stack:
        yield partial(_provide, stack, request.node.stash.setdefault(_USED, []), permissive=True)


@pytest.fixture
def recorded_tools() -> Iterator[ToolServers]:
    """``recorded_tools("tools.jsonl")``: the tool servers (MCP) of a session, by name, each as a ``ToolServerUrl``.

    Args of the function:
        file: the session; a call that it does not have gets an error result that says so.
        fault: what the servers do wrong, as in ``workbench simulate mcp --fault``; empty for nothing.
    """
    with ExitStack() as stack:
        yield partial(_serve_tools, stack)


def _serve_tools(stack: ExitStack, file: str | Path, fault: str = "") -> dict[str, ToolServerUrl]:
    from workbench import children
    from workbench.simulator import decoded_of, recorded_servers, serve_tools
    from workbench.wire.session import exchanges_of, open_session

    session = stack.enter_context(closing(open_session(Path(file))))
    servers = {}
    for name, server in recorded_servers(decoded_of(list(exchanges_of(session)))).items():
        url = servers[name] = ToolServerUrl(stack.enter_context(serve_tools(server, fault)))
        url.command = children.own_command("simulate", "mcp", str(file), "--server", name)
        url.calls = server.calls
    return servers


def _provide(
    stack: ExitStack,
    used: list[ProviderUrl],
    label: str = "generic",
    *,
    permissive: bool,
    script: str | None = None,
    known: Session | None = None,
    **dials: Any,
) -> ProviderUrl:
    from workbench.simulator import ScriptedModel, Simulator, dials_of, read_script, serve

    found_dials = dials_of({name.replace("_", "-"): value for name, value in dials.items()})
    model = ScriptedModel(found_dials) if script is None else read_script(script, "script", found_dials)
    simulator = Simulator(label, permissive=permissive, model=model, known=known)
    url = ProviderUrl(stack.enter_context(serve(simulator)).url)
    url.simulator = simulator
    used.append(url)
    return url
