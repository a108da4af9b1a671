"""Contracts of the user's own: words that nobody knows, and files that cannot be read."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench import contracts, protocols, rules
from workbench.config import resources, safeyaml
from workbench.contracts import choose, vocabulary
from workbench.contracts.facts import Clues
from workbench.contracts.reader import Node
from workbench.errors import ProfileError
from workbench.send import matrix

README = (resources.folder("profiles") / "README.md").read_text(encoding="utf-8")
MINIMAL = re.findall(r"^```yaml\n(.*?)^```", README, re.M | re.S)[0]
URL = "https://gateway.example/v1/chat/completions"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder of the user's own contracts, empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "workbench" / "profiles"
    folder.mkdir(parents=True)
    contracts.forget()
    yield folder
    contracts.forget()


def vet(text: str) -> None:
    vocabulary.vet(Node(safeyaml.load(text, name="mine.yaml"), "mine.yaml"))


def test_the_terms_are_those_that_the_readme_documents():
    assert set(re.findall(r"`([a-z]+\.[a-z-]+)`", README)) - {"contract.schema"} == vocabulary.TERMS


ALL = (*resources.shipped_profiles().values(), *resources.shared_profiles().values())


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
def test_shipped_contracts_use_known_words(path: Path):
    vet(path.read_text(encoding="utf-8"))


def test_a_glob_of_every_model_and_an_unknown_shared_part_are_refused(own: Path):
    line = '- {at: /n, above: 1, for: {models: ["vendor/*"]}, source: seen}'
    with pytest.raises(ProfileError, match="matches every model"):
        vet(f"{MINIMAL}relations:\n{line}\n")
    (own / "mine.yaml").write_text(f"{MINIMAL}includes: [templates]\n", encoding="utf-8")
    assert "known: chat-templates" in str(contracts.broken_files()["mine"].hint)


def test_every_rule_that_ships_has_a_page():
    assert set(rules.every_rule()) - set(resources.pages()) <= {rules.FAILED}


def test_the_minimal_contract_of_the_readme_is_read_and_chosen(own: Path):
    (own / "mine.yaml").write_text(MINIMAL, encoding="utf-8")
    assert contracts.warnings() == ()
    chosen, how = choose(Clues(URL), "openai-chat")
    assert (chosen.label, how) == ("mine", "from host gateway.example")
    assert (chosen.term("x.team"), chosen.check_for("closure.missing-result").status) == ("platform", 400)


REQUIRED = [
    "version: 1",
    "name: mine",
    "title: My gateway",
    "surveyed: 2026-11-20",
    "value: platform, ",
    "status: 400, ",
]


@pytest.mark.parametrize("line", REQUIRED)
def test_what_the_readme_calls_required_is(own: Path, line: str):
    (own / "mine.yaml").write_text(MINIMAL.replace(line, ""), encoding="utf-8")
    assert list(contracts.broken_files()) == ["mine"]


SLIPS = [
    ("closure.placement", "closure.placment", "/facts/0/terms/closure.placment: no term", "closure.placement"),
    ("x.team", "schema.strict.max-dept", "/facts/0/terms/schema.strict.max-dept: no term", "schema.max-depth"),
    ("closure.missing-result", "closure.mising-result", "/enforces/0/rule: no rule", "closure.missing-result"),
    ("[openai-chat]", "[openai-chats]", "/protocols/0: no protocol", "openai-chat"),
    ("hosts:", "native: [antropic-messages]\nhosts:", "/native/0: no protocol", "anthropic-messages"),
    ("status: 400", "status: 400, for: {protocols: [gemni]}", "/enforces/0/for/protocols/0: no protocol", "gemini"),
    ("- terms:", "- for: {variants: [v1]}\n  terms:", "/facts/0/for/variants/0: no variant", ""),
    ("x.team", "y.team", "/facts/0/terms/y.team: no term", ""),
]

MISSHAPEN = [
    ("error-words: [Mine]", "/error-words/0", "not in lower case"),
    ("key-prefixes: [sk]", "/key-prefixes/0", "not a key prefix"),
    ('call-ids: "{name}"', "/call-ids", "not a template of call ids"),
    ('call-ids: "call_{99}"', "/call-ids", "not a template of call ids"),
    ("listed-models: [1]", "/listed-models/0", ""),
]


@pytest.mark.parametrize(("line", "place", "problem"), MISSHAPEN)
def test_a_fact_of_the_wrong_shape_is_refused_at_its_place(own: Path, line: str, place: str, problem: str):
    (own / "mine.yaml").write_text(MINIMAL.replace("hosts:", f"{line}\nhosts:"), encoding="utf-8")
    (warning,) = contracts.warnings()
    assert f"mine.yaml#{place}" in warning and problem in warning


def test_prefixes_of_keys_hold_where_the_users_own_file_replaces_the_contract(own: Path):
    assert contracts.key_owner("sk-ant-x") == "anthropic" and not contracts.key_owner("sk-x")
    text = MINIMAL.replace("name: mine", "name: anthropic").replace("hosts:", "key-prefixes: [mine-]\nhosts:")
    (own / "anthropic.yaml").write_text(text, encoding="utf-8")
    contracts.forget()
    assert [contracts.key_owner(key) for key in ("sk-ant-x", "mine-x")] == ["anthropic", "anthropic"]


@pytest.mark.parametrize(("good", "bad", "place", "meant"), SLIPS)
def test_a_slip_is_refused_at_its_place(own: Path, good: str, bad: str, place: str, meant: str):
    (own / "mine.yaml").write_text(MINIMAL.replace(good, bad, 1), encoding="utf-8")
    (line,) = contracts.warnings()
    assert line.startswith(f"{own / 'mine.yaml'}#{place} named ")
    assert ("did you mean" in line, f"did you mean {meant}?" in line) == (bool(meant), bool(meant))


TAKEN = [
    "schema.strict.max-depth: {value: 5",
    "schema.json-schema.refs: {value: none",
    "x.any: {value: 1",
    "note.y: {value: z",
]


@pytest.mark.parametrize("fact", TAKEN)
def test_terms_of_modes_and_of_ones_own_are_taken(fact: str):
    vet(MINIMAL.replace("x.team: {value: platform", fact))


VALUES = [
    ("closure.id-pattern: {value: '('", "closure.id-pattern/value: not a regular expression: missing )"),
    ("schema.strict.max-depth: {value: deep", "schema.strict.max-depth/value: not a value of schema.max-depth: 'deep'"),
    ("errors.other: {value: [{text: no}]", "errors.other/value/0: not a value of errors.other: 'when' is a required"),
    ("params.refused: {value: [{at: /n, with: 3}]", "params.refused/value/0/with: not a value of params.refused: 3"),
]


@pytest.mark.parametrize(("fact", "line"), VALUES)
def test_a_value_that_a_term_cannot_have_is_refused(fact: str, line: str):
    with pytest.raises(ProfileError) as caught:
        vet(MINIMAL.replace("x.team: {value: platform", fact))
    assert str(caught.value).startswith(f"mine.yaml#/facts/0/terms/{line}")


def test_rules_and_protocols_of_packages_are_known(monkeypatch):
    own = SimpleNamespace(RULES=[SimpleNamespace(slug="house.style")])
    monkeypatch.setattr(vocabulary.plugins, "third_party", lambda package: {"house": own})
    monkeypatch.setattr(protocols, "protocols", lambda: ("house-chat",))
    for cached in (vocabulary._protocols, vocabulary._third_party_rules):
        cached.cache_clear()
    try:
        vet(MINIMAL.replace("closure.missing-result", "house.style").replace("openai-chat", "house-chat"))
        with pytest.raises(ProfileError, match=r"no protocol named 'openai-chat'"):
            vet(MINIMAL)
    finally:
        for cached in (vocabulary._protocols, vocabulary._third_party_rules):
            cached.cache_clear()


BROKEN = {"mine": b": [", "openai": b"a: 1", "half": b"\xff\xfe\x00", "other": MINIMAL.encode()}


def test_broken_contracts_are_skipped_where_contracts_are_listed_or_chosen(own: Path):
    shipped = set(contracts.names())
    for name, data in BROKEN.items():
        (own / f"{name}.yaml").write_bytes(data)
    (own / "folder.yaml").mkdir()
    contracts.forget()
    assert set(contracts.names()) == shipped
    assert set(contracts.broken_files()) == {*BROKEN, "folder"}
    assert choose(Clues(URL), "openai-chat")[0].label == "generic"
    assert choose(Clues(model="gpt-4.1"), "openai-chat")[0].label == "openai"
    assert contracts.get("openai").title == "OpenAI"
    assert "mine" not in matrix.labels()
    instead = {line.partition(":")[0].rpartition("/")[2].partition(".")[0]: line for line in contracts.warnings()}
    assert instead["openai"].endswith("; the contract that ships with Workbench is used")
    assert instead["mine"].endswith("; this contract is ignored")


@pytest.mark.parametrize("name", ["mine", "openai", "mine:v1"])
def test_asking_for_a_broken_contract_by_name_says_why(own: Path, name: str):
    for broken in ("mine", "openai"):
        (own / f"{broken}.yaml").write_bytes(BROKEN[broken])
    with pytest.raises(ProfileError, match=rf"{name.partition(':')[0]}\.yaml"):
        contracts.demand(name)
    with pytest.raises(ProfileError):
        matrix.labels([name])
