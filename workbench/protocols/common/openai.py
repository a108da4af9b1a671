"""Facts common to both protocols of OpenAI's API: models, errors, and variables of the SDK."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import JsonValue
from workbench.protocols.declaration import ErrorStyle

AMBIENT = ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")
"""Environment variables that the SDK reads, and sends, unasked."""


def model(name: str) -> JsonValue:
    """One model of the list."""
    return {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "workbench"}


def models(names: Sequence[str], _: str) -> JsonValue:
    """The list."""
    return {"object": "list", "data": [model(name) for name in names]}


def errors(without_model: str) -> ErrorStyle:
    """Refusals of the API."""
    return ErrorStyle(
        body={"error": {"message": "{message}", "type": "{type}", "param": "{param}", "code": "{code}"}},
        types={429: "requests", 500: "server_error", 503: "server_error"},
        headers=(("x-request-id", "{request_id}"), ("openai-version", "2020-10-01")),
        without_model=without_model,
    )
