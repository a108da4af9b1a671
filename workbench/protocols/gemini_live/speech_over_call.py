"""Speech of the model while a call of it has no result: what it states does not come from the tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import regex
from workbench.ir import JsonValue
from workbench.protocols import SocketFact
from workbench.protocols.shapes.contents.nodes import member
from workbench.wire import dumps

Value = dict[str, JsonValue]

_SENTENCE = 4
"""Words that state something."""

_QUANTITY = regex.compile(r"[$€£] ?\d[\d.,]*|\d[\d.,]* ?[%°]|\d[\d.,]+\d")
"""A quantity that a model states: one that nothing before it has was not read anywhere."""


class SpeechOverCall:
    """The words of one turn around its calls.

    Words before a call ("one moment") may reach the client after it, and a model that does not wait for results, or
    that the user speaks to, may say anything: then only a quantity counts that nothing before it has.
    """

    def __init__(self) -> None:
        self._has_others = False
        self._first: tuple[int, str | None] | None = None  # frame of the first word over a call, and the call
        self._words = ""
        self._is_generated = False  # the model says itself that it is done
        self._before = ""  # what was said before the first call
        self._after = ""  # what is said after results that asked for silence
        self._muted: tuple[int, str] | None = None  # frame of those results, and what was said before them

    @property
    def words(self) -> str:
        """What was said, without the words after results that asked for silence."""
        return self._before + self._words

    def mute(self, number: int, earlier: SpeechOverCall) -> None:
        """Note results on whose account the model should say nothing, and the turn of their calls."""
        self._muted = (number, earlier._before)

    def add(self, number: int, words: str, open_calls: Iterable[str | None]) -> None:
        """Note words of the model."""
        calls = [*open_calls]
        if self._muted:
            self._after += words
        if not calls:
            self._has_others |= bool(words.strip())
            self._before += words
            return
        self._first = self._first or (number, calls[0])
        self._words += words

    def add_of_user(self) -> None:
        """Note words of the user while a call is open."""
        self._has_others = True

    def end(self, number: int, content: JsonValue) -> Iterator[SocketFact]:
        """Say that a turn is complete in the middle of a sentence (python-genai issue 2117, cookbook issue 1227).

        A turn that is not interrupted has ``generationComplete`` before ``turnComplete``.
        """
        self._is_generated |= any(member(content, key) is True for key in ("generationComplete", "interrupted"))
        words = (self._before + self._words).rstrip()
        if member(content, "turnComplete") is not True or self._is_generated or self._first:
            return
        if len(words.split()) >= _SENTENCE and (words[-1].isalnum() or words[-1] in ",-"):
            text = (
                f"the turn is complete (message {number + 1}) after {words[-60:]!r}, in the middle of a sentence, and"
            )
            text += " without generationComplete"
            yield SocketFact("stream.truncated", text, (number,), is_of_client=False, is_harmless=True)

    def echoes(self) -> Iterator[SocketFact]:
        """Say that the model repeats itself after results with the scheduling SILENT (discuss.ai.google.dev 114361)."""
        number, before = self._muted or (-1, "")
        if len(before.split()) >= _SENTENCE and before.strip() in self._after:
            text = (
                f"the model says {before.strip()[:80]!r} again after the results in message {number + 1}, though their"
            )
            text += " scheduling is SILENT"
            yield SocketFact("params.ignored", text, (number,), is_of_client=False, is_harmless=True)
        self._muted = None

    def facts(self, setup: Value, contents: Iterable[bytes]) -> Iterator[SocketFact]:
        """Say what was stated before the result came (js-genai issue 1210, python-genai issue 1894); once.

        Args:
            contents: those of the request, which the model knows.
        """
        (number, call), words = self._first or (-1, None), self._words
        self._first, self._words = None, ""
        if len(words.split()) < _SENTENCE:
            return
        context = b" ".join((dumps(setup), *contents))
        values = (found.strip(" $€£%°.,").encode() for found in _QUANTITY.findall(words))
        if any(value not in context for value in values) or not (self._has_others or _continues_by_itself(setup)):
            text = f"the model says {words.strip()[:80]!r} (message {number + 1}) before it has the result of call"
            text += f" {call!r:.80}: that is not what the tool returned"
            yield SocketFact("content.made-up-result", text, (number,), is_of_client=False, is_harmless=True)


def _continues_by_itself(setup: Value) -> bool:
    """A model that does not wait for results: of functions that say so, and from gemini-3.8-live on (livekit 7302)."""
    tools = [member(tool, "functionDeclarations") for tool in _entries(member(setup, "tools"))]
    is_told = any(member(each, "behavior") == "NON_BLOCKING" for tool in tools for each in _entries(tool))
    return is_told or "gemini-3.8" in str(member(setup, "model"))


def _entries(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
