"""Unwrapping: extracts recordings from other text: a command, a log, an issue report, a printed object.

In: any text. Out: requests, responses, and bytes for an importer; unreadable finds are named with the reason.
``around`` removes layers around a whole text, ``scan`` searches a text once, ``pieces`` divides Markdown. Nothing is
run or evaluated, and every step is linear in the text. Exchanges made here are marked *pasted*: no recorder vouches for
their bytes. It may import what ``formats`` may.

Recognises text that is neither traffic nor model output by its form, and suggests what to do instead.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench import regex
from workbench.contracts import error_texts
from workbench.formats.unwrapping._finds import PASTED, Find, UnreadableFind
from workbench.formats.unwrapping._layers import Layer, MarkdownPiece, around, decode, pieces
from workbench.formats.unwrapping._scan import Scan
from workbench.formats.unwrapping._values import UnreadableValue, ValueReader

AS_TEXT = "use --protocol text for text that a model wrote"
RECORD = "record the traffic (workbench record), or paste the request or response itself"
MOST_PASTED = 8192
"""Limit of characters of a pasted error; longer text may just quote one."""
_HEAD = 16_384
_PROSE = regex.compile(r"^(?:```|~~~|#{1,6}[ ]\S+[ ]\S|[A-Z][^\n{}();=]{60,}[.:!?]$)", re.MULTILINE)


class UnusableText(NamedTuple):
    """Kind of an unusable text, and a hint."""

    what: str
    hint: str


def _form(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(patterns), flags)


_LINES = re.MULTILINE
"""Flag of forms where one line is enough; prose that quotes such a line does not count."""

_EXPLAIN = "look up the error message with workbench explain 'ERROR TEXT', or record the traffic"
_RUN = "run the program under workbench record, or paste the request or response itself"
_KINDS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "a log of requests without their bodies",
        _form(r"^[^\n]{0,200}HTTP Request: [A-Z]+ https?://[^\n]+$", flags=_LINES),
        "set the SDK's log level to debug (OPENAI_LOG=debug, ANTHROPIC_LOG=debug), "
        "or record the traffic (workbench record)",
    ),
    (
        "the access log of a server",
        _form(r'^[^"\n]{0,200}"(?:POST|GET) /[^"\s]{0,500} HTTP/[\d.]{1,3}" \d{3}\b', flags=_LINES),
        RECORD,
    ),
    ("a web page", _form(r"\A\s*(?:<!doctype html|<html[\s>])", flags=re.IGNORECASE), RECORD),
    ("XML", _form(r"\A\s*<\?xml\s"), RECORD),
    ("a Python traceback", _form(r"^Traceback \(most recent call last\):$", flags=_LINES), _EXPLAIN),
    ("a stack trace", _form(r"^[ \t]+at [\w.$<>\[\] ]+\(?[^()\n]*:\d+:\d+\)?$", flags=_LINES), _EXPLAIN),
    ("a diff of two files", _form(r"\Adiff --git ", r"\A--- \S[^\n]*\n\+\+\+ "), "give the file itself"),
    (
        "comma-separated values",
        _form(r"\A[\w \"-]+(?:,[\w \"-]+){2,}\r?\n(?:[^,\n]*,[^,\n]*,.*(?:\n|\Z)){2,}"),
        RECORD,
    ),
    (
        "a TOML or INI file",
        _form(
            r"\A(?:[ \t]*(?:[#;][^\n]*)?\r?\n)*\[[\w.\"\- ]+\]\r?\n[ \t]*(?:[\w.-]+[ \t]*=|[#;\n])",
            r"\A(?:[\w.-]+[ ]*=[^\n=]+\n){2,}",
        ),
        RECORD,
    ),
    (
        "YAML",
        _form(
            r"\A(?:---[ \t]*\n|%YAML)",
            r"\A(?:#[^\n]*\n)*(?:[\w\"'-]+:(?:[ ][^\n]*|\r)?\n(?:[ \t][^\n]*\n|- [^\n]*\n)*){3,}",
        ),
        RECORD,
    ),
    ("a shell script", _form(r"\A#!"), RECORD),
    ("environment variables", _form(r"\A(?:(?:export )?[A-Z][A-Z0-9_]{2,}=[^\n]*(?:\n|\Z)){2,}\Z"), RECORD),
    (
        "source code",
        _form(
            r"^(?:import \w[\w.]*(?: as \w+)?|from [\w.]+ import [\w(*].*|import .* from ['\"].*)$",
            r"^(?:(?:async )?def \w+\(.*|class \w+[(:{ ].*|(?:export )?(?:async )?function \w+\(.*)$",
            r"^(?:(?:const|let|var) \w+ = .*|package \w+;?|use [\w:]+;|#include [<\"].*|public (?:static |class ).*)$",
            flags=_LINES,
        ),
        _RUN,
    ),
)


def recognise(text: str) -> UnusableText | None:
    """Kind of a text that cannot be read; None if its form does not show it."""
    matches = error_texts.find_matches(text) if len(text) <= MOST_PASTED else []
    if matches:
        first = matches[0]
        who = f"{first.provider} and others" if len(matches) > 1 else first.provider
        source = f"{who}: {first.rule}" if first.rule else who
        return UnusableText(
            f"the text looks like an error message ({source}), not like a model's response",
            "look up the message with workbench explain 'TEXT'",
        )
    head = text[:_HEAD]
    is_prose = bool(_PROSE.search(head))
    for what, pattern, hint in _KINDS:
        if pattern.search(head) and not (is_prose and pattern.flags & _LINES):
            return UnusableText(
                f"the text looks like {what}, but contains no request or response of a model API", f"{hint}; {AS_TEXT}"
            )
    return None


__all__ = [
    "HINT",
    "PASTED",
    "Find",
    "Layer",
    "MarkdownPiece",
    "Scan",
    "UnreadableFind",
    "UnreadableValue",
    "UnusableText",
    "ValueReader",
    "around",
    "decode",
    "pieces",
    "recognise",
    "scan",
]


HINT = "paste the complete text, or record the traffic (workbench record); for a model's text, use --protocol text"


def scan(text: str) -> Scan:
    """Search a text."""
    return Scan(text).run()
