"""Tokens of the context that a server counts for each response: they fall if it forgets what was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import JsonValue
from workbench.protocols.common.socket_facts import SocketFact

_LEAST = 400
"""Tokens from which a fall tells anything."""

_SHARE = 0.5
"""Share of the count before, below which the context was lost."""

_MOST = 20_000
"""Tokens from which a server may drop the oldest part of a context on purpose (developers.openai.com, truncation)."""


class ContextCounts:
    """The counts of the last response on one connection, by kind of token (livekit agents-js issue 2346)."""

    def __init__(self) -> None:
        self._last: Mapping[str, int] = {}
        self._facts: list[SocketFact] = []

    def reset(self) -> None:
        """Note that the context was changed on purpose."""
        self._last = {}

    def add(self, number: int, counts: Mapping[str, JsonValue]) -> None:
        """Compare the counts of a response, which a message has, with those of the one before it."""
        now = {kind: count for kind, count in counts.items() if type(count) is int and count > 0}
        for kind, before in self._last.items():
            if kind in now and _LEAST <= before <= _MOST and now[kind] < before * _SHARE:
                text = f"the response in message {number + 1} counts {now[kind]:,} {kind} tokens of context, the one"
                text += f" before it {before:,}: the server lost a part of the conversation"
                self._facts.append(SocketFact("state.lost", text, (number,), is_of_client=False, is_harmless=True))
                break
        self._last = now or self._last

    def facts(self) -> Iterator[SocketFact]:
        """The falls so far."""
        yield from self._facts
