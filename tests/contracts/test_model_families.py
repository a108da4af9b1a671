"""What versions of a model's family refuse, and what the provider of a model refuses of it elsewhere."""

from __future__ import annotations

import re

import pytest

from workbench import contracts
from workbench.contracts import loading
from workbench.contracts.model_families import ModelFamily, family_of
from workbench.contracts.reader import Node
from workbench.contracts.scopes import matches, read_scope
from workbench.errors import ProfileError

FAMILIES = [
    ("gpt-5-2-codex", ("gpt-5", "codex", (2,))),
    ("gpt-5", ("gpt-5", "", ())),
    ("claude-opus-4-7*", ("claude-opus-4", "", (7,))),
    ("claude-opus-4-8-20260601", ("claude-opus-4", "", (8,))),
    ("grok-4-20-0309-non-reasoning", ("grok-4", "non", (20,))),
    ("kimi-k2-6", ("kimi-k2", "", (6,))),
    ("gpt-4o-mini", ("gpt-4o", "mini", ())),
    ("command", None),
]


@pytest.mark.parametrize(("name", "expected"), FAMILIES, ids=[row[0] for row in FAMILIES])
def test_a_name_tells_family_kind_and_version(name, expected):
    assert family_of(name) == (ModelFamily(*expected) if expected else None)


def suspected(name, protocol, model):
    contract = loading.resolve(name, protocol, "", model)
    return {str(each.place) for each in contract.relations if each.evidence == "family"}


def test_what_two_versions_refuse_is_expected_of_a_later_one_of_their_kind():
    assert "/temperature" in suspected("openai", "openai-responses", "gpt-5.9-codex")
    assert "/temperature" not in suspected("openai", "openai-responses", "gpt-5.9-nano")
    assert "/presence_penalty" in suspected("xai", "openai-chat", "grok-4.9")
    assert not suspected("xai", "openai-chat", "grok-4.5")  # it has a fact of its own
    assert not suspected("openai", "openai-chat", None)


def test_what_the_provider_of_a_model_refuses_is_expected_at_a_host_that_passes_requests_on():
    unknown = loading.of_model("kimi", "openai-chat", "", "kimi-k3")
    assert {"/temperature"} <= {str(each.place) for each in unknown.relations if each.evidence == "model"}
    gateway = loading.resolve("copilot", "openai-responses", "", "gpt-5.1-codex")
    assert {"/temperature"} <= {str(each.place) for each in gateway.relations if each.evidence == "model"}
    assert not [each for each in gateway.relations if each.evidence == "model" and each.is_enforced]


FITS = [
    ("gpt-5.2", "gpt-5.2*", True),
    ("gpt-5-2-codex", "gpt-5.2*", True),
    ("openai/GPT-5.2-2025-12-11", "gpt-5.2*", True),
    ("gpt-5-2025-08-07", "gpt-5.2*", False),
    ("gpt-5-mini-2025-08-07", "gpt-5.[1-9]*", False),
    ("gpt-4-1-2025-04-14", "gpt-4.1*", True),
    ("gpt-4-1106-preview", "gpt-4.1*", False),
    ("gpt-5-2025-08-07", "gpt-5*", True),
    (None, "gpt-5*", False),
]


@pytest.mark.parametrize(("name", "glob", "fits"), FITS, ids=[f"{name} {glob}" for name, glob, _ in FITS])
def test_a_date_is_no_minor_version(name, glob, fits):
    assert matches(name, (glob,)) is fits


def globs_of_models():
    for name in contracts.names():
        file = contracts.read(name)
        for blocks in (file.facts, file.checks, file.relations):
            for holds, _ in blocks:
                for glob in holds.models:
                    yield name, glob


def test_every_pattern_of_models_fits_a_model_that_is_named_so():
    """A pattern such as "[5-9]" or "4.6" means what it says in the one spelling that names are compared in."""
    unfit = [(name, glob) for name, glob in set(globs_of_models()) if not matches(an_example_of(glob), (glob,))]
    assert not unfit


def an_example_of(glob):
    chosen = re.sub(r"\[(\w)[^]]*\]", r"\1", glob)
    return chosen.replace("*", "").replace("?", "1")


def test_a_pattern_that_fits_every_model_of_every_vendor_is_no_scope():
    node = Node({"models": ["gpt-4", "vendor/*"]}, "file", "/for")
    with pytest.raises(ProfileError, match="matches every model"):
        read_scope(node)
