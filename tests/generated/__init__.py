"""Faults that are drawn by a number, over every class of fault and every wire: how many does the program name?

``python -m tests.generated`` draws about a thousand of them, judges each, and prints the share of each class. A fault
is *named* if a finding that is no mere information has a right rule at the place of the fault, its parent or its child.
Names, texts and values are drawn anew for each fault, so that nothing can be right by its words.

* ``requests``, ``settings``, ``histories``: what clients send; lone and behind a healthy exchange;
* ``answers``, ``streams``: what comes back, whole and streamed;
* ``texts``: calls and control tokens in a text of an answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.siblings.wires import Call, Json, Result, Tool, Wire

LEAST = 10
"""Variants of each row."""

WORDS = (
    *("alder", "basalt", "cobalt", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "juniper", "kestrel"),
    *("lagoon", "marble", "nectar", "onyx", "pepper", "quartz", "raven", "saffron", "timber", "umber", "velvet"),
    *("walnut", "xenon", "yarrow", "zephyr", "北京", "Zürich", "São Paulo", "Дубна"),
)
_VERBS = ("get", "find", "list", "read", "fetch", "lookup", "check", "show")
_NOUNS = ("order", "invoice", "forecast", "ticket", "route", "file", "stock", "user", "branch", "sensor")


class Fault(NamedTuple):
    """One fault.

    Attributes:
        row: the class, as the table of results names it.
        wire: the protocol.
        request: the body that is sent.
        rules: the rules that are right; each may be a beginning ("text.").
        answer: the body that comes back, or a stream; None for a request that was not answered.
        place: pointer of the fault; None where the whole answer or stream is meant.
        provider: name of a contract; None if nobody says it.
        before: an exchange in front of it.
        note: what was done.
    """

    row: str
    wire: Wire
    request: Json | None
    rules: tuple[str, ...]
    answer: Any = None
    place: str | None = None
    provider: str | None = None
    before: tuple[Json, Any] | None = None
    note: str = ""


Make = Callable[[Wire, "Dice"], Iterator[Fault]]


class Dice(random.Random):
    """Draws names, values and pieces of conversations."""

    def word(self) -> str:
        return self.choice(WORDS)

    def key(self) -> str:
        return self.choice([word for word in WORDS if word.isascii() and " " not in word])

    def sentence(self) -> str:
        words = self.sample(WORDS, self.randint(4, 9))
        return f"{words[0].capitalize()} {' '.join(words[1:])}."

    def tool(self) -> Tool:
        """A tool with one to three parameters, the first of them a required string."""
        keys = self.sample([word for word in WORDS if word.isascii() and " " not in word], self.randint(1, 3))
        kinds = ["string", *(self.choice(("string", "integer", "boolean", "number")) for _ in keys[1:])]
        properties = {
            key: {"type": kind, "description": self.sentence()} for key, kind in zip(keys, kinds, strict=True)
        }
        schema = {"type": "object", "properties": properties, "required": keys[:1]}
        return Tool(f"{self.choice(_VERBS)}_{self.choice(_NOUNS)}_{self.randint(1, 99)}", schema)

    def arguments(self, tool: Tool) -> Json:
        draw = {
            "string": self.word,
            "integer": lambda: self.randint(0, 99),
            "boolean": lambda: True,
            "number": lambda: round(self.random(), 2) + 1,
        }
        properties = tool.schema["properties"]
        return {key: draw[each["type"]]() for key, each in properties.items()}

    def call(self, tool: Tool) -> Call:
        return Call(self.identifier(), tool.name, self.arguments(tool))

    def identifier(self) -> str:
        return f"call_{''.join(self.choices('abcdefghjkmnpqrstuvwxyz23456789', k=8))}"

    def result(self, call: Call, text: str = "") -> Result:
        return Result(call.id, call.name, text or self.sentence())

    def some(self, values: Any, count: int) -> list[Any]:
        """So many of the values, all of them if there are fewer."""
        values = list(values)
        return self.sample(values, min(count, len(values)))


class Scene(NamedTuple):
    """A healthy turn: a tool, a call of it, its result."""

    tool: Tool
    call: Call
    result: Result

    @classmethod
    def of(cls, dice: Dice) -> Scene:
        tool = dice.tool()
        call = dice.call(tool)
        return cls(tool, call, dice.result(call))

    def asked(self, wire: Wire, dice: Dice) -> Json:
        """A question with the tool."""
        return wire.request([wire.user(dice.sentence())], (self.tool,))

    def whole(self, wire: Wire, dice: Dice) -> Json:
        """Question, call, result."""
        return wire.request(
            [wire.user(dice.sentence()), *wire.turn((self.call,)), *wire.results((self.result,))], (self.tool,)
        )
