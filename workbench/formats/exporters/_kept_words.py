"""Decides which texts a redacted export keeps: parts of a contract, and text that findings are read from.

Names of tools and parameters and values that a schema allows are part of the contract between agent and model; tags and
phrases identify calls, reasoning and states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from workbench import regex
from workbench.config import folder
from workbench.ir import JsonValue, Message, ToolDef
from workbench.protocols import DecodedExchange, fact
from workbench.rules import PENDING_WORDS, UNSURE
from workbench.wire.secrets import KEY_TEXT

FIXED: Final = frozenset({
    "true", "false", "null", "none", "nan", "infinity", "https", "http", "base64",
    "error", "exception", "traceback", "failed", "failure", "fatal", "invalid", "unknown", "denied", "permission",
    "command", "not", "found", "such", "cannot", "could", "timed", "out", "has", "have", "with", "after", "because",
    "due", "build", "request", "job", "task", "operation", "connection", "upload", "download", "login", "query", "call",
    "step", "script", "install", "installation", "compilation", "deploy", "deployment", "process",
})  # fmt: skip
"""Literals, and the words by which a tool result states that it failed."""

MAX_KNOWN_TOOLS: Final = 8
"""Limit of tool lists kept for comparison: an agent and its sub-agents each send their own."""

_TAGS: Final = (
    "arg_key|arg_value|eop|function_calls|function_results|function|invoke|name|parameters|parameter|response|result"
    "|think|thinking|tool_call|tool_calls|tool_name|tool_response|tool_result|tools|tool_use"
)
_PATTERNS: Final = (
    rf"</?(?:antml:|minimax:|mm:|｜DSML｜)?(?:{_TAGS})\b(?: name=)?",
    r"<[|｜][a-z_▁|｜]{1,40}[|｜]>(?:assistant|analysis|commentary|final)?",
    r"\[/?(?:TOOL_[A-Z]+|ARGS|CALL_ID|AVAILABLE_TOOLS|DONE)\]",
    r"```[a-z_]*",
    r"\b(?:to=)?functions\.",
    r'"(?:name|arguments|parameters|tool|tool_calls?|tool_name|function|type|id|action|action_input|input|args)"(?=\s*:)',
    r'(?<= )string="(?:true|false)"(?=>)',  # of DSML's parameters
    r"\b[A-Z][A-Za-z]*(?:Error|Exception)\b|\b[a-z_]*error\b|(?i:fehler|erreur|erro|errore|ошибка)\b",
    "错误|失败|錯誤|失敗|エラー|오류",
    r"data:[a-z]+/[a-z0-9.+-]+;base64,",
    r"skip_thought_signature_validator|context_engineering_is_the_way_to_go",
    r"\b(?:functions|call|toolu|chatcmpl|msg|resp)_",
    KEY_TEXT,
    f"(?i:{UNSURE.pattern})",
    f"(?i:^{PENDING_WORDS.pattern})",
)
TEXT: Final = regex.compile("|".join(_PATTERNS))
_WORD: Final = regex.compile("[A-Za-z]{3,}|[0-9]{3,}")


def distinct_words(text: str) -> set[str]:
    """Words of a text in lower case, and its numbers."""
    return set(map(str.lower, _WORD.findall(text)))


class ContractWords:
    """Names that exchanges declare or use (tools, parameters, allowed values), and the words in them.

    Attributes:
        found: names and words of the exchanges added.
    """

    def __init__(self) -> None:
        self.found: set[str] = set()
        self._tools: list[tuple[ToolDef, ...]] = []

    def add(self, decoded: DecodedExchange) -> None:
        """Add the names of one more exchange."""
        request = decoded.request
        if request and request.tools and request.tools not in self._tools:
            self._tools = [*self._tools[1 - MAX_KNOWN_TOOLS :], request.tools]
            self.found |= _names_and_words(name for tool in request.tools for name in _tool_names(tool))
        for side in (request, decoded.response):
            for message in side.messages if side else ():
                self.found |= fact(message, _call_names)


def contract_words(decoded: DecodedExchange) -> set[str]:
    """Names and words of one exchange."""
    words = ContractWords()
    words.add(decoded)
    return words.found


def _tool_names(tool: ToolDef) -> Iterator[str]:
    yield tool.name or ""
    yield from _schema_names(tool.schema)
    yield from (tool.description or "").split(maxsplit=1)[:1]  # a verb: whether calling it changes something


def _call_names(message: Message) -> frozenset[str]:
    """Names and ids in the calls of a message; an error names a call by its id."""
    calls = [call for _, call in message.tool_calls()]
    if not calls:
        return frozenset()
    ids = frozenset(word for call in calls for word in distinct_words(call.id or ""))
    return ids | _names_and_words(name for call in calls for name in (call.name or "", *_keys(call.input)))


def _names_and_words(names: Iterable[str]) -> frozenset[str]:
    """Names in lower case and their words, without numbers."""
    texts = list(names)
    words = {word for word in distinct_words(" ".join(texts)) if not word.isdigit()}
    return frozenset(words.union(map(str.lower, texts)) - {""})


def _schema_names(schema: JsonValue) -> Iterator[str]:
    """Property names and enumeration values of a schema."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            for key in ("properties", "$defs", "definitions"):
                members = node.get(key)
                yield from members if isinstance(members, Mapping) else ()
            allowed = node.get("enum")
            values = [*(allowed if isinstance(allowed, list | tuple) else []), node.get("const")]
            yield from (value for value in values if isinstance(value, str))
            stack += node.values()
        elif isinstance(node, list | tuple):
            stack += node


def _keys(value: JsonValue) -> Iterator[str]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            yield from node
            stack += node.values()
        elif isinstance(node, list | tuple):
            stack += node


@cache
def provider_words() -> frozenset[str]:
    """Words of providers' error texts, and the names of their hosts."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder("profiles").glob("*.yaml")))
    return frozenset().union(*map(distinct_words, texts))
