from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import jsonschema
import pytest

import workbench
from workbench import contracts
from workbench.config import resources, safeyaml
from workbench.contracts import choose, pages
from workbench.contracts.facts import Clues
from workbench.errors import ProfileError, UsageError
from workbench.terms import ClosureTerms, Placement, ReasoningTerms, Scope
from workbench.toolcalls.schemas.dialect import OF_TOOLS, SUBTREES, Dialect

SHIPPED = sorted(resources.folder("profiles").glob("*.yaml"))
SHARED = sorted(resources.shared_profiles().values())
SCHEMA = json.loads((resources.folder("profiles") / "contract.schema.json").read_text(encoding="utf-8"))

SMALL = """
version: 1
name: small
title: Small
surveyed: 2026-01-02
hosts: [api.small.example]
models: ["small-*"]
protocols: [openai-chat]
sources: {doc: {title: Docs, url: "https://small.example", date: 2026-03}, old: {title: Old}}
variants:
  new: {title: new, models: ["small-2*"], why: the current era}
  old: {title: old, answers: [small-1]}
facts:
- terms: {closure.placement: {value: contiguous, source: doc}, reasoning.scope: {value: never, source: old}}
- for: {variants: [new]}
  terms: {reasoning.scope: {value: always, source: [old, doc], note: disputed}}
- for: {models: ["small-2.5*"]}
  terms: {reasoning.thinking-default: {value: true, source: old}}
enforces:
- {rule: closure.id-format, when: too-long, status: 400, message: "too {long}", source: doc}
- {rule: closure.id-format, when: missing, status: 422, message: gone, source: old}
- {rule: content.empty, status: 400, message: empty, source: doc, for: {models: ["small-2*"]}}
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder of the user's own contracts, empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "workbench" / "profiles"
    folder.mkdir(parents=True)
    contracts.forget()
    yield folder
    contracts.forget()


CELL = re.compile(r"^\| (`[^|]+`) \|", re.M)


@cache
def literals() -> frozenset[str]:
    """Every string in the code that may be a term."""
    texts = (p.read_text(encoding="utf-8") for p in Path(workbench.__file__).parent.rglob("*.py"))
    return frozenset(found for text in texts for found in re.findall(r'"([a-z]+[.][a-z-]+)"', text))


def problems(text: str | bytes) -> list[str]:
    value = safeyaml.load(text, name="t")
    return [e.message for e in jsonschema.Draft202012Validator(SCHEMA).iter_errors(value)]


@pytest.mark.parametrize("path", [*SHIPPED, *SHARED], ids=lambda p: p.stem)
def test_shipped_contracts_fit_the_schema(path):
    assert problems(path.read_bytes()) == []
    assert contracts.loading.load(path.read_bytes(), path.name).name == path.stem


@pytest.mark.parametrize("path", [*SHIPPED, *SHARED], ids=lambda p: p.stem)
def test_every_source_is_cited_and_every_fact_dated(path):
    value = safeyaml.load(path.read_bytes(), name=path.name)
    facts = [fact for block in value["facts"] for fact in block["terms"].values()]
    cited = [fact["source"] for fact in facts + value.get("enforces", []) + value.get("relations", [])]
    ids = {c for one in cited for c in (one if isinstance(one, list) else [one]) if not c.startswith("https://")}
    assert ids == set(value["sources"])
    file = contracts.loading.load(path.read_bytes(), path.name)
    assert all(f.source and f.date for _, facts in file.facts for f in facts.values())
    assert all(c.source and c.date for _, c in file.checks)


def test_readme_documents_every_term_and_no_other():
    text = (resources.folder("profiles") / "README.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`([a-z]+\.[a-z-]+)`", text)) - {"contract.schema"}
    modes = "|".join(SUBTREES)
    keys = {key for path in SHIPPED for _, facts in contracts.read(path.stem).facts for key in facts}
    used = {re.sub(rf"^schema\.({modes})\.", "schema.", key) for key in keys}
    applied = set(SCHEMA["$defs"]["terms"]["properties"])
    assert documented == used | applied


def test_applied_terms_are_the_fields_of_the_chain_and_of_the_dialects():
    fields = {f"closure.{n}" for n in ClosureTerms.__slots__} | {f"reasoning.{n}" for n in ReasoningTerms.__slots__}
    fields |= {f"schema.{n}" for n in Dialect.__slots__ if n not in ("name", "mode", "sources")}
    fields |= {f"schema.{n}" for n in OF_TOOLS}
    named = {f.replace("_", "-") for f in fields}
    typed = set(SCHEMA["$defs"]["terms"]["properties"])
    assert named <= typed
    assert typed - named <= literals()


def test_readme_says_which_terms_are_read_and_which_are_for_people():
    text = (resources.folder("profiles") / "README.md").read_text(encoding="utf-8")
    *_, read, people = (
        set(re.findall("[a-z]+[.][a-z-]+", " ".join(CELL.findall(part)))) for part in text.split("| term | value |")
    )
    assert {t for t in read if t not in literals()} == set()
    assert (people - set(pages.slugs())) & literals() == set()
    assert not people & set(SCHEMA["$defs"]["terms"]["properties"])


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_templates_name_their_variables(path):
    for _, check in contracts.read(path.stem).checks:
        for template in (check.template, check.type, check.param, check.code):
            names = re.findall(r"\{([^\W\d][^{}]*)\}", template)  # other braces are the provider's own
            assert all(re.fullmatch("[a-z]+", name) for name in names), template


def test_small_contract_resolves():
    file = contracts.loading.load(SMALL, "small.yaml")
    new = file.resolve(None, "new", "Vendor/Small-2.5-Pro")
    assert new.protocol == "openai-chat"
    assert new.label == "small:new"
    assert new.closure.placement is Placement.CONTIGUOUS
    assert (new.reasoning.scope, new.reasoning.thinking_default) == (Scope.ALWAYS, True)
    assert (new.terms["reasoning.scope"].source, new.terms["reasoning.scope"].date) == (
        "Old; Docs, https://small.example",
        "2026-03",
    )
    assert new.terms["reasoning.scope"].note == "disputed"
    assert new.term("reasoning.scope") == "always"
    assert new.term("no.such", 7) == 7
    old = file.resolve(None, "old", None)
    assert (old.reasoning.scope, old.reasoning.thinking_default) == (Scope.NEVER, False)
    assert old.terms["reasoning.scope"].date == "2026-01-02"
    assert old.check_for("content.empty") is None
    assert new.check_for("content.empty") is not None


def test_checks_are_told_apart_by_their_fault():
    contract = contracts.loading.load(SMALL, "small.yaml").resolve(None, "new", None)
    assert contract.check_for("closure.id-format").status == 400
    assert contract.check_for("closure.id-format", "missing").status == 422
    assert contract.check_for("closure.id-format", "other").when == "too-long"
    assert contract.check_for("closure.orphan-result", "missing") is None


def test_a_protocol_that_is_not_covered_is_said():
    contract = contracts.loading.load(SMALL, "small.yaml").resolve("gemini", "", None)
    assert not contract.covers
    assert contract.note == "the contract of small does not cover gemini"


BROKEN = [
    (": [", "small.yaml:1: not YAML"),
    ("a: 1", "small.yaml#: not a contract: it does not begin with version: 1"),
    ("[]", "small.yaml#: not a contract"),
    (SMALL.replace("version: 1", "version: 2"), "small.yaml#: not a contract"),
    (SMALL.replace("title: Small", "titel: Small"), "small.yaml#: unknown key 'titel'"),
    (SMALL.replace("title: Small", ""), "small.yaml#/title: missing"),
    (SMALL.replace("2026-01-02", "yesterday"), "small.yaml#/surveyed: not a day or month"),
    (SMALL.replace("hosts: [api.small.example]", "hosts: api"), "small.yaml#/hosts: not a list"),
    (
        SMALL.replace("source: doc}, r", "source: dok}, r"),
        "small.yaml#/facts/0/terms/closure.placement/source: no source",
    ),
    (SMALL.replace("[old, doc]", "[old, dok]"), "small.yaml#/facts/1/terms/reasoning.scope/source/1: no source"),
    (SMALL.replace("value: always", "value: often"), "small.yaml#/facts/1/terms/reasoning.scope/value: not a value"),
    (SMALL.replace("value: true", "value: 1"), "small.yaml#/facts/2/terms/reasoning.thinking-default/value: not a"),
    (SMALL.replace("{variants: [new]}", "{variant: [new]}"), "small.yaml#/facts/1/for: unknown key 'variant'"),
    (
        SMALL + "endpoints: [{url: 'http://a.b', key: K, protocols: [x]}]",
        "small.yaml#/endpoints/0/url: not a base URL",
    ),
    (
        SMALL + "endpoints: [{url: 'https://a@b', key: K, protocols: [x]}]",
        "small.yaml#/endpoints/0/url: not a base URL",
    ),
    (
        SMALL + "endpoints: [{url: 'https://a.b', key: sk-1, protocols: [x]}]",
        "small.yaml#/endpoints/0/key: not an environment variable name",
    ),
    (SMALL + "endpoints: [{url: 'https://a.b', key: K}]", "small.yaml#/endpoints/0/protocols: missing"),
    (SMALL.replace("{value: never, source: old}", "3"), "small.yaml#/facts/0/terms/reasoning.scope: not a mapping"),
    (SMALL.replace("{value: never, source", "{source"), "small.yaml#/facts/0/terms/reasoning.scope: missing: value"),
    (
        SMALL.replace("reasoning.scope: {value: n", "Scope: {value: n"),
        "small.yaml#/facts/0/terms/Scope: not a valid name of a fact",
    ),
    (SMALL.replace("status: 422", "status: '422'"), "small.yaml#/enforces/1/status: not a whole number"),
    (SMALL.replace("message: gone, ", ""), "small.yaml#/enforces/1/message: missing"),
]


@pytest.mark.parametrize(("text", "line"), BROKEN)
def test_broken_contracts_name_file_and_pointer(text, line):
    with pytest.raises(ProfileError) as caught:
        contracts.loading.load(text, "small.yaml")
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize("text", [t for t, line in BROKEN if "not YAML" not in line and "no source" not in line])
def test_the_schema_refuses_what_the_loader_refuses(text):
    assert problems(text)


def test_small_contract_fits_the_schema():
    assert problems(SMALL) == []


ANTHROPIC, OPENAI, GENERIC = "anthropic", "openai", "generic"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta"
DEEPSEEK = "https://api.deepseek.com/chat/completions"
CHOSEN = [
    (("https://api.anthropic.com/v1/messages", None, "anthropic-messages"), ANTHROPIC, "from host api.anthropic.com"),
    (
        ("http://localhost:1/v1/messages", "claude-opus-4.6", "anthropic-messages"),
        "generic:anthropic",
        "no contract for host localhost:1: generic is used, with the reasoning facts of anthropic (from model name",
    ),
    (
        ("https://gateway.example/v1/messages", "mine", "anthropic-messages"),
        GENERIC,
        "no contract matches: generic is used",
    ),
    (("https://gateway.example/v1/chat", "qwen3-coder:30b", "openai-chat"), "qwen3-coder:vllm", "from model name"),
    (("/v1/messages", "us.anthropic.claude-opus-4-6-v1:0", "anthropic-messages"), ANTHROPIC, "from model name"),
    ((None, None, "anthropic-messages"), ANTHROPIC, "from protocol anthropic-messages"),
    (("https://user:key@API.OpenAI.com:443/v1", "whatever", "openai-chat"), OPENAI, "from host api.openai.com"),
    ((None, "gpt-4.1", "openai-chat"), OPENAI, "from model name gpt-4.1"),
    ((None, "ft:gpt-4.1:me::x", "openai-chat"), OPENAI, "from model name"),
    ((None, "openai/gpt-oss-20b", "openai-chat"), GENERIC, "no contract matches: generic is used"),
    ((None, "orca-mini", "openai-chat"), GENERIC, "no contract matches"),
    ((None, None, None), GENERIC, "no contract matches"),
    (
        (None, "kimi-k2-instruct", "openai-chat"),
        "kimi:platform",
        "from model name kimi-k2-instruct; variant platform, the platform API",
    ),
    (
        ("https://openrouter.ai/api/v1/chat/completions", "anthropic/claude-sonnet-4.5", "openai-chat"),
        "openrouter",
        "from host",
    ),
    ((f"{GOOGLE}/openai/chat/completions", "gemini-2.5-pro", "openai-chat"), "gemini-openai", "from host"),
    ((f"{GOOGLE}/models/gemini-2.5-pro:generateContent", None, "gemini"), "gemini", "from host"),
    ((None, "gemini-3-pro", "openai-chat"), "gemini-openai", "from model name"),
    ((None, "gemini-3-pro", "openai-responses"), GENERIC, "but the contract of gemini does not cover"),
    (("https://api.openai.com/v1/responses", "gpt-5", "openai-responses"), "openai", "from host"),
    ((None, "claude-opus-5-5", "anthropic-messages"), "anthropic:bound", "variant bound, recognised by the model name"),
    ((None, "anthropic/claude-sonnet-4.5", "openai-chat"), GENERIC, "but the contract of anthropic does not cover"),
    ((None, "minimax-m2", "anthropic-messages"), "minimax:text", "from model name minimax-m2"),
    ((None, "glm-5", "anthropic-messages"), "glm:standard", "from model name glm-5"),
    (
        ("https://api.z.ai/api/coding/paas/v4/chat/completions", "glm-5", "openai-chat"),
        "glm:coding",
        "recognised by the URL",
    ),
    (
        ("https://api.deepseek.com/beta/chat/completions", None, "openai-chat"),
        "deepseek:beta",
        "variant beta, recognised by the URL",
    ),
    ((None, "qwen3-max", "openai-chat"), "qwen:standard", "from model name"),
    ((None, "Qwen/Qwen3-8B", "openai-chat"), GENERIC, "no contract matches"),
    ((None, "devstral-2512", "openai-chat"), "mistral", "from model name devstral-2512"),
    (
        (DEEPSEEK, "deepseek-v4-pro", "openai-chat"),
        "deepseek:v4",
        "variant v4, recognised by the model name deepseek-v4-pro",
    ),
    ((DEEPSEEK, "deepseek-reasoner", "openai-chat"), "deepseek:v4", "v4, the current version"),
    (
        (DEEPSEEK, "deepseek-reasoner", "openai-chat", "deepseek-v4-flash"),
        "deepseek:v4",
        "the response names the model deepseek-v4-",
    ),
    (
        (DEEPSEEK, "deepseek-reasoner", "openai-chat", "deepseek-reasoner"),
        "deepseek:v3.2",
        "the response names the model deepseek-r",
    ),
    (
        ("https://api.deepseek.com/anthropic/v1/messages", "claude-x", "anthropic-messages"),
        "deepseek:v4",
        "from host",
    ),
    ((None, "deepseek-ai/DeepSeek-V4-Flash", "openai-chat"), GENERIC, "no contract matches"),
]


@pytest.mark.parametrize(("asked", "label", "how"), CHOSEN)
def test_choice(asked, label, how):
    url, model, protocol, *answered = asked
    contract, said = choose(Clues(url, model, answered[0] if answered else None), protocol)
    assert (contract.label, how in said) == (label, True), said


@pytest.mark.parametrize(
    ("url", "model", "label"),
    [
        (None, "openai/gpt-4.1-mini", "openrouter"),
        ("/api/v1/chat/completions", "openai/gpt-4.1-mini", "openrouter"),
        (None, "gpt-4.1-mini", "openai"),
        ("https://api.openai.com/v1/chat/completions", "openai/gpt-4.1-mini", "openai"),
    ],
)
def test_a_field_that_one_provider_alone_is_asked_with_chooses_it(url: str | None, model: str, label: str):
    contract, how = choose(Clues(url, model, params={"provider": {"order": ["OpenAI"]}}), "openai-chat")
    assert contract.label == label
    assert ("the field provider of its request" in how) is (label == "openrouter")


def test_variants_are_told_by_url_then_by_params_then_by_names(own: Path):
    head = "version: 1\nname: three\ntitle: T\nsurveyed: 2026-01-01\nsources: {s: {title: S}}\nfacts: []\nvariants:\n"
    kinds = (
        "  plain: {title: P, why: the usual one}\n"
        "  beta: {title: B, urls: ['*/beta/*']}\n"
        "  split: {title: S, params: {split: true}}\n"
        "  old: {title: O, models: ['m-1*']}\n"
    )
    (own / "three.yaml").write_text(head + kinds, encoding="utf-8")
    clues = [
        (Clues("https://three.example/beta/chat", "m-1", params={"split": True}), "three:beta"),
        (Clues(None, "m-1", params={"split": True}), "three:split"),
        (Clues(None, "m-1", params={"split": False}), "three:old"),
        (Clues(None, "m-2"), "three:plain"),
    ]
    assert [contracts.get("three", clues=c).label for c, _ in clues] == [label for _, label in clues]


def test_a_contract_without_a_reason_for_a_variant_goes_without_one(own: Path):
    head = "version: 1\nname: base\ntitle: T\nsurveyed: 2026-01-01\nsources: {s: {title: S}}\nfacts: []\nvariants:\n"
    (own / "base.yaml").write_text(head + "  odd: {title: O, models: ['m-1*']}\n", encoding="utf-8")
    assert contracts.variants("base") == ("base", "base:odd")
    labels = [contracts.get(asked, clues=Clues(model=m)).label for asked, m in (("base", "m-2"), ("base", "m-1"))]
    assert labels == ["base", "base:odd"]
    assert contracts.get("base:odd").label == "base:odd"


def test_unknown_names_and_variants_are_named():
    with pytest.raises(
        UsageError, match=r"no contract named 'opneai'; did you mean openai\? \(known: anthropic, azure-models, bedrock"
    ):
        contracts.get("opneai")
    with pytest.raises(UsageError, match=r"contract 'deepseek' has no variant 'v9'; known: v4, v3.2"):
        contracts.get("deepseek:v9")
    with pytest.raises(UsageError, match=r"has no variant 'v9'; this contract has no variants"):
        contracts.get("xai:v9")


def test_labels_of_variants():
    eras = ("deepseek:v4", "deepseek:v3.2", "deepseek:beta", "deepseek:reasoner")
    assert contracts.variants("deepseek") == eras
    assert contracts.variants("anthropic") == ("anthropic", "anthropic:bound", "anthropic:vertex")


FACTS = [
    ("anthropic", "claude-sonnet-4-5", "content.assistant-last", False),
    ("anthropic", "claude-opus-4-20250514", "content.assistant-last", False),
    ("anthropic", "claude-3-5-sonnet-20241022", "content.assistant-last", False),
    ("anthropic", "claude-sonnet-4-6", "content.assistant-last", True),
    ("anthropic", "claude-opus-5", "content.assistant-last", True),
    ("anthropic", "claude-opus-5", "reasoning.unbound", False),
    ("anthropic", "claude-opus-5-5", "reasoning.unbound", True),
    ("gemini", "gemini-3-pro-preview", "reasoning.missing", True),
    ("gemini", "gemini-2.5-pro", "reasoning.missing", False),
    ("gemini", "gemini-3.7-flash", "closure.id-mismatch", True),
    ("gemini", "gemini-3-flash-preview", "closure.id-mismatch", False),
    ("gemini", "gemini-3.6-flash", "content.assistant-last", True),
    ("gemini", "gemini-3.5-flash", "content.assistant-last", False),
    ("deepseek", "deepseek-v4-pro", "reasoning.empty", True),
    ("deepseek", "deepseek-v4-flash", "reasoning.empty", False),
]


@pytest.mark.parametrize(("label", "model", "rule", "enforced"), FACTS)
def test_checks_that_depend_on_the_model(label, model, rule, enforced):
    assert (contracts.get(label, clues=Clues(model=model)).check_for(rule) is not None) == enforced


def test_deepseek_eras_differ_and_cite_both_sides():
    v4, v32 = contracts.get("deepseek:v4"), contracts.get("deepseek:v3.2")
    assert (v4.reasoning.scope, v32.reasoning.scope) == (Scope.TOOL_TURNS, Scope.TOOL_LOOP)
    assert (v4.reasoning.thinking_default, v32.reasoning.thinking_default) == (True, False)
    assert "passed back" in v4.check_for("reasoning.missing").template
    assert "at message index" in v32.check_for("reasoning.missing").template
    eras = v4.terms["reasoning.eras"]
    assert {row["era"] for row in eras.value} == {"R1", "V3.2", "V4"}
    assert "versions since V4" in eras.source
    assert "article on tool calls" in eras.source


def test_thinking_is_on_by_name_where_the_request_does_not_say():
    default = {
        m: contracts.get("deepseek:v4", clues=Clues(model=m)).reasoning.thinking_default
        for m in ("deepseek-chat", "x", None)
    }
    assert default == {"deepseek-chat": False, "x": True, None: True}
    assert contracts.get("deepseek:v3.2", clues=Clues(model="deepseek-reasoner")).reasoning.thinking_default


def test_own_contracts_join_and_stand_in(own: Path):
    (own / "small.yaml").write_text(SMALL, encoding="utf-8")
    text = SMALL.replace("name: small", "name: openai").replace("small-", "gpt-")
    (own / "openai.yaml").write_text(text, encoding="utf-8")
    assert {"small", "openai", "anthropic"} < set(contracts.names())
    assert contracts.names()[-1] == "generic"
    chosen, how = choose(Clues(model="small-2"), "openai-chat")
    assert (chosen.label, how) == (
        "small:new",
        "from model name small-2; variant new, recognised by the model name small-2",
    )
    assert contracts.get("openai").title == "Small"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("other", SMALL),
        ("small", SMALL + "oops: !!python/object/apply:os.system [ls]"),
        ("small", "a: &a [x, x]\nb: [*a, *b]"),
    ],
)
def test_a_broken_contract_of_ones_own_is_one_clear_line(own: Path, name, text):
    (own / f"{name}.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        contracts.get(name)
    assert str(own / f"{name}.yaml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_endpoint_is_found_by_exactly_its_host(own):
    places = "endpoints: [{url: 'https://api.small.example', key: SMALL_KEY, protocols: [openai-chat]}]"
    (own / "small.yaml").write_text(SMALL + places)
    contracts.forget()
    name, found = contracts.endpoint("https://API.small.example/v1?x=1")
    assert (name, found.key) == ("small", "SMALL_KEY") and "small" in contracts.endpoints()
    others = (
        "http://api.small.example",
        "https://api.small.example:8443",
        "https://x.api.small.example",
        "https://[",
        "",
    )
    assert [contracts.endpoint(url) for url in others] == [None] * 5
    assert contracts.key_variable("https://api.small.example:443") == "SMALL_KEY"
    assert contracts.endpoint("https://api.deepseek.com/anthropic/v1")[1].protocols == ("anthropic-messages",)
    assert contracts.endpoint("https://api.deepseek.com/anthropics")[1].protocols[0] == "openai-chat"


SHOWN = [
    ({"headers": {"server": "llama.cpp"}}, "openai-chat", "llama.cpp", "from the header server of its response"),
    ({"headers": {"server": "cloudflare"}}, "openai-chat", GENERIC, "no contract matches"),
    ({"fields": {"system_fingerprint": "fp_ollama"}}, "openai-chat", "ollama", "from the field system_fingerprint"),
    ({"fields": {"system_fingerprint": "fp_other"}}, "openai-chat", GENERIC, "no contract matches"),
    ({"fields": {"timings": {"prompt_n": 1}}}, "openai-chat", "llama.cpp", "from the field timings"),
    ({"fields": {"provider": "OpenAI"}}, "openai-chat", "openrouter", "from the field provider"),
    ({"headers": {"x-ds-trace-id": "1"}}, "gemini", GENERIC, "no contract matches"),
    (
        {"error": "The `reasoning_content` in the thinking mode must be passed back to the API."},
        "openai-chat",
        "deepseek",
        "from the text of its error",
    ),
    ({"error": "something went wrong"}, "openai-chat", GENERIC, "no contract matches"),
    ({"headers": {"server": "workbench-simulator/kimi"}}, "openai-chat", "kimi", "from the server header"),
]


@pytest.mark.parametrize(("shows", "protocol", "name", "how"), SHOWN)
def test_an_answer_shows_whose_it_is_where_the_host_does_not(shows, protocol, name, how):
    chosen, said = choose(Clues("http://localhost:8000/v1", "mine", **shows), protocol)
    assert (chosen.name, how in said) == (name, True), said
    assert choose(Clues("https://api.openai.com/v1", "mine", **shows), "openai-chat")[0].name == "openai"


def test_a_known_model_at_an_unknown_host_brings_its_reasoning_and_nothing_else():
    own, _ = choose(Clues("https://api.deepseek.com/chat/completions", "deepseek-v4-flash"), "openai-chat")
    elsewhere, _ = choose(Clues("https://gateway.example/v1", "deepseek-v4-flash"), "openai-chat")
    assert elsewhere.reasoning.carriers[0] == own.reasoning.carriers[0]
    assert replace(elsewhere.reasoning, carriers=own.reasoning.carriers) == own.reasoning
    assert (elsewhere.name, elsewhere.enforces, elsewhere.closure) == (
        GENERIC,
        (),
        contracts.get(GENERIC, protocol="openai-chat").closure,
    )
    assert contracts.get(elsewhere.label, protocol="openai-chat", clues=Clues(model="deepseek-v4-flash")) == elsewhere
    assert {term.partition(".")[0] for term in elsewhere.terms} <= {"reasoning", "closure", "record"}
