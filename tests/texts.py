"""``python -m tests.texts [PATH…]``: every text of the program that people can read, with its place.

A text is a sentence or phrase in a string of ``workbench``, or a prose field of its YAML files. ``--random N`` prints N
of them drawn by ``--seed``, for reading cold; ``--retired`` prints those that hold a word which ``docs/language.md``
retires. PATH (a file or folder) narrows the list.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from workbench.diff.damage import DamageKind, damage_words
from workbench.recorder.audit.verdicts import GatewayFault

ROOT = Path(__file__).resolve().parent.parent

PROSE = frozenset(
    {"title", "what", "why", "finds", "look_for", "fix", "note", "notes", "summary", "description", "means", "do"}
)
"""Fields of our YAML files that hold sentences of ours; other fields are facts, quotes and examples."""

EXAMPLES = frozenset({"failing", "passing", "example"})
"""Fields that hold requests and responses."""

QUOTING = frozenset(
    {"compile", "fullmatch", "match", "search", "sub", "finditer", "split", "execute", "executescript", "word_set"}
    | {"plain"}
)
"""Calls whose strings are patterns, statements or lists of names."""

STABLE = frozenset(str(kind) for kind in (*DamageKind, *GatewayFault) if damage_words(kind) != kind)
"""Values in JSON that scripts read, for which people see other words."""

RETIRED: dict[str, str] = {
    r"brought|brings": "returned, contained",
    r"stands?(?! for\b|-in)|stood": "is",
    r"go(?:es)? on|went on|going on": "continues",
    r"owe[sd]?": "required",
    r"mend(?:s|ed|ing)?": "fix",
    r"anew": "again",
    r"the workbench": "Workbench",
    r"comes? to|came to": "say who does what",
    r"(?:is|are) told(?! apart)": "say who does what",
    r"(?:is|are) had": "say who does what",
    r"ha(?:s|ve) yet to": "not yet",
}
"""Words that the guide retires (a pattern, case matters only for names) → what to write instead."""

PHRASES: dict[str, str] = {
    r"beside\b": "next to, together with",
    r"speaks?\b(?! https?://)": "uses, supports, says",
    r"for ever\b": "forever",
    r"as asked": "as requested",
    r"whatever": "any",
    r"so many(?! of\b)": "this many",
    r"of (?:its|their) own": "its own, separate",
    r"anybody|nobody": "no one, or say who",
    r"(?<!there )(?:is|are) no (?!longer\b|such\b)": "is not",
    r"(?:text|functions|tools|servers|texts) alone": "only text",
    r"certainly (?:above|below)": "above … with 95 % confidence",
    r"proves nothing": "inconclusive",
    r"cut off\b|cut-off\b": "truncated, incomplete",
    r"broken off\b|broke off\b|breaks off\b": "ends early, closed",
    r"torn\b": "truncated",
    r"cache marker|cache point": "cache breakpoint",
    r"hung up\b": "disconnected",
    r"exclude each other": "cannot be used together",
    r"all the same\b": "anyway",
    r"without end\b": "without limit, endlessly",
    r"reads no\b|sees no\b": "does not accept",
    r"judged\b|judges?\b": "checks, checked",
    r"takes? no\b": "does not accept, cannot be used with",
    r"listens? at\b": "listening on",
    r"pairs nothing\b": "does not pair",
    r"in place of\b": "instead of",
    r"another (?:order|form|format|type|value|status|shape|encoding|spelling|code)\b": "a different",
    r"rightly\b": "correctly",
    r", and the client did not|, and (?:this|the) (?:gateway|request|server) (?:no longer|did not|never)\b": "but",
    r"; again:": "; press again to …",
    r"white space\b": "whitespace",
    r"word for word\b": "unchanged, literally",
    r"wrongly\b": "incorrectly",
    r"makes up an?\b": "invents",
    r"of those that\b": "name them again",
    r"(?:refused|checked|counts|ignored) too\b": "also refused",
    r"does not know (?:blocks|items|this)\b": "does not support",
}
"""Words and patterns that texts for users avoid as well; docstrings may have them."""

PRONOUNS = re.compile(r"(?:it(?! is un)|its|they|their|them)\b", re.IGNORECASE)
"""Beginnings of a note that leave open what it is about; "It is unknown whether …" names its subject later."""

_PHRASES = re.compile("|".join(rf"\b(?:{words})" for words in PHRASES), re.IGNORECASE)
_RETIRED = re.compile("|".join(rf"\b(?:{words})\b" for words in RETIRED))
_WORDS = re.compile(r"[A-Za-z][a-z']+[,:;]* +(?:[a-z'(\"{]|\{\})")
_CODE = re.compile(
    r"^\s*(?:SELECT|INSERT|CREATE|UPDATE|DELETE|PRAGMA|def |class |import |from |#!|<\w|\{%|\.\w+ \{)"
    r"|\(\?[:P<!=]|\\[bwdsS]|\{\"|^(?:accent|muted|strong|bold|dim|error|warning|success)( \w+)?$"
    r"|^\w+ (?:strong|muted|bold|italic|dim)$|charset=|'(?:none|self)'|^\s*(?:<!doctype|@pytest|:root|\w+ \{ \w+:)"
    r"|^\s*(?:assert|return|for \w+ in|with) [\w.]+[.(]|^print\(|^\w+\[[\w, ]+\](?: \| None)?$"
    r"|^\s*WITH \w+ AS |\bSEMI JOIN\b|\w\{[\w-]+:[^{}]+\}"
    r"|^(?:Host|Connection|Upgrade|Sec-WebSocket-[\w-]+|event|data): ?\{…\}"
    r"|^\^|^<\{|^_\w+\(|^lambda |^@\w+\n|^\s*if \w+\.__|^(?:rows|verdict) \{…\}$|^read_json\(|^\[req\]"
)
"""Texts that are no texts: statements, styles of lines, style sheets, headers, code of exported programs."""

_NAMES = re.compile(r"[\w.$-]+(?:\s+[\w.$-]+){7,}")
_NAME = re.compile(r"\w(?:[a-z][A-Z]|[_-]\w)")


class Text(NamedTuple):
    """A text: file (relative to the checkout), line (from 1), and its words, with ``{…}`` for what is filled in."""

    path: str
    line: int
    words: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.words}"


def texts(paths: Sequence[Path] = ()) -> Iterator[Text]:
    """Every text in the order of files and lines."""
    for path in _files(paths or (ROOT / "workbench", ROOT / "profiles")):
        yield from _texts_of(path)


@cache
def _texts_of(path: Path) -> tuple[Text, ...]:
    return tuple((_of_python if path.suffix == ".py" else _of_yaml)(path))


def docstrings(paths: Sequence[Path] = ()) -> Iterator[Text]:
    """Every docstring of the program."""
    for path in _files(paths or (ROOT / "workbench",)):
        for node in _documented(path) if path.suffix == ".py" else ():
            if said := ast.get_docstring(node):
                yield Text(_place(path), node.body[0].lineno, said)


def retired(text: str) -> str:
    """The first word of a text that the guide retires; empty for none."""
    found = _RETIRED.search(text)
    return found.group() if found else ""


def stilted(text: str) -> str:
    """The first phrase of a text that texts for users avoid (``PHRASES``); empty for none."""
    found = _PHRASES.search(text)
    return found.group() if found else ""


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (p for p in inside if p.suffix in (".py", ".yaml") and "_data" not in p.parts)


def _place(path: Path) -> str:
    return path.resolve().relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    """The parsed module; the program is parsed once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a module; as it is walked by many tests, it is kept."""
    return tuple(ast.walk(tree(path)))


Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


def _documented(path: Path) -> Iterator[Any]:
    return (node for node in nodes(path) if isinstance(node, Documented))


def _of_python(path: Path) -> Iterator[Text]:
    skipped = {
        id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)
    }  # docstrings of modules, classes, functions, constants
    for node in nodes(path):
        if isinstance(node, ast.Call) and _called(node) == "split" and isinstance(node.func, ast.Attribute):
            skipped.add(id(node.func.value))  # a list of names, written as one string
        if isinstance(node, ast.Call) and _called(node) in QUOTING:
            skipped |= {id(inner) for argument in node.args for inner in ast.walk(argument)}
        if isinstance(node, ast.Assign) and re.fullmatch(r"_\w*NAMES", getattr(node.targets[0], "id", "")):
            skipped |= {id(inner) for inner in ast.walk(node.value)}
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values if isinstance(part, ast.Constant)}
    found = (
        Text(_place(path), node.lineno, words)
        for node in nodes(path)
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in skipped and (words := _words(node))
    )
    yield from sorted(found, key=lambda text: text.line)


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _words(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        said = node.value if isinstance(node.value, str) else ""
    else:
        said = "".join(str(p.value) if isinstance(p, ast.Constant) else "{…}" for p in node.values)
    is_text = _WORDS.search(said) and not _CODE.search(said) and not _is_names(said) and said not in STABLE
    return said.strip() if is_text else ""


def _is_names(said: str) -> bool:
    """A list of names, written as one string."""
    return _NAMES.fullmatch(said.strip()) is not None and len(_NAME.findall(said)) > 2


def _of_yaml(path: Path) -> Iterator[Text]:
    root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    yield from sorted(_prose(root, _place(path)), key=lambda text: text.line)


def _prose(node: yaml.Node | None, path: str) -> Iterator[Text]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value in EXAMPLES:
                continue
            if key.value in PROSE:
                yield from _scalars(value, path)
            else:
                yield from _prose(value, path)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _prose(item, path)


def _scalars(node: yaml.Node, path: str) -> Iterator[Text]:
    if isinstance(node, yaml.ScalarNode) and " " in str(node.value):
        yield Text(path, node.start_mark.line + 1, " ".join(str(node.value).split()))
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item, path)


def main(words: Sequence[str] | None = None) -> int:
    """Print the texts asked for; 1 with ``--retired`` when there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.texts", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--docstrings", action="store_true", help="docstrings instead of texts")
    parser.add_argument("--retired", action="store_true", help="only those with a retired word")
    asked = parser.parse_args(words)
    found = list((docstrings if asked.docstrings else texts)(asked.paths))
    if asked.retired:
        found = [text for text in found if retired(text.words)]
    if asked.random:
        found = random.Random(asked.seed).sample(found, min(asked.random, len(found)))
    for text in found:
        print(f"{text}   « {retired(text.words)} »" if asked.retired else text)
    return int(asked.retired and bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
