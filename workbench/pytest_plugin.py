"""Fixtures for tests of an agent or a gateway: providers on loopback that refuse like the real ones.

    def test_my_agent_sends_its_reasoning_back(strict_provider):
        url = strict_provider("deepseek")
        my_agent.run("list the files", base_url=f"{url}/v1", api_key="any")
        assert not url.refusals

The plugin is there wherever Workbench is installed; nothing is imported before a fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from workbench.targets.simulator import Served, Simulator
    from workbench.wire.session import Session


class ProviderUrl(str):
    """The address of a simulated provider, ``http://127.0.0.1:PORT``, and what it was asked.

    Attributes:
        simulator: what answers.
    """

    simulator: Simulator

    @property
    def requests(self) -> list[Served]:
        """Every request so far: method, target, status, verdict, finding, body."""
        return list(self.simulator.served)

    @property
    def refusals(self) -> list[Served]:
        """Those that were not answered, none while all is well; ``finding`` has rule, place and the provider's text."""
        return [served for served in self.simulator.served if served.is_refused]


Provider = Callable[..., ProviderUrl]


@pytest.fixture
def strict_provider() -> Iterator[Provider]:
    """``strict_provider("deepseek")``: the base URL of a provider that refuses what its contract enforces.

    Args of the function:
        label: a contract with or without a variant: "anthropic", "openai", "deepseek:v3.2", a file of your own.
        script: the text of a script (``workbench simulate --help``), in place of dials.
        known: a ``workbench.wire.session.Session`` whose answers count as given.
        dials: how its model answers: ``parallel=2``, ``arguments="truncated"``, ``stream="cut"``, ``http="429:once"``,
            ``calls="hermes"``, ``latency=0.01``.

    Each call serves another one, all until the end of the test. Every protocol of the contract is served, with and
    without ``/v1``: give OpenAI clients ``f"{url}/v1"``, Anthropic's and Google's the URL itself.
    """
    with ExitStack() as stack:
        yield partial(_provide, stack, permissive=False)


@pytest.fixture
def permissive_provider() -> Iterator[Provider]:
    """The same as ``strict_provider``, but everything well-formed is answered; ``requests`` tell what was wrong."""
    with ExitStack() as stack:
        yield partial(_provide, stack, permissive=True)


def _provide(
    stack: ExitStack,
    label: str = "generic",
    *,
    permissive: bool,
    script: str | None = None,
    known: Session | None = None,
    **dials: Any,
) -> ProviderUrl:
    from workbench.targets.simulator import ScriptedModel, Simulator, dials_of, read_script, serve

    given = dials_of({name.replace("_", "-"): value for name, value in dials.items()})
    model = ScriptedModel(given) if script is None else read_script(script, "script", given)
    simulator = Simulator(label, permissive=permissive, model=model, known=known)
    url = ProviderUrl(stack.enter_context(serve(simulator)).url)
    url.simulator = simulator
    return url
