"""Files of every store are read as what they are: exchanges, fidelity, findings, and words for what is not there."""

from __future__ import annotations

import bz2
import json
from pathlib import Path

import pytest

from tests.formats.importers.store_draw import DRAWN
from tests.formats.importers.store_samples import (
    ANSWER,
    BEDROCK_LOG,
    BEDROCK_STREAM,
    CONVERSE_ANSWER,
    CUT_MESSAGES,
    LANGFUSE,
    LITELLM,
    REFUSED_SAMPLES,
    SAMPLES,
    SPEND_ROW,
    lines,
    one,
)
from tests.formats.importers.store_second_draw import DRAWN_LATER
from tests.formats.importers.store_variants import VARIANTS
from workbench.errors import UnreadableInput
from workbench.formats.importers import _log_stores, open_found, open_input
from workbench.rules import Inspection, Inspector
from workbench.wire import fidelity_of
from workbench.wire.session import Session, exchanges_of

OTHERS = {**VARIANTS, **DRAWN, **DRAWN_LATER}


def opened(folder: Path, name: str, data: bytes) -> Session:
    path = folder / name
    path.write_bytes(data)
    return open_input(str(path))


def inspected(session: Session) -> Inspection:
    return Inspector(session).run()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_store_is_read_as_what_it_is(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    session = opened(tmp_path, name, sample.data)
    exchanges = list(exchanges_of(session))
    assert getattr(session, "format", "") == sample.importer
    assert len(exchanges) == sample.exchanges
    assert sample.fidelity in {fidelity_of(exchange).value for exchange in exchanges}


@pytest.mark.parametrize("name", SAMPLES)
def test_its_fault_is_found_and_nothing_is_found_in_the_envelope(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    found = inspected(opened(tmp_path, name, sample.data)).findings
    rules = {finding.rule for finding in found}
    assert sample.rules <= rules
    assert rules <= sample.rules | {"contract.disagrees", "answer.error"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", OTHERS)
def test_a_variant_of_a_store_is_read_as_what_it_is(name: str, tmp_path: Path) -> None:
    sample = OTHERS[name]
    (tmp_path / name).write_bytes(sample.data)
    session = open_found(str(tmp_path / name))
    assert session is not None and getattr(session, "format", "") == sample.importer
    exchanges = list(exchanges_of(session))
    assert len(exchanges) == sample.exchanges
    assert sample.fidelity in {fidelity_of(exchange).value for exchange in exchanges}
    inspection = inspected(session)
    rules = {finding.rule for finding in inspection.findings}
    assert sample.rules <= rules <= sample.rules | {"contract.disagrees", "answer.error", "stream.client-raises"}
    said = [problem for row in inspection.rows for problem in row.problems]
    assert not sample.damage or any(sample.damage in problem for problem in said)


@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if sample.damage])
def test_what_is_not_there_is_said_and_leaves_the_exchange_undecided(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    rows = inspected(opened(tmp_path, name, sample.data)).rows
    said = [row for row in rows if any(sample.damage in problem for problem in row.problems)]
    assert said
    assert all(row.is_undecided for row in said)


@pytest.mark.parametrize("name", REFUSED_SAMPLES)
def test_a_file_with_nothing_to_check_says_so(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(REFUSED_SAMPLES[name])
    for open_it in (open_input, open_found):
        with pytest.raises(UnreadableInput, match="vLLM server log of 1 requests without messages"):
            open_it(str(path))


def test_a_cut_value_has_no_findings_and_the_rest_of_the_request_has(tmp_path: Path) -> None:
    open_call = CUT_MESSAGES[1] | {"tool_calls": [CUT_MESSAGES[1]["tool_calls"][0] | {"id": "call_8"}]}
    row = SPEND_ROW | {"messages": [*CUT_MESSAGES, open_call, CUT_MESSAGES[0]], "proxy_server_request": {}}
    found = inspected(opened(tmp_path, "row.json", one([row]))).findings
    assert [finding.rule for finding in found] == ["closure.missing-result"]
    whole = json.loads(json.dumps(row).replace("litellm_truncated", "cut off"))
    rules = {finding.rule for finding in inspected(opened(tmp_path, "whole.json", one([whole]))).findings}
    assert "args.invalid-json" in rules


def test_streams_of_bedrock_are_read_in_the_framing_of_the_service(tmp_path: Path) -> None:
    events = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "I do not know."}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"usage": CONVERSE_ANSWER["usage"], "metrics": {"latencyMs": 9}}},
    ]
    output = {"outputContentType": "application/json", "outputBodyJson": events}
    converse = BEDROCK_LOG | {"operation": "ConverseStream", "output": output}
    session = opened(tmp_path, "log.jsonl", lines(converse, BEDROCK_STREAM))
    rows = inspected(session).rows
    assert [row.protocol for row in rows] == ["bedrock-converse", "bedrock-invoke"]
    assert [row.finish_reason for row in rows] == ["end_turn", "end_turn"]


def test_rows_that_call_no_model_are_left_out(tmp_path: Path) -> None:
    embedding = LITELLM | {"call_type": "aembedding", "messages": None, "response": None}
    assert len(opened(tmp_path, "log.jsonl", lines(embedding, LITELLM))) == 1
    with pytest.raises(UnreadableInput, match="no row contains an exchange with a model"):
        opened(tmp_path, "none.json", one(embedding))


def test_a_bzip2_file_is_unpacked(tmp_path: Path) -> None:
    session = opened(tmp_path, "log.json.bz2", bz2.compress(one(LITELLM)))
    assert getattr(session, "format", "") == "LiteLLM log"


def test_a_torn_bzip2_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="bzip2 file cannot be unpacked"):
        opened(tmp_path, "log.json.bz2", bz2.compress(one(LITELLM))[:-9])


def test_names_of_another_store_inside_a_message_claim_nothing(tmp_path: Path) -> None:
    inner = json.dumps(LANGFUSE)
    line = "[2026-01-02 10:00:00] Receive: obj=GenerateReqInput("
    body = {"model": "m", "messages": [{"role": "user", "content": inner + line}], "metadata": LANGFUSE}
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("llm.model_name", "gen_ai.system")},
    }
    body |= {"tools": [{"type": "function", "function": {"name": "configure", "parameters": schema}}]}
    assert getattr(opened(tmp_path, "body.json", one(body)), "format", "") == "JSON body"
    pair = opened(tmp_path, "pair.json", one({"request": body, "response": ANSWER}))
    assert getattr(pair, "format", "") == "recorded exchanges"


def test_a_head_that_stops_inside_a_long_row_is_claimed() -> None:
    long = LITELLM | {"messages": [{"role": "user", "content": "x" * 100_000}]}
    assert _log_stores.claims(one(long)[:65536], "litellm_log") > 0.9
    quotes = b'{"a":"' + rb"\"llm\"" * 20_000
    assert _log_stores.names_in(quotes[:65536]) == (frozenset({"a"}), frozenset())


@pytest.mark.parametrize("name", SAMPLES)
def test_the_conversation_is_named_where_the_store_names_one(name: str, tmp_path: Path) -> None:
    if name.startswith(("langfuse", "langsmith", "litellm-s3", "otlp", "openrouter", "phoenix")):
        sample = SAMPLES[name]
        assert all(exchange.meta["conversation"] for exchange in exchanges_of(opened(tmp_path, name, sample.data)))
