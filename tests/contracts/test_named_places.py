"""Named places: where each protocol says that they stand, in a request written by the protocol itself."""

from __future__ import annotations

import json
from functools import cache

import pytest

from tests.contracts.relation_twins import BODIES, SCHEMA
from workbench import protocols
from workbench.contracts.facts import load
from workbench.contracts.pointer_patterns import read_place
from workbench.contracts.relations import Evidence
from workbench.contracts.vocabulary import vet
from workbench.convert import convert
from workbench.errors import ProfileError
from workbench.rules import Inspector
from workbench.wire import Body, Exchange, Headers, HttpRequest
from workbench.wire.session import MemorySession

PIXEL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
SAMPLING = {"temperature": 0.25, "top_p": 0.75, "seed": 11, "presence_penalty": 0.5, "frequency_penalty": -0.5}
COMMON = {"temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty", "max_tokens"}
HELD = {
    "tool.name": "find",
    "tool.description": "Find a word",
    "call.name": "find",
    "content.text": "go",
    "request.max_tokens": 64,
    **{f"sampling.{name}": value for name, value in SAMPLING.items()},
}
"""Name of a place → what the request has there, in every protocol that has the place."""


@cache
def written(protocol):
    """One request, as each protocol writes it."""
    body = {
        **BODIES["openai-chat"],
        "model": "m",
        "max_tokens": 64,
        "stop": ["END"],
        "tool_choice": "required",
    } | SAMPLING
    user = {"role": "user", "content": [{"type": "text", "text": "go"}, PIXEL]}
    body["messages"] = [user, *body["messages"][1:]]
    found = convert(json.dumps(body).encode(), protocol, protocol="openai-chat")
    return json.loads(found.body)


def at(protocol, name):
    """Values at a named place, in that request and in the one of the twins: Gemini has two keys for a tool's schema."""
    place = read_place(protocols.traits(protocol).places[name])
    bodies = (written(protocol), BODIES.get(protocol.removesuffix("-live"), {}))
    return [found.value for body in bodies for found in place.find(body)]


@pytest.mark.parametrize("protocol", protocols.protocols())
def test_each_protocol_says_where_named_places_stand(protocol):
    places = protocols.traits(protocol).places
    for name, value in HELD.items():
        if name in places:
            assert value in at(protocol, name), name
    assert any(SCHEMA["required"] == each.get("required") for each in at(protocol, "tool.parameters"))
    for name in ("content.image", "result.content", "call.arguments", "request.tools"):
        assert any(each not in (None, [], {}) for each in at(protocol, name)), name
    if "call.id" in places and "result.id" in places:
        assert at(protocol, "call.id") == at(protocol, "result.id")


@pytest.mark.parametrize("protocol", protocols.protocols())
def test_a_parameter_without_a_named_place_is_one_that_the_protocol_cannot_carry(protocol):
    adapter = protocols.get(protocol)
    read = adapter.decode_request(json.dumps(written(protocol)).encode())
    found = {p.name: p.pointer for p in adapter.params(read) if p.name in COMMON}
    named = {f"{'request' if name == 'max_tokens' else 'sampling'}.{name}": place for name, place in found.items()}
    assert named
    places = protocols.traits(protocol).places
    assert {name: places.get(name) for name in named} == named


CONTRACT = """
version: 1
name: mine
title: Mine
surveyed: 2026-11-20
protocols: [{protocols}]
sources: {{seen: {{title: what it answered}}}}
facts: []
relations:
- {{at: tool.description, longer: 3, {more} name: long, says: "too long: {{path}}", source: seen}}
"""


def own(more="", covers=None):
    return load(CONTRACT.format(protocols=", ".join(covers or protocols.protocols()), more=more), "mine.yaml")


@pytest.mark.parametrize("protocol", protocols.protocols())
def test_a_fact_of_a_named_place_holds_on_every_wire(protocol):
    (relation,) = own().resolve(protocol, "", "m").relations
    assert [found.value for found in relation.place.find(written(protocol))] == ["Find a word"]
    assert relation.is_enforced


def test_what_was_seen_on_one_wire_is_a_warning_on_its_siblings():
    file = own("seen-on: [openai-chat],")
    seen, sibling = (file.resolve(name, "", "m") for name in ("openai-chat", "openai-responses"))
    assert seen.relations[0].is_enforced and seen.enforces
    assert sibling.relations[0].evidence == Evidence.SIBLING
    assert not sibling.relations[0].is_enforced and not sibling.enforces


def test_a_fact_of_a_place_that_the_wire_lacks_holds_for_nothing():
    file = own()
    text = CONTRACT.format(protocols="ollama", more="").replace("tool.description, longer: 3", "tool.strict, is: true")
    assert not load(text, "mine.yaml").resolve("ollama", "", "m").relations
    assert file.resolve("ollama", "", "m").relations


def test_a_name_that_no_protocol_has_is_refused():
    text = CONTRACT.format(protocols="ollama", more="").replace("tool.description", "tool.descripton")
    with pytest.raises(ProfileError, match=r"no place named 'tool.descripton'; did you mean tool.description\?"):
        load(text, "mine.yaml", vet)


def test_a_parameter_that_a_model_refuses_on_chat_is_a_warning_on_responses():
    body = {"model": "o3-mini", "input": "go", "temperature": 0.2}
    request = HttpRequest("POST", "https://api.openai.com/v1/responses", Headers(()), Body(json.dumps(body).encode()))
    (row,) = Inspector(MemorySession("sibling", (Exchange("1", request),))).run().rows
    (found,) = [each for each in row.findings if each.pointer == "/temperature"]
    assert (found.rule, found.severity.value) == ("params.unsupported", "warning")
    assert "in another protocol" in found.message and found.check is None
