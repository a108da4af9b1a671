"""Targets: where a request can be sent. A name from ``targets.yaml``, ``sim:CONTRACT``, or a URL."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import UsageError

SIMULATOR = "sim:"


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests are sent.

    Attributes:
        name: what people type.
        protocol: what it speaks; "" for a simulator, which speaks every protocol of its contract.
        url: base URL; "" for a simulator.
        contract: label of the contract that requests to it are judged by ("deepseek:v4"), "" to choose one for each.
        model: asked for in place of the one in the request, "" for that one.
        key_variable: name of the environment variable that holds the key, "" for none.
        headers: further ones, sent with every request.
    """

    name: str
    protocol: str = ""
    url: str = ""
    contract: str = ""
    model: str = ""
    key_variable: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def is_simulator(self) -> bool:
        """Nothing leaves this process."""
        return not self.url


def resolve(text: str, protocol: str = "") -> Target:
    """The target that people mean by a name, ``sim:CONTRACT`` or a URL.

    Args:
        protocol: what a URL speaks.

    Raises:
        UsageError: there is no such target.
        ProfileError: ``targets.yaml`` or a contract is not well-formed.
    """
    from workbench.rules import contracts

    if text.startswith(SIMULATOR):
        label = text.removeprefix(SIMULATOR)
        contracts.demand(label)
        return Target(text, contract=label)
    raise UsageError(f"no target named {text!r}", hint="sim:CONTRACT, a URL, or a name from targets.yaml")
