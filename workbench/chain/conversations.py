"""Conversations: which exchanges continue one another, found by shared history, call ids and response ids."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.ir import ModelResponse


@dataclass(slots=True)
class Conversation:
    """A lane of a session.

    Attributes:
        id: from zero, in order of first appearance.
        exchanges: indexes in the session, in order.
        answers: (exchange index, answer) of every exchange so far that got one: what the client has received.
        label: what to call it in a list: model and first words of the user.
    """

    id: int
    exchanges: list[int] = field(default_factory=list)
    answers: list[tuple[int, ModelResponse]] = field(default_factory=list)
    label: str = ""
