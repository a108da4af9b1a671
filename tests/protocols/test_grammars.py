"""Grammars: what they say of a body, and that each that ships is whole."""

from __future__ import annotations

import json
import re

import pytest

from tests.grammars.merging import differences, join
from tests.grammars.python_types import PythonTypes
from tests.grammars.services import from_botocore, from_discovery
from tests.grammars.sources import GRAMMARS
from workbench.config import resources
from workbench.protocols import _value_limits
from workbench.protocols.grammars import BodyGrammar, grammar_of

TYPES = {
    "Body": {
        "keys": {"messages": ["[]", ["|", "#Ask", "#Say"]], "n": "int", "t": "num", "side": "#Side"},
        "need": ["messages"],
    },
    "Ask": {"keys": {"role": ["=", "user"], "content": ["|", "str", ["[]", "#Text"]]}, "need": ["role", "content"]},
    "Say": {"keys": {"role": ["=", "assistant"], "content": ["|", "str", "null"]}, "need": ["role"]},
    "Side": {"keys": {"a": "int", "b": ["|", "int", "null"]}, "one": True},
    "Text": {"keys": {"type": ["=", "text"], "text": "str", "marks": ["{}", "int"]}, "need": ["type", "text"]},
}


def grammar(*, is_proto=False, types=TYPES):
    return BodyGrammar("toy 1", "2026-11-28", "Body", "", "toy", is_proto, False, types)


ask = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"messages": [ask], "n": 1, "t": 1}, []),
        ({"messages": [{"role": "assistant", "content": None}], "n": 1.0}, []),
        ({"messages": []}, []),
        ({"messages": [], "n": 10**400, "t": -(10**400)}, []),
        ({}, [("", "missing", "messages")]),
        ({"messages": {}}, [("/messages", "type", "messages")]),
        ({"messages": [ask], "m": 1}, [("/m", "key", "m")]),
        ({"messages": [ask], "n": True}, [("/n", "type", "n")]),
        ({"messages": [ask], "n": None}, [("/n", "null", "n")]),
        ({"messages": [ask], "n": 1.5}, [("/n", "type", "n")]),
        ({"messages": [ask | {"role": "tool"}]}, [("/messages/0/role", "variant", "role")]),
        ({"messages": [{"content": "hi"}]}, [("/messages/0", "missing", "role")]),
        ({"messages": [ask | {"content": 3}]}, [("/messages/0/content", "type", "content")]),
        ({"messages": [ask | {"content": [{"type": "text"}]}]}, [("/messages/0/content/0", "missing", "text")]),
        (
            {"messages": [ask | {"content": [{"type": "text", "text": "a", "marks": {"x/y": "z"}}]}]},
            [("/messages/0/content/0/marks/x~1y", "type", "x~1y")],
        ),
        ({"messages": [{"role": "assistant", "text": "a"}]}, [("/messages/0/text", "key", "text")]),
        ({"messages": [ask], "side": {"a": 1, "b": None}}, []),
        ({"messages": [ask], "side": {"a": 1, "b": 2}}, [("/side", "many", "b")]),
    ],
)
def test_faults_are_at_their_place(body, expected):
    known = grammar()
    assert [(f.pointer, f.code, f.name) for f in known.faults("#Body", body)] == expected


def test_json_of_protocol_buffers_is_read_as_its_parser_reads_it():
    types = {
        "Body": {"need": ["topK"], "keys": {"topK": "int", "contents": ["[]", "#Content"], "mode": ["=", "AUTO"]}},
        "Content": {"keys": {"text": "str"}},
    }
    known = grammar(is_proto=True, types=types)
    body = {"top_k": "40", "contents": {"text": "a"}, "mode": "auto"}
    assert not list(known.faults("#Body", body))
    assert not list(known.faults("#Body", {"mode": 1, "topK": None}))
    assert [f.pointer for f in known.faults("#Body", {"mode": "never", "topk": 1})] == ["/mode", "/topk", ""]


LIMITED = {
    "Body": {
        "keys": {"messages": ["[]", "#Say"], "t": ["|", "num", "null"], "stop": ["|", "str", ["[]", "str"]]},
        "limits": {"t": {"minimum": 0, "exclusiveMaximum": 2}, "stop": {"maxItems": 2, "each": {"minLength": 1}}},
    },
    "Say": {"keys": {"id": "str", "marks": ["{}", "int"]}, "limits": {"id": {"pattern": "[a-z]+", "maxLength": 3}}},
}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"t": 0, "stop": ["a", "b"], "messages": [{"id": "abc", "marks": {}}]}, {}),
        ({"t": None, "stop": ""}, {}),
        ({"t": -1}, {"/t": "at least 0"}),
        ({"t": 2}, {"/t": "less than 2"}),
        ({"t": "2"}, {"/t": "a number"}),
        ({"stop": ["a", "", "c"]}, {"/stop": "at most 2 elements", "/stop/1": "at least 1 characters"}),
        ({"messages": [{"id": "a-cd"}]}, {"/messages/0/id": "a string that matches [a-z]+ and at most 3 characters"}),
    ],
)
def test_values_are_held_to_their_limits(body, expected):
    assert {f.pointer: f.expected for f in grammar(types=LIMITED).faults("#Body", body)} == expected


def test_a_shape_with_a_limited_value_is_not_settled_by_its_skeleton():
    known = grammar(types=LIMITED).of_shapes()
    assert [f.pointer for f in known.faults("#Body", {"messages": [{"id": "\0", "marks": {"a": 1}}]})] == [
        "/messages/0/id"
    ]


@pytest.mark.parametrize(("protocol", "provider"), GRAMMARS)
def test_each_grammar_that_ships_is_whole(protocol, provider):
    known = grammar_of(protocol, provider)
    assert known is not None
    assert known.provider == provider or not provider
    assert known.request in known.types
    assert not known.answer or known.answer in known.types
    for each in known.types.values():
        assert set(each.get("need", ())) <= set(each["keys"])
        assert set(each.get("limits", ())) <= set(each["keys"])
        assert all(_are_limits(limits) for limits in each.get("limits", {}).values())
        assert all(name in known.types for kind in each["keys"].values() for name in _names(kind))


def _are_limits(limits):
    inner = limits.get("each")
    return limits.keys() <= _value_limits.WORDS and re.compile(limits.get("pattern", "")) and (
        inner is None or _are_limits(inner)
    )  # fmt: skip


@pytest.mark.parametrize("protocol", sorted({protocol for protocol, _ in GRAMMARS}))
def test_each_line_of_an_overlay_has_a_reason_and_an_effect(protocol):
    for line in json.loads(resources.protocol_file(protocol, "grammar-overlay.json") or b"[]"):
        assert line["why"]
        for provider in _listed(line.get("for", "")):
            name = f"grammar-{provider}.json" if provider else "grammar.json"
            types = json.loads(resources.protocol_file(protocol, name))["types"]
            assert set(_listed(line["type"])) <= set(types), (provider, line)
            for known in (types[name] for name in _listed(line["type"])):
                adds = [key for key, kind in line.get("keys", {}).items() if known["keys"].get(key) != kind]
                bounds = [
                    key for key, each in line.get("limits", {}).items() if known.get("limits", {}).get(key) != each
                ]
                frees = [key for key in line.get("optional", ()) if key in known.get("need", ())]
                asks = set(line.get("required", ())) - set(known.get("need", ()))
                assert adds or bounds or frees or asks or line.get("open"), (provider, line)


def _listed(value):
    return value if isinstance(value, list) else [value]


def _names(kind):
    if isinstance(kind, str):
        return [kind[1:]] if kind.startswith("#") else []
    return [] if kind[0] == "=" else [name for arm in kind[1:] for name in _names(arm)]


SDK = """
from __future__ import annotations
from typing import Union, Iterable, Optional
from typing_extensions import Literal, Required, Annotated, TypeAlias, TypedDict
from pydantic import BaseModel
from .parts import Part, Answer

Words = TypedDict("Words", {"in": str}, total=False)
Content: TypeAlias = Union[str, Iterable[Union[Part, Answer]]]

class Base(Words, total=False):
    kind: Literal["a", "b"]

class Body(Base, total=False):
    content: Required[Content]
    stop: Union[Optional[str], list[str]]
    from_: Annotated[int, PropertyInfo(alias="from")]
"""
PARTS = """
from typing import Optional
from enum import Enum
from typing_extensions import TypedDict, NotRequired
from pydantic import BaseModel, Field

class Shade(str, Enum):
    DARK = "dark"
    LIGHT = "light"

class Part(TypedDict):
    text: str
    shade: NotRequired[Shade]

class Answer(BaseModel):
    text: str
    note: Optional[str] = None
    size: int = Field(ge=0)
    'Required range: `0 <= x <= 9.5`'
    names: Optional[list[Annotated[str, Field(max_length=8)]]] = Field(None, min_length=1, max_length=MOST)
"""


def test_types_are_read_from_the_source_of_a_package(tmp_path):
    (tmp_path / "sdk").mkdir()
    (tmp_path / "sdk" / "body.py").write_text(SDK)
    (tmp_path / "sdk" / "parts.py").write_text(PARTS)
    found = PythonTypes(tmp_path / "sdk")
    assert found.root("body.py", "Body") == "Body"
    assert found.types["Body"] == {
        "keys": {
            "content": ["|", "str", ["[]", "#Part"]],
            "from": "int",
            "in": "str",
            "kind": ["=", "a", "b"],
            "stop": ["|", "str", "null", ["[]", "str"]],
        },
        "need": ["content"],
    }
    assert found.types["Part"] == {"keys": {"shade": ["=", "dark", "light"], "text": "str"}, "need": ["text"]}
    found.root("parts.py", "Answer")
    assert found.types["Answer"] == {
        "keys": {"names": ["|", ["[]", "str"], "null"], "note": ["|", "str", "null"], "size": "int", "text": "str"},
        "limits": {"names": {"each": {"maxLength": 8}, "minItems": 1}, "size": {"minimum": 0, "maximum": 9.5}},
        "need": ["size", "text"],
    }


def test_types_are_read_from_descriptions_of_services():
    schemas = {
        "XAsk": {"properties": {"parts": {"type": "array", "items": {"$ref": "XPart"}}}},
        "XPart": {"properties": {"n": {"type": "string", "format": "int64"}, "mode": {"enum": ["B", "A"]}}},
    }
    assert from_discovery(schemas, "X", ("Ask",)) == {
        "Ask": {"keys": {"parts": ["[]", "#Part"]}},
        "Part": {"keys": {"mode": ["=", "A", "B"], "n": "int"}},
    }
    shapes = {
        "Ask": {"type": "structure", "required": ["id", "text"], "members": {
            "id": {"shape": "S", "location": "uri"}, "text": {"shape": "S"}, "block": {"shape": "B"}}},
        "B": {"type": "structure", "union": True, "members": {"n": {"shape": "N", "locationName": "count"}}},
        "S": {"type": "string", "min": 0, "max": 8, "pattern": "[a-z]+"}, "N": {"type": "integer", "min": 0},
    }  # fmt: skip
    assert from_botocore(shapes, ("Ask",)) == {
        "Ask": {
            "keys": {"block": "#B", "text": "str"},
            "need": ["text"],
            "limits": {"text": {"maxLength": 8, "pattern": "[a-z]+"}},
        },
        "B": {"keys": {"count": "int"}, "one": True, "limits": {"count": {"minimum": 0}}},
    }


def test_releases_are_joined_and_changes_are_named():
    old = {"A": {"keys": {"x": "str", "y": "int"}, "need": ["x", "y"]}}
    new = {"A": {"keys": {"x": ["|", "str", "null"], "z": "int"}, "need": ["x"]}, "B": {"keys": {}}}
    joined = join(new, old)
    assert joined["A"] == {"keys": {"x": ["|", "str", "null"], "y": "int", "z": "int"}, "need": ["x"]}
    assert list(differences(old, joined)) == ["~ A.x", "+ A.z", "~ A: required x", "+ B"]
