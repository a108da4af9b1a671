"""Errors that come as a message of an AWS event stream: named by their type, with ``{"message": …}`` as the payload.

Facts: the error members of ``ConverseStreamOutput`` and ``ResponseStream`` in botocore's service model
``bedrock-runtime/2023-09-30``.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import WireError
from workbench.ir import ApiError, ModelResponse
from workbench.protocols.common.error_body import read_error
from workbench.wire import SseEvent, aws_message, dumps, loads

EXCEPTIONS = (
    "internalServerException",
    "modelStreamErrorException",
    "modelTimeoutException",
    "serviceUnavailableException",
    "throttlingException",
    "validationException",
)


def read_exception(event: SseEvent) -> ApiError:
    """The error that an exception message of a stream says; its name is the type."""
    try:
        value = loads(event.data or b"null")
    except WireError:
        value = None
    said = b" ".join(event.comments).decode("utf-8", "replace")
    error = read_error(value) or ApiError(said, raw=value)
    return replace(error, type=event.name)


def write_exception(error: ApiError) -> bytes:
    """The message of an error; one of another type than the service knows becomes its general one."""
    kind = error.type if error.type in EXCEPTIONS else EXCEPTIONS[0]
    return aws_message(kind, dumps({"message": error.message}), kind="exception")


def as_in_body(before: ModelResponse, response: ModelResponse) -> ModelResponse:
    """An answer to be written without the type of its error where only a header names it."""
    if before.error and response.error and before.error.type is None:
        return replace(response, error=replace(response.error, type=None))
    return response
