"""What a session costs, turn by turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import ProfileError
from workbench.rules.inspection import Inspector
from workbench.rules.metrics.prices import load_prices, read
from workbench.rules.metrics.session_costs import _share, costs_of
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

URL = "https://api.anthropic.com/v1/messages"
TOOL = {"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
CALL = {"type": "tool_use", "id": "toolu_01A", "name": "weather", "input": {"city": "Oslo"}}

ONE = read(b"models: [{model: claude-*, input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}]", "one price")


def exchange(messages: list, usage: dict, answer: list, **more: object) -> Exchange:
    model = more.pop("model", "claude-3-7-sonnet-latest")
    asked = {"model": model, "max_tokens": 100, "tools": [TOOL], "messages": messages, **more}
    said = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": answer}
    said |= {"stop_reason": "end_turn", "usage": usage}
    request = HttpRequest(url=URL, body=Body(dumps(asked)))
    return Exchange(f"x{len(messages)}", request, HttpResponse(200, body=Body(dumps(said))))


def loop(first: dict, second: dict, **more: object) -> MemorySession:
    """A question, a call, its result, an answer."""
    question = [{"role": "user", "content": "How warm is it? " * 20}]
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01A", "content": "9 °C " * 9}]}
    history = [*question, {"role": "assistant", "content": [CALL]}, result]
    answered = [{"type": "text", "text": "9 °C"}]
    turns = exchange(question, first, [CALL], **more), exchange(history, second, answered, **more)
    return MemorySession("loop", turns)


def usage(input: int, output: int, **more: int) -> dict:
    return {"input_tokens": input, "output_tokens": output, **more}


def test_a_loop_of_two_turns_adds_up() -> None:
    """600 tokens of prompt, 346 of overhead and 360 of definitions, 70 out; then 1,626 in and 180 out."""
    found = costs_of(Inspector(loop(usage(600 + 346 + 360, 70), usage(1626, 180))), ONE)
    one, two = found.turns
    assert found.total == 3182
    assert (one.prompt, one.output, two.prompt, two.output) == (1306, 70, 1626, 180)
    assert one.overhead == two.overhead == 346
    assert (one.history, one.system) == (0, 0)
    assert two.history > 0 and two.new > 0
    assert one.tools + one.new == 960
    assert found.dollars == pytest.approx((1306 + 1626) * 3e-6 + (70 + 180) * 15e-6)


def test_what_was_cached_is_paid_at_its_own_rate() -> None:
    first = usage(100, 70, cache_creation_input_tokens=1206)
    second = usage(420, 180, cache_read_input_tokens=1206)
    one, two = costs_of(Inspector(loop(first, second)), ONE).turns
    assert (one.prompt, one.cache_write, two.prompt, two.cache_read) == (1306, 1206, 1626, 1206)
    assert one.dollars == pytest.approx(100 * 3e-6 + 1206 * 3.75e-6 + 70 * 15e-6)
    assert two.dollars == pytest.approx(420 * 3e-6 + 1206 * 0.3e-6 + 180 * 15e-6)


SYSTEM = "You are careful. " * 400


def test_a_breakpoint_at_the_end_of_the_system_prompt_would_have_saved() -> None:
    found = costs_of(Inspector(loop(usage(4000, 70), usage(4300, 180), system=SYSTEM)), ONE)
    tools, system = found.savings()
    one, two = found.turns
    prefix = min(t.overhead + t.tools + t.system for t in (one, two))
    assert prefix > 1024
    assert (tools.tokens, tools.why_not[:3]) == (0, f"{min(t.overhead + t.tools for t in (one, two)):,}"[:3])
    assert (system.tokens, system.why_not) == (prefix, "")
    assert system.dollars == pytest.approx(prefix * (3 - 0.3) / 1e6 - prefix * (3.75 - 3) / 1e6)


def test_what_is_cached_already_saves_nothing() -> None:
    first = usage(100, 70, cache_creation_input_tokens=3900)
    second = usage(400, 180, cache_read_input_tokens=3900)
    _, system = costs_of(Inspector(loop(first, second, system=SYSTEM)), ONE).savings()
    assert (system.tokens, system.why_not) == (0, "the prompt is already read from the cache")


def test_one_turn_reads_nothing_twice() -> None:
    session = loop(usage(4000, 70), usage(4300, 180), system=SYSTEM)
    alone = MemorySession("alone", session.exchanges[:1])
    assert {s.why_not for s in costs_of(Inspector(alone), ONE).savings()} == {"only one turn: nothing to cache"}


def test_where_nothing_is_counted_it_is_estimated_and_said() -> None:
    (one, _) = costs_of(Inspector(loop({}, {})), ONE).turns
    assert not one.is_counted
    assert one.prompt > one.overhead == 346
    assert 0 < one.output < 40


def test_a_refusal_costs_nothing() -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
    refused = HttpResponse(400, body=Body(dumps(error)))
    asked = exchange([{"role": "user", "content": "hi"}], usage(1, 1), []).request
    assert costs_of(Inspector(MemorySession("no", (Exchange("x", asked, refused),))), ONE).turns == ()


def test_a_model_without_a_price_is_named() -> None:
    found = costs_of(Inspector(loop(usage(10, 1), usage(20, 2), model="somebody/else")), ONE)
    assert (found.dollars, found.unpriced_models) == (None, ("somebody/else",))


@given(st.integers(0, 10**7), st.lists(st.integers(0, 10**7), min_size=4, max_size=4))
def test_shares_add_up_to_all_of_it(tokens: int, weights: list[int]) -> None:
    shared = _share(tokens, weights)
    assert sum(shared) == tokens
    assert all(share >= 0 for share in shared)
    if sum(weights):
        assert all(
            abs(share - tokens * weight / sum(weights)) <= 1 for share, weight in zip(shared, weights, strict=True)
        )


# Prices.

MODELS = {
    "claude-sonnet-4-5-20250929": (3, 15),
    "anthropic/claude-opus-4-6": (5, 25),
    "claude-opus-4-1-20250805": (15, 75),
    "gpt-5-mini-2025-08-07": (0.25, 2),
    "openai/gpt-5": (1.25, 10),
    "gpt-4o-mini": (0.15, 0.6),
    "o3-mini": (1.1, 4.4),
    "gemini-2.5-flash-lite": (0.1, 0.4),
    "deepseek-v4-flash": (0.15, 0.6),
}


@pytest.mark.parametrize("model", MODELS)
def test_the_first_pattern_that_matches_counts(model: str) -> None:
    price = load_prices().of(model)
    assert price and (price.input, price.output) == MODELS[model]


def test_a_model_that_nobody_listed_has_no_price() -> None:
    assert load_prices().of("my-own-7b") is None
    assert load_prices().of(None) is None


def test_every_price_that_ships_names_its_source() -> None:
    from workbench.config import resources, safeyaml

    held = safeyaml.load(resources.price_list().read_bytes(), name="prices.yaml")
    assert {entry["source"] for entry in held["models"]} <= set(held["sources"])
    assert load_prices().date == held["date"] == "2026-11-20"


def test_ones_own_prices_replace_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "workbench" / "prices.yaml"
    own.parent.mkdir()
    own.write_text("date: 2030-01-01\nmodels: [{model: mine*, input: 1, output: 2}]\n", encoding="utf-8")
    load_prices.cache_clear()
    try:
        price = load_prices().of("mine-7b")
        assert price and (price.cache_read, price.cache_write) == (1, 1)
        assert load_prices().of("gpt-5") is None
    finally:
        load_prices.cache_clear()


FAULTS = {
    "models": "not a list of prices",
    "models: [7]": "entry 1: not a price",
    "models: [{model: a, input: 1}]": "entry 1: no price for input or output",
    "models: [{model: a, input: -1, output: 1}]": "entry 1: input is not a price: -1",
    "models: [{model: a, input: yes, output: 1}]": "entry 1: input is not a price",
    "models: [{model: a, input: 1, output: 1}, {model: b, in: 1}]": "entry 2: an unknown key 'in'",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_faulty_list_is_said_in_one_line(text: str) -> None:
    with pytest.raises(ProfileError, match=r"prices\.yaml") as raised:
        read(text.encode(), "prices.yaml")
    assert FAULTS[text] in str(raised.value)
