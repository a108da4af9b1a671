"""Tool calls as text: what models write into content or reasoning, and what they write as arguments.

In: text in pieces. Out: prose and calls, with places in characters of the whole text. It may import what ``toolcalls``
may. One file per text format; each holds one object named ``text_format``. Files that begin with an underscore are
shared:

* reading in pieces: ``_scan`` (formats with tags, described by ``_tags``), ``_whole`` (their blocks without a fault,
  read at once), ``_lines`` (formats without tags), ``_markdown`` (what is quoted); ``_elements`` (XML-like blocks, from
  ``_element_parts``) and ``_deepseek`` (its token format) use ``_scan``;
* arguments: ``toolcalls.json_text`` (JSON, where it ends), ``_json_tags`` (tags inside it), ``_json_calls`` (objects
  that say a call), ``_python_literals`` (Python calls), ``_typing`` (text typed by a schema);
* ``_render`` (writing), ``_find`` and ``_unmarked_calls`` (calls in text of an unknown format),
  ``_wrecks`` (what is left of damaged calls).

Problems of a call have their words in ``toolcalls.call_problems``.

A format parses piece by piece: any division of the text into pieces gives the same findings, in time linear in its
length, and a piece that may be the beginning of a tag is held back until it is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from workbench import plugins
from workbench.errors import UnknownName
from workbench.fronts import lazy
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple

if TYPE_CHECKING:
    from workbench.toolcalls.formats._find import find_calls, is_marked, stray_markers
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "Prose",
    "ProseOrCall",
    "TextCall",
    "TextFormat",
    "TextParser",
    "every",
    "find_calls",
    "formats",
    "get",
    "is_marked",
    "stray_markers",
]


class Prose(NamedTuple):
    """Text that is no call. Neighbouring pieces of prose are one text that was delivered in pieces."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call found in text.

    Attributes:
        format: name of the format ("hermes").
        name: as written; None if unreadable.
        input: the arguments, typed by the tool's schema if the format leaves types open; None if unreadable.
        raw: the argument text as written, with tags of parameters.
        start, end: characters of the call in the whole text, with its tags.
        id: in formats with ids (Kimi, Mistral).
        problems: faults, each a few words: "unclosed", "arguments are not JSON", "no such tool", "text after the
            arguments" …; empty for a call that the format's own parser accepts.
        is_nested: it is inside ``<think>`` or an analysis channel.
        places: position of each problem, in characters of the whole text, in the order of ``problems``; None, or
            missing at the end, if a problem is of the whole call.
    """

    format: str
    name: str | None
    input: JsonValue
    raw: str
    start: int
    end: int
    id: str | None = None
    problems: tuple[str, ...] = ()
    is_nested: bool = False
    places: tuple[tuple[int, int] | None, ...] = ()


ProseOrCall: TypeAlias = Prose | TextCall


class TextParser(Protocol):
    """Reads one text piece by piece."""

    def feed(self, text: str) -> list[ProseOrCall]:
        """Findings that are certain now, in order. Never raises on hostile text."""
        ...

    def close(self) -> list[ProseOrCall]:
        """The remaining findings at the end of the text; an unclosed call is reported with the text it has."""
        ...


class TextFormat(Protocol):
    """One format of tool calls in text.

    Attributes:
        name: as typed by people ("qwen3-coder").
        title: for people, with the models that write it.
        markers: strings of which every text with a call in this format contains one; () for formats without markers
            (bare JSON, pythonic).
    """

    name: str
    title: str
    markers: tuple[str, ...]

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        """A new parser. ``tools``: declared tools; types of arguments follow their schemas."""
        ...

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """The calls as a model writes them, in one block. Raises LocalProtocolError for what cannot be expressed."""
        ...

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """The results as the model's chat template passes them on, without role markers."""
        ...


@cache
def get(name: str) -> TextFormat:
    """The format of a name ("qwen3-coder"). Raises UsageError."""
    module = name.replace("-", "_").replace(".", "_")
    if module not in plugins.names(__name__):
        raise UnknownName("text format", name, formats())
    found: TextFormat = plugins.load(__name__, module).text_format
    return found


def formats() -> tuple[str, ...]:
    """Names of every text format."""
    return tuple(n.replace("_", "-") for n in plugins.names(__name__))


def every() -> Iterator[TextFormat]:
    """Every text format."""
    return (get(n) for n in formats())
