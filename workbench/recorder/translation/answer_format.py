"""Replaces a response schema by words, for an upstream that supports JSON but no schema.

DeepSeek refuses ``response_format`` of type ``json_schema``, accepts ``json_object``, and wants the word "json" in the
prompt (llmexe 662).
"""

from __future__ import annotations

from dataclasses import replace

from workbench.contracts import Contract
from workbench.ir import JsonValue
from workbench.protocols import DecodedExchange
from workbench.rules import refusals
from workbench.send import Outgoing
from workbench.wire import Body, Exchange, dumps, loads, patch

AT = "/response_format"
WORDS = "Answer with a JSON object, and nothing else. It must match this JSON schema: "


def in_words(sent: Outgoing, contract: Contract) -> list[patch.Change]:
    """Edits of a Chat Completions request; empty if it asks for no schema, or the contract refuses the edits too."""
    body = loads(sent.request.body.raw)
    schema = _schema(body)
    if schema is None:
        return []
    said = {"role": "system", "content": WORDS + dumps(schema).decode()}
    changes: list[patch.Change] = [patch.Replace(AT, {"type": "json_object"}), patch.Insert("/messages/0", said)]
    changed = patch.apply(sent.request.body.raw, changes)
    tried = DecodedExchange(0, Exchange("tried", replace(sent.request, body=Body(changed))), sent.protocol)
    is_refused = any(finding.pointer.startswith(AT) for finding in refusals(tried, contract))
    return [] if is_refused else changes


def _schema(body: JsonValue) -> JsonValue:
    held = body.get("response_format") if isinstance(body, dict) else None
    inner = held.get("json_schema") if isinstance(held, dict) else None
    has_messages = isinstance(body, dict) and isinstance(body.get("messages"), list)
    return inner.get("schema") if isinstance(inner, dict) and has_messages else None
